//! JSON in canonical form.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt::{self, Write};

/// A JSON value this crate carries without knowing what it means, kept as text: no white space, the members of objects
/// in the order of their names. Values that are equal as JSON are equal as text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json(String);

impl Json {
    /// The canonical text of any JSON text.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self::from(&serde_json::from_str::<Value>(text)?))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value.
    pub fn value(&self) -> Value {
        // The text was written from a value.
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        let mut text = String::new();
        write_value(value, &mut text);
        Self(text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(&Value::deserialize(deserializer)?))
    }
}

/// Whether `serde_json` sorts members depends on features that any crate of a build may turn on; this does not.
fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (k, item) in items.iter().enumerate() {
                text.push_str(if k > 0 { "," } else { "" });
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (k, (name, member)) in members.into_iter().enumerate() {
                text.push_str(if k > 0 { "," } else { "" });
                let _ = write!(text, "{}:", Value::from(name.as_str()));
                write_value(member, text);
            }
            text.push('}');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_one_value() {
        let text =
            Json::parse(" {\"b\" : [1, 2.50,\"\\u0041\"], \"a\":{ \"d\":null,\"c\":true} }").expect("JSON");
        assert_eq!(text.as_str(), r#"{"a":{"c":true,"d":null},"b":[1,2.5,"A"]}"#);
        assert_eq!(Json::parse(text.as_str()).expect("JSON"), text);
        assert_eq!(serde_json::to_string(&text).expect("JSON"), text.as_str());
    }

    #[test]
    fn other_text_is_refused() {
        for wrong in ["", "{", "nan", "[1,]", "{} {}"] {
            assert!(Json::parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! Pieces of documents.

use crate::json::Json;
use indexmap::IndexMap;

pub(super) fn text(value: impl Into<String>) -> Json {
    Json::String(value.into())
}

pub(super) fn number(value: usize) -> Json {
    Json::Number(value.to_string())
}

pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Code in C++.
pub(super) fn code(value: &str) -> Json {
    object([("string_data", text(value)), ("language", text("CPP"))])
}

/// Where an edge begins or ends: a position in a list.
pub(super) fn position(edge: &Json, key: &str) -> Option<usize> {
    match edge.get(key)? {
        Json::String(text) | Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// All of a container, or its only element.
pub(super) fn memlet(data: &str, shape: &[String], is_dynamic: bool) -> Json {
    let range = |extent: &String| {
        object([
            ("start", text("0")),
            ("end", text(format!("({extent}) - 1"))),
            ("step", text("1")),
            ("tile", text("1")),
        ])
    };
    let one = [String::from("1")];
    let shape = if shape.is_empty() { &one[..] } else { shape };
    let ranges = Json::Array(shape.iter().map(range).collect());
    let volume = shape.iter().map(|extent| format!("({extent})")).collect::<Vec<_>>().join("*");
    let mut attributes = IndexMap::from([
        ("volume".to_owned(), text(volume)),
        ("subset".to_owned(), object([("type", text("Range")), ("ranges", ranges)])),
        ("data".to_owned(), text(data)),
    ]);
    if is_dynamic {
        attributes.insert("dynamic".to_owned(), Json::Bool(true));
    }
    object([("type", text("Memlet")), ("attributes", Json::Object(attributes))])
}

/// An edge of a state between positions.
pub(super) fn edge(src: (usize, Option<&str>), dst: (usize, Option<&str>), memlet: Json) -> Json {
    let connector = |name: Option<&str>| name.map_or(Json::Null, text);
    object([
        ("type", text("MultiConnectorEdge")),
        ("attributes", object([("data", memlet)])),
        ("src", text(src.0.to_string())),
        ("dst", text(dst.0.to_string())),
        ("dst_connector", connector(dst.1)),
        ("src_connector", connector(src.1)),
    ])
}

/// An access node.
pub(super) fn access(data: &str) -> Json {
    object([
        ("type", text("AccessNode")),
        ("label", text(data)),
        ("attributes", object([("data", text(data))])),
        ("id", number(0)),
        ("scope_entry", Json::Null),
        ("scope_exit", Json::Null),
    ])
}

/// Adds what tasklets share to the text in front of the program.
pub(super) fn add_global(document: &mut Json, global: &str) {
    let Some(Json::Object(attributes)) = document.get_mut("attributes") else { return };
    if global.trim().is_empty() {
        return;
    }
    if !matches!(attributes.get("global_code"), Some(Json::Object(_))) {
        attributes.insert("global_code".to_owned(), object([]));
    }
    let Some(Json::Object(sections)) = attributes.get_mut("global_code") else { return };
    let frame = sections.entry("frame".to_owned()).or_insert_with(|| code(""));
    let before = match &*frame {
        Json::String(text) => text.clone(),
        other => other.get("string_data").and_then(Json::as_str).unwrap_or_default().to_owned(),
    };
    let join = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let joined = format!("{before}{join}{global}");
    match frame.get_mut("string_data") {
        Some(known) => *known = text(joined),
        None => *frame = code(&joined),
    }
}

/// Whether a name stands somewhere in a part of a document.
pub(super) fn mentions(value: &Json, name: &str) -> bool {
    let has = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    match value {
        Json::String(text) => has(text),
        Json::Array(items) => items.iter().any(|item| mentions(item, name)),
        Json::Object(members) => members.iter().any(|(key, value)| has(key) || mentions(value, name)),
        _ => false,
    }
}

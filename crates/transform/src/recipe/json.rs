//! Steps as JSON: an object with the step's name and its arguments by parameter name.

use super::affine;
use super::names::Names;
use super::text::{self, RecipeError, absent, print_schedule, read_word};
use super::words::Unreadable;
use crate::steps::Transformation;
use crate::steps::argument::{Argument, Kind};
use oxeye_ir::{Affine, LoopId, Var};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

impl Serialize for Transformation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Step { step: self, names: &Names::ids_only() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Transformation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_step(&value, &mut Names::ids_only()).map_err(D::Error::custom)
    }
}

/// Reads a step: an object, or its text.
pub(super) fn read_step(value: &Value, names: &mut Names) -> Result<Transformation, RecipeError> {
    match value {
        Value::String(text) => text::read_step(text, names),
        _ => step(value, names)
            .map_err(|reason| RecipeError { step: value.to_string(), reason: reason.to_string() }),
    }
}

fn step(value: &Value, names: &mut Names) -> Result<Transformation, Unreadable> {
    let Value::Object(fields) = value else { return Err("a step is an object or a string".into()) };
    let Some(name) = fields.get("step").and_then(Value::as_str) else {
        return Err("`step`, the name of a transformation, is missing".into());
    };
    let info = text::info(name)?;
    let is_known = |key: &str| info.parameters.iter().any(|p| p.name == key || p.alias == key);
    if let Some(key) = fields.keys().find(|key| *key != "step" && !is_known(key)) {
        let known: Vec<&str> = info.parameters.iter().map(|p| p.name).collect();
        return Err(format!("{name} has no parameter `{key}`; it has: {}", known.join(", ")).into());
    }
    let argument = |(k, parameter): (usize, &crate::steps::registry::Parameter)| {
        let value = fields.get(parameter.name).or_else(|| fields.get(parameter.alias));
        let read = match value {
            None | Some(Value::Null) => absent(parameter.kind)
                .ok_or_else(|| Unreadable::from(format!("{} is missing", parameter.kind.noun()))),
            Some(value) => read(parameter.kind, value, names),
        };
        read.map_err(|why| why.in_argument(k, parameter.name))
    };
    let arguments =
        info.parameters.iter().enumerate().map(argument).collect::<Result<Vec<_>, Unreadable>>()?;
    Transformation::new(info.name, &arguments)
        .ok_or_else(|| Unreadable::from("its arguments do not go together"))
}

/// Reads an argument; a JSON string may contain its textual form.
fn read(kind: Kind, value: &Value, names: &mut Names) -> Result<Argument, Unreadable> {
    if let Value::String(word) = value
        && !matches!(kind, Kind::WorkSharing | Kind::Team | Kind::Schedules)
    {
        let word: String = word.split_whitespace().collect::<Vec<_>>().join(match kind {
            Kind::Expression => "",
            _ => " ",
        });
        return read_word(kind, &word, names);
    }
    let list = || match value {
        Value::Array(list) => Ok(list),
        _ => Err(Unreadable::from(format!("{value} is not a list"))),
    };
    Ok(match kind {
        Kind::Loop | Kind::Inside { .. } => Argument::Loop(plain(kind, value)?),
        Kind::Loops if !value.is_array() => Argument::Loops(vec![plain(kind, value)?]),
        Kind::PerfectChain | Kind::Loops => {
            let mut one = |value: &Value| match read(Kind::Loop, value, names)? {
                Argument::Loop(id) => Ok(id),
                _ => Err(format!("{value} is not a loop").into()),
            };
            Argument::Loops(list()?.iter().map(&mut one).collect::<Result<_, Unreadable>>()?)
        }
        Kind::Sizes { .. } => Argument::Numbers(plain(kind, value)?),
        Kind::Count { .. } | Kind::Integer => Argument::Number(plain(kind, value)?),
        Kind::Position { .. } => Argument::Position(Some(plain(kind, value)?)),
        Kind::Expression if value.is_i64() => Argument::Expression(Affine::constant(plain(kind, value)?)),
        Kind::Expression => Argument::Expression(plain(kind, value)?),
        Kind::Statement => Argument::Statement(plain(kind, value)?),
        Kind::Schedules => {
            let mut all = Vec::new();
            for value in list()? {
                match value {
                    Value::String(word) => match read_word(kind, word, names)? {
                        Argument::Schedules(more) => all.extend(more),
                        _ => return Err(format!("{value} is not {}", kind.noun()).into()),
                    },
                    _ => all.push(plain(kind, value)?),
                }
            }
            Argument::Schedules(all)
        }
        Kind::WorkSharing => Argument::WorkSharing(plain(kind, &capitalized(value))?),
        Kind::Team => Argument::Team(Some(plain(kind, &capitalized(value))?)),
        Kind::Blocks => Argument::Blocks(plain(kind, value)?),
        Kind::Array => Argument::Array(plain(kind, value)?),
        Kind::Value => read_word(kind, &value.to_string(), names)?,
    })
}

fn plain<T: DeserializeOwned>(kind: Kind, value: &Value) -> Result<T, Unreadable> {
    T::deserialize(value).map_err(|_| Unreadable::from(format!("{value} is not {}", kind.noun())))
}

/// `static`, as text has it, as `Static`, as JSON has it.
fn capitalized(value: &Value) -> Value {
    match value.as_str() {
        Some("static") => "Static".into(),
        Some("dynamic") => "Dynamic".into(),
        _ => value.clone(),
    }
}

/// A step in which names may stand for loops.
pub(super) struct Step<'a> {
    pub(super) step: &'a Transformation,
    pub(super) names: &'a Names,
}

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let info = self.step.info();
        let mut map = serializer.serialize_map(Some(1 + info.parameters.len()))?;
        map.serialize_entry("step", info.name)?;
        for (parameter, argument) in info.parameters.iter().zip(self.step.arguments()) {
            let argument = match argument {
                Argument::Loops(ids) if parameter.kind == Kind::Loops && ids.len() == 1 => {
                    Argument::Loop(ids[0])
                }
                other => other,
            };
            map.serialize_entry(parameter.name, &Written { argument: &argument, names: self.names })?;
        }
        map.end()
    }
}

struct Written<'a> {
    argument: &'a Argument,
    names: &'a Names,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names;
        let is_named =
            |e: &&Affine| e.terms().any(|(v, _)| matches!(v, Var::Loop(id) if names.name(id).is_some()));
        let any_named = self.argument.expressions().iter().any(is_named);
        match self.argument {
            Argument::Loop(id) => NamedLoop { id: *id, names }.serialize(serializer),
            Argument::Loops(ids) => {
                let mut list = serializer.serialize_seq(Some(ids.len()))?;
                for id in ids {
                    list.serialize_element(&NamedLoop { id: *id, names })?;
                }
                list.end()
            }
            Argument::Expression(e) if any_named => affine::print(e, names).serialize(serializer),
            Argument::Expression(e) => e.serialize(serializer),
            Argument::Schedules(all) if any_named => {
                let texts: Vec<String> = all.iter().map(|s| print_schedule(s, names)).collect();
                texts.serialize(serializer)
            }
            Argument::Schedules(all) => all.serialize(serializer),
            Argument::Statement(id) => id.serialize(serializer),
            Argument::Number(n) => n.serialize(serializer),
            Argument::Numbers(all) => all.serialize(serializer),
            Argument::Position(k) => k.serialize(serializer),
            Argument::WorkSharing(schedule) => schedule.serialize(serializer),
            Argument::Team(schedule) => schedule.serialize(serializer),
            Argument::Blocks(blocks) => blocks.serialize(serializer),
            Argument::Array(id) => id.serialize(serializer),
            Argument::Literal(value) => value.to_string().serialize(serializer),
        }
    }
}

struct NamedLoop<'a> {
    id: LoopId,
    names: &'a Names,
}

impl Serialize for NamedLoop<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.names.name(self.id) {
            Some(name) => name.serialize(serializer),
            None => self.id.serialize(serializer),
        }
    }
}

//! The text of a tasklet, and which containers it needs.

use super::json::{code, number, object, text};
use crate::json::Json;
use crate::lower::Unit;
use crate::model::Graph;
use crate::to_c::{CProgram, count};
use indexmap::IndexMap;
use oxeye_ir::{Access, ArrayId, Nest, NestId, Storage};
use std::collections::BTreeSet;

/// A container that a tasklet uses.
#[derive(Clone, Debug)]
pub(super) struct Used {
    /// Its name in the SDFG.
    pub(super) data: String,
    /// Its name in the text.
    name: String,
    /// The C type of its elements, and DaCe's.
    ty: &'static str,
    dtype: String,
    /// Its extents; none if it is a scalar.
    pub(super) shape: Option<Vec<String>>,
    /// Whether it is written.
    pub(super) is_written: bool,
    /// Whether its values from before may be read.
    pub(super) is_read: bool,
}

impl Used {
    /// The connector where it comes in.
    pub(super) fn input(&self) -> String {
        format!("__in_{}", self.name)
    }

    /// The connector where it goes out.
    pub(super) fn output(&self) -> String {
        format!("__out_{}", self.name)
    }

    fn connector(&self) -> Json {
        let element = text(self.dtype.clone());
        match self.shape {
            Some(_) => object([("type", text("pointer")), ("dtype", element)]),
            None => element,
        }
    }
}

/// A tuned nest, to be put somewhere.
#[derive(Clone, Debug)]
pub(super) struct Tasklet {
    label: String,
    body: String,
    /// Declarations of what nobody else uses.
    own: Vec<(String, String)>,
    /// Containers, by name.
    pub(super) used: IndexMap<String, Used>,
}

impl Tasklet {
    /// The tasklet for a nest with this text.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn new(
        graph: &Graph,
        containers: &IndexMap<ArrayId, String>,
        unit: &Unit,
        program: &CProgram,
        id: NestId,
        body: &str,
    ) -> Result<Self, String> {
        let group = program.group(id);
        let nests: Vec<&Nest> = group.iter().filter_map(|member| program.program.nests.get(member)).collect();
        let accesses: Vec<(&Access, bool)> = nests.iter().flat_map(|nest| nest.accesses()).collect();
        let arrays: BTreeSet<ArrayId> = nests.iter().flat_map(|nest| nest.arrays()).collect();
        let is_live = |array: ArrayId| nests.iter().any(|nest| nest.live_out.contains(&array));
        let others = |array: ArrayId| {
            let nests = program.program.nests.values().filter(|n| !group.contains(&n.id));
            nests
                .flat_map(|n| n.accesses())
                .filter(|(a, _)| a.array == array)
                .map(|(_, w)| w)
                .collect::<Vec<_>>()
        };
        let mut found = Self {
            label: format!("tuned_{}", id.0),
            body: super::cpp::cpp(body),
            own: Vec::new(),
            used: IndexMap::new(),
        };
        for array in arrays {
            let described = program.program.array(array);
            if matches!(described.storage, Storage::Body(_) | Storage::Temp(_)) {
                continue;
            }
            let (name, ty) = (described.name.clone(), described.element.c_name());
            let elsewhere = others(array);
            let is_written = accesses.iter().any(|(a, w)| *w && a.array == array);
            let container = containers.get(&array);
            // What only members of a group use is their own.
            let is_alone = described.storage == Storage::Local && elsewhere.is_empty();
            let is_own = is_alone && if group.len() > 1 { !program.is_asked(array) } else { !is_live(array) };
            // DaCe allocates it for the values that symbols have before the nest.
            let is_resized = container.and_then(|data| graph.arrays.get(data)).is_some_and(|descriptor| {
                let changed = group.iter().filter_map(|member| unit.assigned.get(member)).flatten();
                changed.into_iter().any(|name| descriptor.shape.iter().any(|extent| has_word(extent, name)))
            });
            // Complex scalars are arrays of two parts.
            let is_pair =
                container.and_then(|data| graph.arrays.get(data)).is_some_and(|d| d.kind == "Scalar")
                    && !described.shape.is_empty();
            let is_elsewhere = unit.relaid.contains(&array) || container.is_none() || is_resized || is_pair;
            if is_elsewhere || (is_own && group.len() > 1) {
                if !is_own {
                    return Err(format!("`{name}` lies in memory otherwise than in the SDFG"));
                }
                let (before, after) = if described.shape.is_empty() {
                    (format!("{ty} {name};"), String::new())
                } else {
                    let n = count(&program.program, array);
                    let before = format!("{ty} *{name} = ({ty} *)malloc({n} * sizeof({ty}));");
                    (before, format!("free({name});"))
                };
                found.own.push((before, after));
                continue;
            }
            let data = container.cloned().unwrap_or_default();
            let descriptor = graph.arrays.get(&data).ok_or("a container is missing")?;
            let is_scalar = descriptor.kind == "Scalar";
            if is_scalar != described.shape.is_empty() {
                return Err(format!("`{data}` is no array of the usual kind"));
            }
            // What nobody else writes has no values before.
            let is_read = described.storage == Storage::Param || !is_written || elsewhere.contains(&true);
            let used = Used {
                data: data.clone(),
                name,
                ty,
                dtype: descriptor.dtype.clone(),
                shape: (!is_scalar).then(|| descriptor.shape.clone()),
                is_written,
                is_read,
            };
            found.used.insert(data, used);
        }
        Ok(found)
    }

    /// The node. Arrays come in through `inputs` and go out through `outputs`, and through `more` nothing does that is used.
    pub(super) fn node(
        &self,
        inputs: &BTreeSet<String>,
        outputs: &BTreeSet<String>,
        more: (&[Extra], &[Extra]),
    ) -> Json {
        // What DaCe writes behind the text uses names that are declared in it.
        let mut lines = vec!["{".to_owned()];
        let mut after = Vec::new();
        let (mut in_connectors, mut out_connectors) = (IndexMap::new(), IndexMap::new());
        for used in self.used.values() {
            let (is_in, is_out) = (inputs.contains(&used.data), outputs.contains(&used.data));
            let (ty, name) = (used.ty, &used.name);
            if is_in {
                in_connectors.insert(used.input(), used.connector());
            }
            if is_out {
                out_connectors.insert(used.output(), used.connector());
            }
            if used.shape.is_some() {
                // Not `restrict`: compilers take that to be for the whole function, and other tasklets use the array too.
                let from = if is_out { used.output() } else { used.input() };
                lines.push(format!("{ty} *{name} = ({ty} *){from};"));
            } else {
                let value = if is_in { format!(" = {}", used.input()) } else { String::new() };
                lines.push(format!("{ty} {name}{value};"));
                if is_out {
                    after.push(format!("{} = {name};", used.output()));
                }
            }
        }
        for (before, behind) in &self.own {
            lines.push(before.clone());
            after.extend((!behind.is_empty()).then(|| behind.clone()));
        }
        for (extra, connectors) in [(more.0, &mut in_connectors), (more.1, &mut out_connectors)] {
            for extra in extra {
                let element = text(extra.dtype.clone());
                connectors
                    .insert(extra.connector.clone(), object([("type", text("pointer")), ("dtype", element)]));
            }
        }
        let columns = self.body.lines().filter(|l| !l.trim().is_empty());
        let columns = columns.map(|l| l.len() - l.trim_start().len()).min().unwrap_or(0);
        lines.extend(self.body.lines().map(|l| l.get(columns..).unwrap_or("").to_owned()));
        lines.extend(after);
        lines.push("}".to_owned());
        object([
            ("type", text("Tasklet")),
            ("label", text(self.label.clone())),
            (
                "attributes",
                object([
                    ("code", code(&lines.join("\n"))),
                    ("label", text(self.label.clone())),
                    ("in_connectors", Json::Object(in_connectors)),
                    ("out_connectors", Json::Object(out_connectors)),
                ]),
            ),
            ("id", number(0)),
            ("scope_entry", Json::Null),
            ("scope_exit", Json::Null),
        ])
    }

    /// The words of its text.
    pub(super) fn words(&self) -> BTreeSet<&str> {
        let lines = self.own.iter().map(|(before, _)| before.as_str()).chain([self.body.as_str()]);
        lines.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect()
    }

    /// The name of the state for it.
    pub(super) fn label(&self) -> &str {
        &self.label
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == word)
}

/// A connector that keeps an order.
#[derive(Clone, Debug)]
pub(super) struct Extra {
    pub(super) connector: String,
    pub(super) dtype: String,
}

//! Operations, each a state of its own: maps with tasklets, copies, reductions.

use super::expression::Formula;
use super::{Arrays, CONTAINERS, Point, SIZES, between, pick};
use oxeye_random::SplitMix64;
use std::collections::BTreeMap;

/// An operation.
pub(crate) enum Operation {
    /// `out[…] = formula` for all points, or `out[…]` combined with it.
    Map {
        ranges: Vec<(&'static str, [i64; 3])>,
        inputs: Vec<Element>,
        output: Element,
        combined: Option<&'static str>,
        formula: Formula,
    },
    /// `to[keys[i]] = from[i]` if `scatter`, or `to[i] = from[keys[i]]`
    Indirect { from: &'static str, to: &'static str, is_scatter: bool },
    /// A block of rows and columns to another place.
    Copy { from: &'static str, to: &'static str, rows: [i64; 2], columns: [i64; 2] },
    /// Along the second dimension.
    Reduce { from: &'static str, to: &'static str, how: &'static str },
}

/// An element of a container: of each index, the sum of a variable times its factor, and an offset.
pub(crate) struct Element {
    data: &'static str,
    indices: Vec<(String, i64, Offset)>,
}

/// A number, or the last index less a number.
#[derive(Clone, Copy)]
pub(crate) enum Offset {
    Number(i64),
    FromEnd(&'static str, i64),
}

impl Offset {
    fn value(self) -> i64 {
        match self {
            Offset::Number(value) => value,
            Offset::FromEnd(extent, less) => size(extent) - 1 - less,
        }
    }

    fn text(self) -> String {
        match self {
            Offset::Number(value) => value.to_string(),
            Offset::FromEnd(extent, less) => format!("({extent} - {})", less + 1),
        }
    }
}

fn size(extent: &str) -> i64 {
    SIZES.iter().find(|(name, _)| *name == extent).expect("a symbol").1
}

fn shape(data: &str) -> &'static [&'static str] {
    CONTAINERS.iter().find(|(name, _)| *name == data).expect("a container").1
}

fn position(data: &str, indices: &[i64]) -> usize {
    let mut at = 0;
    for (extent, index) in shape(data).iter().zip(indices) {
        assert!((0..size(extent)).contains(index), "{index} of {extent} in {data}");
        at = at * size(extent) + index;
    }
    at as usize
}

impl Element {
    fn text(&self) -> Vec<String> {
        let one = |(variable, factor, offset): &(String, i64, Offset)| match (variable.as_str(), factor) {
            ("", _) => offset.text(),
            (variable, 1) => format!("{variable} + {}", offset.text()),
            (variable, factor) => format!("{factor}*{variable} + {}", offset.text()),
        };
        self.indices.iter().map(one).collect()
    }

    fn at(&self, symbols: &BTreeMap<String, i64>) -> usize {
        let value = |variable: &str| if variable.is_empty() { 0 } else { symbols[variable] };
        let indices: Vec<i64> =
            self.indices.iter().map(|(v, factor, o)| value(v) * factor + o.value()).collect();
        position(self.data, &indices)
    }
}

const MATRICES: [&str; 4] = ["A", "B", "C", "T"];
const VECTORS: [&str; 3] = ["V", "W", "R"];
const SUM: &str = "(lambda x, y: (x + y))";
const MAX: &str = "(lambda x, y: max(x, y))";

impl Operation {
    /// Ones in all of a container.
    pub(crate) fn fill(name: &'static str) -> Self {
        let ranges: Vec<_> =
            ["i", "j"].into_iter().zip(shape(name)).map(|(v, e)| (v, [0, size(e) - 1, 1])).collect();
        let indices = ranges.iter().map(|(v, _)| ((*v).to_owned(), 1, Offset::Number(0))).collect();
        let output = Element { data: name, indices };
        Operation::Map { ranges, inputs: Vec::new(), output, combined: None, formula: Formula::Number(1.0) }
    }

    pub(crate) fn random(random: &mut SplitMix64, iterators: &[String]) -> Self {
        match random.remainder(8) {
            0 => {
                let (from, to) = apart(random, &MATRICES);
                let (row, column) = (between(random, 0, 1), between(random, 0, 1));
                Operation::Copy { from, to, rows: [row, 1 - row], columns: [column, between(random, 0, 1)] }
            }
            1 => {
                let (from, to) = apart(random, &VECTORS);
                Operation::Indirect { from, to, is_scatter: random.remainder(2) == 0 }
            }
            2 => Operation::Reduce {
                from: pick(random, &MATRICES),
                to: pick(random, &VECTORS),
                how: pick(random, &[SUM, MAX]),
            },
            3 => Self::accumulation(random, iterators),
            _ => Self::map(random, iterators),
        }
    }

    /// Every element of the inner part of a matrix, or of a vector.
    fn map(random: &mut SplitMix64, iterators: &[String]) -> Self {
        let data: &'static str =
            if random.remainder(3) == 0 { pick(random, &VECTORS) } else { pick(random, &MATRICES) };
        let step = pick(random, &[1, 1, 1, 2]);
        let variables = ["i", "j"];
        let ranges: Vec<_> =
            variables.iter().zip(shape(data)).map(|(v, e)| (*v, [1, size(e) - 2, step])).collect();
        let plain = |v: &&str| ((*v).to_owned(), 1, Offset::Number(0));
        let indices = variables[..ranges.len()].iter().map(plain).collect();
        let output = Element { data, indices };
        let n_inputs = between(random, 1, 3);
        let inputs = (0..n_inputs).map(|_| Self::input(random, data, &ranges, iterators)).collect::<Vec<_>>();
        let formula = Self::formula(random, inputs.len(), &ranges, iterators);
        Operation::Map { ranges, inputs, output, combined: None, formula }
    }

    /// Sums or largest values over rows or columns.
    fn accumulation(random: &mut SplitMix64, iterators: &[String]) -> Self {
        let data: &'static str = pick(random, &VECTORS);
        let ranges = vec![("i", [0, size("N") - 1, 1]), ("j", [0, size("M") - 1, 1])];
        let output = Element { data, indices: vec![("i".to_owned(), 1, Offset::Number(0))] };
        let matrix = Element {
            data: pick(random, &MATRICES),
            indices: vec![("i".to_owned(), 1, Offset::Number(0)), ("j".to_owned(), 1, Offset::Number(0))],
        };
        let formula = Self::formula(random, 1, &ranges, iterators);
        Operation::Map {
            ranges,
            inputs: vec![matrix],
            output,
            combined: Some(pick(random, &[SUM, MAX])),
            formula,
        }
    }

    fn formula(
        random: &mut SplitMix64,
        n_inputs: usize,
        ranges: &[(&'static str, [i64; 3])],
        iterators: &[String],
    ) -> Formula {
        let mut symbols: Vec<String> = ranges.iter().map(|(v, _)| (*v).to_owned()).collect();
        symbols.extend(iterators.iter().cloned());
        symbols.push("N".to_owned());
        Formula::random(random, n_inputs, &symbols)
    }

    /// An element that points of these ranges read while each of them writes its own of `written`.
    fn input(
        random: &mut SplitMix64,
        written: &str,
        ranges: &[(&'static str, [i64; 3])],
        iterators: &[String],
    ) -> Element {
        let is_matrix = ranges.len() == 2 && random.remainder(3) > 0;
        let data: &'static str = if is_matrix { pick(random, &MATRICES) } else { pick(random, &VECTORS) };
        if data == written {
            let plain = |(v, _): &(&str, [i64; 3])| ((*v).to_owned(), 1, Offset::Number(0));
            return Element { data, indices: ranges.iter().map(plain).collect() };
        }
        let index = |random: &mut SplitMix64, variable: &str, extent: &'static str| match random.remainder(5)
        {
            // Backwards.
            0 => (variable.to_owned(), -1, Offset::FromEnd(extent, 0)),
            // A row that a loop around it says, all of which are less than 5.
            1 if !iterators.is_empty() => (pick(random, iterators), 1, Offset::Number(0)),
            2 => (String::new(), 1, Offset::FromEnd(extent, 1)),
            _ => (variable.to_owned(), 1, Offset::Number(between(random, -1, 1))),
        };
        let indices =
            ["i", "j"].iter().zip(shape(data)).map(|(v, extent)| index(random, v, extent)).collect();
        Element { data, indices }
    }

    pub(crate) fn run(&self, arrays: &mut Arrays, symbols: &mut BTreeMap<String, i64>) {
        match self {
            Operation::Map { ranges, inputs, output, combined, formula } => {
                let before = arrays.clone();
                let mut points = vec![symbols.clone()];
                for (variable, [first, last, step]) in ranges {
                    let along = |point: BTreeMap<String, i64>| {
                        (*first..=*last).step_by(*step as usize).map(move |at| {
                            let mut point = point.clone();
                            point.insert((*variable).to_owned(), at);
                            point
                        })
                    };
                    points = points.into_iter().flat_map(along).collect();
                }
                for point in points {
                    let inputs: Vec<f64> = inputs.iter().map(|e| before[e.data][e.at(&point)]).collect();
                    let value = formula.value(&Point { inputs: &inputs, symbols: &point });
                    let element = &mut arrays.get_mut(output.data).expect("a container")[output.at(&point)];
                    *element = combine(*combined, *element, value);
                }
            }
            Operation::Indirect { from, to, is_scatter } => {
                for at in 0..arrays["keys"].len() {
                    let key = arrays["keys"][at] as usize;
                    let (read, written) = if *is_scatter { (at, key) } else { (key, at) };
                    let value = arrays[from][read];
                    arrays.get_mut(to).expect("a container")[written] = value;
                }
            }
            Operation::Copy { from, to, rows, columns } => {
                let before = arrays[from].clone();
                for i in 0..size("N") - 1 {
                    for j in 0..size("M") - 1 {
                        let value = before[position(from, &[i + rows[0], j + columns[0]])];
                        let at = position(to, &[i + rows[1], j + columns[1]]);
                        arrays.get_mut(to).expect("a container")[at] = value;
                    }
                }
            }
            Operation::Reduce { from, to, how } => {
                for i in 0..size("N") {
                    let mut value = if *how == SUM { 0.0 } else { -100.0 };
                    for j in 0..size("M") {
                        value = combine(Some(how), value, arrays[from][position(from, &[i, j])]);
                    }
                    arrays.get_mut(to).expect("a container")[i as usize] = value;
                }
            }
        }
    }

    /// Nodes and edges of its state.
    pub(crate) fn state(&self) -> (String, String) {
        let mut state = State::default();
        match self {
            Operation::Map { ranges, inputs, output, combined, formula } => {
                let elements: Vec<(&str, Vec<[String; 2]>)> = inputs
                    .iter()
                    .map(|e| (e.data, e.text().into_iter().map(|t| [t.clone(), t]).collect()))
                    .collect();
                let text = output.text().into_iter().map(|t| [t.clone(), t]).collect();
                let code = format!("out = {}", formula.python());
                state.map(ranges, &elements, (output.data, text, *combined), &code);
            }
            Operation::Indirect { from, to, is_scatter } => {
                let n = || vec![["0".to_owned(), "N - 1".to_owned()]];
                let i = || vec![["i".to_owned(), "i".to_owned()]];
                let ranges = [("i", [0, size("N") - 1, 1])];
                if *is_scatter {
                    state.map(&ranges, &[("keys", i()), (from, i())], (to, n(), None), "out[in_0] = in_1");
                } else {
                    state.map(&ranges, &[("keys", i()), (from, n())], (to, i(), None), "out = in_1[in_0]");
                }
            }
            Operation::Copy { from, to, rows, columns } => {
                let block = |row: i64, column: i64| {
                    vec![
                        [row.to_string(), format!("N - {}", 2 - row)],
                        [column.to_string(), format!("M - {}", 2 - column)],
                    ]
                };
                let (src, dst) = (state.access(from), state.access(to));
                let other = format!(", \"other_subset\": {}", subset(&block(rows[1], columns[1])));
                state.edge((src, None), (dst, None), &memlet(from, &block(rows[0], columns[0]), &other));
            }
            Operation::Reduce { from, to, how } => {
                let identity = if *how == SUM { "0" } else { "-100.0" };
                let (src, dst) = (state.access(from), state.access(to));
                let node = state.node(
                    "LibraryNode",
                    "Reduce",
                    &format!(
                        "\"axes\": [1], \"wcr\": \"{how}\", \"identity\": {identity}, \"name\": \"Reduce\""
                    ),
                    None,
                    ", \"classpath\": \"dace.libraries.standard.nodes.reduce.Reduce\"",
                );
                let all = |extents: &[&str]| {
                    extents.iter().map(|e| ["0".to_owned(), format!("{e} - 1")]).collect::<Vec<_>>()
                };
                state.edge((src, None), (node, None), &memlet(from, &all(&["N", "M"]), ""));
                state.edge((node, None), (dst, None), &memlet(to, &all(&["N"]), ""));
            }
        }
        (format!("[{}]", state.nodes.join(", ")), format!("[{}]", state.edges.join(", ")))
    }
}

fn combine(how: Option<&str>, old: f64, new: f64) -> f64 {
    match how {
        None => new,
        Some(SUM) => old + new,
        Some(_) => old.max(new),
    }
}

/// Two different things.
fn apart(random: &mut SplitMix64, items: &[&'static str]) -> (&'static str, &'static str) {
    let first = random.remainder(items.len() as u64) as usize;
    let second = (first + 1 + random.remainder(items.len() as u64 - 1) as usize) % items.len();
    (items[first], items[second])
}

fn subset(ranges: &[[String; 2]]) -> String {
    let one = |[start, end]: &[String; 2]| {
        format!("{{\"start\": \"{start}\", \"end\": \"{end}\", \"step\": \"1\", \"tile\": \"1\"}}")
    };
    let ranges: Vec<String> = ranges.iter().map(one).collect();
    format!("{{\"type\": \"Range\", \"ranges\": [{}]}}", ranges.join(", "))
}

fn memlet(data: &str, ranges: &[[String; 2]], more: &str) -> String {
    format!(
        "{{\"type\": \"Memlet\", \"attributes\": {{\"volume\": \"1\", \"subset\": {}, \"data\": \"{data}\"{more}}}}}",
        subset(ranges)
    )
}

#[derive(Default)]
struct State {
    nodes: Vec<String>,
    edges: Vec<String>,
}

type End<'a> = (usize, Option<&'a str>);

impl State {
    fn node(&mut self, kind: &str, label: &str, attributes: &str, scope: Option<usize>, more: &str) -> usize {
        let id = self.nodes.len();
        let scope = scope.map_or("null".to_owned(), |s| format!("\"{s}\""));
        self.nodes.push(format!(
            "{{\"type\": \"{kind}\", \"label\": \"{label}\", \"attributes\": {{{attributes}}}, \"id\": {id}, \
             \"scope_entry\": {scope}, \"scope_exit\": null{more}}}"
        ));
        id
    }

    fn access(&mut self, data: &str) -> usize {
        self.node("AccessNode", data, &format!("\"data\": \"{data}\""), None, "")
    }

    fn edge(&mut self, (src, out): End<'_>, (dst, into): End<'_>, memlet: &str) {
        let name = |c: Option<&str>| c.map_or("null".to_owned(), |c| format!("\"{c}\""));
        self.edges.push(format!(
            "{{\"type\": \"MultiConnectorEdge\", \"attributes\": {{\"data\": {memlet}}}, \"src\": \"{src}\", \
             \"dst\": \"{dst}\", \"dst_connector\": {}, \"src_connector\": {}}}",
            name(into),
            name(out)
        ));
    }

    /// A map with a tasklet: its inputs, its output with how that is combined, and its code.
    fn map(
        &mut self,
        ranges: &[(&str, [i64; 3])],
        inputs: &[(&str, Vec<[String; 2]>)],
        (to, written, combined): (&str, Vec<[String; 2]>, Option<&str>),
        code: &str,
    ) {
        // Extents by name, so that sizes stay symbols.
        let extent = |k: usize| if k == 0 { "N" } else { "M" };
        let range = |(k, (_, [first, last, step])): (usize, &(&str, [i64; 3]))| {
            let less = size(extent(k)) - last;
            format!(
                "{{\"start\": \"{first}\", \"end\": \"{} - {less}\", \"step\": \"{step}\", \"tile\": \"1\"}}",
                extent(k)
            )
        };
        let params: Vec<String> = ranges.iter().map(|(v, _)| format!("\"{v}\"")).collect();
        let texts: Vec<String> = ranges.iter().enumerate().map(range).collect();
        let mut names: Vec<&str> = inputs.iter().map(|(data, _)| *data).collect();
        names.sort_unstable();
        names.dedup();
        let connectors = |prefix: &str, names: &[&str]| {
            names.iter().map(|n| format!("\"{prefix}_{n}\": null")).collect::<Vec<_>>().join(", ")
        };
        let entry = self.node(
            "MapEntry",
            "m",
            &format!(
                "\"label\": \"m\", \"params\": [{}], \"range\": {{\"type\": \"Range\", \"ranges\": [{}]}}, \
                 \"in_connectors\": {{{}}}, \"out_connectors\": {{{}}}",
                params.join(", "),
                texts.join(", "),
                connectors("IN", &names),
                connectors("OUT", &names)
            ),
            None,
            "",
        );
        let exit = self.node(
            "MapExit",
            "m",
            &format!("\"in_connectors\": {{\"IN_{to}\": null}}, \"out_connectors\": {{\"OUT_{to}\": null}}"),
            Some(entry),
            "",
        );
        let own: Vec<String> = (0..inputs.len()).map(|k| format!("\"in_{k}\": null")).collect();
        let tasklet = self.node(
            "Tasklet",
            "t",
            &format!(
                "\"code\": {{\"string_data\": \"{code}\", \"language\": \"Python\"}}, \"label\": \"t\", \
                 \"in_connectors\": {{{}}}, \"out_connectors\": {{\"out\": null}}",
                own.join(", ")
            ),
            Some(entry),
            "",
        );
        let all = |data: &str| -> Vec<[String; 2]> {
            shape(data).iter().map(|e| ["0".to_owned(), format!("{e} - 1")]).collect()
        };
        for name in &names {
            let src = self.access(name);
            self.edge((src, None), (entry, Some(&format!("IN_{name}"))), &memlet(name, &all(name), ""));
        }
        for (k, (data, read)) in inputs.iter().enumerate() {
            let (out, into) = (format!("OUT_{data}"), format!("in_{k}"));
            self.edge((entry, Some(&out)), (tasklet, Some(&into)), &memlet(data, read, ""));
        }
        if inputs.is_empty() {
            self.edge((entry, None), (tasklet, None), "{\"type\": \"Memlet\", \"attributes\": {}}");
        }
        let wcr = combined.map_or(String::new(), |wcr| format!(", \"wcr\": \"{wcr}\""));
        self.edge((tasklet, Some("out")), (exit, Some(&format!("IN_{to}"))), &memlet(to, &written, &wcr));
        let dst = self.access(to);
        self.edge((exit, Some(&format!("OUT_{to}"))), (dst, None), &memlet(to, &all(to), &wcr));
    }
}

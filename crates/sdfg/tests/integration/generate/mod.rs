//! Random DaCe programs: the document, and a plain evaluation of what it says that shares nothing with the reader.

mod expression;
mod operation;

use oxeye_random::SplitMix64;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) use expression::Point;
use operation::Operation;

/// Values of the symbols.
pub(crate) const SIZES: [(&str, i64); 2] = [("N", 7), ("M", 5)];

/// Containers with their extents; those of the last line are the program's own.
pub(crate) const CONTAINERS: [(&str, &[&str]); 8] = [
    ("A", &["N", "M"]),
    ("B", &["N", "M"]),
    ("C", &["N", "M"]),
    ("V", &["N"]),
    ("W", &["N"]),
    ("keys", &["N"]),
    ("T", &["N", "M"]),
    ("R", &["N"]),
];

/// Whether a container is made by the program.
pub(crate) fn is_transient(name: &str) -> bool {
    matches!(name, "T" | "R")
}

/// The arrays of a run, row-major.
pub(crate) type Arrays = BTreeMap<&'static str, Vec<f64>>;

/// What runs.
enum Control {
    Operation(Operation),
    /// `for variable in first..limit by step`, down if the step is negative.
    Loop {
        variable: String,
        first: i64,
        limit: i64,
        step: i64,
        body: Vec<Control>,
    },
    /// On a comparison of a symbol with a number.
    Branch {
        symbol: String,
        limit: i64,
        then: Vec<Control>,
        otherwise: Vec<Control>,
    },
}

/// A random program.
pub(crate) struct Generated {
    name: String,
    body: Vec<Control>,
    remarks: Vec<String>,
}

/// One of some things.
pub(crate) fn pick<T: Clone>(random: &mut SplitMix64, items: &[T]) -> T {
    items[random.remainder(items.len() as u64) as usize].clone()
}

/// A whole number in a range.
pub(crate) fn between(random: &mut SplitMix64, low: i64, high: i64) -> i64 {
    low + random.remainder((high - low + 1) as u64) as i64
}

impl Generated {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        // The program's own arrays have values before they are read.
        let first = ["T", "R"].map(|name| Control::Operation(Operation::fill(name)));
        let mut body: Vec<Control> = first.into();
        body.extend(sequence(&mut random, 0, &mut Vec::new()));
        let remarks = (0..3).map(|_| remark(&mut random)).collect();
        Self { name: format!("random_{seed}"), body, remarks }
    }

    /// The arguments, and zeros of the program's own arrays.
    pub(crate) fn arguments(&self) -> Arrays {
        let mut random = SplitMix64::new(1);
        let sizes = BTreeMap::from(SIZES);
        let mut fill = |(name, shape): &(&'static str, &[&str])| {
            let n: i64 = shape.iter().map(|extent| sizes[extent]).product();
            let value = |at: i64| match *name {
                "keys" => (at * 3 % sizes["N"]) as f64,
                name if is_transient(name) => 0.0,
                _ => random.remainder(1000) as f64 / 500.0 - 1.0,
            };
            (*name, (0..n).map(value).collect())
        };
        CONTAINERS.iter().map(&mut fill).collect()
    }

    /// What the program makes of arguments.
    pub(crate) fn run(&self, arrays: &mut Arrays) {
        let mut symbols: BTreeMap<String, i64> = SIZES.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        run(&self.body, arrays, &mut symbols);
    }

    /// The document, with members that nobody knows.
    pub(crate) fn document(&self) -> String {
        let mut graph = ControlGraph::default();
        let start = graph.state("start", "[]", "[]");
        graph.sequence(&self.body, start);
        let arrays: Vec<String> = CONTAINERS.iter().map(|(name, shape)| container(name, shape)).collect();
        let arguments = CONTAINERS.iter().filter(|(name, _)| !is_transient(name));
        let arguments: Vec<String> = arguments.map(|(name, _)| format!("\"{name}\"")).collect();
        let mut symbols = String::from("\"N\": \"int64\", \"M\": \"int64\"");
        for k in 0..graph.n_loops {
            _ = write!(symbols, ", \"t{k}\": \"int64\"");
        }
        format!(
            "{{\"type\": \"SDFG\", \"attributes\": {{\"name\": \"{}\", \"arg_names\": [{}], \"_arrays\": {{{}}}, \
             \"symbols\": {{{symbols}}}, \"made_by\": {}}}, \"nodes\": [{}], \"edges\": [{}], \"collapsed\": {}, \
             \"label\": \"\", \"id\": null, \"cfg_list_id\": 0, \"start_block\": {start}, \"remarks\": {}}}\n",
            self.name,
            arguments.join(", "),
            arrays.join(", "),
            self.remarks[0],
            graph.states.join(", "),
            graph.edges.join(", "),
            self.remarks[1],
            self.remarks[2],
        )
    }
}

/// A value that means nothing to anybody.
fn remark(random: &mut SplitMix64) -> String {
    let simple =
        ["1e+3", "-0.0", "123456789012345678901", "null", "true", "\"\\u00e9 \\\"\\\\\"", "{}", "[]", "1.10"];
    match random.remainder(3) {
        0 => pick(random, &simple).to_owned(),
        1 => format!("[{}, {}]", pick(random, &simple), remark(random)),
        _ => format!("{{\"b\": {}, \"a\": {}}}", pick(random, &simple), remark(random)),
    }
}

fn sequence(random: &mut SplitMix64, depth: usize, iterators: &mut Vec<String>) -> Vec<Control> {
    let n = between(random, 1, 4 - depth as i64);
    (0..n)
        .map(|_| match random.remainder(if depth < 2 { 5 } else { 3 }) {
            3 => {
                let variable = format!("t{}", iterators.len());
                // Each loop has an iterator of its own, also beside others.
                let (first, limit, step) =
                    pick(random, &[(0, 3, 1), (1, 5, 2), (3, -1, -1), (2, 2, 1), (4, 0, -2)]);
                iterators.push(variable.clone());
                let body = sequence(random, depth + 1, iterators);
                iterators.pop();
                Control::Loop { variable, first, limit, step, body }
            }
            4 => {
                let mut known = vec!["N".to_owned(), "M".to_owned()];
                known.extend(iterators.iter().cloned());
                let (symbol, limit) = (pick(random, &known), between(random, 0, 6));
                let then = sequence(random, depth + 1, iterators);
                let is_empty = random.remainder(3) == 0;
                let otherwise = if is_empty { Vec::new() } else { sequence(random, depth + 1, iterators) };
                Control::Branch { symbol, limit, then, otherwise }
            }
            _ => Control::Operation(Operation::random(random, iterators)),
        })
        .collect()
}

fn run(controls: &[Control], arrays: &mut Arrays, symbols: &mut BTreeMap<String, i64>) {
    for control in controls {
        match control {
            Control::Operation(operation) => operation.run(arrays, symbols),
            Control::Loop { variable, first, limit, step, body } => {
                let mut at = *first;
                while if *step > 0 { at < *limit } else { at > *limit } {
                    symbols.insert(variable.clone(), at);
                    run(body, arrays, symbols);
                    at += step;
                }
                symbols.remove(variable);
            }
            Control::Branch { symbol, limit, then, otherwise } => {
                run(if symbols[symbol] < *limit { then } else { otherwise }, arrays, symbols);
            }
        }
    }
}

fn container(name: &str, shape: &[&str]) -> String {
    let list = |items: &[&str]| items.iter().map(|e| format!("\"{e}\"")).collect::<Vec<_>>().join(", ");
    let strides: &[&str] = if shape.len() == 2 { &["M", "1"] } else { &["1"] };
    let dtype = if name == "keys" { "int64" } else { "float64" };
    let transient = if is_transient(name) { "\"transient\": true, " } else { "" };
    format!(
        "\"{name}\": {{\"type\": \"Array\", \"attributes\": {{{transient}\"strides\": [{}], \"total_size\": \"{}\", \
         \"dtype\": \"{dtype}\", \"shape\": [{}]}}}}",
        list(strides),
        shape.join("*"),
        list(shape),
    )
}

/// States and edges as text.
#[derive(Default)]
struct ControlGraph {
    states: Vec<String>,
    edges: Vec<String>,
    n_loops: usize,
}

impl ControlGraph {
    fn state(&mut self, label: &str, nodes: &str, edges: &str) -> usize {
        let id = self.states.len();
        self.states.push(format!(
            "{{\"type\": \"SDFGState\", \"label\": \"{label}_{id}\", \"id\": {id}, \"collapsed\": false, \
             \"nodes\": {nodes}, \"edges\": {edges}, \"attributes\": {{}}}}"
        ));
        id
    }

    fn edge(&mut self, src: usize, dst: usize, attributes: &str) {
        self.edges.push(format!(
            "{{\"type\": \"Edge\", \"attributes\": {{\"data\": {{\"type\": \"InterstateEdge\", \"attributes\": \
             {{{attributes}}}}}}}, \"src\": \"{src}\", \"dst\": \"{dst}\"}}"
        ));
    }

    /// What comes behind a state; returns the last state of it.
    fn sequence(&mut self, controls: &[Control], mut at: usize) -> usize {
        for control in controls {
            at = self.control(control, at);
        }
        at
    }

    fn control(&mut self, control: &Control, at: usize) -> usize {
        let condition =
            |text: &str| format!("\"condition\": {{\"string_data\": \"{text}\", \"language\": \"Python\"}}");
        match control {
            Control::Operation(operation) => {
                let (nodes, edges) = operation.state();
                let state = self.state("s", &nodes, &edges);
                self.edge(at, state, "");
                state
            }
            Control::Loop { variable, first, limit, step, body } => {
                self.n_loops = self.n_loops.max(variable[1..].parse::<usize>().map_or(0, |k| k + 1));
                let (guard, inside) = (self.state("guard", "[]", "[]"), self.state("body", "[]", "[]"));
                self.edge(at, guard, &format!("\"assignments\": {{\"{variable}\": \"{first}\"}}"));
                let test = format!("({variable} {} {limit})", if *step > 0 { "<" } else { ">" });
                self.edge(guard, inside, &condition(&test));
                let last = self.sequence(body, inside);
                self.edge(
                    last,
                    guard,
                    &format!("\"assignments\": {{\"{variable}\": \"({variable} + {step})\"}}"),
                );
                let behind = self.state("behind", "[]", "[]");
                self.edge(guard, behind, &condition(&format!("(not {test})")));
                behind
            }
            Control::Branch { symbol, limit, then, otherwise } => {
                let (yes, no) = (self.state("then", "[]", "[]"), self.state("else", "[]", "[]"));
                let test = format!("({symbol} < {limit})");
                self.edge(at, yes, &condition(&test));
                self.edge(at, no, &condition(&format!("(not {test})")));
                let (yes, no) = (self.sequence(then, yes), self.sequence(otherwise, no));
                let merge = self.state("merge", "[]", "[]");
                self.edge(yes, merge, "");
                self.edge(no, merge, "");
                merge
            }
        }
    }
}

//! Random loops that hand arrays to each other, and tiles for them.

use crate::steps::Overlap;
use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{Loop, LoopId, Nest, Node, Program};

/// Stages, each of which reads arrays of some before it, of shrinking ranges so that most reads meet what was written.
struct Stages<'r> {
    random: &'r mut Random,
    declarations: String,
    nest: String,
    n_arrays: usize,
    n_loops: usize,
    n_stmts: usize,
    live: Vec<String>,
    /// Whether a loop is around all stages.
    is_inside: bool,
}

impl Stages<'_> {
    fn array(&mut self, name: &str, shape: &str, is_local: bool) {
        let storage = if is_local { "local" } else { "param" };
        self.declarations += &format!("array A{} {name}: f64{shape} {storage}\n", self.n_arrays);
        if is_local && self.random.chance(20) {
            self.live.push(name.to_owned());
        }
        self.n_arrays += 1;
    }

    fn open(&mut self, iterator: &str, lower: &str, upper: &str) {
        self.nest += &format!("for L{} {iterator}: i32 in {lower} .. {upper} {{\n", self.n_loops);
        self.n_loops += 1;
    }

    fn stmt(&mut self, text: &str) {
        self.nest += &format!("S{}: {text}\n", self.n_stmts);
        self.n_stmts += 1;
    }

    /// A read of the array of a stage; that of stage 0 is the input.
    fn read(&mut self, stage: usize) -> String {
        let random = &mut *self.random;
        let of = if random.chance(70) { stage - 1 } else { random.below(stage) };
        let (i, j) = (random.between(1, 3), random.between(1, 3));
        match random.below(40) {
            0 => format!("x{of}[j + {i}][i + {j}]"),
            1 => format!("x{of}[i][{j}]"),
            2 => format!("x{of}[{i}][j + {j}]"),
            4 if self.is_inside => format!("x{of}[i + {i}][j + h]"),
            3 if stage > 1 => format!("x{stage}[i + {i}][j + {j}]"),
            5 => format!("r[i + {i}]"),
            _ => format!("x{of}[i + {i}][j + {j}]"),
        }
    }

    /// A read of rows or columns around, by loops of a few iterations, and what ends these loops.
    fn window(&mut self, stage: usize) -> (String, String) {
        let of = if self.random.chance(70) { stage - 1 } else { self.random.below(stage) };
        let mut indices = Vec::new();
        let mut ends = String::new();
        for (outer, inner) in [("i", "k"), ("j", "l")] {
            let lower = self.random.between(-1, 1);
            let upper = lower + self.random.between(0, 2);
            let (step, at) = match self.random.below(8) {
                0 => (" step 2", format!("{outer} + {inner} + 1")),
                1 => (" step -1", format!("{outer} + {inner} + 1")),
                2 => ("", format!("{outer} - {inner} + 2")),
                3 => ("", format!("{outer} + 2*{inner} + 2")),
                4 => {
                    indices.push(format!("{outer} + 1"));
                    continue;
                }
                5 if !ends.is_empty() => ("", "j + k + l + 2".to_owned()),
                _ => ("", format!("{outer} + {inner} + 1")),
            };
            self.open(inner, &lower.to_string(), &format!("{upper}{step}"));
            indices.push(at);
            ends += "}\n";
        }
        (format!("x{of}[{}][{}]", indices[0], indices[1]), ends)
    }

    fn stage(&mut self, k: usize) {
        let is_late = if self.random.chance(15) { 0 } else { 3 };
        let lower = match self.random.below(10) {
            0 if self.is_inside => "h".to_owned(),
            n => (n % 2).to_string(),
        };
        let (upper, right) = (format!("n - {}", is_late * k), format!("m - {}", 3 * k));
        let at = self.random.between(0, 1);
        let target = match self.random.below(30) {
            0 => format!("x{k}[i + {at}][{at}]"),
            1 => format!("x{}[i + {at}][j]", self.random.below(k)),
            _ => format!("x{k}[i + {at}][j + 1]"),
        };
        let (a, b) = (self.read(k), self.read(k));
        self.open("i", &lower, &upper);
        if self.random.chance(15) {
            self.stmt("r[i + 1] = 0.0");
            self.open("j", "1", &right);
            self.stmt(&format!("r[i + 1] += {a}"));
            self.nest += "}\n";
        }
        let has_scratch = self.random.chance(15);
        if has_scratch {
            self.open("j", "0", &format!("{right} + 1"));
            self.stmt(&format!("q[j] = {a}"));
            self.nest += "}\n";
        }
        self.open("j", "0", &right);
        if has_scratch {
            self.stmt(&format!("{target} = q[j] * q[j + 1]"));
            self.nest += "}\n}\n";
            return;
        }
        match self.random.below(8) {
            0 => {
                self.stmt(&format!("{target} = {a}"));
                let (read, ends) = self.window(k);
                self.stmt(&format!("{target} += {read} * 0.5"));
                self.nest += &ends;
            }
            1 => {
                self.stmt(&format!("t = {a}"));
                self.stmt(&format!("{target} = t * {b}"));
            }
            2 => {
                self.stmt(&format!("{target} = {a}"));
                self.nest += &format!("if {b} > 0.5 {{\n");
                self.stmt(&format!("{target} += {b}"));
                self.nest += "}\n";
            }
            3 if self.random.chance(50) => self.stmt(&format!("sum += {a}")),
            4 if self.random.chance(30) => self.stmt(&format!("{target} += {a}")),
            5 => {
                self.stmt(&format!("{target} = {a} + {b}"));
                self.stmt(&format!("z[i][j] = {b}"));
            }
            _ => self.stmt(&format!("{target} = {a} + {b}")),
        }
        self.nest += "}\n}\n";
    }
}

/// A nest of loops that hand arrays to each other.
///
/// # Panics
/// If the text is no program, which is a bug.
pub fn random_stages(random: &mut Random) -> Sample {
    let n_stages = 2 + random.below(3);
    let declarations = String::from("program stages {\nsymbol P0 n: i32\nsymbol P1 m: i32\n");
    let mut stages = Stages {
        random,
        declarations,
        nest: String::new(),
        n_arrays: 0,
        n_loops: 0,
        n_stmts: 0,
        live: Vec::new(),
        is_inside: false,
    };
    stages.is_inside = stages.random.chance(40);
    stages.array("x0", "[n + m + 4][m + n + 4]", false);
    for k in 1..=n_stages {
        let is_local = k < n_stages && stages.random.chance(70);
        stages.array(&format!("x{k}"), "[n + m + 4][m + n + 4]", is_local);
    }
    stages.array("z", "[n + m + 4][m + n + 4]", false);
    let is_local = stages.random.chance(50);
    stages.array("r", "[n + 4]", is_local);
    stages.array("q", "[m + 1]", true);
    stages.array("t", "", true);
    stages.array("sum", "", false);
    if stages.is_inside {
        stages.open("h", "0", "3");
    }
    for k in 1..=n_stages {
        if stages.random.chance(20) {
            stages.stmt("sum = 0.0");
        }
        stages.stage(k);
    }
    if stages.is_inside {
        if stages.random.chance(20) {
            let k = stages.random.below(n_stages + 1);
            stages.stmt(&format!("z[h][0] = x{k}[1][1]"));
        }
        stages.nest += "}\n";
    }
    let live = match stages.live.as_slice() {
        [] => String::new(),
        names => format!(" live_out({})", names.join(", ")),
    };
    let text = format!(
        "{}dataflow {{ N0 }}\nnest N0 in stages{live} {{\n{}}}\n}}",
        stages.declarations, stages.nest
    );
    let program: Program = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let symbols = program.symbols.keys().map(|id| (*id, random.between(0, 17))).collect();
    Sample { program, symbols }
}

/// Overlapped tiles for some of the loops that stand beside each other, of which the nest has two or more.
pub fn random_overlap(nest: &Nest, random: &mut Random) -> Overlap {
    fn beside(nodes: &[Node]) -> Vec<&Loop> {
        let loops = nodes.iter().filter_map(|node| match node {
            Node::Loop(l) => Some(l),
            _ => None,
        });
        let loops: Vec<&Loop> = loops.collect();
        match loops.as_slice() {
            [only] => beside(&only.body),
            _ => loops,
        }
    }
    let loops = beside(&nest.roots);
    let first = random.below(loops.len() - 1);
    let last = first + 1 + random.below(loops.len() - first - 1);
    let inner: Vec<LoopId> = match loops[first].body.as_slice() {
        [Node::Loop(l)] if random.chance(50) => vec![l.id],
        _ => Vec::new(),
    };
    let all = [vec![loops[first].id], inner].concat();
    let sizes = all.iter().map(|_| random.between(1, 5)).collect();
    Overlap { last: loops[last].id, loops: all, sizes }
}

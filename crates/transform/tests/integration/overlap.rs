//! Random loops that hand arrays to each other, in overlapped tiles: the same results, at all sizes.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{LoopId, Node, Program};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Policy, PreparedNest, Recipe, Transformation, steps};

const STRICT: Policy = Policy { reassociate: false, finite: false };

/// Stages, each of which reads arrays of some before it, of shrinking ranges so that most reads meet what was written.
struct Stages<'r> {
    random: &'r mut Random,
    declarations: String,
    nest: String,
    n_arrays: usize,
    n_loops: usize,
    n_stmts: usize,
    live: Vec<String>,
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
            3 if stage > 1 => format!("x{stage}[i + {i}][j + {j}]"),
            4 => format!("r[i + {i}]"),
            _ => format!("x{of}[i + {i}][j + {j}]"),
        }
    }

    fn stage(&mut self, k: usize) {
        let is_late = if self.random.chance(15) { 0 } else { 3 };
        let lower = self.random.below(2);
        let (upper, right) = (format!("n - {}", is_late * k), format!("m - {}", 3 * k));
        let at = self.random.between(0, 1);
        let target = match self.random.below(30) {
            0 => format!("x{k}[i + {at}][{at}]"),
            1 => format!("x{}[i + {at}][j]", self.random.below(k)),
            _ => format!("x{k}[i + {at}][j + 1]"),
        };
        let (a, b) = (self.read(k), self.read(k));
        self.open("i", &lower.to_string(), &upper);
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
                self.open("k", "0", "2");
                self.stmt(&format!("{target} += {b} * 0.5"));
                self.nest += "}\n";
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

/// A nest of several roots, and how many of them are loops.
fn random_stages(random: &mut Random) -> String {
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
    };
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
    for k in 1..=n_stages {
        if stages.random.chance(20) {
            stages.stmt("sum = 0.0");
        }
        stages.stage(k);
    }
    let live = match stages.live.as_slice() {
        [] => String::new(),
        names => format!(" live_out({})", names.join(", ")),
    };
    format!("{}dataflow {{ N0 }}\nnest N0 in stages{live} {{\n{}}}\n}}", stages.declarations, stages.nest)
}

/// Steps that fit the form of the nest.
fn random_step(sample: &Sample, random: &mut Random) -> Transformation {
    let loops = sample.nest().roots.iter().filter_map(|root| match root {
        Node::Loop(l) => Some(l),
        _ => None,
    });
    let loops: Vec<_> = loops.collect();
    let first = random.below(loops.len() - 1);
    let last = first + 1 + random.below(loops.len() - first - 1);
    let inner: Vec<LoopId> = match loops[first].body.as_slice() {
        [Node::Loop(l)] if random.chance(50) => vec![l.id],
        _ => Vec::new(),
    };
    let all = [vec![loops[first].id], inner].concat();
    let sizes = all.iter().map(|_| random.between(1, 5)).collect();
    steps::Overlap { last: loops[last].id, loops: all, sizes }.into()
}

#[test]
fn loops_in_overlapped_tiles_compute_the_same() {
    let (mut n_same, mut n_scheduled, mut n_shared) = (0, 0, 0);
    let mut refused: std::collections::BTreeMap<String, u32> = Default::default();
    for seed in cases(500) {
        let mut random = Random::new(seed);
        let text = random_stages(&mut random);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut symbols: Vec<_> = program.symbols.keys().copied().map(|id| (id, 0)).collect();
        symbols.iter_mut().for_each(|(_, value)| *value = random.between(0, 17));
        let sample = Sample { program, symbols };
        let memory = sample.memory(seed).expect("memory");
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        for _ in 0..3 {
            let first = Recipe { steps: vec![random_step(&sample, &mut random)] };
            let what = format!("seed {seed}");
            match check_with(&sample, &first, STRICT, &memory, 0.0, &what) {
                Outcome::Same => n_same += 1,
                Outcome::Refused(refusal) => {
                    let reason: String = refusal.reason.split('`').step_by(2).collect();
                    *refused.entry(reason).or_default() += 1;
                    continue;
                }
            }
            let rewritten = prepared.rewritten(&first, STRICT).expect("it was applied");
            let inner = rewritten.prepared();
            let tiles = inner.nest().roots.iter().find_map(|root| match root {
                Node::Loop(l) if l.name == "it" => Some(l.id),
                _ => None,
            });
            let share =
                steps::Parallelize { at: tiles.expect("tiles"), sharing: oxeye_ir::WorkSharing::Static };
            let shared = Recipe { steps: [first.steps.clone(), vec![share.into()]].concat() };
            if let Outcome::Same = check_with(&sample, &shared, STRICT, &memory, 0.0, &what) {
                n_shared += 1;
            }
            let more = random_recipe(inner.program(), inner.nest(), STRICT, 2, &mut random);
            let further = Recipe { steps: [first.steps, more.steps].concat() };
            if let Outcome::Same = check_with(&sample, &further, STRICT, &memory, 0.0, &what) {
                n_scheduled += 1;
            }
        }
    }
    println!("{n_same} the same, {n_shared} shared, {n_scheduled} with other steps\nrefused: {refused:#?}");
    assert!(n_same > 300 && n_shared > 200 && n_scheduled > 150, "{n_same}, {n_shared}, {n_scheduled}");
    assert!(refused.values().sum::<u32>() > 100, "{refused:?}");
}

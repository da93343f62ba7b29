//! Random nests: the text computes what the interpreter computes.

use oxeye_binding::Binding;
use oxeye_codegen::{RenderOptions, prelude, render_nest};
use oxeye_ir::interpret::{Memory, Options, Value, run_nest};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{
    Access, ArrayId, BoundTerm, Execution, Form, Loop, Nest, Node, Program, Reduction, ScalarType, Storage,
};
use std::fmt::Write;

/// Accesses under a node, and whether they write.
fn accesses(nodes: &[Node]) -> Vec<(Access, bool)> {
    let nest = Nest::new(oxeye_ir::NestId(0), "", nodes.to_vec());
    nest.accesses().into_iter().map(|(a, w)| (a.clone(), w)).collect()
}

/// Whether the iterations of a loop are plainly independent.
fn is_independent(program: &Program, l: &Loop) -> bool {
    let mut inner = vec![l.id];
    let mut copy = vec![Node::Loop(l.clone())];
    while let Some(node) = copy.pop() {
        if let Node::Loop(l) = &node {
            inner.push(l.id);
        }
        copy.extend(node.bodies().into_iter().flatten().cloned());
    }
    let all = accesses(&l.body);
    all.iter().filter(|(_, write)| *write).all(|(target, _)| {
        if let Storage::Body(place) = program.array(target.array).storage
            && inner.contains(&place)
        {
            return true;
        }
        all.iter().filter(|(a, _)| a.array == target.array).all(|(a, _)| {
            // Some dimension is the iterator plus something constant in the loop, the same for all accesses.
            a.indices.iter().zip(&target.indices).any(|(x, y)| {
                x == y
                    && x.as_affine().is_some_and(|e| {
                        e.coefficient(l.id) != 0 && inner.iter().all(|o| *o == l.id || !e.uses(*o))
                    })
            })
        })
    })
}

/// The only updated element of a loop that merely accumulates.
fn accumulation(l: &Loop) -> Option<Reduction> {
    let [Node::Stmt(s)] = l.body.as_slice() else { return None };
    let alone = accesses(&l.body).iter().filter(|(a, _)| a.array == s.target.array).count() == 2;
    let fixed = s.target.indices.iter().all(|e| e.as_affine().is_some_and(|a| !a.uses(l.id)));
    (alone && fixed && s.update.is_reduction()).then_some(Reduction { array: s.target.array, op: s.update })
}

/// Marks random loops where that changes nothing.
fn mark(program: &Program, nodes: &mut [Node], random: &mut Random, inside: bool) {
    for node in nodes {
        let mut now_inside = inside;
        if let Node::Loop(l) = node {
            let constant = l.lower.as_affine().and_then(|a| a.as_constant()).is_some()
                && l.upper.as_affine().and_then(|a| a.as_constant()).is_some();
            let data =
                l.lower.0.iter().chain(&l.upper.0).any(|t| matches!(t, BoundTerm::Data(_) | BoundTerm::Open));
            let lanes = random.pick(&[None, Some(2), Some(2), Some(4)]);
            if constant && random.chance(35) {
                l.execution = Execution::Unrolled;
            } else if is_independent(program, l) && !data {
                if !inside && random.chance(25) {
                    l.execution = Execution::Parallel {
                        reductions: vec![],
                        sharing: random
                            .pick(&[oxeye_ir::WorkSharing::Static, oxeye_ir::WorkSharing::Dynamic]),
                    };
                } else {
                    l.execution = Execution::Vector { lanes, reductions: vec![] };
                    now_inside = true;
                }
            } else if let Some(reduction) = accumulation(l).filter(|_| !data) {
                l.execution = Execution::Vector { lanes, reductions: vec![reduction] };
            }
        }
        for body in node.bodies_mut() {
            mark(program, body, random, now_inside);
        }
    }
}

fn literal(value: Option<Value>) -> String {
    match value {
        Some(Value::Int(i)) => format!("{i}"),
        Some(v) if v.to_f64().is_finite() => format!("{:e}", v.to_f64()),
        Some(v) if v.to_f64().is_nan() => "(0.0 / 0.0)".to_owned(),
        Some(v) => if v.to_f64() > 0.0 { "(1e300 * 1e300)" } else { "(-1e300 * 1e300)" }.to_owned(),
        None => "0".to_owned(),
    }
}

/// A C function that runs the nest and returns whether the results are as expected.
fn test_function(k: u64, sample: &Sample, before: &Memory, after: &Memory, body: &str) -> String {
    let program = &sample.program;
    let mut text = format!(
        "/*\n{}*/\nstatic int test_{k}(void)\n{{\n    int wrong = 0;\n",
        program.to_string().replace("*/", "* /")
    );
    for (id, value) in &sample.symbols {
        let s = &program.symbols[id];
        let _ = writeln!(text, "    {} {} = {value};", s.ty.c_name(), s.name);
    }
    let values = |memory: &Memory, id: ArrayId| -> Vec<String> {
        memory.buffers.get(&id).map_or(vec![], |b| b.values.iter().map(|v| literal(*v)).collect())
    };
    for (id, buffer) in &before.buffers {
        let a = program.array(*id);
        let ty = a.element.c_name();
        let list = values(before, *id).join(", ");
        if a.shape.is_empty() {
            let _ = writeln!(text, "    {ty} {} = {list};", a.name);
            continue;
        }
        let extents: String = buffer.extents.iter().skip(1).map(|e| format!("[{e}]")).collect();
        let _ = writeln!(text, "    {ty} {}_memory[] = {{{list}}};", a.name);
        if a.form == Form::Linear || buffer.extents.len() == 1 {
            let _ = writeln!(text, "    {ty} *{0} = {0}_memory;", a.name);
        } else {
            let _ = writeln!(text, "    {ty} (*{0}){extents} = (void *){0}_memory;", a.name);
        }
    }
    let _ = writeln!(text, "    {body}");
    for id in before.buffers.keys() {
        let a = program.array(*id);
        let list = values(after, *id);
        let pointer =
            if a.shape.is_empty() { format!("(&{})", a.name) } else { format!("{}_memory", a.name) };
        let _ = writeln!(
            text,
            "    {{ static const {} expected[] = {{{}}}; for (int x = 0; x < {}; x++) wrong |= !same({pointer}[x], expected[x]); }}",
            a.element.c_name(),
            list.join(", "),
            list.len()
        );
    }
    let _ = writeln!(text, "    if (wrong) printf(\"{k} \");\n    return wrong;\n}}\n");
    text
}

fn check(seeds: std::ops::Range<u64>, compiler: &str, flags: &[&str], threads: u32) {
    if !crate::common::has(compiler) {
        return;
    }
    let shapes = [
        Shape::default(),
        Shape { max_stmts: 6, max_depth: 4, ..Shape::default() },
        Shape { element: ScalarType::F32, ..Shape::default() },
        Shape { element: ScalarType::I64, ..Shape::default() },
        Shape { element: ScalarType::I32, has_data_dependence: true, ..Shape::default() },
        Shape { has_data_dependence: true, ..Shape::default() },
    ];
    let mut functions = String::new();
    let mut bodies = Vec::new();
    let mut calls = String::new();
    for seed in seeds.clone() {
        let sample = random_program(seed, &shapes[(seed % 6) as usize]);
        let before = sample.memory(seed).expect("memory");
        let mut after = before.clone();
        if run_nest(&sample.program, sample.nest(), &mut after, Options::default()).is_err() {
            continue;
        }
        let mut nest = sample.nest().clone();
        mark(&sample.program, &mut nest.roots, &mut Random::new(seed), false);
        let declarations_first = seed % 2 == 1;
        let options = RenderOptions {
            reassociate: true,
            threads,
            indent: 4,
            declarations_first,
            ..RenderOptions::default()
        };
        let body = render_nest(&sample.program, Binding::none(), &nest, &options)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        functions += &test_function(seed, &sample, &before, &after, &body);
        let _ = writeln!(calls, "    wrong += test_{seed}();");
        bodies.push(body);
    }
    let n_seeds = seeds.count();
    assert!(bodies.len() * 10 > n_seeds * 9, "only {} of {n_seeds} nests can run", bodies.len());
    let texts: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let source = format!(
        "{}#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n\
         static int same(double a, double b) {{ return (a != a && b != b) || a == b || fabs(a - b) <= 1e-5 * (1 + fabs(b)); }}\n\
         {functions}int main(void)\n{{\n    int wrong = 0;\n{calls}    printf(\"%d\", wrong);\n    return 0;\n}}\n",
        prelude(&texts)
    );
    if let Ok(path) = std::env::var("OXEYE_KEEP_SOURCE") {
        std::fs::write(path, &source).expect("written");
    }
    let mut flags = flags.to_vec();
    flags.extend(["-fwrapv", "-w"]);
    let output = crate::common::run(compiler, &flags, &source)
        .unwrap_or_else(|e| panic!("{}", &e[..e.len().min(4000)]));
    assert_eq!(output, "0", "seeds with wrong results");
}

#[test]
fn random_nests_with_gcc() {
    check(0..90, "gcc", &["-O2", "-fopenmp"], 2);
}

#[test]
fn random_nests_with_clang() {
    check(90..180, "clang-19", &["-O2"], 1);
}

/// Many more seeds; run with `--ignored`.
#[test]
#[ignore = "takes minutes; `cargo xtask soak` looks as far, recipes included"]
fn many_random_nests() {
    for k in 0..20 {
        check(k * 300..k * 300 + 150, "gcc", &["-O1", "-fopenmp"], 2);
        check(k * 300 + 150..k * 300 + 300, "clang-19", &["-O1"], 1);
    }
}

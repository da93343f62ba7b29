use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::omega::{Feasibility, Limit, feasible};
use crate::testing::{Event, Interpreter, Menu, sample};

use crate::*;
use oxeye_ir::Program;

/// The kind of dependence between two events of a run, if they depend on each other.
fn kind_of(src: &Event, dst: &Event) -> Option<DependenceKind> {
    if src.time >= dst.time || src.access.array != dst.access.array || src.element != dst.element {
        return None;
    }
    match (src.role.is_write(), dst.role.is_write()) {
        (true, false) => Some(DependenceKind::Flow),
        (false, true) => Some(DependenceKind::Anti),
        (true, true) => Some(DependenceKind::Output),
        (false, false) => None,
    }
}

fn matches(model: &NestModel, end: Endpoint, event: &Event) -> bool {
    let access = model.stmt(end.stmt).map(|stmt| &stmt.accesses[end.access]);
    end.stmt == event.stmt && access.is_some_and(|a| a.role == event.role && a.source == event.access)
}

/// Whether `pair` has a point with these iterators and symbols.
fn has_point(dependence: &Dependence, src: &[i64], dst: &[i64], symbols: &[i64]) -> bool {
    let mut system = dependence.pairs.system.clone();
    for (var, &value) in src.iter().chain(dst).chain(symbols).enumerate() {
        system.add_eq(&[(var, 1)], -value);
    }
    feasible(&system, Limit::default()) == Feasibility::Feasible
}

/// Every pair of events that depend on each other is in a dependence with a matching direction.
fn check_complete(seed: u64, menu: Menu) -> Result<(), TestCaseError> {
    let sample = sample(seed, menu);
    let model = NestModel::new(&sample.program, &sample.nest);
    let found = model.dependences(usize::MAX).expect("few accesses");
    let run = Interpreter::run(&sample, seed ^ 0x5555);
    let symbols: Vec<i64> = sample.values.values().copied().collect();
    let mut n_checked = 0;
    for (idx, src) in run.events.iter().enumerate() {
        for dst in run.events.iter().skip(idx % 3).step_by(3).filter(|dst| kind_of(src, dst).is_some()) {
            n_checked += 1;
            if n_checked > 150 {
                return Ok(());
            }
            let holder = found.iter().find(|d| {
                Some(d.kind) == kind_of(src, dst)
                    && matches(&model, d.src, src)
                    && matches(&model, d.dst, dst)
                    && has_point(d, &src.instance, &dst.instance, &symbols)
            });
            let Some(holder) = holder else {
                return Err(TestCaseError::fail(format!(
                    "{src:?} -> {dst:?} is missing in {:#?}",
                    sample.nest
                )));
            };
            let src_loops = &model.stmt(src.stmt).expect("a statement of the nest").loops;
            for (depth, direction) in holder.directions.iter().enumerate() {
                let later = (dst.instance[depth] - src.instance[depth]) * src_loops[depth].sign();
                let allowed = match later.signum() {
                    1 => direction.later,
                    0 => direction.same,
                    _ => direction.earlier,
                };
                prop_assert!(allowed, "{holder}: {src:?} -> {dst:?}");
                prop_assert!(direction.distance.is_none_or(|d| d == later), "{holder}: {src:?} -> {dst:?}");
            }
            let level = holder.directions.iter().position(|d| !d.same);
            match holder.level {
                Level::Carried(depth) => prop_assert_eq!(level, Some(depth)),
                Level::Independent => prop_assert_eq!(level, None),
            }
        }
    }
    Ok(())
}

/// Every exact dependence that is feasible for the symbols' values has a pair of events.
fn check_precise(seed: u64) -> Result<(), TestCaseError> {
    let sample = sample(seed, Menu { inexact: false });
    let model = NestModel::new(&sample.program, &sample.nest);
    let run = Interpreter::run(&sample, seed);
    for dependence in model.dependences(usize::MAX).expect("few accesses").into_iter().filter(|d| d.exact) {
        let mut fixed = dependence.clone();
        for (idx, &value) in sample.values.values().enumerate() {
            fixed.pairs.system.add_eq(&[(fixed.pairs.symbol(idx), 1)], -value);
        }
        if feasible(&fixed.pairs.system, Limit::default()) != Feasibility::Feasible {
            continue;
        }
        let (src, dst, _) = fixed.example().expect("a feasible system has a point");
        let is_witness = |a: &Event, b: &Event| {
            a.instance == src
                && b.instance == dst
                && matches(&model, dependence.src, a)
                && matches(&model, dependence.dst, b)
                && kind_of(a, b) == Some(dependence.kind)
        };
        let witnessed = run.events.iter().any(|a| run.events.iter().any(|b| is_witness(a, b)));
        prop_assert!(witnessed, "{dependence} at {src:?} -> {dst:?} does not happen in {:#?}", sample.nest);
    }
    Ok(())
}

/// Every instance that runs is in its domain; exact domains contain no others.
fn check_domains(seed: u64, menu: Menu) -> Result<(), TestCaseError> {
    let sample = sample(seed, menu);
    let model = NestModel::new(&sample.program, &sample.nest);
    let run = Interpreter::run(&sample, seed);
    for stmt in &model.stmts {
        let ran: std::collections::BTreeSet<&[i64]> =
            run.events.iter().filter(|e| e.stmt == stmt.id).map(|e| e.instance.as_slice()).collect();
        let mut fixed = stmt.domain.system.clone();
        for (idx, &value) in sample.values.values().enumerate() {
            fixed.add_eq(&[(stmt.loops.len() + idx, 1)], -value);
        }
        let side = 9_i64;
        let n_loops = stmt.loops.len() as u32;
        for mut code in 0..if n_loops > 2 { side.pow(n_loops) / 3 } else { side.pow(n_loops) } {
            let mut point = Vec::new();
            for _ in 0..n_loops {
                point.push(code % side - 2);
                code /= side;
            }
            let mark = fixed.mark();
            point.iter().enumerate().for_each(|(var, &value)| fixed.add_eq(&[(var, 1)], -value));
            let inside = feasible(&fixed, Limit::default()) == Feasibility::Feasible;
            fixed.rollback(mark);
            let expected = ran.contains(point.as_slice());
            prop_assert!(inside || !expected, "{:?} of {} runs: {:#?}", point, stmt.id, sample.nest);
            prop_assert!(
                !inside || expected || !stmt.domain.exact,
                "{:?} of {} does not run: {:#?}",
                point,
                stmt.id,
                sample.nest
            );
        }
    }
    Ok(())
}

/// Counted executions and footprints equal those of the run.
fn check_counts(seed: u64) -> Result<(), TestCaseError> {
    let sample = sample(seed, Menu { inexact: false });
    let run = Interpreter::run(&sample, seed);
    let value_of = |id| sample.values.get(&id).copied();
    for stmt in sample.nest.stmts() {
        let counted = executions(&sample.nest, stmt.id, &value_of);
        let ran = run.n_instances.get(&stmt.id).copied().unwrap_or(0);
        prop_assert_eq!(
            counted,
            Some(Count { value: ran as f64, exact: true, at_most: false }),
            "{:#?}",
            sample.nest
        );
    }
    let Some(footprints) = footprints(&sample.program, &sample.nest, &value_of) else {
        return Err(TestCaseError::fail(format!("no footprint of {:#?}", sample.nest)));
    };
    for footprint in footprints {
        let distinct = |wanted: &dyn Fn(&Event) -> bool| {
            let events = run.events.iter().filter(|e| e.access.array == footprint.array && wanted(e));
            events.map(|e| &e.element).collect::<std::collections::BTreeSet<_>>().len() as f64
        };
        let counts = [
            (footprint.read, distinct(&|e| !e.role.is_write())),
            (footprint.written, distinct(&|e| e.role.is_write())),
            (footprint.touched, distinct(&|_| true)),
        ];
        for (count, expected) in counts {
            let fits = if count.exact { count.value == expected } else { count.value >= expected };
            prop_assert!(fits, "{:?} but {}: {:#?}", footprint, expected, sample.nest);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn dependences_are_complete(seed in any::<u64>()) {
        check_complete(seed, Menu { inexact: false })?;
    }

    #[test]
    fn dependences_are_complete_when_inexact(seed in any::<u64>()) {
        check_complete(seed, Menu { inexact: true })?;
    }

    #[test]
    fn exact_dependences_happen(seed in any::<u64>()) {
        check_precise(seed)?;
    }

    #[test]
    fn counts_are_right(seed in any::<u64>()) {
        check_counts(seed)?;
    }

    #[test]
    fn domains_are_right(seed in any::<u64>(), inexact in any::<bool>()) {
        check_domains(seed, Menu { inexact })?;
    }
}

/// isl finds members in exactly the candidates that are dependences; the legality check relies on it.
#[test]
fn dependences_agree_with_isl() {
    let mut systems = Vec::new();
    let mut found = Vec::new();
    for seed in 0..150 {
        let sample = sample(seed, Menu { inexact: seed % 2 == 0 });
        let model = NestModel::new(&sample.program, &sample.nest);
        let known: Vec<_> = model
            .relations(usize::MAX)
            .expect("few accesses")
            .into_iter()
            .map(|r| (r.src, r.dst, r.level))
            .collect();
        let mut n_candidates = 0;
        model.candidates(&mut |src, dst, level, pairs| {
            n_candidates += 1;
            // Only some of each nest: there are many.
            if let Some(level) = level
                && (n_candidates + seed) % 2 == 0
            {
                systems.push(pairs.system.clone());
                found.push(known.contains(&(src, dst, level)));
            }
            true
        });
    }
    let Some(empty) = testing::isl_emptiness(&systems) else { return };
    assert!(
        systems.len() > 1000 && found.iter().any(|f| *f) && found.iter().any(|f| !*f),
        "{}",
        systems.len()
    );
    for ((system, is_empty), is_found) in systems.iter().zip(empty).zip(found) {
        assert_eq!(is_found, !is_empty, "{system}");
        let expected = if is_empty { Feasibility::Infeasible } else { Feasibility::Feasible };
        assert_eq!(feasible(system, Limit::default()), expected, "{system}");
    }
}

#[test]
fn each_iteration_has_its_own_copy() {
    use oxeye_ir::{Access, Affine, ArrayId, Expr, LoopId, Node, Stmt, StmtId, Storage, Update};
    let (mut program, mut nest) = triangle();
    let scalar = program.add_array(crate::testing::array("t", Vec::new()));
    let Node::Loop(i) = &mut nest.roots[0] else { panic!("a loop") };
    let stmt = |id, target: Access, value: Access| {
        Node::Stmt(Stmt {
            id: StmtId(id),
            target,
            update: Update::Assign,
            value: Expr::Read(value),
            line: None,
        })
    };
    let b = Access::new(ArrayId(2), [Affine::from(LoopId(0))]);
    i.body = vec![stmt(0, Access::scalar(scalar), b.clone()), stmt(1, b, Access::scalar(scalar))];
    let levels = |program: &oxeye_ir::Program| -> Vec<Level> {
        let found = dependences(program, &nest).expect("few accesses");
        found.iter().filter(|d| d.array == scalar).map(|d| d.level).collect()
    };
    assert!(levels(&program).contains(&Level::Carried(0)));
    program.arrays[&scalar].storage = Storage::Body(LoopId(0));
    assert_eq!(levels(&program), [Level::Independent]);
}

/// `for i in 0..n { for j in 0..=i { c[i][j] += a[j][i] * b[i * 2] } }`
fn triangle() -> (oxeye_ir::Program, oxeye_ir::Nest) {
    use oxeye_ir::*;
    let mut program = Program::new("f");
    let n = program.add_symbol("n", ScalarType::I32);
    program.assumptions.push(Constraint::ge(n.into(), 1.into()));
    let square = || vec![Some(Expr::from(n)), Some(Expr::from(n))];
    let c = program.add_array(crate::testing::array("c", square()));
    let a = program.add_array(crate::testing::array("a", square()));
    let b = program.add_array(crate::testing::array("b", vec![None]));
    let (i, j) = (LoopId(0), LoopId(1));
    let value = Expr::binary(
        BinaryOp::Mul,
        Access::new(a, [Affine::from(j), Affine::from(i)]).into(),
        Access::new(b, [Affine::term(i, 2)]).into(),
    );
    let target = Access::new(c, [Affine::from(i), Affine::from(j)]);
    let stmt = Node::Stmt(Stmt { id: StmtId(0), target, update: Update::Add, value, line: None });
    let make = |id: LoopId, upper: Affine, body| {
        Node::Loop(Loop {
            id,
            name: format!("i{}", id.0),
            ty: ScalarType::I32,
            lower: 0.into(),
            upper: upper.into(),
            step: 1,
            execution: Execution::Sequential,
            body,
        })
    };
    let inner = make(j, Affine::from(i).offset(1), vec![stmt]);
    let roots = vec![make(i, n.into(), vec![inner])];
    let nest = Nest::new(NestId(0), "f", roots);
    (program, nest)
}

#[test]
fn strides_and_operations_of_a_triangle() {
    use oxeye_ir::{LoopId, SymId};
    let (program, nest) = triangle();
    let stmt = nest.stmts()[0];
    let (i, j) = (nest.find_loop(LoopId(0)).expect("i"), nest.find_loop(LoopId(1)).expect("j"));
    let reads = stmt.value.reads();
    let value_of = |_: SymId| Some(2000);
    assert_eq!(stride(&program, &stmt.target, j), Stride::Constant(1));
    assert_eq!(stride(&program, &stmt.target, i).evaluate(&value_of), Some(2000));
    assert_eq!(stride(&program, reads[0], j).evaluate(&value_of), Some(2000));
    assert_eq!(stride(&program, reads[1], i), Stride::Constant(2));
    assert_eq!(stride(&program, reads[1], j), Stride::Constant(0));
    let operations = operations(&program, stmt);
    assert_eq!((operations.float_adds, operations.float_muls, operations.flops()), (1, 1, 2));
    let runs = 2000.0 * 2001.0 / 2.0;
    assert_eq!(
        executions(&nest, stmt.id, &value_of),
        Some(Count { value: runs, exact: true, at_most: false })
    );
    assert_eq!(
        trip_count(&nest, LoopId(1), &value_of),
        Some(Count { value: 1000.5, exact: true, at_most: false })
    );
    let footprints = footprints(&program, &nest, &value_of).expect("bounded");
    let touched: Vec<Count> = footprints.iter().map(|f| f.touched).collect();
    assert_eq!(touched[0], Count { value: runs, exact: true, at_most: false });
    assert_eq!(touched[1], Count { value: runs, exact: true, at_most: false });
    assert_eq!(footprints[0].compulsory_bytes(), 16.0 * runs);
}

#[test]
fn dependences_of_a_triangle_stay_on_the_element() {
    let (program, nest) = triangle();
    // Each element is touched by only one instance.
    assert!(dependences(&program, &nest).is_some_and(|found| found.is_empty()));
}

#[test]
fn working_sets_of_a_matrix_product() {
    let text = "program p {
      symbol P0 n: i32
      array A0 C: f64[n][n] param
      array A1 A: f64[n][n] param
      array A2 B: f64[n][n] param
      dataflow { N0 }
      nest N0 in p {
        for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { for L2 k: i32 in 0 .. n {
          S0: C[i][j] += A[i][k] * B[k][j]
        } } }
      }
    }";
    let program = Program::parse(text).expect("it is well formed");
    let found = level_footprints(&program, &program.nests[0], &|_| Some(10)).expect("it can be counted");
    let touched: Vec<Vec<f64>> =
        found.iter().map(|level| level.arrays.iter().map(|array| array.touched.value).collect()).collect();
    assert_eq!(touched, [[10.0, 10.0, 100.0], [1.0, 10.0, 10.0], [1.0, 1.0, 1.0]]);
    assert!(found.iter().flat_map(|level| &level.arrays).all(|array| array.touched.exact));
    assert_eq!(found.iter().map(|level| level.depth).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(found[0].bytes(), 960.0);
}

#[test]
fn too_many_dependences_are_none() {
    let body: String = (0..40).map(|k| format!("S{k}: x[i] = x[i - 1] + x[i]\n")).collect();
    let text = format!(
        "program p {{
          symbol P0 n: i32
          array A0 x: f64[n] param
          dataflow {{ N0 }}
          nest N0 in p {{ for L0 i: i32 in 1 .. n {{ {body} }} }}
        }}"
    );
    let program = Program::parse(&text).expect("it is well formed");
    let model = NestModel::new(&program, &program.nests[0]);
    let all = model.relations(MOST_DEPENDENCES).expect("40 statements are not too many");
    assert!(all.len() > 1000, "{}", all.len());
    assert!(model.relations(all.len()).is_some());
    assert!(model.relations(all.len() - 1).is_none());
}

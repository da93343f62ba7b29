//! Properties of the textual and the wire form, tested with random programs.

use crate::testing::{Shape, random_program};
use crate::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Two loops of the same name, a symbol and arrays that share names with them, words of the grammar, C expressions.
const CONFUSING: &str = r#"program p {
  symbol P0 n: i32
  symbol P1 i: i64
  symbol P2 "s->k": i32
  symbol P3 A1: i32
  array A0 x: f64[n] param
  array A1 x: i32[n] param
  array A2 max: f32[n][n] param
  array A3 j: f64 param
  array A4 f64: f64 param
  dataflow { N0 }
  nest N0 in f {
    for L0 i: i32 in 0 .. n {
      for L1 i: i32 in 0 .. n {
        for L2 j: i64 in 0 .. n {
          for L3 k: i32 in 0 .. n {
            S0: x.A0[0] = 0
          }
        }
      }
    }
  }
}"#;

fn affine() -> impl Strategy<Value = Affine> {
    let var =
        prop_oneof![(0u32..4).prop_map(|l| Var::Loop(LoopId(l))), (0u32..4).prop_map(|s| Var::Sym(SymId(s)))];
    let coefficient = prop_oneof![Just(1i64), Just(-1), -9i64..9, any::<i32>().prop_map(i64::from)];
    (
        prop::collection::vec((var, coefficient), 0..4),
        prop_oneof![-3i64..10, any::<i32>().prop_map(i64::from)],
    )
        .prop_map(|(terms, constant)| {
            terms.into_iter().fold(Affine::constant(constant), |sum, (var, c)| sum + Affine::term(var, c))
        })
}

fn expr() -> impl Strategy<Value = Expr> {
    let literals = [
        ("0.5", ScalarType::F64),
        ("1.e-3", ScalarType::F64),
        (".25f", ScalarType::F32),
        ("0x1.8p+3", ScalarType::F64),
    ];
    let leaf = prop_oneof![
        affine().prop_map(Expr::Affine),
        prop::sample::select(literals.to_vec()).prop_map(|(text, ty)| Expr::Float { text: text.into(), ty }),
        prop::sample::select(vec![3u32, 4]).prop_map(|a| Expr::Read(Access::scalar(ArrayId(a)))),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        use BinaryOp::*;
        let ops =
            vec![Add, Sub, Mul, Div, Rem, Min, Max, Lt, Le, Gt, Ge, Eq, Ne, And, Or, BitAnd, BitOr, BitXor, Shl, Shr];
        let unary = vec![UnaryOp::Neg, UnaryOp::Not, UnaryOp::BitNot];
        prop_oneof![
            5 => (prop::sample::select(ops), inner.clone(), inner.clone()).prop_map(|(op, l, r)| Expr::binary(op, l, r)),
            1 => (prop::sample::select(unary), inner.clone()).prop_map(|(op, e)| Expr::unary(op, e)),
            1 => (0u32..2, inner.clone()).prop_map(|(a, e)| Expr::Read(Access { array: ArrayId(a), indices: vec![e] })),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(a, b)| Expr::Read(Access { array: ArrayId(2), indices: vec![a, b] })),
            1 => (prop::sample::select(MathFn::TABLE.to_vec()), any::<bool>(), inner.clone(), inner.clone()).prop_map(
                |((function, _, n), single, a, b)| Expr::Call {
                    function,
                    single: single && function.integers().is_none(),
                    args: [a, b].into_iter().cycle().take(n).collect(),
                }
            ),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, t, o)| Expr::Select {
                condition: c.into(),
                then: t.into(),
                otherwise: o.into(),
            }),
            1 => (prop::sample::select(ScalarType::ALL.to_vec()), inner).prop_map(|(ty, e)| Expr::Cast(ty, e.into())),
        ]
    })
}

fn bound() -> impl Strategy<Value = Bound> {
    let term = prop_oneof![
        3 => (affine(), 1i64..5).prop_map(|(expr, divisor)| BoundTerm::Affine { expr, divisor }),
        1 => expr().prop_map(BoundTerm::Data),
    ];
    prop::collection::vec(term, 1..4).prop_map(Bound)
}

fn innermost(nest: &mut Nest) -> &mut Loop {
    fn go(nodes: &mut [Node]) -> &mut Loop {
        let Node::Loop(l) = &mut nodes[0] else { panic!("not a loop") };
        if matches!(l.body[0], Node::Loop(_)) { go(&mut l.body) } else { l }
    }
    go(&mut nest.roots)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_expression_and_bound_round_trips(value in expr(), lower in bound(), upper in bound(), c in affine()) {
        let mut program = Program::parse(CONFUSING).unwrap();
        let nest = &mut program.nests[0];
        let l = innermost(nest);
        (l.lower, l.upper) = (lower, upper);
        let Node::Stmt(s) = &mut l.body[0] else { panic!("not a statement") };
        s.value = value;
        program.assumptions.push(Constraint { expr: c.substitute(&|v| matches!(v, Var::Loop(_)).then(Affine::default)), relation: Relation::NonNegative });
        program.rebuild_dataflow();
        let text = program.to_string();
        let again = Program::parse(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(&again, &program);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn random_programs_round_trip_as_text_and_json(seed: u64, has_data_dependence: bool) {
        let program = random_program(seed, &Shape { has_data_dependence, ..Shape::default() }).program;
        prop_assert_eq!(&Program::parse(&program.to_string()).unwrap(), &program);
        let json = serde_json::to_string(&program).unwrap();
        let again: Program = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&again, &program);
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), json);
    }

    #[test]
    fn parsing_damaged_text_never_panics(seed: u64, cut in 0usize..2000, length in 0usize..40, filler in "[ -~]{0,8}") {
        let mut text = random_program(seed, &Shape::default()).program.to_string();
        let start = cut.min(text.len());
        text.replace_range(start..(start + length).min(text.len()), &filler);
        if let Ok(program) = Program::parse(&text) {
            let _ = verify(&program);
            let _ = to_dot(&program);
        }
    }
}

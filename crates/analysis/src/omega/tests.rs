use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::testing::{Random, isl_emptiness};

/// Constraint terms and constant, and whether it is an equality.
type Constraint = (Vec<i64>, i64, bool);

fn build(n_vars: usize, constraints: &[Constraint]) -> System {
    let mut system = System::new(n_vars);
    for (coeffs, constant, is_eq) in constraints {
        let terms: Vec<_> = coeffs.iter().copied().enumerate().collect();
        if *is_eq {
            system.add_eq(&terms, *constant);
        } else {
            system.add_ge(&terms, *constant);
        }
    }
    system
}

fn bound(system: &mut System, var: usize, low: i64, high: i64) {
    system.add_ge(&[(var, 1)], -low);
    system.add_ge(&[(var, -1)], high);
}

/// Every point of the box `low..=high` in `n_vars` dimensions.
fn points(n_vars: usize, low: i64, high: i64) -> impl Iterator<Item = Vec<i64>> {
    let side = high - low + 1;
    (0..side.pow(n_vars as u32)).map(move |mut code| {
        (0..n_vars)
            .map(|_| {
                let x = low + code % side;
                code /= side;
                x
            })
            .collect()
    })
}

fn verdict(system: &System) -> Feasibility {
    feasible(system, Limit::default())
}

/// Whether the test of `system` against `sum(terms) + constant >= 0` ends within its limit.
fn proved(system: &System, terms: &[(usize, i64)], constant: i64) -> bool {
    let mut system = system.clone();
    system.add_ge(terms, constant);
    verdict(&system) != Feasibility::Unknown
}

fn constraints(n_vars: usize, count: usize) -> impl Strategy<Value = Vec<Constraint>> {
    let one = (prop::collection::vec(-5_i64..=5, n_vars), -12_i64..=12, prop::bool::weighted(0.2));
    prop::collection::vec(one, 0..=count)
}

/// A system over variables in a small box, with the box.
fn boxed_system() -> impl Strategy<Value = (usize, i64, i64, Vec<Constraint>)> {
    (1_usize..=4).prop_flat_map(|n| (Just(n), -4_i64..=0, 0_i64..=4, constraints(n, 6))).prop_map(
        |(n, low, high, rows)| {
            if n == 4 { (n, low.max(-3), high.min(3), rows) } else { (n, low, high, rows) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        rng_seed: RngSeed::Fixed(19),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn feasible_agrees_with_enumeration((n, low, high, rows) in boxed_system()) {
        let mut system = build(n, &rows);
        (0..n).for_each(|var| bound(&mut system, var, low, high));
        let expected = points(n, low, high).any(|point| system.contains(&point));
        let expected = if expected { Feasibility::Feasible } else { Feasibility::Infeasible };
        let found = verdict(&system);
        prop_assert!(found == expected || found == Feasibility::Unknown, "{}: {:?}", system, found);
    }

    #[test]
    fn sample_is_a_point((n, low, high, rows) in boxed_system()) {
        let mut system = build(n, &rows);
        (0..n).for_each(|var| bound(&mut system, var, low, high));
        match sample(&system, Limit::default()) {
            Some(point) => prop_assert!(system.contains(&point), "{} at {:?}", system, point),
            None => prop_assert_ne!(verdict(&system), Feasibility::Feasible),
        }
    }

    #[test]
    fn implication_agrees_with_enumeration(
        (n, low, high, rows) in boxed_system(),
        coeffs in prop::collection::vec(-3_i64..=3, 4),
        constant in -6_i64..=6,
    ) {
        let mut system = build(n, &rows);
        (0..n).for_each(|var| bound(&mut system, var, low, high));
        let terms: Vec<_> = coeffs.iter().copied().enumerate().take(n).collect();
        let row = Row { coeffs: coeffs[..n].to_vec(), constant };
        let inside: Vec<_> = points(n, low, high).filter(|point| system.contains(point)).collect();
        let negative: Vec<_> = terms.iter().map(|&(var, coeff)| (var, -coeff)).collect();
        let above = proved(&system, &negative, -constant - 1);
        let below = proved(&system, &terms, constant - 1);
        let holds = inside.iter().all(|p| row.value_at(p) >= 0);
        prop_assert_eq!(implies_ge(&system, &terms, constant), holds && above);
        let holds = inside.iter().all(|p| row.value_at(p) == 0);
        prop_assert_eq!(implies_eq(&system, &terms, constant), holds && above && below);
    }

    #[test]
    fn projection_contains_every_shadow((n, low, high, rows) in boxed_system(), picked in 0_usize..16) {
        let mut system = build(n, &rows);
        (0..n).for_each(|var| bound(&mut system, var, low, high));
        let vars: Vec<usize> = (0..n).filter(|var| picked >> var & 1 == 1).collect();
        let projected = project_out(&system, &vars);
        prop_assert!(vars.iter().all(|&var| !projected.mentions(var)));
        for point in points(n, low, high).filter(|point| system.contains(point)) {
            prop_assert!(projected.contains(&point), "{} lost {:?} of {}", projected, point, system);
        }
        if project(&system, &vars).exact {
            for point in points(n, low, high).filter(|point| projected.contains(point)) {
                let mut fixed = system.clone();
                for var in (0..n).filter(|var| !vars.contains(var)) {
                    fixed.add_eq(&[(var, 1)], -point[var]);
                }
                prop_assert_eq!(verdict(&fixed), Feasibility::Feasible, "{} gained {:?}", projected, point);
            }
        }
    }

    #[test]
    fn simplification_keeps_the_points((n, low, high, rows) in boxed_system(), context in constraints(4, 3)) {
        let mut system = build(n, &rows);
        (0..n).for_each(|var| bound(&mut system, var, low, high));
        let context: Vec<Constraint> = context.into_iter().map(|(c, k, eq)| (c[..n].to_vec(), k, eq)).collect();
        let context = build(n, &context);
        let simple = simplify(&system, &context);
        prop_assert!(simple.geqs().len() <= system.geqs().len().max(1));
        for point in points(n, low - 1, high + 1).filter(|point| context.contains(point)) {
            prop_assert_eq!(simple.contains(&point), system.contains(&point), "{} at {:?}", simple, point);
        }
    }

    #[test]
    fn large_numbers_never_panic(
        rows in prop::collection::vec(
            (prop::collection::vec(prop_oneof![any::<i64>(), -3_i64..=3], 3), any::<i64>(), any::<bool>()),
            0..6,
        ),
    ) {
        let system = build(3, &rows);
        let limit = Limit { steps: 2_000 };
        if let Some(point) = sample(&system, limit) {
            prop_assert!(system.contains(&point));
        }
        let projected = project_out(&system, &[1]);
        prop_assert!(!projected.mentions(1));
    }
}

/// `low <= a x + b y <= high`.
fn band(system: &mut System, terms: &[(usize, i64)], low: i64, high: i64) {
    let opposite: Vec<_> = terms.iter().map(|&(var, c)| (var, -c)).collect();
    system.add_ge(terms, -low);
    system.add_ge(&opposite, high);
}

#[test]
fn splinters_are_needed() {
    // Pugh's example: the real shadow is not empty, but there is no integer point.
    let mut system = System::new(2);
    band(&mut system, &[(0, 11), (1, 13)], 27, 45);
    band(&mut system, &[(0, 7), (1, -9)], -10, 4);
    assert_eq!(verdict(&system), Feasibility::Infeasible);
    assert_eq!(sample(&system, Limit::default()), None);
}

#[test]
fn the_dark_shadow_decides() {
    // 3 x <= 2 y, 5 x >= 2 z, with a gap wide enough for an integer x.
    let mut system = System::new(3);
    system.add_ge(&[(0, -3), (1, 2)], 0);
    system.add_ge(&[(0, 5), (2, -2)], 0);
    bound(&mut system, 1, 10, 11);
    bound(&mut system, 2, 9, 10);
    assert_eq!(verdict(&system), Feasibility::Feasible);
    let point = sample(&system, Limit::default()).expect("a point exists");
    assert!(system.contains(&point));
}

#[test]
fn divisibility_is_seen() {
    let mut system = System::new(3);
    system.add_eq(&[(0, 6), (1, 10), (2, 15)], -1);
    assert_eq!(verdict(&system), Feasibility::Feasible);
    system.add_eq(&[(0, 1), (1, 1)], 0);
    system.add_eq(&[(2, 1), (1, -2)], 0);
    // 4 b + 30 b = 1
    assert_eq!(verdict(&system), Feasibility::Infeasible);
}

#[test]
fn parameters_are_variables() {
    // 0 <= i < n, 0 <= j < n, i + n <= j has no point for any n.
    let mut system = System::new(3);
    for var in [0, 1] {
        system.add_ge(&[(var, 1)], 0);
        system.add_ge(&[(2, 1), (var, -1)], -1);
    }
    let mark = system.mark();
    system.add_ge(&[(1, 1), (0, -1), (2, -1)], 0);
    assert_eq!(verdict(&system), Feasibility::Infeasible);
    system.rollback(mark);
    assert!(implies_ge(&system, &[(2, 1)], -1));
    assert!(!implies_ge(&system, &[(2, 1)], -2));
    assert_eq!(sample(&system, Limit::default()), Some(vec![0, 0, 1]));
}

#[test]
fn overflow_and_hard_work_are_unknown() {
    let mut system = System::new(2);
    system.add_ge(&[(0, i64::MAX), (1, -(i64::MAX - 1))], -1);
    system.add_ge(&[(0, -(i64::MAX - 2)), (1, i64::MAX - 4)], -7);
    bound(&mut system, 0, 0, i64::MAX);
    bound(&mut system, 1, -i64::MAX, i64::MAX);
    assert_eq!(verdict(&system), Feasibility::Unknown);
    let mut system = System::new(1);
    system.add_eq(&[(0, i64::MAX), (0, 1)], 0);
    assert_eq!(verdict(&system), Feasibility::Unknown);
    let mut system = System::new(2);
    band(&mut system, &[(0, 11), (1, 13)], 27, 45);
    band(&mut system, &[(0, 7), (1, -9)], -10, 4);
    assert_eq!(feasible(&system, Limit { steps: 3 }), Feasibility::Unknown);
}

#[test]
fn projection_of_a_triangle() {
    // 0 <= i < n, 0 <= j <= i: without i, j ranges over 0 <= j < n.
    let mut system = System::new(3);
    system.add_ge(&[(0, 1)], 0);
    system.add_ge(&[(2, 1), (0, -1)], -1);
    system.add_ge(&[(1, 1)], 0);
    system.add_ge(&[(0, 1), (1, -1)], 0);
    let mut projected =
        project_out(&system, &[0]).to_string().split(" and ").map(str::to_owned).collect::<Vec<_>>();
    projected.sort();
    assert_eq!(projected, ["-x1 + x2 - 1 >= 0", "x1 >= 0"]);
}

#[test]
fn displayed_as_isl_reads_it() {
    let mut system = System::new(2);
    system.add_eq(&[(0, 1), (1, -2)], 3);
    system.add_ge(&[(1, -1)], 0);
    assert_eq!(system.to_string(), "x0 - 2*x1 + 3 = 0 and -x1 >= 0");
    assert_eq!(System::new(1).to_string(), "true");
}

fn random_system(random: &mut Random) -> System {
    let n = 2 + random.below(5) as usize;
    let mut system = System::new(n);
    for _ in 0..2 + random.below(2 * n as u64) {
        let terms: Vec<_> =
            (0..n).map(|var| (var, if random.below(2) == 0 { 0 } else { random.within(-9, 9) })).collect();
        let constant = random.within(-40, 40);
        if random.below(5) == 0 {
            system.add_eq(&terms, constant);
        } else {
            system.add_ge(&terms, constant);
        }
    }
    system
}

#[test]
fn agrees_with_isl() {
    let mut random = Random::new(0x05ee_d0fa_11da_1517);
    let systems: Vec<System> = (0..4000).map(|_| random_system(&mut random)).collect();
    let Some(empty) = isl_emptiness(&systems) else { return };
    let (mut n_feasible, mut n_unknown) = (0, 0);
    for (system, is_empty) in systems.iter().zip(empty) {
        n_feasible += usize::from(!is_empty);
        match verdict(system) {
            Feasibility::Unknown => n_unknown += 1,
            answer => assert_eq!(answer == Feasibility::Infeasible, is_empty, "{system}"),
        }
    }
    // Dense coefficients up to 9 are far harder than loop nests.
    assert!(n_unknown < systems.len() / 100, "{n_unknown} are unknown");
    assert!((400..3600).contains(&n_feasible), "{n_feasible} of {} are feasible", systems.len());
}

/// A dependence test of a tiled matrix product: two instances, tile counters and a violated order.
fn tiled_pair() -> System {
    // i j k, i' j' k', tile counters of each, n m p.
    let mut system = System::new(15);
    for side in [0, 3] {
        for dim in 0..3 {
            let (iter, tile, size) = (side + dim, 6 + side + dim, 12 + dim);
            system.add_ge(&[(iter, 1)], 0);
            system.add_ge(&[(size, 1), (iter, -1)], -1);
            system.add_ge(&[(iter, 1), (tile, -32)], 0);
            system.add_ge(&[(tile, 32), (iter, -1)], 31);
        }
    }
    system.add_eq(&[(0, 1), (3, -1)], 0);
    system.add_eq(&[(1, 1), (4, -1)], 0);
    system.add_ge(&[(5, 1), (2, -1)], -1);
    system.add_eq(&[(6, 1), (9, -1)], 0);
    system.add_eq(&[(7, 1), (10, -1)], 0);
    system.add_ge(&[(8, 1), (11, -1)], -1);
    system
}

#[test]
fn tiled_pair_is_legal() {
    assert_eq!(verdict(&tiled_pair()), Feasibility::Infeasible);
}

#[test]
fn hard_work_is_given_up_not_guessed() {
    let rows = [
        (vec![-5, -2, 2, 5], 5, false),
        (vec![5, -3, -1, -1], 0, false),
        (vec![5, 1, -4, -2], -8, false),
        (vec![-1, 1, -2, -3], 6, false),
        (vec![-5, -1, 0, 3], 6, false),
        (vec![3, 1, 4, 1], 0, false),
        (vec![1, -2, 3, 1], -3, false),
    ];
    let mut system = build(4, &rows);
    (0..4).for_each(|var| bound(&mut system, var, -1, 2));
    assert_ne!(feasible(&system, Limit { steps: 1_000 }), Feasibility::Feasible);
    assert_eq!(feasible(&system, Limit { steps: 2_000_000 }), Feasibility::Infeasible);
    assert!(points(4, -1, 2).all(|point| !system.contains(&point)));
}

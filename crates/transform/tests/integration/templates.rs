//! Templates on nests they were not made for: the recipes are legal and compute the same.

use crate::common::{Outcome, cases, check_with, forget_scalars, kernels, whole_numbers};
use oxeye_ir::ScalarType;
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_transform::templates::{Instantiator, Template, panel};
use oxeye_transform::testing::random_product;
use oxeye_transform::{Machine, Policy, Recipe, suggest};

/// Caches small enough that small problem sizes have full and partial tiles.
const TINY: Machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 16 << 10, threads: 2, vector_bytes: 32 };
const REAL: Machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 64 };

/// A random nest under a policy for which every legal order gives exactly the same result.
fn sample(seed: u64, random: &mut Random) -> (Sample, Policy) {
    let integers = Shape { element: ScalarType::I64, ..Shape::default() };
    let plain = Shape { has_guards: false, has_combined_bounds: false, has_steps: false, ..integers.clone() };
    let (mut sample, reassociate) = match seed % 5 {
        0 | 1 => (random_product(random).0, random.chance(60)),
        2 => (random_program(seed, &Shape::default()), false),
        3 => (random_program(seed, &Shape { max_depth: 4, max_stmts: 3, ..integers }), true),
        _ => (random_program(seed, &plain), true),
    };
    if random.chance(60) {
        forget_scalars(&mut sample);
    }
    (sample, Policy { reassociate, finite: false })
}

#[test]
fn random_templates_on_random_nests() {
    let (mut n_fitting, mut n_unfit) = (0, 0);
    for seed in cases(60) {
        let mut random = Random::new(seed);
        let (sample, policy) = sample(seed, &mut random);
        let mut memory = sample.memory(seed).unwrap();
        if policy.reassociate {
            whole_numbers(&mut memory, seed);
        }
        let mut instantiator = Instantiator::new(&sample.program, sample.nest(), &TINY, policy);
        for _ in 0..8 {
            let mut template = random.pick(panel());
            for _ in 0..random.below(4) {
                template = template.mutate(&mut |n| random.below(n));
            }
            let recipe = match instantiator.instantiate(&template) {
                Ok(recipe) => recipe,
                Err(reason) => {
                    assert!(!reason.to_string().is_empty());
                    n_unfit += 1;
                    continue;
                }
            };
            let tolerance = if policy.reassociate { 1e-12 } else { 0.0 };
            let what = format!("seed {seed}, `{template}`");
            match check_with(&sample, &recipe, policy, &memory, tolerance, &what) {
                Outcome::Same => n_fitting += 1,
                Outcome::Refused(refusal) => panic!("{what}: {recipe} is refused: {refusal}"),
            }
        }
    }
    println!("{n_fitting} fitting, {n_unfit} unfit");
    assert!(n_fitting > n_unfit / 2, "{n_fitting} fitting, {n_unfit} unfit");
}

#[test]
fn every_template_of_the_panel_fits_some_kernel() {
    let policy = Policy { reassociate: true, finite: false };
    let mut fits = vec![Vec::new(); panel().len()];
    for (name, program) in kernels() {
        let mut instantiator = Instantiator::new(&program, &program.nests[0], &REAL, policy);
        let mut distinct: Vec<Recipe> = Vec::new();
        for (template, fits) in panel().iter().zip(&mut fits) {
            if let Ok(recipe) = instantiator.instantiate(template) {
                fits.push(name.clone());
                if !distinct.contains(&recipe) {
                    distinct.push(recipe);
                }
            }
        }
        assert!(distinct.len() >= 4, "{name}: only {} different recipes", distinct.len());
    }
    for (template, fits) in panel().iter().zip(&fits) {
        println!("{template}: {}", fits.join(" "));
        assert!(!fits.is_empty(), "`{template}` fits no kernel");
    }
}

/// A stored template gives the same recipe in the next run, and only the nest and the machine matter.
#[test]
fn suggestions_are_instances_of_their_templates() {
    let policy = Policy { reassociate: true, finite: false };
    for (name, program) in kernels() {
        if !["gemm", "lu", "jacobi_2d", "floyd_warshall"].contains(&name.as_str()) {
            continue;
        }
        let nest = &program.nests[0];
        for suggestion in suggest(&program, nest, &REAL, policy).recipes {
            let kept: Template = suggestion.template.to_string().parse().unwrap();
            assert_eq!(kept.instantiate(&program, nest, &REAL, policy), Ok(suggestion.recipe), "{kept}");
            assert_eq!(kept.title(), suggestion.name);
        }
    }
}

#[test]
fn sizes_follow_the_machine() {
    let (_, program) = kernels().into_iter().find(|(name, _)| name == "gemm").unwrap();
    let nest = &program.nests[0];
    let recipe = |text: &str, machine: &Machine| {
        let template: Template = text.parse().unwrap();
        template
            .instantiate(&program, nest, machine, Policy { reassociate: true, finite: false })
            .map(|r| r.to_string())
            .map_err(|unfit| unfit.to_string())
    };
    // Three square tiles: 3 * 8 * 128 * 128 bytes are less than half of 1 MiB, 3 * 8 * 192 * 192 are more.
    let tiled = "order:0 memory distributed tile:l2/2 one-thread scalar";
    assert!(recipe(tiled, &REAL).unwrap().ends_with("L6:128 L7:128 L8:128"), "{:?}", recipe(tiled, &REAL));
    assert!(recipe(tiled, &TINY).unwrap().ends_with("L6:8 L7:8 L8:8"), "{:?}", recipe(tiled, &TINY));
    let contracted = "contract one-thread scalar";
    assert!(recipe(contracted, &REAL).unwrap().contains("register 6x32 lanes 8 block 96x2048x256"));
    assert!(recipe(contracted, &TINY).unwrap().contains("register 4x12 lanes 4"));
    assert!(!recipe(contracted, &REAL).unwrap().contains("parallel"));
}

#[test]
fn beside_strips_other_loops_are_shared_as_they_are() {
    let both = "program p {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 x: f64[n] param
  array A2 y: f64[n] param
  array A3 u: f64[n] param
  array A4 v: f64[n] param
  dataflow { N0 }
  nest N0 in p {
    for L0 j: i32 in 0 .. n {
      for L1 i: i32 in 0 .. n {
        S0: x[i] = x[i] + a[i][j] * u[j]
        S1: y[j] = y[j] + a[i][j] * v[i]
      }
    }
  }
}
";
    let program = oxeye_ir::Program::parse(both).unwrap();
    let template: Template = "order:0 memory distributed strips:256 simd".parse().unwrap();
    let recipe =
        template.instantiate(&program, &program.nests[0], &REAL, Policy { reassociate: true, finite: false });
    let recipe = recipe.unwrap().to_string();
    // One row of `a` after the other: sums of `x` by rows, sums of `y` in strips of columns.
    assert_eq!(recipe.matches("parallelize").count(), 2, "{recipe}");
    assert_eq!(recipe.matches(":256").count(), 1, "{recipe}");
}

#[test]
fn what_does_not_fit_is_said() {
    let (_, gemm) = kernels().into_iter().find(|(name, _)| name == "gemm").unwrap();
    let (_, sweep) = kernels().into_iter().find(|(name, _)| name == "jacobi_2d").unwrap();
    let reason = |program: &oxeye_ir::Program, text: &str, threads: u32| {
        let template: Template = text.parse().unwrap();
        let machine = Machine { threads, ..REAL };
        template
            .instantiate(program, &program.nests[0], &machine, Policy { reassociate: false, finite: false })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(reason(&gemm, "source threads", 1), "there is only one thread");
    assert_eq!(reason(&gemm, "crossings", 2), "no inner iterator meets an outer one");
    assert_eq!(reason(&gemm, "regions", 2), "no condition in an innermost loop changes at a known iteration");
    assert_eq!(
        reason(&gemm, "time-tiles:4x8", 2),
        "the nest is not a time loop around sweeps that depend on earlier ones"
    );
    assert_eq!(reason(&sweep, "contract", 2), "no statement sums up products over three loops");
    assert_eq!(reason(&gemm, "order:9 memory fused one-thread", 2), "there is no such legal loop order");
    assert!(reason(&gemm, "contract registers:99x1", 2).contains("a register tile of 99x8 is not possible"));
}

#[test]
fn absorbing_layers_are_cut_from_the_interior() {
    let layers = "program p {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 u: f64[n][m] param
  array A1 v: f64[n][m] param
  array A2 a: f64[n] param
  array A3 b: f64[m] param
  array A4 sum: f64 body(L1)
  dataflow { N0 }
  nest N0 in p {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. m {
        S0: sum = u[i][j]
        if i < 5 || i >= n - 5 {
          S1: sum = sum * a[i]
        }
        if j < 5 || j >= m - 5 {
          S2: sum = sum * b[j]
        }
        S3: v[i][j] = sum
      }
    }
  }
}
";
    let program = oxeye_ir::Program::parse(layers).unwrap();
    let template: Template = "regions one-thread simd".parse().unwrap();
    let policy = Policy { reassociate: false, finite: false };
    let recipe = template.instantiate(&program, &program.nests[0], &REAL, policy).unwrap();
    assert_eq!(recipe.to_string().matches("split").count(), 2, "{recipe}");
    let applied = oxeye_transform::apply(&program, &program.nests[0], &recipe, policy).unwrap();
    let text = crate::common::replaced(&applied).to_string();
    // The columns before, in and behind the interior, each for two cases of rows; nothing is tested in these loops.
    assert_eq!(text.matches("for ").count(), 1 + 2 * 3, "{text}");
    assert_eq!(text.matches("if i < 5 || i >= n - 5 {").count(), 3, "{text}");
    assert_eq!(text.matches("if ").count(), 3, "{text}");
    assert_eq!(text.matches("b[j]").count(), 2 * 2, "{text}");
    // The scalar stays one in each of them.
    assert!(!text.contains("sum: f64["), "{text}");
    assert!(text.matches("sum").count() > 3 && text.contains(": f64 temp("), "{text}");
    // Layers that meet, cover everything, or leave an interior.
    for (n, m) in [(4, 7), (9, 10), (13, 23), (1, 30)] {
        let symbols = program.symbols.keys().copied().zip([n, m]).collect();
        let sample = Sample { program: program.clone(), symbols };
        let memory = sample.memory(7).unwrap();
        let what = format!("{n} x {m}");
        assert!(matches!(check_with(&sample, &recipe, policy, &memory, 0.0, &what), Outcome::Same), "{what}");
    }
}

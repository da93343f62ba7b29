//! Recipes as text and JSON: round trips, stable bytes of old files, and error messages.

use oxeye_ir::Program;
use oxeye_transform::testing::random_arguments;
use oxeye_transform::{Policy, Recipe, RefusalKind, TRANSFORMATIONS, Transformation, WrittenRecipe, apply};
use proptest::prelude::*;

/// Every transformation, as text and as JSON. Files contain these forms, so they never change.
const FORMS: &[(&str, &str)] = &[
    ("normalize", r#"{"step":"normalize"}"#),
    (
        "reorder S0[0 2*L0-L1+P0-3 1] S1[] S2[0 reverse +0 0 -7 0]",
        r#"{"step":"reorder","schedules":[{"stmt":0,"dimensions":[{"at":0},{"by":{"expr":{"terms":[[{"Loop":0},2],[{"Loop":1},-1],[{"Sym":0},1]],"constant":-3},"reverse":false}},{"at":1}]},{"stmt":1,"dimensions":[]},{"stmt":2,"dimensions":[{"at":0},{"by":{"expr":{"terms":[],"constant":0},"reverse":true}},{"at":0},{"by":{"expr":{"terms":[],"constant":-7},"reverse":false}},{"at":0}]}]}"#,
    ),
    ("distribute L0", r#"{"step":"distribute","at":0,"before":null}"#),
    ("distribute L0 before 2", r#"{"step":"distribute","at":0,"before":2}"#),
    ("interchange L0 L1", r#"{"step":"interchange","outer":0,"inner":1}"#),
    ("fuse L1 L4 shift -2", r#"{"step":"fuse","first":1,"second":4,"shift":-2}"#),
    ("skew L1 by -2*L0", r#"{"step":"skew","inner":1,"outer":0,"factor":-2}"#),
    ("reverse L3", r#"{"step":"reverse","at":3}"#),
    ("tile L0:8 L1:512", r#"{"step":"tile","loops":[0,1],"sizes":[8,512]}"#),
    ("split L2 at -L0+1", r#"{"step":"split","at":2,"point":{"terms":[[{"Loop":0},-1]],"constant":1}}"#),
    ("split L2 at 5", r#"{"step":"split","at":2,"point":{"terms":[],"constant":5}}"#),
    ("parallelize L0", r#"{"step":"parallelize","at":0,"distribution":"Static"}"#),
    ("parallelize L0 dynamic", r#"{"step":"parallelize","at":0,"distribution":"Dynamic"}"#),
    ("specialise A3 to 0.31", r#"{"step":"specialise","array":3,"value":"0.31"}"#),
    ("specialise A0 to -4", r#"{"step":"specialise","array":0,"value":"-4"}"#),
    ("split_zeros L1 of A2", r#"{"step":"split_zeros","at":1,"array":2}"#),
    ("guard_zeros A1", r#"{"step":"guard_zeros","array":1}"#),
    ("compact_zeros L1 of A1", r#"{"step":"compact_zeros","at":1,"array":1}"#),
    ("drop_store S2", r#"{"step":"drop_store","stmt":2}"#),
    ("factorize S0 over L2", r#"{"step":"factorize","stmt":0,"loop":2}"#),
    ("share_sums S0 over L3", r#"{"step":"share_sums","stmt":0,"loop":3}"#),
    ("hoist", r#"{"step":"hoist"}"#),
    ("privatize L0", r#"{"step":"privatize","at":0}"#),
    ("overlap until L4 tiles L0:16 L1:128", r#"{"step":"overlap","last":4,"loops":[0,1],"sizes":[16,128]}"#),
    ("vectorize L1", r#"{"step":"vectorize","at":1}"#),
    ("batch L1 of 64", r#"{"step":"batch","at":1,"size":64}"#),
    ("unroll L1 by 4", r#"{"step":"unroll","at":1,"factor":4}"#),
    ("unroll_and_jam L0 by 2", r#"{"step":"unroll_and_jam","at":0,"factor":2}"#),
    (
        "contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8x3",
        r#"{"step":"contract","stmt":0,"row":0,"column":1,"depth":2,"blocks":{"mr":2,"nr":8,"lanes":4,"mc":4,"nc":8,"kc":3},"parallel":null}"#,
    ),
    (
        "contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 8 block 4x8x3 parallel",
        r#"{"step":"contract","stmt":0,"row":0,"column":1,"depth":2,"blocks":{"mr":2,"nr":8,"lanes":8,"mc":4,"nc":8,"kc":3},"parallel":"Static"}"#,
    ),
    (
        "contract S1 rows L0 columns L1 depth L2 register 2x8 lanes 2 block 4x8x3 parallel dynamic",
        r#"{"step":"contract","stmt":1,"row":0,"column":1,"depth":2,"blocks":{"mr":2,"nr":8,"lanes":2,"mc":4,"nc":8,"kc":3},"parallel":"Dynamic"}"#,
    ),
    (
        "contract S0 rows L0 columns L1,L2 depth L3,L4,L5 register 2x8 lanes 4 block 4x8x27 rows first",
        r#"{"step":"contract","stmt":0,"row":0,"column":[1,2],"depth":[3,4,5],"blocks":{"mr":2,"nr":8,"lanes":4,"mc":4,"nc":8,"kc":27,"rows_first":true},"parallel":null}"#,
    ),
];

#[test]
fn text_and_json_are_what_they_always_were() {
    for (text, json) in FORMS {
        let step: Transformation = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(step.to_string(), *text);
        assert_eq!(serde_json::to_string(&step).unwrap(), *json);
        assert_eq!(serde_json::from_str::<Transformation>(json).unwrap(), step);
    }
    for info in TRANSFORMATIONS {
        assert!(FORMS.iter().any(|(text, _)| text.split(' ').next() == Some(info.name)), "{}", info.name);
    }
    let all: Vec<&str> = FORMS.iter().map(|(text, _)| *text).collect();
    let recipe: Recipe = all.join("; ").parse().unwrap();
    assert_eq!(recipe.to_string(), all.join("; "));
    assert_eq!("".parse(), Ok(Recipe::default()));
}

proptest! {
    #[test]
    fn every_step_comes_back_from_text_and_json(seed: u64, which in 0..TRANSFORMATIONS.len()) {
        let info = &TRANSFORMATIONS[which];
        let step = random_arguments(info, &mut oxeye_ir::testing::Random::new(seed));
        prop_assert_eq!(step.name(), info.name);
        prop_assert_eq!(&step.to_string().parse::<Transformation>().unwrap(), &step);
        let json = serde_json::to_value(&step).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Transformation>(json.clone()).unwrap(), &step);
        let keys: Vec<&str> = info.parameters.iter().map(|p| p.name).chain(["step"]).collect();
        prop_assert!(json.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())));
        // As part of a written recipe, and with the names that are accepted only when reading.
        let written: WrittenRecipe = serde_json::from_value(serde_json::json!([step.to_string()])).unwrap();
        prop_assert_eq!(serde_json::to_value(&written).unwrap(), serde_json::json!([json.clone()]));
        if let Some(alias) = info.alias {
            let mut renamed = json;
            renamed["step"] = alias.into();
            prop_assert_eq!(&serde_json::from_value::<Transformation>(renamed).unwrap(), &step);
            let text = step.to_string().replacen(info.name, alias, 1);
            prop_assert_eq!(text.parse::<Transformation>().unwrap(), step);
        }
    }
}

#[test]
fn new_words_are_read() {
    for (new, old) in [
        ("fission L0 before 2", "distribute L0 before 2"),
        ("index_set_split L0 at 5", "split L0 at 5"),
        ("parallelize L0 static", "parallelize L0"),
        (
            "packed_contraction S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8x3",
            "contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8x3",
        ),
    ] {
        assert_eq!(new.parse::<Transformation>().map(|step| step.to_string()), Ok(old.into()), "{new}");
    }
    let json = r#"{"step":"parallelize","at":0,"sharing":"dynamic"}"#;
    assert_eq!(serde_json::from_str::<Transformation>(json).unwrap().to_string(), "parallelize L0 dynamic");
}

#[test]
fn what_cannot_be_read_is_named() {
    let reason = |text: &str| text.parse::<Recipe>().unwrap_err().to_string();
    for (text, wanted) in [
        ("tilt L0:4", "`tilt L0:4` is not a step of a recipe: there is no transformation `tilt`"),
        ("reverse", "argument 1, `at`: a loop is missing"),
        ("reverse L0; ", "the name of a transformation is missing"),
        ("interchange L0 S1", "argument 2, `inner`: `S1` is not a loop"),
        ("interchange L0 j", "`j` is not a loop"),
        ("fuse L0 L1 2", "`shift` is missing before `2`"),
        ("tile L0:four", "argument 2, `sizes`: `four` is not a number that fits here"),
        ("tile L0", "`L0` is not a loop and a number of iterations"),
        ("split L0 at L1+", "`L1+` is not an affine expression"),
        ("vectorize L0 now", "`now` is left over"),
        ("normalize L0", "`L0` is left over"),
        ("reorder S0[0", "`]` is missing after a schedule"),
        ("reorder S0[99999999999999999999 L0 0]", "is not a number that fits here"),
        ("contract S0 rows L0 columns L1 depth L2 register 2x8 lanes 4 block 4x8", "of a block"),
    ] {
        assert!(reason(text).contains(wanted), "{text}: {}", reason(text));
    }
    let reason = |json: &str| serde_json::from_str::<Transformation>(json).unwrap_err().to_string();
    for (json, wanted) in [
        (r#"{"step":"tilt"}"#, "there is no transformation `tilt`"),
        (r#"{"at":1}"#, "`step`, the name of a transformation, is missing"),
        (r#"{"step":"tile","loops":[0]}"#, "argument 2, `sizes`: a number of iterations is missing"),
        (r#"{"step":"reverse","at":"i"}"#, "argument 1, `at`: `i` is not a loop"),
        (r#"{"step":"reverse","at":-1}"#, "argument 1, `at`: -1 is not a loop"),
        (r#"{"step":"reverse","at":1,"by":2}"#, "reverse has no parameter `by`; it has: at"),
    ] {
        assert!(reason(json).contains(wanted), "{json}: {}", reason(json));
    }
}

const TWO: &str = "program two {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n][n] param
  dataflow { N0 }
  nest N0 in two {
    for L0 t: i32 in 0 .. 4 {
      for L1 i: i32 in 0 .. n {
        for L2 j: i32 in 0 .. n { S0: a[i][j] = 2.0 }
      }
      for L3 i: i32 in 0 .. n {
        for L4 k: i32 in 0 .. n { S1: b[i][k] = 3.0 }
      }
    }
  }
}";

fn resolved(recipe: &str) -> Result<String, oxeye_transform::Refusal> {
    let program: Program = TWO.parse().unwrap();
    let recipe: WrittenRecipe = recipe.parse().unwrap();
    let policy = Policy::default();
    let recipe = recipe.resolve(&program, &program.nests[0], policy)?;
    apply(&program, &program.nests[0], &recipe, policy)?;
    Ok(recipe.to_string())
}

#[test]
fn loops_go_by_their_names_in_the_source() {
    assert_eq!(resolved("vectorize j; vectorize k").unwrap(), "vectorize L2; vectorize L4");
    // Names refer to the loops at their step: `it` and `jt` are made by the tiling, `i` is one loop after the fusion.
    assert_eq!(
        resolved("tile i#1:8 j:16; parallelize it; reverse jt").unwrap(),
        "tile L1:8 L2:16; parallelize L5; reverse L6"
    );
    assert_eq!(
        resolved("fuse i#1 i#2 shift 0; split i at n-2; reverse i#1").unwrap(),
        "fuse L1 L3 shift 0; split L1 at P0-2; reverse L1"
    );
}

#[test]
fn names_hold_after_steps_that_renumber() {
    let reordered = "reorder S0[0 t 0 j 0 i#1 0] S1[0 t 1 i#2 0 k 0]; vectorize i#1; vectorize k";
    let found = resolved(reordered).unwrap();
    assert!(found.starts_with("reorder S0[0 L0 0 L2 0 L1 0] S1[0 L0 1 L3 0 L4 0]; vectorize L"), "{found}");
    let json = serde_json::json!([
        {"step": "reorder", "schedules": ["S0[0 t 0 j 0 i#1 0]", "S1[0 t 1 i#2 0 k 0]"]},
        {"step": "skew", "inner": "j", "outer": "t", "factor": 1},
    ]);
    let written: WrittenRecipe = serde_json::from_value(json).unwrap();
    let again: WrittenRecipe = serde_json::from_value(serde_json::to_value(&written).unwrap()).unwrap();
    assert_eq!(again, written);
    assert_eq!(written.to_string(), "reorder S0[0 t 0 j 0 i#1 0] S1[0 t 1 i#2 0 k 0]; skew j by 1*t");
}

#[test]
fn names_that_mean_nothing_or_too_much_are_refused() {
    let refusal = |recipe: &str| resolved(recipe).unwrap_err();
    let missing = refusal("vectorize q");
    assert_eq!(missing.kind, RefusalKind::NoSuchLoop);
    assert_eq!(
        missing.to_string(),
        "vectorize q: there is no loop `q`; loops here are t (L0), i (L1), j (L2), i (L3), k (L4)"
    );
    let several = refusal("reverse i");
    assert_eq!(several.kind, RefusalKind::AmbiguousName);
    assert_eq!(several.to_string(), "reverse i: 2 loops are called `i`: i#1 (L1), i#2 (L3)");
    let third = refusal("vectorize j; reverse i#3");
    assert_eq!((third.step, third.kind), (1, RefusalKind::NoSuchLoop));
    assert_eq!(third.reason, "there is no loop `i#3`, only i#1 (L1), i#2 (L3)");
}

#[test]
fn wrong_arguments_are_worded_once() {
    let program: Program = TWO.parse().unwrap();
    for (json, kind, wanted) in [
        (
            r#"{"step":"tile","loops":[1,2],"sizes":[8,8,8]}"#,
            RefusalKind::BadArgument { argument: "sizes".into() },
            "argument 2, `sizes`: one size a loop; loops i, j; got 3",
        ),
        (
            r#"{"step":"tile","loops":[1,4],"sizes":[8,8]}"#,
            RefusalKind::NotPerfectlyNested,
            "argument 1, `loops`: the loops are not perfectly nested in this order: i (L1), k (L4)",
        ),
        (
            r#"{"step":"unroll","at":2,"factor":1000}"#,
            RefusalKind::BadArgument { argument: "factor".into() },
            "argument 2, `factor`: a number from 2 to 64; got 1000",
        ),
        (
            r#"{"step":"distribute","at":0,"before":2}"#,
            RefusalKind::BadArgument { argument: "before".into() },
            "argument 2, `before`: a position from 1 to 1 among the children of loop t (L0); got 2",
        ),
        (
            r#"{"step":"split","at":2,"point":"P7+1"}"#,
            RefusalKind::NoSuchSymbol,
            "argument 2, `point`: there is no symbol P7",
        ),
        (
            r#"{"step":"interchange","outer":0,"inner":1}"#,
            RefusalKind::NotPerfectlyNested,
            "argument 2, `inner`: loop i (L1) is not perfectly nested in loop t (L0)",
        ),
        (
            r#"{"step":"reverse","at":9}"#,
            RefusalKind::NoSuchLoop,
            "argument 1, `at`: there is no loop L9; loops here are t (L0), i (L1), j (L2), i (L3), k (L4)",
        ),
    ] {
        let step: Transformation = serde_json::from_str(json).unwrap();
        let recipe = Recipe { steps: vec![step] };
        let refusal = apply(&program, &program.nests[0], &recipe, Policy::default()).unwrap_err();
        assert_eq!((refusal.kind, refusal.reason.as_str()), (kind, wanted), "{json}");
    }
}

#[test]
fn the_table_says_what_to_pass() {
    let text: Vec<String> = TRANSFORMATIONS.iter().map(|info| info.help()).collect();
    insta::assert_snapshot!(text.join("\n"));
}

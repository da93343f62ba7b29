//! Random windows that reach beyond the borders of arrays: cut where they begin to lie wholly inside, they compute the same at all
//! sizes, and what lies between the cuts asks nothing.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::Program;
use oxeye_ir::SymId;
use oxeye_ir::testing::{Random, Sample};
use oxeye_transform::{Machine, Policy, suggest};

const STRICT: Policy = Policy { reassociate: false, finite: false };
const MACHINE: Machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 16 << 10, threads: 2, vector_bytes: 32 };

/// What a window does at a border.
#[derive(Clone, Copy, PartialEq)]
enum Border {
    /// It is cut off.
    Off,
    /// What lies beyond is what lies at the border.
    Clamped,
    /// It goes on at the other side.
    Around,
}

/// An index that a window reaches, and the condition under which it does.
fn index(border: Border, at: &str, size: &str) -> (String, Option<String>) {
    match border {
        Border::Off => (at.to_owned(), Some(format!("({at} >= 0 && {at} < {size})"))),
        Border::Clamped => (format!("{at} < 0 ? 0 : min({size} - 1, {at})"), None),
        Border::Around => (format!("({at} + {size}) % {size}"), None),
    }
}

/// A window over an array of `n` rows and `m` columns, from `-low` to `high`.
fn window(random: &mut Random) -> Sample {
    let border = |random: &mut Random| random.pick(&[Border::Off, Border::Clamped, Border::Around]);
    let (rows, columns) = (border(random), border(random));
    let reach = |random: &mut Random| (random.between(0, 2), random.between(0, 2));
    let ((up, down), (left, right)) = (reach(random), reach(random));
    // To wrap around once, a window must not be larger than the array.
    let least = if rows == Border::Around || columns == Border::Around { 2 } else { 0 };
    let (n, m) = (random.between(least, 9), random.between(least, 9));
    // Its iterators are distances, or move along with those of the loops around it.
    let [(row_at, dy, from_y), (column_at, dx, from_x)] = match random.chance(50) {
        true => [("k", "k - y", "y "), ("l", "l - x", "x ")],
        false => [("y + k", "k", ""), ("x + l", "l", "")],
    };
    let (row, row_holds) = index(rows, row_at, "n");
    let (column, column_holds) = index(columns, column_at, "m");
    let holds: Vec<String> = row_holds.into_iter().chain(column_holds).collect();
    let add = format!("S1: s += a[{row}][{column}] * w[{dy} + {up}][{dx} + {left}]");
    let add = match holds.is_empty() {
        true => add,
        false if random.chance(50) => format!("if {} {{ {add} }}", holds.join(" && ")),
        false => format!("if !({}) {{ }} else {{ {add} }}", holds.join(" && ")),
    };
    let text = format!(
        "program p {{
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 a: i64[n][m] param
  array A1 b: i64[n][m] param
  array A2 w: i64[5][5] param
  array A3 s: i64 body(L1)
  dataflow {{ N0 }}
  nest N0 in p {{
    for L0 y: i32 in 0 .. n {{
      for L1 x: i32 in 0 .. m {{
        S0: s = 0
        for L2 k: i32 in {from_y}-{up} .. {from_y}{plus}{down_end} {{
          for L3 l: i32 in {from_x}-{left} .. {from_x}{plus}{right_end} {{
            {add}
          }}
        }}
        S2: b[y][x] = s
      }}
    }}
  }}
}}
",
        plus = if from_y.is_empty() { "" } else { "+ " },
        down_end = down + 1,
        right_end = right + 1,
    );
    let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Sample { program, symbols: vec![(SymId(0), n), (SymId(1), m)] }
}

#[test]
fn windows_are_whole_between_the_cuts() {
    let (mut n_cut, mut n_written, mut n_plain) = (0, 0, 0);
    for seed in cases(150) {
        let mut random = Random::new(seed);
        let sample = window(&mut random);
        let memory = sample.memory(seed).expect("memory");
        let found = suggest(&sample.program, sample.nest(), &MACHINE, STRICT).recipes;
        let is_tried = |name: &str| {
            ["split where conditions change", "short loops written out"]
                .iter()
                .any(|title| name.contains(title))
        };
        for suggestion in found.iter().filter(|s| is_tried(&s.name)) {
            let what = format!("seed {seed}, {}", suggestion.name);
            match check_with(&sample, &suggestion.recipe, STRICT, &memory, 0.0, &what) {
                Outcome::Same if suggestion.name.contains("written out") => n_written += 1,
                Outcome::Same => n_cut += 1,
                Outcome::Refused(refusal) => panic!("{what}: {refusal}\n{}", sample.program),
            }
        }
        n_plain += u32::from(found.iter().all(|s| !s.name.contains("split where conditions change")));
    }
    println!("{n_cut} cut, {n_written} written out, {n_plain} of no use");
    assert!(n_cut > 120 && 4 * n_plain < n_cut, "{n_cut} cut, {n_plain} of no use");
    assert!(n_written > 120, "{n_written} written out");
}

//! Random products of matrices and tensors, convolutions among them, and packed contractions of them.

use crate::recipe::Recipe;
use crate::schedule::Schedule;
use crate::schedule::packed_contraction::Blocks;
use crate::steps::{PackedContraction, Parallelize, Transformation};
use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{Affine, LoopId, Program, StmtId, WorkSharing};

/// Small blocks, so that small problem sizes have full and partial ones.
pub fn random_blocks(random: &mut Random) -> Blocks {
    let lanes = random.pick(&[2u32, 4]);
    let mr = random.between(1, 3);
    let nr = i64::from(lanes) * random.between(1, 2);
    Blocks {
        mr,
        nr,
        lanes,
        mc: mr * random.between(1, 3),
        nc: nr * random.between(1, 3),
        kc: random.between(1, 5),
        rows_first: random.chance(40),
    }
}

pub(super) fn random_contraction(schedule: &Schedule, random: &mut Random) -> Option<Transformation> {
    let paths = schedule.paths();
    let deep: Vec<usize> = (0..paths.len()).filter(|s| paths[*s].len() >= 3).collect();
    let s = *deep.get(random.below(deep.len()))?;
    let n_loops = if random.chance(50) { 3 } else { random.between(3, paths[s].len() as i64) as usize };
    let mut loops = paths[s][paths[s].len() - n_loops..].to_vec();
    for k in (1..n_loops).rev() {
        loops.swap(k, random.below(k + 1));
    }
    // Usually the loops that fit, if there are any.
    let target = schedule.statements[s].assignment()?.target.affine_indices()?;
    let target: Vec<Affine> = target.into_iter().map(|a| schedule.statements[s].mapped(a)).collect();
    if let Some(last) = target.last()
        && random.chance(90)
    {
        loops.sort_by_key(|l| match (last.uses(*l), target.iter().any(|t| t.uses(*l))) {
            (true, _) => 1,
            (false, true) => 0,
            (false, false) => 2,
        });
    }
    let n_depth = loops.iter().filter(|l| !target.iter().any(|t| t.uses(**l))).count().clamp(1, n_loops - 2);
    let depth = loops.split_off(n_loops - n_depth);
    let rows = loops.drain(..random.between(1, loops.len() as i64 - 1) as usize).collect();
    Some(Transformation::PackedContraction(PackedContraction {
        stmt: schedule.statements[s].id,
        rows,
        columns: loops,
        depth,
        blocks: random_blocks(random),
        parallel: random.chance(50).then(|| random.pick(&[WorkSharing::Static, WorkSharing::Dynamic])),
    }))
}

/// A random product-like nest and the recipe that contracts it in small blocks: rectangular and triangular domains,
/// operands transposed or shared with the target, sums, differences, minima and maxima.
pub fn random_product(random: &mut Random) -> (Sample, Recipe) {
    let single = random.chance(25);
    let ty = if single { "f32" } else { "f64" };
    let sizes: Vec<i64> = (0..3).map(|_| random.between(1, 9)).collect();
    // Square arrays, large enough for all indices.
    let extent = 11;
    let in_place = random.chance(35);
    let (a, b) = match (in_place, random.below(4)) {
        (false, _) => ("A", "B"),
        (true, 0) => ("C", "B"),
        (true, 1) => ("A", "C"),
        (true, _) => ("C", "C"),
    };
    let left = random.pick(&["[i][k]", "[k][i]"]);
    let right = random.pick(&["[k][j]", "[j][k]"]);
    let update = random.pick(&["+=", "+=", "+=", "-=", "min=", "max="]);
    let value = match random.below(8) {
        0..3 => format!("{a}{left} * {b}{right}"),
        3 => format!("alpha * {a}{left} * {b}{right}"),
        4 => format!("alpha * ({a}{left} * {b}{right} + B{left} * A{right})"),
        5 => format!("{a}{left} + {b}{right}"),
        6 => format!("({a}{left} - x[k]) * {b}{right}"),
        _ => format!("-{a}{left} * ({b}{right} * y[j])"),
    };
    let mut order = ['i', 'j', 'k'];
    for k in (1..3).rev() {
        order.swap(k, random.below(k + 1));
    }
    let names = ["n", "m", "l"];
    let mut loops = String::new();
    for (position, iterator) in order.iter().enumerate() {
        let axis = ['i', 'j', 'k'].iter().position(|c| c == iterator).unwrap_or(0);
        let size = names[axis];
        let mut lower = if random.chance(70) { "0".to_owned() } else { random.between(1, 2).to_string() };
        let mut upper = match random.below(6) {
            0 => random.between(1, 9).to_string(),
            1 => format!("min({size}, {})", random.between(1, 9)),
            _ => size.to_owned(),
        };
        if position > 0 && random.chance(35) {
            let other = order[random.below(position)];
            match random.below(5) {
                0 => upper = format!("{other} + 1"),
                1 => upper = other.to_string(),
                2 => upper = format!("min({size}, {other} + 2)"),
                3 => lower = format!("{other} + 1"),
                _ => lower = other.to_string(),
            }
        }
        loops += &format!("for L{axis} {iterator}: i32 in {lower} .. {upper} {{ ");
    }
    let statement = format!("C[i][j] {update} {value}");
    let body = if random.chance(15) {
        format!("if j <= i + 1 {{ S0: {statement} }} else {{ S1: {statement} }}")
    } else {
        format!("S0: {statement}")
    };
    let outer = random.chance(20);
    let (open, close) = if outer { ("for L9 t: i32 in 0 .. 2 { ", " }") } else { ("", "") };
    let text = format!(
        "program product {{
           symbol P0 n: i32
           symbol P1 m: i32
           symbol P2 l: i32
           array A0 A: {ty}[{extent}][{extent}] param
           array A1 B: {ty}[{extent}][{extent}] param
           array A2 C: {ty}[{extent}][{extent}] param
           array A3 x: {ty}[{extent}] param
           array A4 y: {ty}[{extent}] param
           array A5 alpha: {ty} param
           dataflow {{ N0 }}
           nest N0 in product {{ {open}{loops}{body} }} }} }}{close} }}
         }}"
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let symbols = program.symbols.keys().copied().zip(sizes).collect();
    let mut steps = Vec::new();
    if outer && random.chance(40) {
        steps.push(Transformation::Parallelize(Parallelize { at: LoopId(9), sharing: WorkSharing::Static }));
    }
    steps.push(Transformation::PackedContraction(PackedContraction {
        stmt: StmtId(0),
        rows: vec![LoopId(0)],
        columns: vec![LoopId(1)],
        depth: vec![LoopId(2)],
        blocks: random_blocks(random),
        parallel: random.chance(50).then_some(WorkSharing::Dynamic),
    }));
    (Sample { program, symbols }, Recipe { steps })
}

/// The last iteration of the longest loops.
const MOST: i64 = 3;

/// One loop of a random product of tensors.
struct Axis {
    id: LoopId,
    name: String,
    extent: String,
}

/// A random product over several loops each of rows, columns and depth, and the recipe that contracts it in small blocks:
/// convolutions with strides and dilation, products of tensors with their indices in any order.
pub fn random_tensor_product(random: &mut Random) -> (Sample, Recipe) {
    let ty = random.pick(&["f32", "f64", "i64"]);
    let sizes: Vec<i64> = (0..3).map(|_| random.between(1, MOST + 1)).collect();
    let mut n_loops = 0;
    let mut axes = |letter: char, most: i64, random: &mut Random| -> Vec<Axis> {
        let n = random.between(1, most);
        let axis = |k: i64| {
            n_loops += 1;
            let extent = match random.chance(if k == 0 { 40 } else { 20 }) {
                true => random.pick(&["n", "m", "l"]).to_owned(),
                false => random.between(1, MOST + 1).to_string(),
            };
            Axis { id: LoopId(n_loops - 1), name: format!("{letter}{k}"), extent }
        };
        (0..n).map(axis).collect()
    };
    let (rows, columns) = (axes('i', 2, random), axes('j', 2, random));
    let depth = axes('k', 3, random);
    let index = |axis: &Axis| format!("[{}]", axis.name);
    let shuffled = |mut all: Vec<String>, random: &mut Random| {
        for k in (1..all.len()).rev() {
            all.swap(k, random.below(k + 1));
        }
        all.concat()
    };
    let (last, outer) = columns.split_last().unwrap_or((&columns[0], &[]));
    let target = shuffled(rows.iter().chain(outer).map(index).collect(), random) + &index(last);
    let ((left, left_shape), (right, right_shape)) =
        (operand(&rows, &depth, random), operand(&columns, &depth, random));
    let update = random.pick(&["+=", "+=", "+=", "-=", "min=", "max="]);
    let value = match random.below(4) {
        0 => format!("alpha * A{left} * B{right}"),
        1 => format!("A{left} + B{right}"),
        _ => format!("A{left} * B{right}"),
    };
    let mut order: Vec<&Axis> = rows.iter().chain(&columns).chain(&depth).collect();
    for k in (1..order.len()).rev() {
        order.swap(k, random.below(k + 1));
    }
    let header = |axis: &&Axis| format!("for {} {}: i32 in 0 .. {} {{ ", axis.id, axis.name, axis.extent);
    let loops: String = order.iter().map(header).collect();
    let close = "}".repeat(order.len());
    let outer = random.chance(20);
    let (before, after) = if outer { ("for L20 t: i32 in 0 .. 2 { ", " }") } else { ("", "") };
    let target_shape = format!("[{}]", MOST + 1).repeat(rows.len() + columns.len());
    let text = format!(
        "program product {{
           symbol P0 n: i32
           symbol P1 m: i32
           symbol P2 l: i32
           array A0 A: {ty}{left_shape} param
           array A1 B: {ty}{right_shape} param
           array A2 C: {ty}{target_shape} param
           array A3 alpha: {ty} param
           dataflow {{ N0 }}
           nest N0 in product {{ {before}{loops}S0: C{target} {update} {value} {close}{after} }}
         }}"
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let symbols = program.symbols.keys().copied().zip(sizes).collect();
    let mut steps = Vec::new();
    if outer && random.chance(40) {
        steps.push(Transformation::Parallelize(Parallelize { at: LoopId(20), sharing: WorkSharing::Static }));
    }
    let ids = |axes: &[Axis]| axes.iter().map(|axis| axis.id).collect();
    let mut blocks = random_blocks(random);
    let scale = random.pick(&[1, 4, 12]);
    (blocks.mc, blocks.nc, blocks.kc) = (blocks.mc * scale, blocks.nc * scale, blocks.kc * scale);
    steps.push(Transformation::PackedContraction(PackedContraction {
        stmt: StmtId(0),
        rows: ids(&rows),
        columns: ids(&columns),
        depth: ids(&depth),
        blocks,
        parallel: random.chance(50).then_some(WorkSharing::Dynamic),
    }));
    (Sample { program, symbols }, Recipe { steps })
}

/// The indices of an operand and the shape of its array: loops over depth have indices of their own, or move along with others, as
/// windows do.
fn operand(side: &[Axis], depth: &[Axis], random: &mut Random) -> (String, String) {
    let mut indices: Vec<(String, i64)> = side.iter().map(|axis| (axis.name.clone(), MOST)).collect();
    for axis in depth {
        match random.below(3) {
            0 => indices.push((axis.name.clone(), MOST)),
            1 => {
                let (index, most) = &mut indices[random.below(side.len())];
                let dilation = random.between(1, 2);
                *index = format!("{index} + {dilation} * {}", axis.name);
                *most += dilation * MOST;
            }
            _ => {}
        }
    }
    for (index, most) in &mut indices {
        let stride = random.between(1, 2);
        if !index.contains('+') {
            *index = format!("{stride} * {index}");
            *most *= stride;
        }
    }
    for k in (1..indices.len()).rev() {
        indices.swap(k, random.below(k + 1));
    }
    let shape: String = indices.iter().map(|(_, most)| format!("[{}]", most + 1)).collect();
    let indices: String = indices.iter().map(|(index, _)| format!("[{index}]")).collect();
    (indices, shape)
}

//! Arguments for a nest that no program calls: sizes as given, data drawn at random or read from files.

use crate::machine::{element_type, memory_bytes};
use crate::request::{Error, Options};
use oxeye_binding::{Binding, RowScan, ScanStep};
use oxeye_codegen::{Argument, ArgumentOf};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, BoundTerm, Expr, LoopId, Nest, Node, Program, Region,
    ScalarType, SymId, UnaryOp, Var,
};
use oxeye_measure::{Init, Sample, SyntheticArg, read_npy_header};
use std::collections::BTreeMap;
use std::path::Path;

/// Checks that every size and input of the options is used by some nest: a misspelt name must not go unnoticed.
pub(crate) fn check_names<'a>(
    options: &Options,
    programs: impl Iterator<Item = &'a Program> + Clone,
) -> Result<(), Error> {
    let is_symbol = |name: &str| programs.clone().any(|p| p.symbols.values().any(|s| s.name == name));
    let is_array = |name: &str| programs.clone().any(|p| p.arrays.values().any(|a| a.name == name));
    for name in options.sizes.keys() {
        if !is_symbol(name) && !is_array(name) {
            return Err(Error::Input(format!("--set {name}: no nest uses a size or scalar called `{name}`")));
        }
    }
    for name in options.inputs.keys() {
        if !is_array(name) {
            return Err(Error::Input(format!("--input {name}: no nest uses an array called `{name}`")));
        }
    }
    Ok(())
}

/// Makes up the arguments of one nest and writes them to `path`.
pub(crate) fn sample(
    options: &Options,
    (program, binding): (&Program, &Binding),
    nest: &Nest,
    arguments: &[Argument],
    path: &Path,
) -> Result<Sample, Error> {
    let values = symbol_values(options, program, binding)?;
    let value_of = |sym: SymId| values.get(&sym).copied();
    let line = nest.span.map_or(0, |s| s.line);
    let needed = arguments.iter().filter_map(|a| match a.what {
        ArgumentOf::Symbol(sym) => Some(sym),
        ArgumentOf::Array(_) => None,
    });
    let in_nest = nest.vars().into_iter().filter_map(|v| match v {
        Var::Sym(sym) => Some(sym),
        Var::Loop(_) => None,
    });
    for sym in needed.chain(in_nest) {
        if let (Some(_), Some(symbol)) = (binding.load(sym), program.symbols.get(&sym)) {
            return Err(Error::Input(format!(
                "line {line}: the loop takes `{}` from memory, which --set does not fill; tune it in a program that \
                 calls `{}`",
                symbol.name, nest.function
            )));
        }
        if value_of(sym).is_none() && binding.entries.values().any(|entry| entry.finds(sym)) {
            return Err(Error::Input(format!(
                "line {line}: which rows the loop uses depends on what it finds in memory; tune it in a program that \
                 calls `{}`",
                nest.function
            )));
        }
        if value_of(sym).is_none() {
            return Err(Error::MissingSize {
                file: options.file.clone(),
                symbol: program.symbols.get(&sym).map_or_else(|| sym.to_string(), |s| s.name.clone()),
                function: nest.function.clone(),
                line,
            });
        }
    }
    let mut args = Vec::new();
    for (position, argument) in arguments.iter().enumerate() {
        let element = element_type(argument.element);
        let (elements, init) = match argument.what {
            ArgumentOf::Symbol(sym) => {
                let value = value_of(sym).unwrap_or(0);
                check_fits(&argument.name, argument.element, value)?;
                (1, Init::Integer(value))
            }
            ArgumentOf::Array(id) => {
                let array = program.array(id);
                if argument.fields.is_some() {
                    let (name, function) = (&argument.name, &nest.function);
                    return Err(Error::Input(format!(
                        "the structures in `{name}` of the nest in `{function}`, line {line}, cannot be made up; give \
                         a program with a `main` that calls it"
                    )));
                }
                check_extents(program, array, &value_of)?;
                let seed = options.seed.wrapping_add(position as u64);
                let init = initial(options, program, nest, array, seed, &value_of)?;
                let elements = n_elements(array, &value_of)
                    .or(n_given(options, array)?)
                    .or_else(|| n_reached(nest, array, &value_of))
                    .ok_or_else(|| {
                        let (name, function) = (&array.name, &nest.function);
                        Error::Input(format!(
                            "the size of array `{name}` of the nest in `{function}`, line {line}, is not known; declare \
                             it with its extents (`{name}[n][m]`), or give it with `--input {name}=FILE.npy`"
                        ))
                    })?;
                (elements, init)
            }
        };
        args.push(SyntheticArg { element, elements, init });
    }
    if let Some((name, value)) = options.sizes.iter().find(|(_, value)| **value < 0)
        && runs_nothing(nest, &value_of)
    {
        return Err(Error::Input(format!(
            "--set {name}={value}: the loop in line {line} has no iterations then; give a larger `{name}`"
        )));
    }
    check_memory(nest, &args)?;
    Ok(Sample::synthetic(path, &args)?)
}

/// Whether the outermost loops have no iterations.
fn runs_nothing(nest: &Nest, value_of: &dyn Fn(SymId) -> Option<i64>) -> bool {
    let ends = |bound: &Bound| -> Vec<i64> {
        let symbols = |var| match var {
            Var::Sym(sym) => value_of(sym),
            Var::Loop(_) => None,
        };
        let affine = bound.0.iter().filter_map(BoundTerm::as_affine);
        affine.filter_map(|a| a.evaluate(&symbols)).collect()
    };
    nest.roots.iter().all(|node| match node {
        Node::Loop(l) => {
            let (first, end) = (ends(&l.lower).into_iter().max(), ends(&l.upper).into_iter().min());
            first.zip(end).is_some_and(|(first, end)| end <= first)
        }
        _ => false,
    })
}

/// A value that its type cannot hold would become another one without a word.
fn check_fits(name: &str, element: ScalarType, value: i64) -> Result<(), Error> {
    let (low, high) = match element {
        ScalarType::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        ScalarType::U8 => (0, i64::from(u8::MAX)),
        ScalarType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        ScalarType::U16 => (0, i64::from(u16::MAX)),
        ScalarType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        ScalarType::U32 => (0, i64::from(u32::MAX)),
        ScalarType::U64 => (0, i64::MAX),
        ScalarType::I64 | ScalarType::F32 | ScalarType::F64 => (i64::MIN, i64::MAX),
    };
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::Input(format!("--set {name}={value}: `{name}` is of a type that holds {low} to {high} only")))
}

/// Extents must not be negative.
fn check_extents(
    program: &Program,
    array: &Array,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Result<(), Error> {
    for extent in array.shape.iter().flatten() {
        let Some(value) = evaluate(extent, value_of).filter(|value| *value < 0) else { continue };
        let names = extent.as_affine().into_iter().flat_map(|a| a.terms()).filter_map(|(var, _)| match var {
            Var::Sym(sym) => program.symbols.get(&sym).map(|s| format!("`{}`", s.name)),
            Var::Loop(_) => None,
        });
        return Err(Error::Input(format!(
            "an extent of array `{}` would be {value}; give a larger {}",
            array.name,
            names.collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

/// What is made up is written to a file and read into memory more than once.
fn check_memory(nest: &Nest, args: &[SyntheticArg]) -> Result<(), Error> {
    let bytes = args
        .iter()
        .fold(0u64, |sum, a| sum.saturating_add(a.elements.saturating_mul(a.element.size() as u64)));
    let room = memory_bytes() / 4;
    if bytes <= room {
        return Ok(());
    }
    Err(Error::Input(format!(
        "the arrays of the nest in `{}` would take {:.1} GB of memory, more than the {:.1} GB that this machine has to \
         spare for them; give smaller sizes with --set",
        nest.function,
        bytes as f64 * 1e-9,
        room as f64 * 1e-9
    )))
}

/// Values of the program's symbols: from `--set`, from the shapes of `--input` files, or from the range of the control
/// loop whose iterator it is.
fn symbol_values(
    options: &Options,
    program: &Program,
    binding: &Binding,
) -> Result<BTreeMap<SymId, i64>, Error> {
    let mut values = BTreeMap::new();
    for symbol in program.symbols.values() {
        if let Some(value) = options.sizes.get(&symbol.name) {
            values.insert(symbol.id, *value);
        }
    }
    for array in program.arrays.values() {
        let Some(path) = options.inputs.get(&array.name) else { continue };
        let file = read_npy_header(path)?;
        if file.shape.len() != array.shape.len() {
            continue;
        }
        for (extent, found) in array.shape.iter().zip(&file.shape) {
            let Some(Var::Sym(sym)) = extent.as_ref().and_then(Expr::as_affine).and_then(|a| a.as_var())
            else {
                continue;
            };
            let found = i64::try_from(*found).unwrap_or(i64::MAX);
            let known = *values.entry(sym).or_insert(found);
            if known != found {
                return Err(Error::Input(format!(
                    "{}: its shape {:?} means `{}` = {found}, which is {known} elsewhere",
                    path.display(),
                    file.shape,
                    program.symbols[&sym].name
                )));
            }
        }
    }
    control_values(&program.body, &mut values);
    for scan in binding.entries.values().flat_map(|entry| &entry.scans) {
        scan_values(scan, &mut values);
    }
    // Rows behind pointers, made up, lie as close as the nests let them.
    for rows in binding.entries.values().flat_map(|entry| &entry.rows) {
        let extents = program.array(rows.array).shape.iter().zip(&rows.ranges).skip(1);
        for (extent, (_, most)) in extents {
            let symbol = extent.as_ref().and_then(Expr::as_affine).and_then(|a| a.as_var());
            let most = evaluate(most, &|sym| values.get(&sym).copied());
            if let (Some(Var::Sym(sym)), Some(most)) = (symbol, most) {
                let value = values.entry(sym).or_insert(0);
                *value = (*value).max(most.saturating_add(1));
            }
        }
    }
    Ok(values)
}

/// Rows that a nest may use are there, whether it uses them or not.
fn scan_values(scan: &RowScan, values: &mut BTreeMap<SymId, i64>) {
    let mut iterators: BTreeMap<LoopId, (i64, i64)> = BTreeMap::new();
    let end_of =
        |a: &Affine, iterators: &BTreeMap<LoopId, (i64, i64)>, values: &BTreeMap<SymId, i64>, is_least| {
            a.terms().try_fold(a.constant_part(), |sum: i64, (var, c)| {
                let value = match var {
                    Var::Sym(symbol) => *values.get(&symbol)?,
                    Var::Loop(id) => {
                        let (least, greatest) = iterators.get(&id)?;
                        if (c > 0) == is_least { *least } else { *greatest }
                    }
                };
                sum.checked_add(value.checked_mul(c)?)
            })
        };
    for step in &scan.steps {
        let ScanStep::Loop(l) = step else { continue };
        let ends = |bound: &Bound, is_least| -> Vec<i64> {
            let affine = bound.0.iter().filter_map(BoundTerm::as_affine);
            affine.filter_map(|a| end_of(a, &iterators, values, is_least)).collect()
        };
        let (lower, upper) = (ends(&l.lower, true), ends(&l.upper, false));
        if let (Some(least), Some(behind)) = (lower.into_iter().max(), upper.into_iter().min()) {
            iterators.insert(l.id, (least, behind.saturating_sub(1)));
        }
    }
    for end in &scan.ends {
        let found = end.value.as_affine().and_then(|a| end_of(a, &iterators, values, end.is_least));
        let Some(found) = found else { continue };
        let known = values.entry(end.symbol).or_insert(found);
        *known = if end.is_least { found.min(*known) } else { found.max(*known) };
    }
}

fn control_values(region: &Region, values: &mut BTreeMap<SymId, i64>) {
    match region {
        Region::Sequence(regions) => regions.iter().for_each(|r| control_values(r, values)),
        Region::Loop(l) => {
            if let (Some(iterator), Some((first, _))) = (l.iterator, &l.range)
                && !values.contains_key(&iterator)
                && let Some(value) = evaluate(first, &|sym| values.get(&sym).copied())
            {
                values.insert(iterator, value);
            }
            control_values(&l.body, values);
        }
        Region::Branch { then, otherwise, .. } => {
            control_values(then, values);
            control_values(otherwise, values);
        }
        Region::Dataflow(_) | Region::Swap(..) | Region::Opaque(_) => {}
    }
}

fn n_elements(array: &Array, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<u64> {
    array.shape.iter().try_fold(1u64, |n, extent| {
        let extent = evaluate(extent.as_ref()?, value_of)?;
        Some(n.saturating_mul(u64::try_from(extent).ok()?))
    })
}

/// Elements of the file given for an array.
fn n_given(options: &Options, array: &Array) -> Result<Option<u64>, Error> {
    let header = options.inputs.get(&array.name).map(|path| read_npy_header(path)).transpose()?;
    Ok(header.map(|h| h.elements()))
}

/// Elements of an array whose first extent is not declared, from the highest index the nest uses.
fn n_reached(nest: &Nest, array: &Array, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<u64> {
    let known = |var: Var| match var {
        Var::Sym(sym) => value_of(sym).map(Affine::constant),
        Var::Loop(_) => None,
    };
    let mut nest = nest.clone();
    nest.roots.iter_mut().for_each(|node| node.substitute(&known));
    let mut first = 0u64;
    for found in nest.access_ranges(&|other| other == array.id) {
        let last = evaluate(&found.indices.first()?.as_ref()?.last, value_of)?;
        first = first.max(u64::try_from(last).unwrap_or(0).saturating_add(1));
    }
    let rest = array.shape.iter().skip(1).try_fold(1u64, |n, extent| {
        n.checked_mul(u64::try_from(evaluate(extent.as_ref()?, value_of)?).ok()?)
    })?;
    Some(first.saturating_mul(rest))
}

/// Contents of an array: a file if one is given, a given value for a scalar, indices that stay in range where the
/// elements are used as indices, random numbers otherwise.
fn initial(
    options: &Options,
    program: &Program,
    nest: &Nest,
    array: &Array,
    seed: u64,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Result<Init, Error> {
    if let Some(path) = options.inputs.get(&array.name) {
        return Ok(Init::Npy(path.clone()));
    }
    if let (true, Some(value)) = (array.shape.is_empty(), options.sizes.get(&array.name)) {
        return Ok(Init::Integer(*value));
    }
    if in_bounds(nest).contains(&array.id) {
        return Err(Error::Input(format!(
            "`{}` decides how far loops of the nest in `{}` run, so it cannot be drawn at random; give it with `--{}`",
            array.name,
            nest.function,
            match array.shape.is_empty() {
                true => format!("set {}=...", array.name),
                false => format!("input {}=FILE.npy", array.name),
            }
        )));
    }
    Ok(match index_bound(program, nest, array.id, value_of) {
        Some(bound) => Init::RandomBelow { seed, bound },
        None => Init::Random { seed },
    })
}

/// Arrays that loop bounds are read from.
fn in_bounds(nest: &Nest) -> Vec<ArrayId> {
    let mut found = Vec::new();
    nest.visit(&mut |_, node| {
        if let Node::Loop(l) = node {
            let reads = l.lower.0.iter().chain(&l.upper.0).flat_map(BoundTerm::reads);
            found.extend(reads.map(|a| a.array));
        }
    });
    found
}

/// The least extent that elements of `array` are used as an index of.
fn index_bound(
    program: &Program,
    nest: &Nest,
    array: ArrayId,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Option<u64> {
    let bound_of = |access: &Access| {
        let shape = &program.array(access.array).shape;
        let indexed = access.indices.iter().zip(shape);
        indexed
            .filter(|(index, _)| index.reads().iter().any(|a| a.array == array))
            .filter_map(|(_, extent)| {
                evaluate(extent.as_ref()?, value_of).and_then(|e| u64::try_from(e).ok())
            })
            .min()
    };
    nest.accesses().into_iter().filter_map(|(access, _)| bound_of(access)).min()
}

/// The value of an integer expression of symbols.
pub(crate) fn evaluate(expr: &Expr, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<i64> {
    let of = |e: &Expr| evaluate(e, value_of);
    match expr {
        Expr::Affine(a) => a.evaluate(&|var| match var {
            Var::Sym(sym) => value_of(sym),
            Var::Loop(_) => None,
        }),
        Expr::Unary(UnaryOp::Neg, e) => of(e)?.checked_neg(),
        Expr::Cast(ty, e) if !ty.is_float() => of(e),
        Expr::Select { condition, then, otherwise } => match of(condition)? {
            0 => of(otherwise),
            _ => of(then),
        },
        Expr::Binary(op, l, r) => {
            let (l, r) = (of(l)?, of(r)?);
            Some(match op {
                BinaryOp::Add => l.checked_add(r)?,
                BinaryOp::Sub => l.checked_sub(r)?,
                BinaryOp::Mul => l.checked_mul(r)?,
                BinaryOp::Div => l.checked_div(r)?,
                BinaryOp::Rem => l.checked_rem(r)?,
                BinaryOp::Min => l.min(r),
                BinaryOp::Max => l.max(r),
                BinaryOp::Lt => i64::from(l < r),
                BinaryOp::Le => i64::from(l <= r),
                BinaryOp::Gt => i64::from(l > r),
                BinaryOp::Ge => i64::from(l >= r),
                BinaryOp::Eq => i64::from(l == r),
                BinaryOp::Ne => i64::from(l != r),
                _ => return None,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_codegen::arguments;

    const GATHER: &str = "
program gather {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 out: f64[?] param
  array A1 table: f64[m][4] param
  array A2 index: i32[?] param
  dataflow { N0 }
  nest N0 in gather {
    for L0 i: i32 in 2 .. n {
      S0: out[2 * i + 1] = table[index[i]][3]
    }
  }
}";

    fn made_up(text: &str, set: &[(&str, i64)]) -> Result<Sample, Error> {
        let program = Program::parse(text).expect("parses");
        let nest = program.nests.values().next().expect("a nest");
        let mut options = Options::new("gather.c");
        options.sizes = set.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let list = arguments(&program, Binding::none(), nest);
        let sample =
            sample(&options, (&program, Binding::none()), nest, &list, &folder.path().join("s.bin"))?;
        for (position, argument) in list.iter().enumerate() {
            if argument.name == "index" {
                let bytes = sample.read_arg(position)?;
                let values = bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                assert!(values.into_iter().all(|v| (0..50).contains(&v)));
            }
        }
        Ok(sample)
    }

    #[test]
    fn sizes_follow_from_the_highest_index_and_indices_stay_in_range() {
        let sample = made_up(GATHER, &[("n", 100), ("m", 50)]).expect("made up");
        let bytes: Vec<u64> = sample.args.iter().map(|a| a.bytes).collect();
        assert_eq!(bytes, [4, 4, 200 * 8, 50 * 4 * 8, 100 * 4]);
    }

    #[test]
    fn a_missing_size_is_named() {
        let error = made_up(GATHER, &[("n", 100)]).expect_err("m is missing").to_string();
        assert!(error.contains("--set m="), "{error}");
    }

    #[test]
    fn bounds_from_memory_are_not_drawn_at_random() {
        let text = GATHER.replace("2 .. n", "2 .. data(index[n])").replace("out: f64[?]", "out: f64[n]");
        let error = made_up(&text, &[("n", 100), ("m", 50)]).expect_err("index is missing").to_string();
        assert!(error.contains("--input index="), "{error}");
    }
}

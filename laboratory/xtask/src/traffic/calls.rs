//! The timed part of a benchmark program, as calls with values.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use oxeye_analysis::traffic::Call;
use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_ir::{DataflowGraph, Program, Region, Storage};

/// The part of a program that is counted.
pub(crate) struct Counted {
    /// Called functions with their arguments, in order.
    steps: Vec<Step>,
    /// Number of times they are called.
    pub(crate) times: u64,
}

struct Step {
    program: Program,
    /// Values of integer parameters by name.
    values: BTreeMap<String, i64>,
    /// Names of the memory that parameters point to, by their names.
    memory: BTreeMap<String, String>,
}

impl Counted {
    /// Reads the program at `path` with the size options `sizes`; `macros` are the sizes by name.
    pub(crate) fn read(path: &Path, sizes: &[String], macros: &BTreeMap<String, i64>) -> Result<Self> {
        let args = [&["-O2".to_owned()], sizes].concat();
        let options = ReadOptions { compiler: "gcc".to_owned(), args, ..ReadOptions::default() };
        let unit = read_c(path, &options).context("the frontend cannot read it")?;
        let start = unit.source.find("bench_start();").context("no bench_start() in it")?;
        let stop = unit.source.find("bench_stop();").context("no bench_stop() in it")?;
        let text = &unit.source[start + "bench_start();".len()..stop];
        let values = locals(&unit.source, macros);
        let times = repetitions(text, &values).unwrap_or(1);
        let steps: Vec<Step> =
            statements(text).flat_map(|call| steps(&unit, call, &values, &BTreeMap::new())).collect();
        if !steps.is_empty() {
            return Ok(Self { steps, times });
        }
        // The nests stand in main itself.
        let main = unit
            .functions
            .iter()
            .find(|f| f.name == "main")
            .context("nothing is called and main has no nests")?;
        let mut program = main.program.clone();
        let inside = |span: oxeye_ir::Span| start <= span.start && span.end <= stop;
        let ids: Vec<_> =
            program.nests.values().filter(|nest| nest.span.is_some_and(inside)).map(|nest| nest.id).collect();
        if ids.is_empty() {
            bail!("no nests between bench_start() and bench_stop()");
        }
        program.body = Region::Dataflow(DataflowGraph::build(&program, &ids));
        Ok(Self { steps: vec![Step { program, values, memory: BTreeMap::new() }], times: 1 })
    }

    /// The calls, for the model.
    pub(crate) fn calls(&self) -> Vec<Call<'_>> {
        let call = |step: &'_ Step| {
            let named = |name: &str| step.values.get(name).copied();
            let values =
                step.program.symbols.values().filter_map(|s| Some((s.id, named(&s.name)?))).collect();
            let memory = step.program.arrays.values().filter_map(|array| {
                let name = match array.storage {
                    Storage::Param => step.memory.get(&array.name)?.clone(),
                    Storage::Global => array.name.clone(),
                    _ => return None,
                };
                Some((array.id, name))
            });
            (values, memory.collect())
        };
        self.steps
            .iter()
            .map(|step| {
                let (values, memory) = call(step);
                Call { program: &step.program, values, memory }
            })
            .collect()
    }
}

/// Sizes, and the integers that main sets to them.
fn locals(source: &str, macros: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let mut values = macros.clone();
    let main = source.find("int main(").map_or("", |at| &source[at..]);
    for line in main.lines() {
        let Some(declared) = line.trim().strip_prefix("int ") else { continue };
        for part in declared.trim_end_matches(';').split(',') {
            if let Some((name, value)) = part.split_once('=')
                && let Some(value) = evaluate(value, &values)
            {
                values.insert(name.trim().to_owned(), value);
            }
        }
    }
    values
}

/// Number of iterations of the loop around the calls, if there is one.
fn repetitions(text: &str, values: &BTreeMap<String, i64>) -> Option<u64> {
    let header = text.split_once("for (int t = 0; t < ")?.1;
    u64::try_from(evaluate(header.split_once(';')?.0, values)?).ok()
}

/// Name and arguments of each call.
fn statements(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(';').filter_map(|statement| {
        let statement = statement.trim().trim_start_matches(['{', '}']).trim();
        let (head, arguments) = statement.split_once('(')?;
        let name = head.rsplit(|c: char| !is_word(c)).next()?;
        Some((name, arguments.trim_end().strip_suffix(')')?))
    })
}

/// What a call runs: the functions that it calls before its own first nest, then its nests. Names of `outer` values and
/// memory are those where the call stands.
fn steps(
    unit: &Unit,
    (name, arguments): (&str, &str),
    outer: &BTreeMap<String, i64>,
    outer_memory: &BTreeMap<String, String>,
) -> Vec<Step> {
    let Some(function) = unit.functions.iter().find(|function| function.name == name) else {
        return Vec::new();
    };
    let definition = &unit.source[function.span.start..function.span.end];
    let Some((head, _)) = definition.split_once('{') else { return Vec::new() };
    let parameters = head.split_once('(').map_or("", |(_, rest)| rest).trim_end().trim_end_matches(')');
    let (mut values, mut memory) = (BTreeMap::new(), BTreeMap::new());
    for (parameter, argument) in split(parameters).into_iter().zip(split(arguments)) {
        let declarator = parameter.split('[').next().unwrap_or(parameter).trim_end_matches(')').trim();
        let Some(parameter) = declarator.rsplit(|c: char| !is_word(c)).next() else { continue };
        if let Some(value) = evaluate(argument, outer) {
            values.insert(parameter.to_owned(), value);
        } else {
            let name: String =
                argument.chars().skip_while(|c| !is_word(*c)).take_while(|c| is_word(*c)).collect();
            memory.insert(parameter.to_owned(), outer_memory.get(&name).cloned().unwrap_or(name));
        }
    }
    let body = function.span.start + head.len() + 1;
    let first_nest = function.program.nests.values().filter_map(|nest| Some(nest.span?.start)).min();
    let before = unit.source.get(body..first_nest.unwrap_or(body)).unwrap_or("");
    let mut found: Vec<Step> =
        statements(before).flat_map(|call| steps(unit, call, &values, &memory)).collect();
    found.push(Step { program: function.program.clone(), values, memory });
    found
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The parts between commas outside parentheses and brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[begin..].trim());
    parts
}

/// A product of integers and names.
fn evaluate(text: &str, values: &BTreeMap<String, i64>) -> Option<i64> {
    text.split('*').try_fold(1_i64, |product, factor| {
        let factor = factor.trim();
        let value = factor.parse().ok().or_else(|| values.get(factor).copied())?;
        product.checked_mul(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_evaluation::{corpus, repository};

    #[test]
    fn every_program_of_the_corpus_is_understood() {
        let folder = repository::root().join("benchmarks/kernels");
        for kernel in corpus::select(&folder, &["all".to_owned()]).expect("the corpus loads") {
            let macros = kernel.sizes().into_iter().map(|(name, size)| (name, size as i64)).collect();
            let counted = Counted::read(&kernel.path, &[], &macros).expect("it is read");
            for call in counted.calls() {
                for symbol in call.program.symbols.values() {
                    let known = call.values.contains_key(&symbol.id) || is_control(call.program, symbol.id);
                    assert!(known, "{} of {} in {}", symbol.name, call.program.name, kernel.name);
                }
            }
        }
    }

    fn is_control(program: &Program, symbol: oxeye_ir::SymId) -> bool {
        let mut found = false;
        program.body.visit(&mut |region| {
            found |= matches!(region, Region::Loop(control) if control.iterator == Some(symbol));
        });
        found
    }

    #[test]
    fn arguments_are_told_apart() {
        assert_eq!(split("int n, double A[n][m], f(a, b)"), ["int n", "double A[n][m]", "f(a, b)"]);
        let values = BTreeMap::from([("T".to_owned(), 5)]);
        assert_eq!(evaluate("2 * T", &values), Some(10));
        assert_eq!(evaluate("1.5", &values), None);
        let text =
            "\n    for (int t = 0; t < T; t++) {\n  f(T, x);\n  g(y);\n }\n double *r = h(2 * T, x);\n";
        assert_eq!(repetitions(text, &values), Some(5));
        let found: Vec<_> = statements(text).collect();
        assert_eq!(found, [("f", "T, x"), ("g", "y"), ("h", "2 * T, x")]);
    }
}

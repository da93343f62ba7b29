//! Inserts and replaces parts of the user's file.

use crate::arguments::{Argument, ArgumentOf, arguments, parameter, rows_variable};
use crate::context::{Context, identifiers, is_identifier};
use crate::macros;
use crate::prelude::{missing_functions, prelude};
use crate::print::plain_type;
use oxeye_binding::{Binding, Clauses, OwnText, Roots, Step, UnusedBody};
use oxeye_ir::{Affine, Array, ArrayId, Nest, Program, Span, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A nest at its place in the user's file.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Its number in the capture runtime.
    pub id: u32,
    /// The program it belongs to.
    pub program: &'a Program,
    /// How that meets what is around it.
    pub binding: &'a Binding,
    /// The nest; its span gives its place.
    pub nest: &'a Nest,
    /// The whole definition of the surrounding function.
    pub function: Span,
    /// What its text uses besides.
    pub own_text: &'a OwnText,
    /// The bodies of functions that it never calls.
    pub never_called: &'a [UnusedBody],
    /// Arguments, by position, whose values a compiler is to know when it compiles a replay, as it does where the nest stands.
    pub constants: &'a [(usize, i64)],
    /// Whether a compiler is to know that no two arrays overlap, as it does where the nest stands.
    pub are_apart: bool,
    /// A function that the text in its place calls, to stand before the surrounding one; empty if there is none.
    pub before: &'a str,
}

/// Replaces byte ranges and keeps everything else. Ranges that overlap an earlier one, or do not fit the source, are
/// ignored; an empty range inserts.
pub fn splice(source: &str, replacements: &[(Span, String)]) -> String {
    let mut ordered: Vec<&(Span, String)> = replacements.iter().collect();
    ordered.sort_by_key(|(span, _)| (span.start, span.end));
    let mut text = String::with_capacity(source.len());
    let mut at = 0;
    for (span, replacement) in ordered {
        if span.start < at || span.end < span.start {
            continue;
        }
        let (Some(before), Some(_)) = (source.get(at..span.start), source.get(span.start..span.end)) else {
            continue;
        };
        text += before;
        text += replacement;
        at = span.end;
    }
    text += source.get(at..).unwrap_or("");
    text
}

/// Where text for the top of the file goes: after a byte order mark.
pub(crate) fn top(source: &str) -> usize {
    if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// The tuned file: rendered nests in their places, functions that they call in empty places, and the definitions they need at the top. In these, compilers shall not
/// speak of the warnings in `quiet`, such as `sign-conversion`; and nowhere of what nests have left unused.
pub fn tuned_file(source: &str, replacements: &[(Span, String)], quiet: &[String]) -> String {
    tuned_file_with(source, replacements, &[], quiet)
}

/// As [`tuned_file`], with other text in further places, as it is.
pub fn tuned_file_with(
    source: &str,
    replacements: &[(Span, String)],
    edits: &[(Span, String)],
    quiet: &[String],
) -> String {
    // Variables of the user, such as counters, are declared elsewhere.
    let (unused, quiet): (Vec<String>, Vec<String>) =
        quiet.iter().cloned().partition(|name| name.starts_with("unused"));
    let quiet = quiet.as_slice();
    let bodies: Vec<&str> = replacements.iter().map(|(_, t)| t.as_str()).collect();
    let at = top(source);
    let definitions = missing_functions(source, &bodies) + &prelude(&bodies);
    let mut all = replacements.to_vec();
    // A block of its own: nothing may stand between a statement and `else`.
    for (span, text) in &mut all {
        let is_function = span.start == span.end;
        *text = quieted(text, quiet, if is_function { ("", "\n") } else { ("{\n", "\n}") });
        *text = closed(source, *span, std::mem::take(text));
    }
    all.extend_from_slice(edits);
    if !definitions.is_empty() || !unused.is_empty() {
        let definitions = match definitions.is_empty() {
            true => definitions,
            false => quieted(&(definitions + "\n"), quiet, ("", "\n")),
        };
        let definitions = ignored(&unused) + &definitions;
        // Before all functions, one of which may be the first text of the file.
        all.insert(0, (Span { start: at, end: at, line: 1 }, definitions));
    }
    // Line ends are those of the user's file.
    if source.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
        for (_, text) in &mut all {
            *text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    splice(source, &all)
}

/// What stands in the place of a span: if it ends an `#if` that opens before it, so does that, at its beginning.
fn closed(source: &str, span: Span, text: String) -> String {
    match span.opening(source) {
        Some(_) => format!("#endif\n{text}"),
        None => text,
    }
}

/// A text for which some warnings are switched off, with what stands before and behind that.
fn quieted(text: &str, quiet: &[String], (before, behind): (&str, &str)) -> String {
    if quiet.is_empty() {
        return text.to_owned();
    }
    let ignored = ignored(quiet);
    format!("{before}#pragma GCC diagnostic push\n{ignored}{text}\n#pragma GCC diagnostic pop{behind}")
}

/// Directives that switch warnings off from here on.
fn ignored(quiet: &[String]) -> String {
    quiet.iter().map(|name| format!("#pragma GCC diagnostic ignored \"-W{name}\"\n")).collect()
}

/// The line number of a byte, from 1.
pub(crate) fn line_of(source: &str, at: usize) -> usize {
    source.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
}

/// Whether the statement at `at` starts its line.
pub(crate) fn starts_line(source: &str, at: usize) -> bool {
    source.get(..at).is_some_and(|s| s.rsplit('\n').next().is_none_or(|l| l.trim().is_empty()))
}

/// Passing the address of something not yet written is intended here.
const QUIET: &str = "#if defined(__GNUC__) && !defined(__clang__)\n\
    #pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n";

/// The least and greatest of sizes as functions: as macros that mention their arguments twice, those of some nests are megabytes.
const OF_SIZES: &str = "static __attribute__((unused, noinline, const)) long long oxeye_capture_min(long long a, long long b)\n\
    { return a < b ? a : b; }\n\
    static __attribute__((unused, noinline, const)) long long oxeye_capture_max(long long a, long long b)\n\
    { return a > b ? a : b; }\n\
    #define OXEYE_MIN oxeye_capture_min\n#define OXEYE_MAX oxeye_capture_max\n";

/// The capture program: the user's file, in which every nest first passes its arguments to the runtime, whose text is
/// inserted at the top.
pub fn instrument(source: &str, sites: &[Site], runtime: &str) -> String {
    let mut pieces: Vec<(usize, usize, String)> = Vec::new();
    let mut sizes = Vec::new();
    let mut sites: Vec<&Site> = sites.iter().collect();
    sites.sort_by_key(|s| s.nest.span.map(|s| s.start));
    for site in sites {
        let Some(span) = site.nest.span else { continue };
        let id = site.id;
        let mut cx = Context::new(site.program, site.binding, &BTreeSet::new(), &[]);
        let entry = site.binding.entry(site.nest.id);
        let reached = entry.and_then(|e| e.reached.as_ref()).map(|e| cx.expr(e).text);
        let is_reached =
            reached.as_ref().map_or_else(String::new, |e| format!("const int oxeye_reached = {e}; "));
        let scans = scans(site, reached.is_some());
        sizes.push(scans.clone());
        let (rows, looks) = cx.look_at_rows(site);
        let mut calls = format!("if (oxeye_capture_enter({id})) {{ {is_reached}{scans}{rows}");
        // Reads only through pointers that the nest follows.
        let guarded = |text: &str| match &reached {
            Some(_) => format!("(oxeye_reached ? {text} : 0)"),
            None => text.to_owned(),
        };
        if let Some(work) = cx.product(&site.nest.work()) {
            let _ = write!(calls, " oxeye_capture_work({id}, {});", guarded(&work));
        }
        if !looks.is_empty() {
            let condition = if reached.is_some() { "if (oxeye_reached) " } else { "" };
            let _ = write!(calls, " {condition}{{ {looks}}}");
            sizes.push(looks);
        }
        // Where a test fails, the ranges are not those of the nest's own text.
        let tests: Vec<String> =
            entry.into_iter().flat_map(|entry| &entry.tests).map(|test| cx.entry_test(test)).collect();
        let tested = |bytes: &str| match tests.is_empty() {
            true => guarded(bytes),
            false => guarded(&format!("({} ? {bytes} : -1)", tests.join(" && "))),
        };
        let mut results = String::new();
        for (k, argument) in arguments(site.program, site.binding, site.nest).iter().enumerate() {
            if let Some(array) = argument.rows {
                let _ = write!(calls, " oxeye_capture_rows_arg({id}, {k}, &{});", rows_variable(array));
                continue;
            }
            let bytes = match &argument.bytes {
                Some(bytes) if argument.is_buffer => tested(bytes),
                Some(bytes) => bytes.clone(),
                None => "-1".to_owned(),
            };
            let value = match &argument.expression {
                Some(expression) => expression.clone(),
                None => guarded(&argument.name),
            };
            let address = if argument.is_buffer {
                format!("(const void *)({value})")
            } else {
                format!("&({}){{{value}}}", argument.element.c_name())
            };
            let begin = argument.begin.as_ref().map(|begin| guarded(begin));
            let _ = match &begin {
                Some(begin) => write!(calls, " oxeye_capture_part({id}, {k}, {address}, {begin}, {bytes});"),
                None if argument.is_buffer => {
                    write!(calls, " oxeye_capture_arg({id}, {k}, {address}, {bytes});")
                }
                None => write!(calls, " oxeye_capture_scalar({id}, {k}, {address}, {bytes});"),
            };
            sizes.extend(begin);
            if argument.written && !argument.is_buffer {
                let _ = write!(results, "oxeye_capture_result({id}, {k}, {address}, {bytes}); ");
            }
            sizes.push(bytes);
        }
        calls += " }";
        if !results.is_empty() && reached.is_some() {
            results = format!("{{ {is_reached}{results}}} ");
        }
        let (mut begin, mut end) = (format!("{{ {calls}"), format!("{results}oxeye_capture_leave({id}); }}"));
        if site.program.has_team(site.nest.id) {
            // One thread captures while the others wait.
            let alone = |text: &str| {
                format!("#pragma omp barrier\n#pragma omp master\n{text}\n#pragma omp barrier\n")
            };
            begin = format!("{{\n{}", alone(&format!("{begin} }}")));
            end = format!("{}}}", alone(&format!("{{ {end}")));
        }
        let start = span.start;
        let line = line_of(source, start);
        let before = if starts_line(source, start) { "" } else { "\n" };
        pieces.push((start, start, format!("{before}{begin}\n#line {line}\n")));
        let end = format!("\n{end}\n#line {}\n", line_of(source, span.end));
        pieces.push((span.end, span.end, end));
    }
    let at = top(source);
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let mut replacements = vec![(
        Span { start: at, end: at, line: 1 },
        format!("{runtime}\n{OF_SIZES}{}{QUIET}#line 1\n", prelude(&sizes)),
    )];
    replacements.extend(pieces.into_iter().map(|(start, end, text)| (Span { start, end, line: 1 }, text)));
    splice(source, &replacements)
}

impl Context<'_> {
    /// Declarations of what the capture runtime knows of a nest's rows behind pointers, and statements that find it out.
    fn look_at_rows(&mut self, site: &Site) -> (String, String) {
        let (program, binding, id) = (site.program, site.binding, site.id);
        let accesses = site.nest.accesses();
        let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        let tests = binding.entry(site.nest.id).map_or(&[][..], |entry| &entry.rows);
        let (mut declared, mut looks) = (String::new(), String::new());
        let mut rows = Vec::new();
        for test in tests {
            let (array, variable) = (program.array(test.array), rows_variable(test.array));
            let (name, size, n) = (&array.name, self.row_element_bytes(test), test.ranges.len() - 1);
            let parts = test.parts.len();
            let _ = write!(declared, "oxeye_capture_rows {variable} = {{0}}; ");
            // Rows that may not be there are not looked at: the original text runs.
            let table = match &test.used {
                Some(used) => format!("({}) ? {name} : 0", self.expr(used).text),
                None => name.clone(),
            };
            let _ = write!(
                looks,
                "const long {variable}_range[] = {}; \
                 oxeye_capture_look({id}, &{variable}, {table}, {n}, {parts}, {size}, {variable}_range); ",
                self.row_ranges(test)
            );
            if test.used.is_some() {
                let _ = write!(
                    looks,
                    "if ({variable}.spacing == OXEYE_CAPTURE_NO_ROWS && {variable}_range[0] <= {variable}_range[1]) \
                     {variable}.spacing = OXEYE_CAPTURE_OVERLAPPING; "
                );
            }
            let others = tests.iter().enumerate().filter(|(_, other)| {
                let (a, b) = (test.array.min(other.array), test.array.max(other.array));
                let is_pair =
                    a == b || program.may_alias.iter().any(|(x, y)| (*x.min(y), *x.max(y)) == (a, b));
                is_pair && (written.contains(&a) || written.contains(&b))
            });
            let others = others.filter(|(k, _)| *k < 64).fold(0u64, |bits, (k, _)| bits | 1 << k);
            rows.push((variable, format!("{name}, {{}}_range, {n}, {parts}, {size}, {others}UL"), others));
        }
        // Rows that overlap are left to the original text.
        if rows.iter().any(|(.., others)| *others != 0) {
            let is_uneven = |v: &String| format!("{v}.spacing == OXEYE_CAPTURE_UNEVEN");
            let any: Vec<String> = rows.iter().map(|(v, ..)| is_uneven(v)).collect();
            let list: Vec<String> =
                rows.iter().map(|(v, element, _)| format!("{{{}}}", element.replace("{}", v))).collect();
            let _ = write!(
                looks,
                "if (({}) && !oxeye_rows_apart({}, (const oxeye_rows[]){{{}}})) {{ ",
                any.join(" || "),
                rows.len().min(64),
                list.join(", ")
            );
            for (variable, ..) in &rows {
                let _ = write!(
                    looks,
                    "if ({}) {variable}.spacing = OXEYE_CAPTURE_OVERLAPPING; ",
                    is_uneven(variable)
                );
            }
            looks += "} ";
        }
        (declared, looks)
    }
}

/// Statements that find out which rows behind pointers a nest uses.
fn scans(site: &Site, is_guarded: bool) -> String {
    let (program, binding) = (site.program, site.binding);
    let Some(entry) = binding.entry(site.nest.id).filter(|entry| !entry.scans.is_empty()) else {
        return String::new();
    };
    let mut cx = Context::new(program, binding, &binding.arrays_of(program, site.nest), &[]);
    cx.declares_first = true;
    for (id, view) in &binding.views {
        cx.names.insert(*id, format!("({})", view.base()));
    }
    let (mut lines, others) = cx.entry_scans(entry, is_guarded.then_some("oxeye_reached"), false);
    lines.extend(others.into_iter().flat_map(|found| found.lines));
    lines.iter().fold(String::new(), |text, line| text + line.trim_start() + "\n")
}

/// Whether a parameter of the function is declared `restrict`.
fn is_restrict(source: &str, function: Span, name: &str) -> bool {
    let Some(definition) = source.get(function.start..function.end) else { return false };
    let header = definition.split('{').next().unwrap_or("");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = false;
    for parameter in header.split(',') {
        let words: Vec<&str> = parameter.split(|c| !is_word(c)).filter(|w| !w.is_empty()).collect();
        if words.contains(&name) {
            found |= words.iter().any(|w| matches!(*w, "restrict" | "__restrict" | "__restrict__"));
        }
    }
    found
}

/// Whether a variable is an array in the source, with an extent for every dimension, and no pointer to one.
fn is_array(array: &Array) -> bool {
    array.storage != Storage::Param && array.shape.iter().all(Option::is_some)
}

/// The user's file with `void oxeye_replay(void **args)`, which runs `body` on the given arguments: pointers to
/// buffers or to single scalars, in the order of [`arguments`]. The function is placed directly after the one that
/// contains the nest. Of functions that the nest never calls the bodies are left out: in a file with many large ones, the
/// compiler would be busy with nothing else.
pub fn replay_unit(source: &str, site: &Site, body: &str) -> String {
    let (program, binding) = (site.program, site.binding);
    let list = arguments(program, binding, site.nest);
    let mut cx = Context::new(program, binding, &BTreeSet::new(), &[]);
    let roots = binding.roots(program, site.nest);
    let Structures { mut parameters, mut passed, objects, mut before, mut elements, freed } =
        make_structures(&roots, &site.own_text.by_calls);
    let (mut after, mut has_copies) = (String::new(), false);
    let in_clauses = &site.own_text.clauses.variables;
    for (k, argument) in list.iter().enumerate() {
        let Argument { name, what, is_buffer, written, .. } = argument;
        let ty = match what {
            ArgumentOf::Array(id) => plain_type(program.array(*id)),
            _ => argument.element.c_name(),
        };
        let sized = site.own_text.sized.iter().find(|(array, _)| array == name);
        if let Some((_, declaration)) = site.own_text.tables.iter().find(|(table, _)| table == name) {
            // In the program, too, compilers know what is in it.
            before.extend(declaration.iter().flat_map(|text| [text.as_str(), "\n"]));
            continue;
        }
        match what {
            ArgumentOf::Array(id) if binding.views.contains_key(id) => {
                let view = &binding.views[id];
                let before = if view.has_elements() { &mut elements } else { &mut before };
                if let Some(test) = binding.row_test(site.nest.id, *id) {
                    let table = format!("oxeye_rows_{k}");
                    let (made, freed) = cx.make_rows(test, &table, &format!("oxeye_passed_{k}"));
                    parameters.push(format!("void *oxeye_passed_{k}"));
                    *before += &made;
                    *before += &cx.set_rows(test, name, &table);
                    after += &freed;
                    passed.push(format!("args[{k}]"));
                    continue;
                }
                if *is_buffer && view.n_base_steps() == 0 {
                    parameters.push(view.declaration.clone());
                } else {
                    parameters.push(format!("void *oxeye_passed_{k}"));
                    let place = if *is_buffer && view.is_loaded {
                        let _ = writeln!(
                            before,
                            "__builtin_memcpy((void *)&({name}), &oxeye_passed_{k}, sizeof(void *));"
                        );
                        None
                    } else if *is_buffer {
                        Some(format!("(void *)({name})"))
                    } else {
                        Some(format!("(void *)&({name})"))
                    };
                    if let Some(place) = place {
                        let _ =
                            writeln!(before, "__builtin_memcpy({place}, oxeye_passed_{k}, sizeof({name}));");
                        if *written {
                            let _ = writeln!(
                                after,
                                "__builtin_memcpy(oxeye_passed_{k}, {place}, sizeof({name}));"
                            );
                        }
                    }
                }
                passed.push(format!("args[{k}]"));
            }
            // Visible to the functions that are called.
            ArgumentOf::Array(id) if site.own_text.by_calls.contains(name) => {
                let array = program.array(*id);
                let (into, back) = if !is_buffer {
                    (
                        format!("{name} = *({ty} *)oxeye_passed_{k};"),
                        format!("*({ty} *)oxeye_passed_{k} = {name};"),
                    )
                } else if array.shape.first().is_some_and(Option::is_none) {
                    (format!("{name} = oxeye_passed_{k};"), String::new())
                } else {
                    has_copies = true;
                    array_copies(name, k)
                };
                parameters.push(format!("void *oxeye_passed_{k}"));
                before += &(into + "\n");
                if *written {
                    after += &(back + "\n");
                }
                passed.push(format!("args[{k}]"));
            }
            ArgumentOf::Array(id) if binding.row_test(site.nest.id, *id).is_some() => {
                let Some(test) = binding.row_test(site.nest.id, *id) else { continue };
                let (made, freed) = cx.make_rows(test, name, &format!("oxeye_passed_{k}"));
                parameters.push(format!("void *oxeye_passed_{k}"));
                before += &made;
                after += &freed;
                passed.push(format!("args[{k}]"));
            }
            // A clause that gives every thread its own needs an array, not a pointer to one.
            ArgumentOf::Array(id)
                if *is_buffer && in_clauses.contains(name) && is_array(program.array(*id)) =>
            {
                let array = program.array(*id);
                let is_constant = array
                    .shape
                    .iter()
                    .flatten()
                    .all(|e| e.as_affine().and_then(Affine::as_constant).is_some());
                let lifetime = if is_constant { "static " } else { "" };
                let declaration = cx.declaration(array);
                let (into, back) = array_copies(name, k);
                has_copies = true;
                before += &format!("{lifetime}{declaration};\n{into}\n");
                if *written {
                    after += &(back + "\n");
                }
                parameters.push(format!("void *oxeye_passed_{k}"));
                passed.push(format!("args[{k}]"));
            }
            // `sizeof` tells an array from a pointer to its elements.
            ArgumentOf::Array(_) if *is_buffer && sized.is_some() => {
                let Some((_, declaration)) = sized else { continue };
                let _ = writeln!(
                    before,
                    "typedef {declaration};\n{name} *__restrict oxeye_array_{k} = (void *)oxeye_passed_{k};\n\
                     #define {name} (*oxeye_array_{k})"
                );
                let _ = writeln!(after, "#undef {name}");
                parameters.push(format!("void *oxeye_passed_{k}"));
                passed.push(format!("args[{k}]"));
            }
            ArgumentOf::Array(id) if *is_buffer => {
                let array = program.array(*id);
                let restrict = site.are_apart
                    || array.storage != Storage::Param
                    || is_restrict(source, site.function, name)
                    || !program.may_alias.iter().any(|(a, b)| a == id || b == id);
                parameters.push(parameter(&cx, array, restrict));
                passed.push(format!("args[{k}]"));
            }
            ArgumentOf::Array(_) => {
                parameters.push(format!("{ty} *oxeye_passed_{k}"));
                let _ = writeln!(before, "{ty} {name} = *oxeye_passed_{k};");
                if *written {
                    let _ = writeln!(after, "*oxeye_passed_{k} = {name};");
                }
                passed.push(format!("args[{k}]"));
            }
            ArgumentOf::Symbol(id) => {
                if site.own_text.by_calls.contains(name) {
                    parameters.push(format!("{ty} oxeye_passed_{k}"));
                    let _ = writeln!(before, "{name} = oxeye_passed_{k};");
                    passed.push(format!("*({ty} *)args[{k}]"));
                } else if let Some(view) = binding.symbol_view(*id) {
                    let before = if view.has_elements() { &mut elements } else { &mut before };
                    parameters.push(format!("{ty} oxeye_passed_{k}"));
                    let _ = writeln!(
                        before,
                        "__builtin_memcpy((void *)&({name}), &oxeye_passed_{k}, sizeof({name}));"
                    );
                    passed.push(format!("*({ty} *)args[{k}]"));
                } else {
                    // The value of an expression gets a name, which later types use.
                    let name = if is_identifier(name) { name.clone() } else { format!("oxeye_passed_{k}") };
                    cx.symbol_names.insert(*id, name.clone());
                    parameters.push(format!("{ty} {name}"));
                    // Of a function with one call, compilers know what is passed.
                    passed.push(match site.constants.iter().find(|(position, _)| *position == k) {
                        Some((_, value)) => format!("({ty}){value}LL"),
                        None => format!("*({ty} *)args[{k}]"),
                    });
                }
            }
        }
    }
    before += &elements;
    after += &freed;
    before += &ends(&cx, &list);
    let clock = if has_copies { time_the_nest_alone(&mut before, &mut after) } else { "" };
    let names = list.iter().map(|a| a.name.as_str());
    let taken: BTreeSet<&str> = names.chain(roots.variables.keys().copied()).collect();
    let mut declared = declared_besides(site.nest, site.own_text, &taken);
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    if let Some(team) = binding.team(site.nest.id) {
        // A team as in the program, with its thread-private variables.
        let is_declared =
            |name: &&String| taken.contains(name.as_str()) || declared.names.contains(name.as_str());
        let own: Vec<&str> = team.names.iter().filter(is_declared).map(String::as_str).collect();
        let clause =
            if own.is_empty() { String::new() } else { format!(" firstprivate({})", own.join(", ")) };
        let _ = writeln!(declared.text, "#pragma omp parallel{clause}\n{{");
        after.insert_str(0, "}\n");
    }
    let line = site.nest.span.map_or(1, |s| s.line);
    let resume = line_of(source, site.function.end);
    let (as_there, as_here) =
        site.nest.span.map(|span| macros::restored(source, span.end, site.function.end)).unwrap_or_default();
    let text = format!(
        "\n{as_there}{clock}static __attribute__((noinline)) void oxeye_nest({parameters})\n{{\n{before}{}#line {line}\n{body}\n{after}}}\n\
         __attribute__((visibility(\"default\"))) void oxeye_replay(void **args);\n\
         void oxeye_replay(void **args)\n{{\n(void)args;\n{objects}oxeye_nest({});\n}}\n{as_here}#line {resume}\n",
        declared.text,
        passed.join(", ")
    );
    let at = top(source);
    let definitions =
        missing_functions(source, &[body, site.before]) + &prelude(&[body, &before, site.before]);
    let end = site.function.end;
    let start = Span { end: site.function.start, ..site.function };
    let mut pieces = vec![
        (Span { start: at, end: at, line: 1 }, format!("{definitions}#line 1\n")),
        (start, in_own_lines(source, start, site.before)),
        (Span { start: end, end, line: resume as u32 }, text),
    ];
    pieces.extend(site.never_called.iter().map(|body| (body.whole, no_body(source, body))));
    splice(source, &pieces)
}

/// Statements that copy what is passed into an array, and back.
fn array_copies(name: &str, k: usize) -> (String, String) {
    let copy =
        |to: &str, from: &str| format!("__builtin_memcpy((void *){to}, (void *){from}, sizeof({name}));");
    let buffer = format!("oxeye_passed_{k}");
    (copy(name, &buffer), copy(&buffer, name))
}

/// Lets what times a replay leave out what stands before and behind the nest. Returns the declaration for that.
fn time_the_nest_alone(before: &mut String, after: &mut String) -> &'static str {
    let clock = |runs: u8| format!("if (oxeye_replay_clock) oxeye_replay_clock({runs});\n");
    for text in [before, after].into_iter().filter(|text| !text.is_empty()) {
        *text = [clock(0), std::mem::take(text), clock(1)].concat();
    }
    "__attribute__((visibility(\"default\"))) void (*oxeye_replay_clock)(int);\n"
}

/// The structures in which a replay puts members.
#[derive(Default)]
struct Structures {
    /// Pointers to them, as parameters.
    parameters: Vec<String>,
    /// What is passed for these.
    passed: Vec<String>,
    /// Declarations in the calling function.
    objects: String,
    /// Declarations before all that fills them.
    before: String,
    /// Those that stand behind what the indices of elements need, with what fills them.
    elements: String,
    /// What frees them.
    freed: String,
}

/// The structures, of variables but for those that the functions that are called see themselves.
fn make_structures(roots: &Roots, by_calls: &[String]) -> Structures {
    let mut made = Structures::default();
    for (root, view) in &roots.variables {
        let declaration = &view.declaration;
        // The functions that are called see the variable itself.
        if by_calls.iter().any(|name| name == root) {
            continue;
        }
        match view.steps.first() {
            Some(Step::Element(_)) => _ = writeln!(made.before, "static {declaration};"),
            // Makes the structure from the members that the nest uses; the rows of others are made below.
            None | Some(Step::Field(_) | Step::Real | Step::Imaginary | Step::Lanes(_)) => {
                let _ = writeln!(
                    made.before,
                    "{declaration};\n__builtin_memset((void *)&{root}, 0, sizeof {root});"
                );
            }
            Some(Step::Follow) => {
                let _ = writeln!(made.objects, "{declaration};");
                made.parameters.push(declaration.clone());
                made.passed.push((*root).to_owned());
            }
            _ => {}
        }
    }
    for (k, ((n, pointer), indices)) in roots.followed.iter().enumerate() {
        if indices.len() > 1 || !indices.contains("0") {
            let (lines, freed) = make_elements(k, pointer, indices);
            made.elements += &lines;
            made.freed += &freed;
            continue;
        }
        let target = if *n == 0 { &mut made.objects } else { &mut made.before };
        // Hides from the compiler which object it is.
        let _ = writeln!(
            target,
            "static __typeof__(*{pointer}) oxeye_object_{k};\nvoid *oxeye_pointer_{k} = (void *)&oxeye_object_{k};\n\
             __asm__(\"\" : \"+r\"(oxeye_pointer_{k}));\n\
             __builtin_memcpy((void *)&{pointer}, &oxeye_pointer_{k}, sizeof(void *));"
        );
    }
    made
}

/// Lines that let a pointer lead to new structures of which those with these indices are used, and lines that free them.
fn make_elements(k: usize, pointer: &str, indices: &BTreeSet<&str>) -> (String, String) {
    let mut made = String::new();
    for (position, index) in indices.iter().enumerate() {
        let _ = match position {
            0 => writeln!(made, "long oxeye_first_{k} = {index}, oxeye_last_{k} = oxeye_first_{k};"),
            _ => writeln!(
                made,
                "if (oxeye_first_{k} > {index}) oxeye_first_{k} = {index};\n\
                 if (oxeye_last_{k} < {index}) oxeye_last_{k} = {index};"
            ),
        };
    }
    let _ = writeln!(
        made,
        "void *oxeye_objects_{k} = __builtin_calloc(oxeye_last_{k} - oxeye_first_{k} + 1, sizeof *{pointer});\n\
         __UINTPTR_TYPE__ oxeye_pointer_{k} = \
         (__UINTPTR_TYPE__)oxeye_objects_{k} - (__UINTPTR_TYPE__)oxeye_first_{k} * sizeof *{pointer};\n\
         __asm__(\"\" : \"+r\"(oxeye_pointer_{k}));\n\
         __builtin_memcpy((void *)&{pointer}, &oxeye_pointer_{k}, sizeof(void *));"
    );
    (made, format!("__builtin_free(oxeye_objects_{k});\n"))
}

/// Lines that set the pointers at which the loops of a nest end.
fn ends(cx: &Context<'_>, list: &[Argument]) -> String {
    let mut lines = String::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for argument in list {
        let ArgumentOf::Symbol(id) = argument.what else { continue };
        let (Some(distance), Some(far)) = (cx.binding.distance(id), cx.symbol_names.get(&id)) else {
            continue;
        };
        let (end, from) = (&distance.end, &cx.program.array(distance.from).name);
        if !seen.insert(end) {
            continue;
        }
        let _ = match &distance.declaration {
            Some(declaration) => writeln!(lines, "{declaration} = {from} + {far}; (void){end};"),
            None => writeln!(
                lines,
                "{{ const void *oxeye_end = {from} + {far};\n\
                 __builtin_memcpy((void *)&({end}), &oxeye_end, sizeof(void *)); }}"
            ),
        };
    }
    lines
}

/// What stands before the text of a nest in another function.
pub(crate) struct Declared<'a> {
    /// The lines.
    pub(crate) text: String,
    /// The variables that are declared there and may be any thread's, by name.
    names: BTreeSet<&'a str>,
}

/// Declarations of the variables that the text of a nest uses besides those that are `taken`: iterators that the source
/// declares outside of it, what only directives name, and what does not matter.
pub(crate) fn declared_besides<'a>(
    nest: &'a Nest,
    own_text: &'a OwnText,
    taken: &BTreeSet<&str>,
) -> Declared<'a> {
    let is_unused = |name: &str| {
        own_text.constants.iter().any(|[constant, ..]| constant == name)
            || own_text.unused.iter().any(|d| identifiers(d).any(|word| word == name))
    };
    let is_new = |name: &str| !taken.contains(name) && !is_unused(name);
    let mut text = String::new();
    // The value that a counter begins with may be one of them.
    for [name, declaration, value] in own_text.constants.iter().filter(|c| !taken.contains(c[0].as_str())) {
        let _ = writeln!(text, "{declaration} = {value}; (void){name};");
    }
    for declaration in &own_text.unused {
        let _ = writeln!(text, "{declaration};");
    }
    let mut variables: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for l in nest.loops() {
        if is_identifier(&l.name) && is_new(&l.name) {
            let begins = own_text.begins.as_ref().filter(|(counter, _)| *counter == l.name);
            let ty = if l.ty.is_float() { "int" } else { l.ty.c_name() };
            variables.insert(&l.name, (ty, begins.map_or("0", |(_, value)| value)));
        }
    }
    let Clauses { variables: named, counts, .. } = &own_text.clauses;
    let mut in_order: Vec<(&str, (&str, &str))> = variables.into_iter().collect();
    for (names, value) in [(named, "0"), (counts, "1")] {
        for name in names {
            if is_new(name) && !in_order.iter().any(|(known, _)| *known == name.as_str()) {
                in_order.push((name, ("int", value)));
            }
        }
    }
    for (name, (ty, value)) in &in_order {
        let _ = writeln!(text, "{ty} {name} = {value}; (void){name};");
    }
    Declared { text, names: in_order.into_iter().map(|(name, _)| name).collect() }
}

/// A function before another, which begins at `at`; compilers count the lines of the file without it.
fn in_own_lines(source: &str, at: Span, function: &str) -> String {
    match function.is_empty() {
        true => String::new(),
        false => format!("\n{function}\n#line {}\n", line_of(source, at.start)),
    }
}

/// What stands for the body of a function that is never called: as many lines, and next to no work for a compiler.
fn no_body(source: &str, body: &UnusedBody) -> String {
    let lines = |start: usize, end: usize| {
        let text = source.get(start..end).unwrap_or_default();
        "\n".repeat(text.matches('\n').count())
    };
    let mut text = "{ __builtin_trap(); ".to_owned();
    let mut from = body.whole.start;
    for Span { start, end, .. } in body.directives.iter().copied() {
        text += &lines(from, start);
        text += source.get(start..end).unwrap_or_default();
        from = end;
    }
    text + &lines(from, body.whole.end) + "}"
}

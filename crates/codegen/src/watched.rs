//! Nests that tell of every access to memory while they run.
//!
//! A nest is rendered as it was read, statement by statement in the order of the source, with every access going through
//! the watch runtime. Innermost loops stand there twice: once nothing is looked at any more, they run as they are.

use crate::CodegenError;
use crate::arguments::arguments;
use crate::capture::{Site, splice, top, tuned_file};
use crate::context::is_outer;
use crate::options::RenderOptions;
use crate::render::render_with;
use crate::watch::{Key, Watch};
use oxeye_binding::Binding;
use oxeye_ir::{Access, ArrayId, BoundTerm, Expr, Nest, Node, Program, ScalarType, Span, Stmt, Update};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

/// Most accesses that a program can tell apart.
const MOST_SITES: usize = 60_000;

/// One access in the text of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedAccess {
    /// [`Site::id`] of its nest.
    pub nest: u32,
    /// The array or scalar, and its name in the source.
    pub array: ArrayId,
    /// See above.
    pub name: String,
    /// Type of an element.
    pub element: ScalarType,
    /// Whether it has no dimensions.
    pub is_scalar: bool,
    /// Line of the statement, or of the nest.
    pub line: u32,
    /// Whether it stores.
    pub is_store: bool,
    /// Whether what is stored comes from elements of arrays, so that the text does not tell what it is.
    pub is_computed: bool,
    /// Whether it is what was there, and something added or taken away.
    pub is_sum: bool,
}

/// A nest that tells of its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedNest {
    /// [`Site::id`].
    pub nest: u32,
    /// Names of its arguments, in the order of [`arguments`].
    pub arguments: Vec<String>,
}

/// A program whose nests tell of their accesses.
#[derive(Clone, Debug)]
pub struct WatchedProgram {
    /// Its text.
    pub text: String,
    /// The accesses, by their number in the runtime.
    pub accesses: Vec<WatchedAccess>,
    /// The nests that are watched.
    pub nests: Vec<WatchedNest>,
    /// The others, by [`Site::id`], and why not.
    pub refused: Vec<(u32, String)>,
}

/// Whether accesses to an array are told: it has a place in memory outside of the nest.
fn is_watched(program: &Program, binding: &Binding, id: ArrayId) -> bool {
    let Some(array) = program.arrays.get(&id) else { return false };
    // Scalars behind pointers are copied into variables for as long as the nest runs.
    is_outer(array.storage) && !(array.shape.is_empty() && binding.views.contains_key(&id))
}

/// The accesses of a nest that are told, each once, in the order of the text: with their lines, whether what is stored is
/// computed, and whether it is a sum.
fn keys(program: &Program, binding: &Binding, nest: &Nest) -> Vec<(Key, u32, [bool; 2])> {
    let nest_line = nest.span.map_or(0, |span| span.line);
    let mut found: Vec<(Key, u32, [bool; 2])> = Vec::new();
    let mut add = |stmt: Option<&Stmt>, access: &Access, is_store: bool| {
        let key = Key { stmt: stmt.map(|s| s.id), access: access.clone(), is_store };
        if is_watched(program, binding, access.array) && !found.iter().any(|(known, ..)| *known == key) {
            let line = stmt.and_then(|s| s.line).unwrap_or(nest_line);
            let is_computed =
                stmt.is_some_and(|s| s.update != Update::Assign || comes_from_memory(program, s));
            let is_sum = stmt.is_some_and(|s| matches!(s.update, Update::Add | Update::Sub));
            found.push((key, line, [is_computed, is_sum]));
        }
    };
    nest.visit(&mut |_, node| match node {
        Node::Loop(l) => {
            for term in l.lower.0.iter().chain(&l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    e.reads().into_iter().for_each(|access| add(None, access, false));
                }
            }
        }
        Node::If { condition, .. } => {
            condition.reads().into_iter().for_each(|access| add(None, access, false))
        }
        Node::Stmt(s) => {
            let indices = s.target.indices.iter().flat_map(Expr::reads);
            for access in indices.chain(s.value.reads()) {
                add(Some(s), access, false);
            }
            if s.update.reads_target() {
                add(Some(s), &s.target, false);
            }
            add(Some(s), &s.target, true);
        }
    });
    found
}

/// Whether the value of a statement depends on elements of arrays, or on what the nest keeps in variables of its own.
fn comes_from_memory(program: &Program, s: &Stmt) -> bool {
    s.value.reads().iter().any(|access| {
        let array = program.arrays.get(&access.array);
        array.is_some_and(|array| !array.shape.is_empty() || !is_outer(array.storage))
    })
}

/// The user's file, in which every nest tells the runtime, whose text is inserted at the top, what it accesses.
pub fn watched_program(source: &str, sites: &[Site], runtime: &str) -> WatchedProgram {
    let mut made =
        WatchedProgram { text: String::new(), accesses: Vec::new(), nests: Vec::new(), refused: Vec::new() };
    let mut replacements = Vec::new();
    for site in sites {
        let Some(span) = site.nest.span else { continue };
        let text = &*span.text(source);
        match watched_nest(site, text, made.accesses.len()) {
            Ok((block, accesses)) if made.accesses.len() + accesses.len() <= MOST_SITES => {
                made.accesses.extend(accesses);
                let arguments = arguments(site.program, site.binding, site.nest);
                made.nests.push(WatchedNest {
                    nest: site.id,
                    arguments: arguments.into_iter().map(|argument| argument.name).collect(),
                });
                replacements.push((span, block));
            }
            Ok(_) => made.refused.push((site.id, "there are too many accesses in the file".into())),
            Err(error) => made.refused.push((site.id, error.to_string())),
        }
    }
    let list = |value: &dyn Fn(&WatchedAccess) -> u32| {
        let words: Vec<String> = made.accesses.iter().map(|access| value(access).to_string()).collect();
        if words.is_empty() { "0".to_owned() } else { words.join(",") }
    };
    let type_of = |access: &WatchedAccess| {
        let position = ScalarType::ALL.iter().position(|ty| *ty == access.element).unwrap_or(0);
        position as u32 + if access.is_scalar { 16 } else { 0 }
    };
    let definitions = format!(
        "#define OXEYE_WATCH_NESTS {}\n#define OXEYE_WATCH_SITES {}\n#define OXEYE_WATCH_TYPES {}\n\
         #define OXEYE_WATCH_NEST_OF {}\n{runtime}\n#line 1\n",
        sites.iter().map(|site| site.id + 1).max().unwrap_or(1),
        made.accesses.len().max(1),
        list(&type_of),
        list(&|access| access.nest),
    );
    let text = tuned_file(source, &replacements, &[]);
    let at = top(&text);
    made.text = splice(&text, &[(Span { start: at, end: at, line: 1 }, definitions)]);
    made
}

/// The block that stands for a nest, and its accesses, which are numbered from `first` on.
fn watched_nest(site: &Site, text: &str, first: usize) -> Result<(String, Vec<WatchedAccess>), CodegenError> {
    let id = site.id;
    if site.program.has_team(site.nest.id) {
        return Err(CodegenError::Team { why: "only nests of one thread are watched".into() });
    }
    let (mut program, mut binding) = (site.program.clone(), site.binding.clone());
    // Everything stays in its order, so nothing depends on whether memory overlaps.
    program.may_alias.clear();
    for entry in binding.entries.values_mut() {
        entry.rows.iter_mut().for_each(|rows| rows.form = oxeye_binding::RowForm::Apart);
    }
    let keys = keys(&program, &binding, site.nest);
    let accesses = keys.iter().map(|(key, line, [is_computed, is_sum])| {
        let array = program.array(key.access.array);
        WatchedAccess {
            nest: id,
            array: array.id,
            name: array.name.clone(),
            element: array.element,
            is_scalar: array.shape.is_empty(),
            line: *line,
            is_store: key.is_store,
            is_computed: *is_computed,
            is_sum: *is_sum,
        }
    });
    let accesses = accesses.collect();
    let sites = Rc::new(keys.into_iter().map(|(key, ..)| key).collect());
    let original = format!("{{ oxeye_watch_missed({id});\n{text}\n}}");
    // Any dialect has them there.
    let declarations_first = true;
    let options = RenderOptions {
        threads: 1,
        original: Some(original),
        declarations_first,
        ..RenderOptions::default()
    };
    let block =
        render_with(&program, &binding, site.nest, &options, Some(Watch { sites, first, at: None }))?.text;
    let buffers = buffers(site);
    let block = format!(
        "{{ if (oxeye_watch_enter({id})) {{\n{block}\n{buffers}oxeye_watch_leave({id});\n}} else {{\n{text}\n}} }}"
    );
    Ok((block, accesses))
}

/// Calls that look at what the arrays hold after a nest.
fn buffers(site: &Site) -> String {
    let mut calls = String::new();
    let is_guarded = site.binding.entry(site.nest.id).is_some_and(|entry| entry.reached.is_some());
    // Behind a nest, pointers that it moves lead further.
    if is_guarded || !site.binding.advances(site.nest.id).is_empty() {
        return calls;
    }
    let mut seen = BTreeSet::new();
    for (k, argument) in arguments(site.program, site.binding, site.nest).iter().enumerate() {
        let is_plain = argument.is_buffer
            && argument.rows.is_none()
            && argument.fields.is_none()
            && argument.begin.is_none();
        let Some(bytes) = argument.bytes.as_ref().filter(|_| is_plain) else { continue };
        if !seen.insert(argument.name.clone()) {
            continue;
        }
        let written = u8::from(argument.written || argument.is_scratch);
        let _ = writeln!(
            calls,
            "oxeye_watch_buffer({}, {k}, (const void *)({}), {bytes}, {written});",
            site.id, argument.name
        );
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "void f(int n, double *x, double *y, int *at)\n{\n    for (int i = 0; i < n; i++)\n        y[at[i]] += x[i];\n}\n";

    fn program() -> Program {
        let text = "program f {
               symbol P0 n: i32
               array A0 x: f64[n] param
               array A1 y: f64[?] param
               array A2 at: i32[n] param
               may_alias x y
               dataflow { N0 }
               nest N0 in f { for L0 i: i32 in 0 .. n { S0: y[at[i]] += x[i] } }
             }";
        let mut program = Program::parse(text).unwrap();
        let start = SOURCE.find("for").unwrap();
        program.nests[0].span = Some(Span { start, end: SOURCE.rfind(";").unwrap() + 1, line: 3 });
        program
    }

    #[test]
    fn every_access_is_told_once() {
        let program = program();
        let function = Span { start: 0, end: SOURCE.len(), line: 1 };
        let nest = &program.nests[0];
        let site = Site {
            binding: Binding::none(),
            id: 0,
            program: &program,
            nest,
            function,
            own_text: oxeye_binding::OwnText::none(),
            never_called: &[],
            constants: &[],
            are_apart: false,
            before: "",
        };
        let made = watched_program(SOURCE, &[site], "/* runtime */");
        let accesses: Vec<_> = made.accesses.iter().map(|a| (a.name.as_str(), a.is_store)).collect();
        assert_eq!(accesses, [("at", false), ("x", false), ("y", false), ("y", true)]);
        assert!(made.refused.is_empty() && made.accesses[3].is_sum && made.accesses[3].is_computed);
        for definition in ["SITES 4\n", "TYPES 6,1,1,1\n", "NEST_OF 0,0,0,0\n/* runtime */\n"] {
            assert!(made.text.contains(definition), "{}", made.text);
        }
        // The index is read once for the statement, and not at all where nothing is looked at.
        assert_eq!(made.text.matches("*oxeye_to += OXEYE_WATCH_READ(1, x[i]);").count(), 1, "{}", made.text);
        assert!(made.text.contains("= &(y[OXEYE_WATCH_READ(0, at[i])]);"), "{}", made.text);
        assert!(made.text.contains("y[at[i]] += x[i];"), "{}", made.text);
        assert!(
            made.text.contains("oxeye_watch_buffer(0, 1, (const void *)(x), (long long)8 * "),
            "{}",
            made.text
        );
    }
}

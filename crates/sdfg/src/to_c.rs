//! The program in C: a function with the arguments of the SDFG, in which every nest stands between two comments.

use crate::document::Sdfg;
use crate::error::SdfgError;
use crate::lower::{Outline, Unit};
use crate::model::{Block, ControlGraph, Graph, NodeKind};
use indexmap::IndexMap;
use oxeye_binding::Binding;
use oxeye_codegen::{CodegenError, RenderOptions, expression, prelude, render_nest};
use oxeye_ir::{
    ArrayId, Execution, Expr, MathFn, Nest, NestId, Node, Program, ScalarType, Storage, Update, WorkSharing,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Why there is no C for an SDFG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToCError {
    /// The document is damaged.
    #[error(transparent)]
    Document(#[from] SdfgError),
    /// A nest has no rendering.
    #[error(transparent)]
    Nest(#[from] CodegenError),
    /// The names of symbols cannot be told apart in C, or a tuned file is not a version of this one.
    #[error("{0}")]
    Control(String),
}

/// An SDFG as a C program.
#[derive(Clone, Debug)]
pub struct CProgram {
    /// A file with one function.
    pub source: String,
    /// The name of the function.
    pub function: String,
    /// Its parameters in their order.
    pub parameters: Vec<CParameter>,
    /// The program with the names that are used in the file.
    pub program: Program,
    /// The text that stands for each nest, or for a group of them under the id of the first.
    pub nests: IndexMap<NestId, String>,
    /// Groups of neighbouring nests that are written as one, since they hand on what nobody else uses: by the first.
    groups: IndexMap<NestId, Vec<NestId>>,
    /// Arrays that control reads.
    asked: BTreeSet<ArrayId>,
    /// Where the C does something else than the SDFG, since that is not understood: sentences.
    pub invented: Vec<String>,
    /// The file up to the function.
    head: String,
    /// Nests that are better than those of the SDFG as they are.
    folded: BTreeSet<NestId>,
}

/// What is done about neighbouring nests that hand on arrays which nobody else uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// They are one nest, so that what they hand on need not go through memory.
    #[default]
    Together,
    /// Each is a nest of its own.
    Apart,
}

/// A parameter of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CParameter {
    /// Its name in C.
    pub name: String,
    /// The container or symbol of the SDFG.
    pub of: String,
    /// Type of its elements.
    pub element: ScalarType,
    /// The number of its elements as a C expression of symbols; none if it is passed by value.
    pub count: Option<String>,
    /// Whether it is a symbol.
    pub is_symbol: bool,
}

/// What of a C program is another after it was tuned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// What stands in front of the function now.
    pub global: String,
    /// New texts of nests.
    pub nests: IndexMap<NestId, String>,
    /// The texts of the others, which DaCe may compile to something slower.
    pub plain: IndexMap<NestId, String>,
}

impl Changed {
    /// The same with all nests as they are in C.
    pub fn whole(&self) -> Changed {
        let mut nests = self.nests.clone();
        nests.extend(self.plain.clone());
        Changed { global: self.global.clone(), nests, plain: IndexMap::new() }
    }
}

/// Writes the program that an SDFG is in C.
///
/// # Errors
/// If a nest has no rendering.
pub fn to_c(sdfg: &Sdfg, unit: &Unit, grouping: Grouping) -> Result<CProgram, ToCError> {
    let graph = sdfg.graph()?;
    let mut writer = Writer {
        unit,
        grouping,
        program: renamed(unit),
        nests: IndexMap::new(),
        groups: IndexMap::new(),
        asked: asked(&unit.outline),
        out: String::new(),
        invented: Vec::new(),
    };
    writer.mark_parallel(&graph);
    let parameters = parameters(unit, &writer.program);
    writer.locals(&parameters)?;
    writer.pieces(&unit.outline, 1, false)?;
    writer.frees();
    let function = writer.program.name.clone();
    let mut head = String::from("#include <math.h>\n#include <stdlib.h>\n\n");
    if !writer.invented.is_empty() {
        head += INVENTED;
    }
    let texts: Vec<&str> = writer.nests.values().map(String::as_str).collect();
    let macros = prelude(&texts);
    head.insert_str(0, &macros);
    let source = format!("{head}{}\n{{\n{}}}\n", signature(&function, &parameters), writer.out);
    let Writer { program, nests, groups, asked, invented, .. } = writer;
    Ok(CProgram {
        source,
        function,
        parameters,
        program,
        nests,
        groups,
        asked,
        invented,
        head,
        folded: unit.folded.clone(),
    })
}

/// Declarations of what the harness has in the place of what is not understood.
const INVENTED: &str =
    "void oxeye_invent(void *data, long n, long bytes, int is_float);\nint oxeye_unknown(void);\n\n";

/// Their definitions: numbers between one half and one, or small indices; what is unknown holds three times of four.
const INVENTING: &str = "
void oxeye_invent(void *data, long n, long bytes, int is_float)
{
    for (long k = 0; k < n; k++) {
        double x = 0.5 + 0.5 / (k % 17 + 1);
        if (is_float && bytes == 8)
            ((double *)data)[k] = x;
        else if (is_float)
            ((float *)data)[k] = (float)x;
        else
            for (long b = 0; b < bytes; b++)
                ((char *)data)[k * bytes + b] = b == 0 && k % 2;
    }
}

int oxeye_unknown(void)
{
    static int n;
    return ++n % 4 != 0;
}
";

/// The head of the function.
fn signature(function: &str, parameters: &[CParameter]) -> String {
    let list: Vec<String> = parameters
        .iter()
        .map(|p| match p.count {
            Some(_) => format!("{} *restrict {}", p.element.c_name(), p.name),
            None => format!("{} {}", p.element.c_name(), p.name),
        })
        .collect();
    format!("void {function}({})", if list.is_empty() { "void".to_owned() } else { list.join(", ") })
}

impl CProgram {
    /// The nests that a text of [`CProgram::nests`] stands for.
    pub(crate) fn group(&self, id: NestId) -> Vec<NestId> {
        self.groups.get(&id).cloned().unwrap_or_else(|| vec![id])
    }

    /// Whether control reads an array.
    pub(crate) fn is_asked(&self, array: ArrayId) -> bool {
        self.asked.contains(&array)
    }

    /// The declaration of the function.
    pub fn declaration(&self) -> String {
        format!("{};", signature(&self.function, &self.parameters))
    }

    /// A program that reads the arguments from raw files `NAME.bin` of a folder, calls the function, and prints two sums of
    /// every array. `values` are those of what is passed by value.
    pub fn harness(&self, folder: &str, values: &BTreeMap<String, String>) -> String {
        let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n\n");
        text += &self.declaration();
        text += "\n\nstatic void *load(const char *path, long bytes)\n{\n    \
                 void *data = malloc(bytes ? bytes : 1);\n    \
                 FILE *file = fopen(path, \"rb\");\n    \
                 if (!data || !file || fread(data, 1, bytes, file) != (size_t)bytes) {\n        \
                 fprintf(stderr, \"cannot read %s\\n\", path);\n        exit(1);\n    }\n    \
                 fclose(file);\n    return data;\n}\n\nint main(void)\n{\n";
        for p in self.parameters.iter().filter(|p| p.count.is_none()) {
            let value = values.get(&p.of).map_or("1", String::as_str);
            _ = writeln!(
                text,
                "    volatile {ty} {0}_value = {value};\n    {ty} {0} = {0}_value;",
                p.name,
                ty = p.element.c_name()
            );
        }
        let folder = folder.replace('\\', "\\\\").replace('"', "\\\"");
        for p in &self.parameters {
            let Some(count) = &p.count else { continue };
            let ty = p.element.c_name();
            _ = writeln!(
                text,
                "    long n_{0} = {count};\n    {ty} *{0} = load(\"{folder}/{1}.bin\", n_{0} * (long)sizeof({ty}));",
                p.name, p.of
            );
        }
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        _ = writeln!(text, "    {}({});", self.function, names.join(", "));
        for p in self.parameters.iter().filter(|p| p.count.is_some()) {
            _ = writeln!(
                text,
                "    double sum_{0} = 0, odd_{0} = 0;\n    for (long k = 0; k < n_{0}; k++) {{\n        \
                 sum_{0} += {0}[k];\n        odd_{0} += k % 7 * (double){0}[k];\n    }}\n    \
                 printf(\"{0} %.5e %.5e\\n\", sum_{0}, odd_{0});",
                p.name
            );
        }
        text += "    return 0;\n}\n";
        if !self.invented.is_empty() {
            text += INVENTING;
        }
        text
    }

    /// What is another than in the SDFG in a tuned version of the file.
    ///
    /// # Errors
    /// If more than nests and what stands before the function has changed.
    pub fn changed(&self, tuned: &str) -> Result<Changed, ToCError> {
        let lost = |what: &str| ToCError::Control(format!("the tuned C has lost {what}"));
        let start = format!("\nvoid {}(", self.function);
        let at = tuned.find(&start).ok_or_else(|| lost("the function"))? + 1;
        let (front, mut rest) = tuned.split_at(at);
        let own = self.head.trim();
        let global = front.replacen(own, "", 1);
        let global = if global.trim().is_empty() { String::new() } else { front.trim().to_owned() + "\n" };
        let mut changed = Changed { global, ..Changed::default() };
        for (id, text) in &self.nests {
            let (begin, end) = (opening(*id), end(*id));
            let at = rest.find(&begin).ok_or_else(|| lost("the begin of a nest"))?;
            let inner = &rest[at + begin.len()..];
            let to = inner.find(&end).ok_or_else(|| lost("the end of a nest"))?;
            let is_better = self.group(*id).iter().any(|member| self.folded.contains(member));
            let is_other = is_better || inner[..to].trim() != text.trim();
            let texts = if is_other { &mut changed.nests } else { &mut changed.plain };
            texts.insert(*id, inner[..to].trim_matches('\n').to_owned());
            rest = &inner[to..];
        }
        Ok(changed)
    }
}

fn opening(id: NestId) -> String {
    format!("/* nest {} */", id.0)
}

fn end(id: NestId) -> String {
    format!("/* end of nest {} */", id.0)
}

/// The program with names that C can tell apart.
fn renamed(unit: &Unit) -> Program {
    let mut program = unit.program.clone();
    let mut taken: BTreeSet<String> = ["malloc", "free", "main", "exit", "once"].map(str::to_owned).into();
    taken.extend(MathFn::TABLE.iter().flat_map(|(_, name, _)| [(*name).to_owned(), format!("{name}f")]));
    for keyword in KEYWORDS {
        taken.insert((*keyword).to_owned());
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for symbol in program.symbols.values() {
        taken.extend(symbol.name.split(|c| !is_word(c)).map(str::to_owned));
    }
    taken.insert(program.name.clone());
    for array in program.arrays.values_mut() {
        if matches!(array.storage, Storage::Body(_) | Storage::Temp(_)) {
            continue;
        }
        let stem = array.name.clone();
        let mut n = 2;
        while !taken.insert(array.name.clone()) {
            array.name = format!("{stem}_{n}");
            n += 1;
        }
    }
    program
}

const KEYWORDS: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "unix",
    "linux",
    "and",
    "or",
    "not",
    "new",
    "delete",
    "class",
    "this",
    "template",
    "bool",
    "true",
    "false",
    "namespace",
    "operator",
    "private",
    "public",
    "using",
];

/// The parameters: pointers, then values, each by name.
fn parameters(unit: &Unit, program: &Program) -> Vec<CParameter> {
    let mut found: Vec<CParameter> = program
        .arrays
        .values()
        .filter(|a| a.storage == Storage::Param)
        .map(|a| CParameter {
            name: a.name.clone(),
            of: unit.containers.get(&a.id).cloned().unwrap_or_else(|| a.name.clone()),
            element: a.element,
            count: (!a.shape.is_empty()).then(|| count(program, a.id)),
            is_symbol: false,
        })
        .collect();
    found.extend(program.symbols.values().filter(|s| unit.given.contains(&s.id)).map(|s| CParameter {
        name: s.name.clone(),
        of: s.name.clone(),
        element: s.ty,
        count: None,
        is_symbol: true,
    }));
    found.sort_by(|a, b| (a.count.is_none(), &a.name).cmp(&(b.count.is_none(), &b.name)));
    found
}

/// The number of elements of an array.
pub(crate) fn count(program: &Program, id: ArrayId) -> String {
    let extents = program.array(id).shape.iter().flatten();
    let factors: Vec<String> = extents.map(|e| expression(program, e)).collect();
    format!("(long){}", if factors.is_empty() { "1".to_owned() } else { factors.join(" * ") })
}

/// Longer chains take too long to be looked at as one.
const MOST_IN_GROUP: usize = 12;

/// Arrays that control between the nests reads.
fn asked(outline: &[Outline]) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    crate::lower::visit_outline(outline, &mut |expr| found.extend(expr.reads().iter().map(|a| a.array)));
    found
}

struct Writer<'a> {
    unit: &'a Unit,
    grouping: Grouping,
    program: Program,
    nests: IndexMap<NestId, String>,
    groups: IndexMap<NestId, Vec<NestId>>,
    asked: BTreeSet<ArrayId>,
    out: String,
    invented: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    /// Arrays and symbols of the function itself.
    fn locals(&mut self, parameters: &[CParameter]) -> Result<(), ToCError> {
        let program = self.program.clone();
        let mut names: BTreeSet<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        for symbol in program.symbols.values() {
            let is_own =
                !self.unit.given.contains(&symbol.id) && !self.unit.definitions.contains_key(&symbol.id);
            if is_own && !names.insert(&symbol.name) {
                return Err(ToCError::Control(format!("two symbols are called `{}`", symbol.name)));
            }
            if is_own {
                self.line(1, &format!("{} {} = 0;", symbol.ty.c_name(), symbol.name));
            }
        }
        for array in program.arrays.values().filter(|a| a.storage == Storage::Local) {
            let (ty, name) = (array.element.c_name(), &array.name);
            if array.shape.is_empty() {
                self.line(1, &format!("{ty} {name};"));
            } else {
                let count = count(&program, array.id);
                self.line(1, &format!("{ty} *restrict {name} = malloc({count} * sizeof({ty}));"));
            }
        }
        Ok(())
    }

    fn frees(&mut self) {
        let program = self.program.clone();
        for array in program.arrays.values() {
            if array.storage == Storage::Local && !array.shape.is_empty() {
                self.line(1, &format!("free({});", array.name));
            }
        }
    }

    /// An expression, or what stands for one that is not understood.
    fn text(&mut self, expr: Option<&Expr>, what: &str, otherwise: &str) -> String {
        match expr {
            Some(expr) => expression(&self.program, expr),
            None => {
                self.invented.push(format!("{what} is not understood, so the C invents it"));
                otherwise.to_owned()
            }
        }
    }

    /// A condition in parentheses.
    fn condition(&mut self, expr: Option<&Expr>, what: &str) -> String {
        let text = self.text(expr, what, "oxeye_unknown()");
        if expr.is_some() && text.starts_with('(') { text } else { format!("({text})") }
    }

    fn pieces(&mut self, pieces: &[Outline], depth: usize, in_loop: bool) -> Result<(), ToCError> {
        let mut rest = pieces;
        while let Some((piece, behind)) = rest.split_first() {
            rest = behind;
            match piece {
                Outline::Nest(id) => {
                    let group = if in_loop { vec![*id] } else { self.group_from(*id, behind) };
                    rest = &behind[group.len() - 1..];
                    self.nests(&group, depth)?;
                }
                Outline::Assign { symbol, value } => {
                    let Some(symbol) = self.program.symbols.get(symbol).cloned() else { continue };
                    let what = format!("a value of `{}`", symbol.name);
                    let value = self.text(value.as_ref(), &what, &symbol.name);
                    self.line(depth, &format!("{} = {value};", symbol.name));
                }
                Outline::Loop { iterator, ends, step, body } => {
                    let Some(symbol) = self.program.symbols.get(iterator).cloned() else { continue };
                    let what = format!("the range of `{}`", symbol.name);
                    let first = self.text(ends.as_ref().map(|e| &e.0), &what, "0");
                    self.line(depth, &format!("{} = {first};", symbol.name));
                    let comparison = if *step > 0 { "<" } else { ">" };
                    let goes_on = match ends {
                        Some((_, end)) => {
                            format!("{} {comparison} {}", symbol.name, expression(&self.program, end))
                        }
                        None => "oxeye_unknown()".to_owned(),
                    };
                    self.line(depth, &format!("while ({goes_on}) {{"));
                    self.pieces(body, depth + 1, true)?;
                    self.line(depth + 1, &format!("{} += {step};", symbol.name));
                    self.line(depth, "}");
                }
                Outline::While { header, condition, body } => {
                    let condition = self.condition(condition.as_ref(), "when a loop ends");
                    if header.is_empty() {
                        self.line(depth, &format!("while {condition} {{"));
                    } else {
                        self.line(depth, "while (1) {");
                        self.pieces(header, depth + 1, true)?;
                        self.line(depth + 1, &format!("if (!{condition})"));
                        self.line(depth + 2, "break;");
                    }
                    self.pieces(body, depth + 1, true)?;
                    self.line(depth, "}");
                }
                Outline::Branch { condition, then, otherwise } => {
                    let condition = self.condition(condition.as_ref(), "a condition");
                    self.line(depth, &format!("if {condition} {{"));
                    self.pieces(then, depth + 1, in_loop)?;
                    if !otherwise.is_empty() {
                        self.line(depth, "} else {");
                        self.pieces(otherwise, depth + 1, in_loop)?;
                    }
                    self.line(depth, "}");
                }
                Outline::Opaque { diagnostic, writes } => self.opaque(*diagnostic, writes, depth),
            }
        }
        Ok(())
    }

    /// What is not read leaves plausible values.
    fn opaque(&mut self, diagnostic: usize, writes: &[ArrayId], depth: usize) {
        let why = self.unit.diagnostics.get(diagnostic).map_or_else(String::new, ToString::to_string);
        self.invent(why, writes, depth);
    }

    fn invent(&mut self, why: String, writes: &[ArrayId], depth: usize) {
        self.line(depth, &format!("/* {} */", why.replace("*/", "* /")));
        let mut names = Vec::new();
        for id in writes {
            let Some(array) = self.program.arrays.get(id).cloned() else { continue };
            if matches!(array.storage, Storage::Body(_) | Storage::Temp(_)) {
                continue;
            }
            let name = &array.name;
            names.push(format!("`{name}`"));
            let (ty, is_scalar) = (array.element.c_name(), array.shape.is_empty());
            let place = if is_scalar { format!("&{name}") } else { name.clone() };
            let n = if is_scalar { "1".to_owned() } else { count(&self.program, *id) };
            let kind = u8::from(array.element.is_float());
            self.line(depth, &format!("oxeye_invent({place}, {n}, sizeof({ty}), {kind});"));
        }
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        self.invented.push(format!("{why}; the C invents what it leaves in {names}"));
    }

    fn nests(&mut self, group: &[NestId], depth: usize) -> Result<(), ToCError> {
        let Some(first) = group.first() else { return Ok(()) };
        let is_group = group.len() > 1;
        let inner = if is_group { depth + 1 } else { depth };
        let mut text = String::new();
        for id in group {
            let Some(nest) = self.program.nests.get(id) else { continue };
            let options = RenderOptions { indent: 4 * inner, threads: 2, ..RenderOptions::default() };
            match render_nest(&self.program, Binding::none(), nest, &options) {
                Ok(rendered) => text += &unwrapped(&rendered, inner),
                Err(_) if is_group => return group.iter().try_for_each(|one| self.nests(&[*one], depth)),
                // The others do not have to stay as they are.
                Err(error) => {
                    let writes = nest.accesses().into_iter().filter(|(_, is_write)| *is_write);
                    let writes: BTreeSet<ArrayId> = writes.map(|(access, _)| access.array).collect();
                    let place = self.unit.places.get(id).map_or_else(String::new, ToString::to_string);
                    let why = format!("{place}: not written as C: {error}");
                    self.invent(why, &writes.into_iter().collect::<Vec<_>>(), depth);
                    return Ok(());
                }
            }
        }
        if is_group {
            let columns = "    ".repeat(depth);
            text = format!("{columns}for (int once = 0; once < 1; once++) {{\n{text}{columns}}}\n");
            self.groups.insert(*first, group.to_vec());
        }
        self.line(depth, &opening(*first));
        self.out += &text;
        self.line(depth, &end(*first));
        self.nests.insert(*first, text);
        Ok(())
    }

    /// A nest with those behind it in the same state, if what they hand on is worth keeping in caches or registers: none of
    /// them does more than go over its arrays, and one reads an array that another one makes and nobody else uses.
    fn group_from(&self, first: NestId, behind: &[Outline]) -> Vec<NestId> {
        let mut group = Vec::new();
        let is_free = self.program.symbols.values().all(|s| s.name != "once");
        if self.grouping == Grouping::Together && is_free {
            let nests = behind.iter().map_while(|piece| match piece {
                Outline::Nest(id) => Some(*id),
                _ => None,
            });
            let state = |id: NestId| {
                self.unit
                    .places
                    .get(&id)
                    .filter(|p| p.graph.is_empty() && p.nodes.len() == 1)
                    .map(|p| &p.blocks)
            };
            let fits = |id: &NestId| {
                state(*id).is_some()
                    && state(*id) == state(first)
                    && self.program.nests.get(id).is_some_and(|n| self.is_simple(n))
            };
            group.extend(std::iter::once(first).chain(nests).take_while(fits).take(MOST_IN_GROUP));
        }
        // A group ends with the last nest that reads what one of the others made.
        let hands_on = |from: &NestId, to: &NestId| {
            let accesses = |id: &NestId| self.program.nests.get(id).map(Nest::accesses).unwrap_or_default();
            accesses(from).iter().filter(|(_, is_write)| *is_write).any(|(made, _)| {
                let array = self.program.array(made.array);
                array.storage == Storage::Local
                    && !array.shape.is_empty()
                    && accesses(to).iter().any(|(read, is_write)| !is_write && read.array == made.array)
            })
        };
        while let Some((last, before)) = group.split_last() {
            if before.iter().any(|id| hands_on(id, last)) {
                return group;
            }
            group.pop();
        }
        vec![first]
    }

    /// Whether a nest has no more loops around each other than its arrays have dimensions.
    fn is_simple(&self, nest: &Nest) -> bool {
        fn depth(nodes: &[Node]) -> usize {
            let of = |node: &Node| match node {
                Node::Loop(l) => 1 + depth(&l.body),
                Node::If { then, otherwise, .. } => depth(then).max(depth(otherwise)),
                Node::Stmt(_) => 0,
            };
            nodes.iter().map(of).max().unwrap_or(0)
        }
        let rank = nest.arrays().iter().map(|id| self.program.array(*id).shape.len()).max().unwrap_or(0);
        depth(&nest.roots) <= rank
    }

    /// Outer loops of maps are those of threads, as DaCe has them.
    fn mark_parallel(&mut self, graph: &Graph) {
        let program = self.program.clone();
        for (id, place) in &self.unit.places {
            let inner =
                place.graph.iter().try_fold(graph, |graph, (state, node)| match kind(graph, state, *node) {
                    Some(NodeKind::Nested { graph, .. }) => Some(&**graph),
                    _ => None,
                });
            let is_map = inner.is_some_and(|graph| {
                matches!((place.blocks.as_slice(), place.nodes.as_slice()), ([state], [node])
                    if matches!(kind(graph, state, *node), Some(NodeKind::MapEntry { .. } | NodeKind::Library { .. })))
            });
            if !is_map {
                continue;
            }
            let Some(nest) = self.program.nests.get_mut(id) else { continue };
            for root in &mut nest.roots {
                let Node::Loop(l) = root else { continue };
                let copy = Nest::new(NestId(0), "", vec![Node::Loop(l.clone())]);
                if is_independent(&program, &copy) {
                    l.execution =
                        Execution::Parallel { reductions: Vec::new(), sharing: WorkSharing::default() };
                }
            }
        }
    }
}

/// Whether iterations of the outermost loop of a map write different elements: those of a map do, unless they accumulate.
fn is_independent(program: &Program, nest: &Nest) -> bool {
    let [Node::Loop(l)] = nest.roots.as_slice() else { return false };
    nest.stmts().iter().all(|stmt| {
        let array = program.array(stmt.target.array);
        if matches!(array.storage, Storage::Body(_)) {
            return true;
        }
        stmt.target.indices.iter().any(|index| {
            let is_own = |e: &Expr| {
                e.as_affine().is_some_and(|a| a.loops().count() == 1 && a.loops().next() == Some(l.id))
            };
            is_own(index) || (stmt.update == Update::Assign && index.uses(l.id) && index.reads().is_empty())
        })
    })
}

/// A node of a state.
fn kind<'g>(graph: &'g Graph, way: &[usize], node: usize) -> Option<&'g NodeKind> {
    fn state<'g>(control: &'g ControlGraph, way: &[usize]) -> Option<&'g crate::model::State> {
        let (at, rest) = way.split_first()?;
        match (control.blocks.get(*at)?, rest) {
            (Block::State(state), []) => Some(state),
            (Block::Loop(region), rest) => state(&region.body, rest),
            (Block::Conditional { branches, .. }, [branch, rest @ ..]) => {
                state(&branches.get(*branch)?.1, rest)
            }
            _ => None,
        }
    }
    Some(&state(&graph.control, way)?.nodes.get(node)?.kind)
}

/// The inside of a block, with one level less of indentation; the block if it declares something of its own.
fn unwrapped(block: &str, depth: usize) -> String {
    let columns = "    ".repeat(depth);
    let whole = || format!("{columns}{block}\n");
    let Some(inner) = block.strip_prefix("{\n").and_then(|b| b.trim_end().strip_suffix('}')) else {
        return whole();
    };
    let deeper = "    ".repeat(depth + 1);
    let is_declaration = |line: &str| {
        let words = ["double ", "float ", "int ", "long ", "const ", "short ", "unsigned ", "char "];
        line.strip_prefix(&deeper).is_some_and(|rest| words.iter().any(|w| rest.starts_with(w)))
    };
    if inner.lines().any(is_declaration) {
        return whole();
    }
    let mut text = String::new();
    for line in inner.lines().filter(|l| !l.trim().is_empty()) {
        text += line.strip_prefix("    ").unwrap_or(line);
        text.push('\n');
    }
    text
}

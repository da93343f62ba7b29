//! Reading a file.

use crate::ast::{self, Range, StmtKind};
use crate::bytes::decoded;
use crate::calls::{Calls, has_hidden_calls};
use crate::conditions::{Conditions, Reliance};
use crate::context::{Context, changed_globals};
use crate::convert;
use crate::cuts::{self, Cut};
use crate::directives::{Directives, switches_openacc_on, switches_openmp_on};
use crate::elsewhere::{self, OtherSource};
use crate::groups::{self, Member};
use crate::included::{self, Included, Owned, SourceFile};
use crate::layout::{Extent, Layout};
use crate::lexer::{tokens, tokens_and_directives};
use crate::places::Places;
use crate::pointers::Pointers;
use crate::preprocess::{Preprocessed, preprocess, preprocess_plain, survey};
use crate::refusal::{Refusal, in_words};
use crate::regions::{Found, Regions};
use crate::scopes::Scopes;
use crate::scratch::{Reading, find_own_scratch, find_scratch};
use crate::unseen::Unseen;
use crate::{Diagnostic, FrontendError, Severity};
use oxeye_binding::{Binding, Bound, OwnText, UnusedBody};
use oxeye_ir::{NestId, Program, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How to read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The user's compiler, used for preprocessing.
    pub compiler: String,
    /// The user's compile arguments. Those that only concern compiling and linking are ignored.
    pub args: Vec<String>,
    /// The other sources of the program, whose functions are read where the file calls them.
    pub others: Vec<OtherSource>,
    /// Read only this function.
    pub function: Option<String>,
    /// Assume that pointers never lead to the same memory.
    pub no_alias: bool,
    /// Loops that are no nests, but control around those inside them: first bytes of their spans.
    pub opened: Vec<usize>,
    /// Neighbouring loops that are one nest: from the first byte of the span of one to the last byte of that of another.
    pub group: Option<Span>,
    /// Whether the file is all of its program, so that nothing else calls its functions.
    pub is_whole: bool,
    /// Keep sums in the order of the source also where a `reduction` clause leaves it open.
    pub keeps_order: bool,
    /// The folder below which files that the file includes are the user's own, so that their loops are nests as well; `None`
    /// if only the file itself is.
    pub owned: Option<PathBuf>,
    /// Files below that folder whose loops stay as they are.
    pub closed: BTreeSet<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            compiler: "cc".into(),
            args: Vec::new(),
            others: Vec::new(),
            function: None,
            no_alias: false,
            opened: Vec::new(),
            group: None,
            is_whole: false,
            keeps_order: false,
            owned: None,
            closed: BTreeSet::new(),
        }
    }
}

/// A file that was read.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Its path.
    pub path: PathBuf,
    /// Its text, byte for byte as [`encoded`](crate::encoded), with the user's other files in it that it includes.
    pub source: String,
    /// The files that the text is made of.
    pub included: Included,
    /// What was inserted into the user's own file so that loops in time are cut where they now and then do what no nest can.
    pub cuts: Vec<Cut>,
    /// The user's own file without these insertions.
    pub own: String,
    /// The functions that contain loop nests, in textual order.
    pub functions: Vec<Function>,
    /// What could not be read, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it defines `main`.
    pub has_main: bool,
    /// Lines with directives that make teams of threads (`omp parallel`), whether or not the build acts on them.
    pub teams: Vec<u32>,
    /// Whether its directives leave open in which order threads add up sums.
    pub leaves_order_open: bool,
    /// Lines of those among them with which threads race for a variable, for certain, each with the variable.
    pub races: Vec<(u32, String)>,
}

/// A function with loop nests, or with calls of such as may be a group.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its nests.
    pub program: Program,
    /// How they meet the function.
    pub binding: Binding,
    /// Neighbouring nests, and calls of functions with loops, that may be one nest together with what stands between them.
    pub groups: Vec<Vec<Member>>,
    /// Names of the functions that are inlined in a nest, for nests that have any.
    pub inlined: BTreeMap<NestId, Vec<String>>,
    /// Those of them that stand in other files, each with the file: what is made of the nest holds them as they are now.
    pub elsewhere: BTreeMap<NestId, Vec<(String, PathBuf)>>,
    /// The variables that the text of a nest uses besides its arguments.
    pub own_texts: BTreeMap<NestId, OwnText>,
    /// The conditions under which a nest is what was read, for nests that differ between builds of the file.
    pub conditions: BTreeMap<NestId, Conditions>,
    /// The bodies of functions in the user's file that a nest never calls.
    pub never_called: BTreeMap<NestId, Vec<UnusedBody>>,
    /// The whole definition in the user's file.
    pub span: Span,
}

impl Function {
    /// The places of the groups that its neighbouring nests may be: from the first byte of the first to the last byte of the last.
    pub fn group_spans(&self) -> impl Iterator<Item = Span> {
        self.groups.iter().filter_map(move |members| {
            let (first, last) = (self.place(members.first()?)?, self.place(members.last()?)?);
            Some(Span { end: last.end, ..first })
        })
    }

    /// The bytes of a member of a group in the user's file.
    pub fn place(&self, member: &Member) -> Option<Span> {
        match member {
            Member::Nest(id) => self.program.nests.get(id)?.span,
            Member::Call { span, .. } => Some(*span),
        }
    }

    /// The places of its nests and of the calls that groups may have, in the order of the text: of those inside a loop, or of all.
    /// The members of groups are counted in these.
    pub fn members(&self, within: Option<Span>) -> Vec<Span> {
        let nests = self.program.nests.values().filter_map(|nest| nest.span);
        let calls = self.groups.iter().flatten().filter(|member| matches!(member, Member::Call { .. }));
        let is_inside =
            |span: &Span| within.is_none_or(|outer| outer.start < span.start && span.end <= outer.end);
        let all = nests.chain(calls.filter_map(|call| self.place(call)));
        let mut found: Vec<Span> = all.filter(is_inside).collect();
        found.sort_by_key(|span| span.start);
        found
    }

    /// The place of the group that begins with the member of this number and has so many behind it; `None` if there are no such.
    pub fn group_of(&self, within: Option<Span>, ordinal: usize, n_behind: usize) -> Option<Span> {
        let members = self.members(within);
        let (first, last) = (members.get(ordinal)?, members.get(ordinal.checked_add(n_behind)?)?);
        Some(Span { end: last.end, ..*first })
    }
}

/// Reads a C file.
///
/// # Errors
/// If the file cannot be read, the preprocessor fails, or the requested function is not defined. All other problems are
/// among the diagnostics.
pub fn read_c(path: &Path, options: &ReadOptions) -> Result<Unit, FrontendError> {
    let bytes =
        std::fs::read(path).map_err(|source| FrontendError::Read { path: path.to_owned(), source })?;
    let own = decoded(bytes).ok_or_else(|| FrontendError::Encoding { path: path.to_owned() })?;
    read_text(path, own, None, options)
}

/// Reads a text as a file: the user's own, or that with insertions, of which the bytes and the text without them are told.
fn read_text(
    path: &Path,
    text: String,
    inserted: Option<(Vec<Cut>, String)>,
    options: &ReadOptions,
) -> Result<Unit, FrontendError> {
    let (whole, included) = match &options.owned {
        Some(folder) => {
            let owned = Owned { folder, closed: &options.closed };
            included::opened(path, text.clone(), &options.compiler, &options.args, &owned)
                .map_err(|error| because_of_machine(path, options).unwrap_or(error))?
        }
        None => Included::none(path, text.clone()),
    };
    let source = included.unnumbered(&whole);
    let survey = survey(path, &source, &options.compiler, &options.args);
    let layout = Layout::of(&source, &survey);
    let mut preprocessed = preprocess(path, &source, &layout, &options.compiler, &options.args)
        .map_err(|error| because_of_machine(path, options).unwrap_or(error))?;
    check_machine(&preprocessed)?;
    elsewhere::take_in(&mut preprocessed, &options.compiler, &options.args, &options.others);
    let no_parse = || FrontendError::Parse { path: path.to_owned() };
    let mut file = convert::parse(&preprocessed).ok_or_else(no_parse)?;
    let is_own = |f: &ast::Function| preprocessed.origin(f.range.start).0;
    let mut places = Places::new(&preprocessed, &layout);
    let directives = Directives::of(&preprocessed.pragmas, switches_openacc_on(&options.args));
    let (cuts, own) = match inserted {
        Some((cuts, own)) => (cuts, own),
        None => {
            let own_at = |at| {
                let place = included.place(Span { start: at, end: at, line: 1 });
                place.filter(|(file, _)| *file == 0).map(|(_, span)| span.start)
            };
            match cuts::cut(&file, (&preprocessed, &directives), &places, (&source, &text), own_at) {
                Some((with, cuts)) => return read_text(path, with, Some((cuts, text)), options),
                None => (Vec::new(), text),
            }
        }
    };
    if let (Some(group), Some(function)) = (options.group, &options.function) {
        groups::join(&mut file, (function, group), &mut places, (&directives, &preprocessed, &layout));
    }
    let cuts = cuts.into_iter().filter_map(|cut| cut.moved(|at| included.at(0, at))).collect();
    let mut unit = Unit {
        path: path.to_owned(),
        source: whole,
        included,
        cuts,
        own,
        functions: Vec::new(),
        diagnostics: Vec::new(),
        has_main: file.functions.iter().any(|f| f.name == "main" && is_own(f)),
        teams: Vec::new(),
        leaves_order_open: false,
        races: Vec::new(),
    };
    let text = Text {
        file: &file,
        preprocessed: &preprocessed,
        layout: &layout,
        places: &places,
        source: &source,
        directives: &directives,
    };
    text.has_function(path, options.function.as_deref())?;
    text.read_functions(&mut unit, options);
    unit.diagnostics.sort_by_key(|d| d.span.map_or((0, 0), |s| (s.start, s.end)));
    Ok(unit)
}

/// A text that was parsed.
struct Text<'a> {
    file: &'a ast::File,
    preprocessed: &'a Preprocessed,
    layout: &'a Layout<'a>,
    places: &'a Places<'a>,
    source: &'a str,
    directives: &'a Directives,
}

impl Text<'_> {
    fn is_own(&self, function: &ast::Function) -> bool {
        self.preprocessed.origin(function.range.start).0
    }

    /// Whether the wanted function is defined in it.
    fn has_function(&self, path: &Path, wanted: Option<&str>) -> Result<(), FrontendError> {
        let Some(name) = wanted else { return Ok(()) };
        let own = self.file.functions.iter().filter(|f| self.is_own(f));
        let names: Vec<&str> = own.map(|f| f.name.as_str()).collect();
        let known = match names.as_slice() {
            names if names.contains(&name) => return Ok(()),
            [] => "it defines none".to_owned(),
            names => format!("it defines {}", names.join(", ")),
        };
        Err(FrontendError::NoFunction { name: name.to_owned(), path: path.to_owned(), known })
    }

    /// Lowers the functions, with what is to be said of them.
    fn read_functions(&self, unit: &mut Unit, options: &ReadOptions) {
        let Text { file, preprocessed, layout, places, source, directives } = *self;
        let pointers = Pointers::new(file);
        let changed_globals = changed_globals(file);
        let with_loops = groups::with_loops(file);
        unit.leaves_order_open = directives.leave_order_open();
        let origins = directives.teams().map(|at| preprocessed.origin(at));
        unit.teams = origins.filter(|(is_own, line)| *is_own && *line > 0).map(|(_, line)| line).collect();
        let reliance = Reliance::new(file, preprocessed, source, directives.ignores_openacc());
        let calls = Calls::of(file, preprocessed, layout, places, source);
        let mut reader = Reader {
            unit,
            readings: Vec::new(),
            preprocessed,
            reliance: &reliance,
            calls: &calls,
            others: &options.others,
        };
        for (message, range) in &file.problems {
            if preprocessed.origin(range.start).0 {
                reader.report(Severity::Error, message, None, *range, None, None);
            }
        }
        for (range, why) in std::mem::take(&mut reader.unit.included.left) {
            let line = 1 + source[..range.start].matches('\n').count() as u32;
            let span = Some(Span { start: range.start, end: range.end, line });
            reader.unit.diagnostics.push(Diagnostic { span, ..Diagnostic::warning(why) });
        }
        let has_hidden_calls = has_hidden_calls(preprocessed, source);
        let has_strict_aliasing = has_strict_aliasing(&options.args, source);
        let mut words = layout.left_out();
        for (position, function) in file.functions.iter().enumerate() {
            if !self.is_own(function) || options.function.as_ref().is_some_and(|name| *name != function.name)
            {
                continue;
            }
            let unseen = Unseen::of(layout, preprocessed, function.range, has_hidden_calls);
            words.iter_mut().for_each(|words| words.extend(unseen.dropped()));
            let cx = Context {
                file,
                function,
                position,
                pointers: &pointers,
                changed_globals: &changed_globals,
                with_loops: &with_loops,
                preprocessed,
                directives,
                is_threaded: switches_openmp_on(&options.args),
                no_alias: options.no_alias,
                keeps_order: options.keeps_order,
                opened: &options.opened,
                unseen: &unseen,
                has_strict_aliasing,
            };
            reader.unit.races.extend(cx.races());
            reader.function(&cx, places);
        }
        let Reader { unit, readings: places, .. } = reader;
        let functions = unit.functions.iter_mut().zip(&places);
        let mut readings: Vec<Reading<'_>> = functions
            .map(|(Function { program, inlined, .. }, (position, ranges))| Reading {
                position: *position,
                ranges,
                program,
                inlined,
            })
            .collect();
        // What functions read that nobody calls is not known.
        if !has_hidden_calls {
            let is_whole = options.is_whole && unit.has_main && options.others.is_empty();
            if let Some(words) = &words {
                find_scratch((file, &pointers, directives), &changed_globals, words, &mut readings);
                find_own_scratch((file, &pointers, words), is_whole, &mut readings);
            }
        }
        let cuts = &unit.cuts;
        unit.diagnostics.retain(|d| d.span.is_none_or(|span| !cuts.iter().any(|cut| cut.is_own(span))));
    }
}

impl Unit {
    /// A diagnostic with its source lines, as plain text.
    pub fn rendered(&self, diagnostic: &Diagnostic) -> String {
        let place = diagnostic.span.and_then(|span| self.included.place(span));
        match place {
            Some((file, span)) if self.included.is_any() => {
                let SourceFile { path, text, .. } = &self.included.files()[file];
                let path = if file == 0 { &self.path } else { path };
                Diagnostic { span: Some(span), ..diagnostic.clone() }.render(path, text)
            }
            _ => diagnostic.render(&self.path, &self.source),
        }
    }
}

/// Whether objects of different types do not overlap, as C says (C17 6.5p7), unless somebody says otherwise.
fn has_strict_aliasing(args: &[String], source: &str) -> bool {
    let (words, directives) = tokens_and_directives(source);
    let is_asked = |text: &str| text.contains("no-strict-aliasing");
    !args.iter().any(|arg| is_asked(arg))
        && !words.iter().any(|t| t.text.trim_matches('_') == "may_alias" || is_asked(t.text))
        && !directives.iter().any(|d| is_asked(d.text) || d.text.contains("may_alias"))
}

/// Whether types have the sizes that everything here takes them to have.
fn check_machine(preprocessed: &Preprocessed) -> Result<(), FrontendError> {
    let has = |name: &str| preprocessed.predefined(name).and_then(|bytes| bytes.parse::<u32>().ok());
    let why = match (has("__SIZEOF_POINTER__"), has("__SIZEOF_LONG__")) {
        (Some(bytes), _) if bytes != 8 => format!("these flags make pointers of {} bits", 8 * bytes),
        (_, Some(bytes)) if bytes != 8 => format!("these flags make a `long` of {} bits", 8 * bytes),
        _ => return Ok(()),
    };
    Err(FrontendError::Machine { why })
}

/// That the flags are for another machine, whose headers need not be there, so that a file cannot be preprocessed.
fn because_of_machine(path: &Path, options: &ReadOptions) -> Option<FrontendError> {
    let empty = preprocess_plain(path, "", &options.compiler, &options.args).ok()?;
    check_machine(&empty).err()
}

fn span(e: Extent) -> Span {
    Span { start: e.start, end: e.end, line: e.line }
}

struct Reader<'a> {
    unit: &'a mut Unit,
    /// Where each of its functions, in their order, stands in the file, and where the nests of that do.
    readings: Vec<(usize, BTreeMap<NestId, Range>)>,
    preprocessed: &'a Preprocessed,
    reliance: &'a Reliance<'a>,
    calls: &'a Calls<'a>,
    others: &'a [OtherSource],
}

impl Reader<'_> {
    fn report(
        &mut self,
        severity: Severity,
        message: &str,
        help: Option<String>,
        range: Range,
        function: Option<&str>,
        nest_lines: Option<(u32, u32)>,
    ) {
        let span = locate(self.preprocessed, &self.unit.source, range);
        let label = nest_lines
            .map(|(line, _)| format!("the loop at line {} stays as it is", self.unit.included.line(line)));
        self.unit.diagnostics.push(Diagnostic {
            severity,
            message: in_words(message),
            help: help.map(|help| in_words(&help)),
            span,
            label,
            function: function.map(str::to_owned),
            nest_line: nest_lines.map(|(first, _)| first),
            nest_end: nest_lines.map(|(_, last)| last),
        });
    }

    fn conditions(
        &self,
        cx: &Context<'_>,
        program: &Program,
        ranges: &BTreeMap<NestId, Range>,
        inlined: &BTreeMap<NestId, Vec<String>>,
    ) -> BTreeMap<NestId, Conditions> {
        let mut found = BTreeMap::new();
        let scopes = Scopes::of(cx);
        for nest in program.nests.values() {
            let (Some(span), Some(range)) = (nest.span, ranges.get(&nest.id)) else { continue };
            let mut conditions = self.reliance.of(*range, span.start..span.end, cx.position, &scopes);
            let inlined = inlined.get(&nest.id).map_or(&[][..], Vec::as_slice);
            if !cx.is_threaded && cx.is_under_directives(inlined) {
                // With threads, different code runs.
                conditions.preprocessor.insert(0, Conditions::WITHOUT_OPENMP.to_owned());
            }
            if self.unit.included.is_for_cpp(span) {
                conditions.preprocessor.insert(0, "!defined(__cplusplus)".to_owned());
            }
            if !conditions.is_empty() {
                found.insert(nest.id, conditions);
            }
        }
        found
    }

    fn elsewhere(
        &self,
        cx: &Context<'_>,
        inlined: &BTreeMap<NestId, Vec<String>>,
    ) -> BTreeMap<NestId, Vec<(String, PathBuf)>> {
        let file_of = |name: &String| {
            let (_, function) = cx.file.function(name)?;
            let (header, _) = self.preprocessed.place(function.range.start);
            let path = Path::new(&self.preprocessed.headers[header? as usize]);
            self.others.iter().any(|other| other.path == path).then(|| (name.clone(), path.to_owned()))
        };
        let of = |names: &Vec<String>| names.iter().filter_map(file_of).collect::<Vec<_>>();
        let found = inlined.iter().map(|(id, names)| (*id, of(names)));
        found.filter(|(_, functions)| !functions.is_empty()).collect()
    }

    fn function(&mut self, cx: &Context<'_>, places: &Places<'_>) {
        let function = cx.function;
        let name = function.name.as_str();
        if let Some((problem, range)) = &function.problem {
            let help = Some(format!("`{name}` stays as it is"));
            self.report(Severity::Warning, problem, help, *range, Some(name), None);
            return;
        }
        let mut has_loops = groups::has_loops(cx.with_loops, &function.body);
        function.body.walk(&mut |s| {
            has_loops |= matches!(s.kind, StmtKind::While { .. } | StmtKind::DoWhile { .. });
        });
        if !has_loops {
            return;
        }
        let Some(whole) = places.function(function.body.range) else {
            let message = "a function is made by a macro, so its loops have no place in the file";
            self.report(Severity::Warning, message, None, function.range, Some(name), None);
            return;
        };
        let (Bound { program, binding }, Found { inlined, own_texts, ranges, groups, refused }) =
            Regions::build(cx, places);
        for (stmt, severity, refusal) in refused {
            let line_of = |at: usize| self.preprocessed.origin(at).1;
            let (first, last) = (line_of(stmt.start), line_of(stmt.end.saturating_sub(1)));
            let Refusal { message, help, range } = *refusal;
            self.report(severity, &message, help, range, Some(name), Some((first, last.max(first))));
        }
        if !program.nests.is_empty() || !groups.is_empty() {
            let name = name.to_owned();
            let conditions = self.conditions(cx, &program, &ranges, &inlined);
            let never_called =
                ranges.iter().map(|(id, range)| (*id, self.calls.never_called(*range))).collect();
            let span = span(*whole);
            let elsewhere = self.elsewhere(cx, &inlined);
            let function = Function {
                name,
                program,
                binding,
                groups,
                inlined,
                elsewhere,
                own_texts,
                conditions,
                never_called,
                span,
            };
            self.readings.push((cx.position, ranges));
            self.unit.functions.push(function);
        }
    }
}

/// The place in the user's file that a part of the preprocessed text comes from, as far as it can be determined.
fn locate(preprocessed: &Preprocessed, source: &str, range: Range) -> Option<Span> {
    let (is_own, line) = preprocessed.origin(range.start);
    if !is_own || line == 0 {
        return None;
    }
    let start = source.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
    let own_line = source.get(start..)?.lines().next()?;
    let text = preprocessed.text.get(range.start..range.end)?;
    let text_line = text.lines().next().unwrap_or("").trim_end();
    // The same tokens, the same number of times before it on the line.
    let line_start = preprocessed.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &preprocessed.text[line_start..range.start];
    let found = |piece: &str| {
        let n_before = before.matches(piece).count();
        let at = own_line.match_indices(piece).nth(n_before)?.0;
        Some((at, at + piece.len()))
    };
    let first_word = tokens(text).first().map(|t| t.text.to_owned());
    let (from, to) = Some(text_line)
        .filter(|t| !t.is_empty())
        .and_then(found)
        .or_else(|| first_word.as_deref().and_then(found))
        .unwrap_or_else(|| (own_line.len() - own_line.trim_start().len(), own_line.trim_end().len()));
    Some(Span { start: start + from, end: start + to.max(from), line })
}

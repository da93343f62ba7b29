//! The user's file after preprocessing: text without system headers, with the origin of every line.

use crate::FrontendError;
use crate::attributes::{self, Attribute};
use crate::brackets::Brackets;
use crate::bytes::encoded;
use crate::cpp::cpp_help;
use crate::layout::{Ending, Layout, Mark, Survey, marked};
use crate::lexer::{Token, TokenKind, is_type_word, is_typeof, tokens, tokens_and_directives};
use crate::readable::defined_types;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Preprocessed text. Everything that would disturb a parser is blanked: marks, pragmas, attributes.
#[derive(Debug, Default)]
pub(crate) struct Preprocessed {
    pub(crate) text: String,
    /// First byte of each line, its file, and its line there.
    lines: Vec<(usize, Place, u32)>,
    /// Names of the user's other files.
    pub(crate) headers: Vec<String>,
    /// Macro definitions and undefinitions, in order.
    pub(crate) defines: Vec<Define>,
    /// Marks that occur exactly once, with their offsets.
    pub(crate) marks: Vec<(usize, Mark)>,
    /// Offset and text (without `#pragma`) of pragmas.
    pub(crate) pragmas: Vec<(usize, String)>,
    /// Offset and meaning of blanked attributes that decide on types.
    pub(crate) attributes: Vec<(usize, Attribute)>,
    /// `typedef`s of simple types in system headers: name and meaning.
    pub(crate) system_typedefs: Vec<(String, String)>,
    /// Functions of other files of the program that could not be taken, and why.
    pub(crate) left_elsewhere: BTreeMap<String, String>,
    /// Whether the flags say that complex numbers need no care about infinities and NaN.
    has_limited_range: bool,
}

/// A function of another file, to be added.
pub(crate) struct Addition {
    pub(crate) name: String,
    /// Its lines with their files and numbers there.
    pub(crate) lines: Vec<(String, String, u32)>,
    /// Its pragmas with their offsets in the lines.
    pub(crate) pragmas: Vec<(usize, String)>,
    /// Its attributes likewise.
    pub(crate) attributes: Vec<(usize, Attribute)>,
}

/// The file of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Own,
    /// Index into [`Preprocessed::headers`].
    Header(u32),
}

/// `#define` or `#undef`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Define {
    /// Offset in the text.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) is_function: bool,
    /// Its replacement; `None` if it is undefined here.
    pub(crate) body: Option<String>,
    /// Whether it is built into the compiler or comes from a system header.
    pub(crate) is_predefined: bool,
    /// The line of the user's file that it stands in; `None` for headers and arguments.
    pub(crate) own_line: Option<u32>,
}

impl Define {
    fn parse(line: &str, at: usize, is_predefined: bool, own_line: Option<u32>) -> Option<Define> {
        let rest = line.strip_prefix('#')?.trim_start();
        let is_undef = rest.starts_with("undef ");
        let rest = rest.strip_prefix("define ").or_else(|| rest.strip_prefix("undef "))?.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let is_function = after.starts_with('(');
        let body = if is_function { after.split_once(')').map_or("", |(_, body)| body) } else { after };
        let body = (!is_undef).then(|| body.trim().to_owned());
        Some(Define { at, name: name.to_owned(), is_function, body, is_predefined, own_line })
    }
}

impl Preprocessed {
    /// Whether the product of complex numbers is `(a*c - b*d) + (a*d + b*c)*I` without more ado: by the flags there are no
    /// infinities and NaN, or nobody cares what becomes of them.
    pub(crate) fn has_plain_products(&self) -> bool {
        let is_finite = |d: &Define| {
            d.is_predefined && d.name == "__FINITE_MATH_ONLY__" && d.body.as_deref() == Some("1")
        };
        self.has_limited_range || self.defines.iter().any(is_finite)
    }

    /// What a macro of the compiler itself stands for.
    pub(crate) fn predefined(&self, name: &str) -> Option<&str> {
        let found = self.defines.iter().find(|d| d.is_predefined && d.name == name);
        found.and_then(|d| d.body.as_deref())
    }

    /// Whether a name stands in the user's own sources and headers at a place that is not left out. Headers of libraries that are
    /// not the system's are told by where they are installed.
    pub(crate) fn is_named(&self, name: &str, is_left_out: impl Fn(usize) -> bool) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_word = |at: usize| {
            !self.text[..at].ends_with(is_part) && !self.text[at + name.len()..].starts_with(is_part)
        };
        let is_installed = |at: usize| {
            let header = self.place(at).0.and_then(|header| self.headers.get(header as usize));
            header.is_some_and(|path| path.starts_with("/usr/") || path.starts_with("/opt/"))
        };
        let mut found = self.text.match_indices(name).map(|(at, _)| at);
        found.any(|at| is_word(at) && !is_left_out(at) && !is_installed(at))
    }

    /// Line of an offset, and whether that is in the user's file.
    pub(crate) fn origin(&self, at: usize) -> (bool, u32) {
        let after = self.lines.partition_point(|(start, ..)| *start <= at);
        after
            .checked_sub(1)
            .and_then(|k| self.lines.get(k))
            .map_or((false, 0), |(_, place, line)| (*place == Place::Own, *line))
    }

    /// The index of the header that contains an offset, `None` for the user's file; and the line there.
    pub(crate) fn place(&self, at: usize) -> (Option<u32>, u32) {
        let after = self.lines.partition_point(|(start, ..)| *start <= at);
        match after.checked_sub(1).and_then(|k| self.lines.get(k)) {
            Some((_, Place::Header(header), line)) => (Some(*header), *line),
            Some((_, Place::Own, line)) => (None, *line),
            None => (None, 0),
        }
    }

    /// Adds a function of another file.
    pub(crate) fn append(&mut self, addition: Addition) {
        let start = self.text.len();
        for (line, file, number) in addition.lines {
            let header = self.header(&file);
            self.lines.push((self.text.len(), Place::Header(header), number));
            self.text += &line;
            self.text.push('\n');
        }
        self.pragmas.extend(addition.pragmas.into_iter().map(|(at, text)| (start + at, text)));
        self.attributes.extend(addition.attributes.into_iter().map(|(at, what)| (start + at, what)));
    }

    fn header(&mut self, file: &str) -> u32 {
        let known = self.headers.iter().position(|h| h == file);
        let header = known.unwrap_or_else(|| {
            self.headers.push(file.to_owned());
            self.headers.len() - 1
        });
        header as u32
    }

    fn push_line(&mut self, line: &str, place: Place, number: u32) {
        // `main(argc, argv)` without a type looks like a call; the type may also stand in the line before.
        let after_main = line.strip_prefix("main").map(str::trim_start);
        let is_untyped_main = after_main.is_some_and(|l| l.starts_with('(') && !l.contains(';'))
            && self.text.trim_end().chars().next_back().is_none_or(|c| matches!(c, ';' | '}'));
        let typed = if is_untyped_main { Some(format!("int {line}")) } else { None };
        let line = typed.as_deref().unwrap_or(line);
        self.lines.push((self.text.len(), place, number));
        push_decoded(&mut self.text, line);
        self.text.push('\n');
    }
}

/// The compile arguments that matter if nothing is compiled or linked and no other file is read.
fn preprocessor_args(args: &[String]) -> Vec<String> {
    const TAKES_VALUE: &[&str] = &[
        "-I",
        "-D",
        "-U",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-isysroot",
        "-target",
        "-arch",
        "-Xclang",
        "-Xpreprocessor",
        "-mllvm",
        "--param",
        "--sysroot",
        "-iwithprefix",
    ];
    const DROPPED_WITH_VALUE: &[&str] =
        &["-o", "-L", "-l", "-MF", "-MT", "-MQ", "-Xlinker", "-T", "-u", "-z", "-x"];
    let mut kept = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if DROPPED_WITH_VALUE.contains(&arg.as_str()) {
            rest.next();
        } else if TAKES_VALUE.contains(&arg.as_str()) {
            kept.push(arg.clone());
            kept.extend(rest.next().cloned());
        } else if arg.starts_with('-') && arg != "-" {
            let is_dropped =
                ["-c", "-S", "-E", "-P", "-pie", "-no-pie", "-static", "-shared", "-rdynamic", "-s"]
                    .contains(&arg.as_str())
                    || ["-o", "-l", "-L", "-M", "-Wl,", "-fuse-ld", "-Wp,-M"]
                        .iter()
                        .any(|p| arg.starts_with(p));
            if !is_dropped {
                kept.push(arg.clone());
            }
        }
    }
    kept
}

/// The branches that the preprocessor takes among the directives of a file, and the macros that expand to loops. Errors
/// here occur again, and are reported, when the file is read.
pub(crate) fn survey(path: &Path, source: &str, compiler: &str, args: &[String]) -> Survey {
    const PROBE: &str = "#pragma oxeye_branch ";
    let (_, directives) = tokens_and_directives(source);
    let mut input = format!("#line 1 \"{}\"\n", quoted(path));
    let mut done = 0;
    for (k, directive) in directives.iter().enumerate() {
        if matches!(directive.name(), "if" | "ifdef" | "ifndef" | "elif" | "else" | "elifdef" | "elifndef") {
            input += &source[done..directive.end()];
            input += &format!("\n{PROBE}{k}");
            done = directive.end();
        }
    }
    input += &source[done..];
    input.push('\n');
    let Ok(output) = run(path, input, compiler, args) else { return Survey::default() };
    let taken = output.lines().filter_map(|line| line.strip_prefix(PROBE)?.trim().parse().ok()).collect();
    let mut bodies: HashMap<String, String> = HashMap::new();
    for define in clean(&output, &quoted(path)).defines {
        if let (false, Some(body)) = (define.is_predefined, define.body) {
            bodies.insert(define.name, body);
        }
    }
    let closing_macros: HashMap<String, usize> = bodies.iter().filter_map(closes).collect();
    let statement_macros = bodies.iter().filter(|(_, body)| body.trim_end().ends_with([';', '}']));
    let statement_macros = statement_macros.map(|(name, _)| name.clone()).collect();
    let mut loop_macros: HashMap<String, Ending> = HashMap::new();
    // Macros of macros, to any depth.
    loop {
        let before = loop_macros.len();
        for (name, body) in &bodies {
            let words = tokens(body);
            let makes_loop = |t: &Token<'_>| {
                t.kind == TokenKind::Word && (t.text == "for" || loop_macros.contains_key(t.text))
            };
            if !loop_macros.contains_key(name) && words.iter().any(makes_loop) {
                loop_macros.insert(name.clone(), ending(&words, &loop_macros, &closing_macros));
            }
        }
        if loop_macros.len() == before {
            return Survey { taken: Some(taken), loop_macros, closing_macros, statement_macros };
        }
    }
}

/// A macro that expands to closing braces and nothing else, and how many.
fn closes((name, body): (&String, &String)) -> Option<(String, usize)> {
    let words = tokens(body);
    (!words.is_empty() && words.iter().all(|t| t.is("}"))).then(|| (name.clone(), words.len()))
}

/// How the expansion of a macro with these words ends.
fn ending(
    words: &[Token<'_>],
    loop_macros: &HashMap<String, Ending>,
    closing_macros: &HashMap<String, usize>,
) -> Ending {
    let braces = words.iter().map(|t| match (t.kind, t.text) {
        (TokenKind::Punct, "{") => 1,
        (TokenKind::Punct, "}") => -1,
        (TokenKind::Word, name) => match (loop_macros.get(name), closing_macros.get(name)) {
            (Some(Ending::Braces(open)), _) => *open as i64,
            (_, Some(closed)) => -(*closed as i64),
            _ => 0,
        },
        _ => 0,
    });
    match usize::try_from(braces.sum::<i64>()) {
        Ok(open) if open > 0 => Ending::Braces(open),
        _ if words.last().is_some_and(|t| t.is(")") || t.is("for")) => Ending::Header,
        _ => Ending::Statement,
    }
}

/// As between quotation marks.
pub(crate) fn quoted(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")
}

/// Runs the user's compiler as a preprocessor over the marked text of `path`.
pub(crate) fn preprocess(
    path: &Path,
    source: &str,
    layout: &Layout<'_>,
    compiler: &str,
    args: &[String],
) -> Result<Preprocessed, FrontendError> {
    let name = quoted(path);
    let input = format!("#line 1 \"{name}\"\n{}\n", marked(source, layout));
    let mut found = clean(&run(path, input, compiler, args)?, &name);
    for arg in args {
        match arg.as_str() {
            "-fcx-limited-range" | "-fcx-fortran-rules" => found.has_limited_range = true,
            "-fno-cx-limited-range" | "-fno-cx-fortran-rules" => found.has_limited_range = false,
            _ => {}
        }
    }
    Ok(found)
}

/// Runs the user's compiler as a preprocessor over a file that is only looked at.
pub(crate) fn preprocess_plain(
    path: &Path,
    source: &str,
    compiler: &str,
    args: &[String],
) -> Result<Preprocessed, FrontendError> {
    let name = quoted(path);
    Ok(clean(&run(path, format!("#line 1 \"{name}\"\n{source}\n"), compiler, args)?, &name))
}

/// The preprocessor's output for a text in place of the file at `path`.
pub(crate) fn run(
    path: &Path,
    input: String,
    compiler: &str,
    args: &[String],
) -> Result<String, FrontendError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let no_compiler = |source| FrontendError::Compiler { compiler: compiler.to_owned(), source };
    let mut child = Command::new(compiler)
        .args(["-E", "-dD"])
        .arg("-iquote")
        .arg(folder)
        .args(preprocessor_args(args))
        .args(["-x", "c", "-"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(no_compiler)?;
    let help = cpp_help(&input).map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    let stdin = child.stdin.take();
    let writer = std::thread::spawn(move || {
        // A compiler that stops early says why on standard error.
        stdin.map(|mut pipe| pipe.write_all(&encoded(&input)))
    });
    let output = child.wait_with_output().map_err(no_compiler)?;
    _ = writer.join();
    if !output.status.success() {
        let message = first_errors(&strip_marks(String::from_utf8_lossy(&output.stderr).trim()));
        let message = if message.is_empty() { format!("it ended with {}", output.status) } else { message };
        return Err(FrontendError::Preprocess { compiler: compiler.to_owned(), message, help });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// From the first error on, at most a screenful.
fn first_errors(message: &str) -> String {
    const MOST_LINES: usize = 12;
    const MOST_CHARACTERS: usize = 200;
    let first = message.lines().position(|line| line.contains("error")).unwrap_or(0);
    let lines = message.lines().skip(first).take(MOST_LINES);
    lines.map(|l| l.chars().take(MOST_CHARACTERS).collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Removes the marks, which the user never wrote, from compiler messages.
fn strip_marks(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(" oxeye_mark_") {
        out.push_str(&rest[..at]);
        let word = &rest[at + 1..];
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
        rest = word[end..].strip_prefix(' ').unwrap_or(&word[end..]);
    }
    out + rest
}

/// Removes line markers and system headers.
fn clean(output: &str, name: &str) -> Preprocessed {
    let mut found = Preprocessed::default();
    let (mut place, mut is_system, mut is_predefined, mut number) = (Place::Header(0), false, false, 1u32);
    found.headers.push(String::new());
    let mut system = String::new();
    let mut users: HashSet<&str> = HashSet::new();
    for line in output.lines() {
        if let Some((line_number, file, flags)) = line_marker(line) {
            place = if file == name { Place::Own } else { Place::Header(found.header(file)) };
            // Text from a system macro is marked as a system header's, although it is in the file that uses the macro.
            is_system = flags.split_whitespace().any(|f| f == "3") && !users.contains(file);
            is_predefined = is_system || file == "<built-in>" || file == "<built-in command line>";
            if !is_system {
                users.insert(file);
            }
            number = line_number;
            continue;
        }
        let own_line = (place == Place::Own).then_some(number);
        let define =
            line.starts_with('#').then(|| Define::parse(line, found.text.len(), is_predefined, own_line));
        found.defines.extend(define.flatten());
        if is_system {
            if !line.starts_with('#') {
                system.push_str(line);
                system.push('\n');
            }
        } else if let Some(pragma) = line.trim_start().strip_prefix("#pragma") {
            found.pragmas.push((found.text.len(), pragma.trim().to_owned()));
            found.push_line("", place, number);
        } else if line.trim_start().starts_with('#') {
            found.push_line("", place, number);
        } else {
            found.push_line(line, place, number);
        }
        number = number.saturating_add(1);
    }
    found.system_typedefs = simple_typedefs(&system);
    blank(&mut found);
    found
}

/// Appends text; restores letters that a preprocessor spells `\U000000f6`.
fn push_decoded(out: &mut String, mut text: &str) {
    while let Some(at) = text.find("\\U").or_else(|| text.find("\\u")) {
        let n_digits = if text[at..].starts_with("\\U") { 8 } else { 4 };
        let digits = text.get(at + 2..at + 2 + n_digits);
        let letter = digits
            .and_then(|d| u32::from_str_radix(d, 16).ok())
            .and_then(char::from_u32)
            .filter(|c| c.is_alphabetic());
        match letter {
            Some(letter) => {
                out.push_str(&text[..at]);
                out.push(letter);
                text = &text[at + 2 + n_digits..];
            }
            None => {
                out.push_str(&text[..at + 2]);
                text = &text[at + 2..];
            }
        }
    }
    out.push_str(text);
}

/// `# 12 "file" 1 3` as line, file and flags.
pub(crate) fn line_marker(line: &str) -> Option<(u32, &str, &str)> {
    let rest = line.strip_prefix('#')?;
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let rest = rest.trim_start().strip_prefix('"')?;
    let end = rest.rfind('"')?;
    Some((number.parse().ok()?, &rest[..end], &rest[end + 1..]))
}

/// `typedef unsigned long size_t;` and the like.
fn simple_typedefs(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in text.split(';') {
        let Some(at) = statement.rfind("typedef ") else { continue };
        let words: Vec<_> =
            statement[at + 8..].split_whitespace().filter(|w| *w != "__extension__").collect();
        let is_word = |w: &&str| w.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if let [of @ .., name] = words.as_slice()
            && !of.is_empty()
            && words.iter().all(is_word)
        {
            found.push(((*name).to_owned(), of.join(" ")));
        }
    }
    found
}

/// Overwrites marks and GNU spellings that confuse a C parser.
fn blank(found: &mut Preprocessed) {
    let mut marks: Vec<(usize, Mark)> = Vec::new();
    let mut edits: Vec<(usize, usize, &'static str)> = Vec::new();
    let all = tokens(&found.text);
    let brackets = Brackets::of(&all);
    let mut position = 0;
    let mut braces = 0usize;
    while let Some(token) = all.get(position) {
        position += 1;
        match token.text {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            _ => {}
        }
        if token.kind != TokenKind::Word {
            continue;
        }
        if let Some(mark) = Mark::parse(token.text) {
            marks.push((token.start, mark));
            edits.push((token.start, token.end(), ""));
            continue;
        }
        match token.text {
            // `T (*restrict p)[m]` looks like a call with an error.
            "restrict" | "__restrict" | "__restrict__"
                if braces > 0
                    && position > 2
                    && all[position - 2].text == "*"
                    && all[position - 3].text == "(" =>
            {
                edits.push((token.start, token.end(), ""))
            }
            "__restrict" | "__restrict__" => edits.push((token.start, token.end(), "restrict")),
            "__inline" | "__inline__" => edits.push((token.start, token.end(), "inline")),
            "__const" | "__const__" => edits.push((token.start, token.end(), "const")),
            "__volatile" | "__volatile__" => edits.push((token.start, token.end(), "volatile")),
            "__signed__" | "__signed" => edits.push((token.start, token.end(), "signed")),
            "__extension__" => edits.push((token.start, token.end(), "")),
            // `typeof(x) y = (x);`: the type of the initial value.
            word if is_typeof(word) => {
                if let Some(close) = type_of_initial_value(&all, &brackets, position) {
                    edits.push((all[position].start, all[close].end(), ""));
                    position = close + 1;
                }
            }
            "__attribute__" | "__attribute" | "__declspec" | "_Alignas" => {
                let mut depth = 0;
                let mut end = None;
                for (k, t) in all.iter().enumerate().skip(position) {
                    match t.text {
                        "(" => depth += 1,
                        ")" => depth -= 1,
                        _ => {}
                    }
                    if depth <= 0 {
                        end = Some(k);
                        break;
                    }
                }
                if let Some(k) = end {
                    let inside = attributes::found_in(&all[position - 1..=k]);
                    found.attributes.extend(inside.into_iter().map(|attribute| (token.start, attribute)));
                    edits.push((token.start, all[k].end(), ""));
                    position = k + 1;
                }
            }
            _ => {}
        }
    }
    let edits_of_parens = needless_parens(&all, &found.system_typedefs);
    edits.extend(edits_of_parens.into_iter().map(|at| (at, at + 1, "")));
    let mut bytes = std::mem::take(&mut found.text).into_bytes();
    for (start, end, with) in edits {
        let with = with.bytes().chain(std::iter::repeat(b' '));
        for (byte, with) in bytes[start..end].iter_mut().zip(with) {
            if *byte != b'\n' {
                *byte = with;
            }
        }
    }
    found.text = String::from_utf8_lossy(&bytes).into_owned();
    let mut counts: HashMap<Mark, u32> = HashMap::new();
    for (_, mark) in &marks {
        *counts.entry(*mark).or_default() += 1;
    }
    marks.retain(|(_, mark)| counts[mark] == 1);
    found.marks = marks;
}

/// The parenthesis that closes the one at `open`, if what is between them is also what the variable declared behind it
/// begins with.
fn type_of_initial_value(all: &[Token<'_>], brackets: &Brackets, open: usize) -> Option<usize> {
    let close = all.get(open).filter(|t| t.is("(")).and_then(|_| brackets.closing(open))?;
    let is_declared = all.get(close + 1)?.kind == TokenKind::Word && all.get(close + 2)?.is("=");
    let start = close + 3;
    let mut end = start;
    while !all.get(end)?.is(";") {
        end = brackets.closing(end).unwrap_or(end) + 1;
    }
    let plain = |from: usize, to: usize| {
        let (mut from, mut to) = (from, to);
        while from + 1 < to && all[from].is("(") && brackets.closing(from) == Some(to - 1) {
            (from, to) = (from + 1, to - 1);
        }
        all[from..to].iter().map(|t| t.text)
    };
    let is_same = plain(open + 1, close).eq(plain(start, end));
    (is_declared && is_same).then_some(close)
}

/// Parentheses around a name that is not a type, with or without subscripts: `(a) + (b[i]) * (c)`, as in macros, looks
/// like a cast to a parser that does not know declarations.
fn needless_parens<'t>(all: &[Token<'t>], system_typedefs: &'t [(String, String)]) -> Vec<usize> {
    let mut types = defined_types(all);
    types.extend(system_typedefs.iter().map(|(name, _)| name.as_str()));
    let is_type = |t: &Token<'_>| {
        t.kind == TokenKind::Word
            && (types.contains(t.text) || is_type_word(t.text) || ["const", "struct"].contains(&t.text))
    };
    // Whether the parenthesis at `close` ends a cast such as `(unsigned char)`.
    let ends_cast = |close: usize| {
        let Some(length) = all[..close].iter().rev().take(8).position(|t| t.is("(")) else { return false };
        let open = close - 1 - length;
        let inside = &all[open + 1..close];
        let is_plain = inside.first().is_some_and(is_type) && inside.iter().all(|t| is_type(t) || t.is("*"));
        let is_applied =
            open.checked_sub(1).is_some_and(|k| all[k].kind == TokenKind::Word || all[k].is(")"));
        is_plain && !is_applied
    };
    let starts_operand = |at: usize| match all[at].kind {
        TokenKind::Word => ["return", "else", "case"].contains(&all[at].text),
        TokenKind::Punct => !all[at].is("]") && (!all[at].is(")") || ends_cast(at)),
        TokenKind::Number | TokenKind::Literal => false,
    };
    let brackets = Brackets::of(all);
    let mut found = Vec::new();
    for (position, token) in all.iter().enumerate() {
        let is_candidate = token.kind == TokenKind::Word
            && !types.contains(token.text)
            && !is_type_word(token.text)
            && !is_typeof(token.text)
            && Mark::parse(token.text).is_none();
        if !is_candidate {
            continue;
        }
        if position == 0 || !all[position - 1].is("(") {
            continue;
        }
        let (mut start, mut end) = (position, postfix_end(all, &brackets, position));
        while let (Some(before), Some(close)) = (start.checked_sub(2), all.get(end + 1)) {
            let open = &all[start - 1];
            // Before a brace it is a type whose definition is not seen.
            let is_literal = all.get(end + 2).is_some_and(|t| t.is("{"));
            if !open.is("(") || !close.is(")") || is_literal || !starts_operand(before) {
                break;
            }
            found.extend([open.start, close.start]);
            // `((a)[i])` has parentheses around `(a)[i]`.
            (start, end) = (start - 1, postfix_end(all, &brackets, end + 1));
        }
    }
    found
}

/// The last token of the operand that ends at `position` with its subscripts, calls and members.
fn postfix_end(all: &[Token<'_>], brackets: &Brackets, position: usize) -> usize {
    let mut end = position;
    loop {
        let is = |k: usize, text: &str| all.get(k).is_some_and(|t| t.is(text));
        let is_word = |k: usize| all.get(k).is_some_and(|t| t.kind == TokenKind::Word);
        if is(end + 1, "[") || is(end + 1, "(") {
            match brackets.closing(end + 1) {
                Some(close) => end = close,
                None => return end,
            }
        } else if is(end + 1, ".") && is_word(end + 2) {
            end += 2;
        } else if is(end + 1, "-") && is(end + 2, ">") && is_word(end + 3) {
            end += 3;
        } else {
            return end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_other_steps_are_dropped() {
        let args = [
            "-O3", "-o", "a.out", "-c", "-lm", "-I", "inc", "other.c", "-DN=3", "-Wl,-O1", "-x", "c", "-L",
            "l",
        ];
        let args: Vec<_> = args.iter().map(|a| (*a).to_owned()).collect();
        assert_eq!(preprocessor_args(&args), ["-O3", "-I", "inc", "-DN=3"]);
    }

    #[test]
    fn system_text_goes_and_lines_stay_known() {
        let output = "# 1 \"a.c\"\n# 1 \"/usr/include/x.h\" 1 3 4\ntypedef unsigned long size_t;\nint f(void);\n\
                      # 2 \"a.c\" 2\n#pragma scop\nint *__restrict__ p __attribute__((x(1)));\n# 9 \"b.h\" 1\nint q;\n";
        let found = clean(output, "a.c");
        assert_eq!(found.text, "\nint *restrict     p                      ;\nint q;\n");
        assert_eq!(found.origin(3), (true, 3));
        assert_eq!(found.origin(found.text.len() - 2), (false, 9));
        assert_eq!(found.pragmas, [(0, "scop".to_owned())]);
        assert_eq!(found.system_typedefs, [("size_t".to_owned(), "unsigned long".to_owned())]);
    }

    #[test]
    fn text_of_system_macros_stays() {
        let output = "# 1 \"a.c\"\nint most =\n# 1 \"a.c\" 3 4\n0x7fffffff\n# 1 \"a.c\"\n;\n";
        assert_eq!(clean(output, "a.c").text, "int most =\n0x7fffffff\n;\n");
    }

    #[test]
    fn parentheses_around_names_go_unless_they_mean_something() {
        let text = clean("# 1 \"a.c\"\nx = ((a)[i]) - 2 * (((b))(c)[j]) + ((d)[k] & e);", "a.c").text;
        assert!(text.contains("x =   a [i]  - 2 *    b  (c)[j]  + ( d [k] & e);"), "{text}");
        let output = "# 1 \"a.c\"\ntypedef double real;\nx = ((a)) + (b[i](j)) * f(c) - (real)(d) + (int)(e); if (g) h(int)(i);";
        let text = clean(output, "a.c").text;
        assert!(
            text.contains("x =   a   +  b[i](j)  * f(c) - (real) d  + (int) e ; if (g) h(int)(i);"),
            "{text}"
        );
    }

    #[test]
    fn parentheses_around_types_stay() {
        let output = "# 1 \"a.c\"\ntypedef struct { double x; struct { int y; } z; } pair;\n\
                      p = (pair){ 1 }; q = (pair)(r); s = (unseen){ 2 }; t = (x) - (y);";
        let text = clean(output, "a.c").text;
        assert!(text.contains("p = (pair){ 1 }; q = (pair) r ; s = (unseen){ 2 }; t =  x  -  y ;"), "{text}");
    }

    #[test]
    fn messages_lose_the_marks() {
        assert_eq!(strip_marks("for  oxeye_mark_s3 x"), "for x");
    }
}

//! Functions that stand in other files of the program. Their definitions join the preprocessed text as if a header had them,
//! where everything that they name means the same in both files.

use crate::brackets::Brackets;
use crate::bytes::decoded;
use crate::directives::switches_openmp_on;
use crate::lexer::{DirectiveLine, Token, TokenKind, tokens, tokens_and_directives};
use crate::preprocess::{Addition, Define, Preprocessed, preprocess_plain};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Another source file of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSource {
    /// The file.
    pub path: PathBuf,
    /// The arguments it is compiled with.
    pub args: Vec<String>,
}

/// Most functions that are taken from other files.
const MOST_FUNCTIONS: usize = 64;
/// Most bytes of other files that are looked through.
const MOST_BYTES: u64 = 64 << 20;
/// Most names whose meanings are compared for a function.
const MOST_NAMES: usize = 2000;

/// Adds to `own`, the preprocessed text of a file that is compiled with `args`, the functions of other files that it calls.
pub(crate) fn take_in(own: &mut Preprocessed, compiler: &str, args: &[String], others: &[OtherSource]) {
    if others.is_empty() {
        return;
    }
    let mut search =
        Search { compiler, args, others, read: HashMap::new(), raw: None, defined: HashMap::new() };
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let outline = Outline::of(&own.text);
        let wanted: BTreeSet<String> = outline.undefined_calls();
        let wanted: Vec<String> =
            wanted.into_iter().filter(|name| !taken.contains(name) && !reasons.contains_key(name)).collect();
        if wanted.is_empty() || taken.len() >= MOST_FUNCTIONS {
            break;
        }
        let mut additions: Vec<Addition> = Vec::new();
        let mut added: BTreeSet<String> = BTreeSet::new();
        for (name, file) in search.definers(&wanted) {
            let flags_agree = search.flags_agree(file);
            let Some(other) = search.read(file) else { continue };
            let comparison = Comparison { own, outline: &outline, other, flags_agree };
            match comparison.function(&name) {
                Ok(functions) => {
                    // A helper that two of them share is taken once.
                    for function in functions.into_iter().filter(|f| added.insert(f.name.clone())) {
                        additions.push(function);
                    }
                }
                Err(why) => {
                    _ = reasons
                        .insert(name.clone(), format!("which stands in {} and {why}", shown(&other.path)))
                }
            }
        }
        // Two files may have helpers of the same name.
        let n_before = taken.len();
        for addition in additions {
            if taken.insert(addition.name.clone()) {
                own.append(addition);
            }
        }
        for (name, ty) in search.system_typedefs() {
            if !own.system_typedefs.iter().any(|(known, _)| *known == name) {
                own.system_typedefs.push((name, ty));
            }
        }
        if taken.len() == n_before {
            break;
        }
    }
    own.left_elsewhere = reasons;
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Another file, preprocessed.
struct Other {
    path: PathBuf,
    raw: String,
    preprocessed: Preprocessed,
}

struct Search<'a> {
    compiler: &'a str,
    args: &'a [String],
    others: &'a [OtherSource],
    read: HashMap<usize, Option<Other>>,
    raw: Option<Raw>,
    /// The functions with external linkage that files define once they are preprocessed.
    defined: HashMap<usize, HashSet<String>>,
}

/// What the files seem to define as they are written.
#[derive(Default)]
struct Raw {
    /// The files that define a function of this name.
    functions: HashMap<String, Vec<usize>>,
    /// For each file, names of functions, and parts of names that macros make: `sum` of `double NS(sum)(int n) {`.
    parts: Vec<(usize, BTreeSet<String>)>,
}

/// Most files that are preprocessed to find a function whose name a macro makes.
const MOST_MADE: usize = 16;
/// Shorter parts of names say nothing.
const SHORTEST_PART: usize = 3;

impl Search<'_> {
    /// For those of these names that exactly one of the other files defines, that file.
    fn definers(&mut self, wanted: &[String]) -> Vec<(String, usize)> {
        let others = self.others;
        self.raw.get_or_insert_with(|| {
            let mut found = Raw::default();
            let mut bytes = 0;
            for (k, other) in others.iter().enumerate() {
                bytes += std::fs::metadata(&other.path).map_or(0, |m| m.len());
                if bytes > MOST_BYTES {
                    break;
                }
                let Some(text) = std::fs::read(&other.path).ok().and_then(decoded) else { continue };
                let outline = Outline::of(&text);
                let external = outline.functions.iter().filter(|f| !f.is_static);
                let names: BTreeSet<&str> = external.map(|f| f.name.as_str()).collect();
                for name in &names {
                    found.functions.entry((*name).to_owned()).or_default().push(k);
                }
                let parts = names.into_iter().chain(outline.parts.iter().copied());
                let parts = parts.filter(|part| part.len() >= SHORTEST_PART).map(str::to_owned).collect();
                found.parts.push((k, parts));
            }
            found
        });
        let mut found = Vec::new();
        for name in wanted {
            let of_name = |raw: &Raw| raw.functions.get(name).cloned();
            let files = self.raw.as_ref().and_then(of_name).unwrap_or_else(|| self.made_by_macros(name));
            if let [file] = files.as_slice() {
                found.push((name.clone(), *file));
            }
        }
        found
    }

    /// The files that define a function whose name is another one before they are preprocessed.
    fn made_by_macros(&mut self, name: &str) -> Vec<usize> {
        let has_part = |parts: &BTreeSet<String>| parts.iter().any(|part| name.contains(part.as_str()));
        let all = self.raw.iter().flat_map(|raw| &raw.parts);
        let files: Vec<usize> = all.filter(|(_, parts)| has_part(parts)).map(|(file, _)| *file).collect();
        if files.len() > MOST_MADE {
            return Vec::new();
        }
        files.into_iter().filter(|file| self.defines(*file, name)).collect()
    }

    fn defines(&mut self, file: usize, name: &str) -> bool {
        if !self.defined.contains_key(&file) {
            let outline = self.read(file).map(|other| Outline::of(&other.preprocessed.text));
            let external = outline.iter().flat_map(|outline| &outline.functions).filter(|f| !f.is_static);
            let names = external.map(|f| f.name.clone()).collect();
            self.defined.insert(file, names);
        }
        self.defined[&file].contains(name)
    }

    fn read(&mut self, file: usize) -> Option<&Other> {
        let (compiler, others) = (self.compiler, self.others);
        let read = || {
            let OtherSource { path, args } = &others[file];
            let raw = decoded(std::fs::read(path).ok()?)?;
            let preprocessed = preprocess_plain(path, &raw, compiler, args).ok()?;
            Some(Other { path: path.clone(), raw, preprocessed })
        };
        self.read.entry(file).or_insert_with(read).as_ref()
    }

    /// Whether what the flags say of the meaning of C is the same for both files; and whether threads are.
    fn flags_agree(&self, file: usize) -> (bool, bool) {
        let (own, other) = (self.args, &self.others[file].args);
        (meaning(own) == meaning(other), switches_openmp_on(own) == switches_openmp_on(other))
    }

    fn system_typedefs(&self) -> Vec<(String, String)> {
        self.read.values().flatten().flat_map(|other| other.preprocessed.system_typedefs.clone()).collect()
    }
}

/// The flags that may change what a text means.
fn meaning(args: &[String]) -> Vec<&str> {
    const PREFIXES: [&str; 3] = ["-f", "-m", "-std="];
    const WITHOUT: [&str; 12] = [
        "-fopenmp",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-fvisibility",
        "-fdiagnostics",
        "-fcommon",
        "-fno-common",
        "-fstack-protector",
        "-flto",
        "-fmessage-length",
    ];
    let counts = |a: &&str| {
        *a == "-Ofast"
            || PREFIXES.iter().any(|p| a.starts_with(p)) && !WITHOUT.iter().any(|p| a.starts_with(p))
    };
    args.iter().map(String::as_str).filter(counts).collect()
}

/// A function's definition, as positions of tokens.
struct Definition {
    name: String,
    is_static: bool,
    first: usize,
    last: usize,
}

/// What a text has outside of functions, by names.
struct Outline<'a> {
    all: Vec<Token<'a>>,
    functions: Vec<Definition>,
    /// In a text that is not preprocessed: what stands in the place of functions' names.
    parts: Vec<&'a str>,
    /// The declarations of a name: types, structures, constants and variables, and functions without bodies; first and last
    /// token.
    declared: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Outline<'a> {
    fn of(text: &'a str) -> Self {
        let all = tokens(text);
        let brackets = Brackets::of(&all);
        let (mut functions, mut statements, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut first, mut at) = (0, 0);
        while at < all.len() {
            let token = &all[at];
            if token.is("{") {
                let Some(close) = brackets.closing(at) else { break };
                if let Some(name) = defined(&all, &brackets, first, at) {
                    let is_static = all[first..at].iter().any(|t| t.is("static"));
                    functions.push(Definition { name: name.to_owned(), is_static, first, last: close });
                    first = close + 1;
                } else if let Some((open, end)) = made_name(&all, &brackets, first, at) {
                    parts.extend(all[open..end].iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text));
                    first = close + 1;
                } else if is_linkage(&all[first..at]) {
                    // `extern "C" {`: what is in it stands outside of functions.
                    first = at + 1;
                    at += 1;
                    continue;
                }
                at = close;
            } else if token.is(";") {
                statements.push((first, at));
                first = at + 1;
            } else if token.is("}") {
                first = at + 1;
            }
            at += 1;
        }
        let mut declared: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (first, last) in statements {
            for name in names_declared(&all[first..=last]) {
                declared.entry(name).or_default().push((first, last));
            }
        }
        Outline { all, functions, parts, declared }
    }

    /// The functions that are called and have no body here.
    fn undefined_calls(&self) -> BTreeSet<String> {
        let defined: HashSet<&str> = self.functions.iter().map(|f| f.name.as_str()).collect();
        let mut found = BTreeSet::new();
        for function in &self.functions {
            for at in function.first..function.last {
                let token = &self.all[at];
                let is_call = token.kind == TokenKind::Word && self.all[at + 1].is("(");
                if is_call && !defined.contains(token.text) {
                    found.insert(token.text.to_owned());
                }
            }
        }
        found
    }

    fn function(&self, name: &str) -> Option<&Definition> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The texts of the declarations of a name, without what only one of several has: `extern` and initial values.
    fn spellings(&self, name: &str) -> BTreeSet<Vec<&'a str>> {
        let spelled = |(first, last): &(usize, usize)| {
            let mut depth = 0_usize;
            let is_before_value = |t: &&Token<'_>| {
                match t.text {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth > 0 || !t.is("=")
            };
            let words = self.all[*first..=*last].iter().take_while(is_before_value).map(|t| t.text);
            words.filter(|w| *w != "extern" && *w != ";").collect()
        };
        self.declared.get(name).into_iter().flatten().map(spelled).collect()
    }

    fn is_static_variable(&self, name: &str) -> bool {
        let first_words =
            |(first, last): &(usize, usize)| self.all[*first..*last].iter().any(|t| t.is("static"));
        self.declared.get(name).is_some_and(|all| all.iter().any(first_words))
    }
}

/// The name of the function whose body opens at `open`, if that is what opens there.
fn defined<'a>(all: &[Token<'a>], brackets: &Brackets, first: usize, open: usize) -> Option<&'a str> {
    let close = open.checked_sub(1).filter(|k| *k > first && all[*k].is(")"))?;
    let name = brackets.opening(close)?.checked_sub(1).filter(|k| *k >= first)?;
    (all[name].kind == TokenKind::Word).then_some(all[name].text)
}

/// The tokens of a macro's use that stands for the name of the function whose body opens at `open`: `NS(sum)`.
fn made_name(all: &[Token<'_>], brackets: &Brackets, first: usize, open: usize) -> Option<(usize, usize)> {
    let close = open.checked_sub(1).filter(|k| *k > first && all[*k].is(")"))?;
    let parameters = brackets.opening(close)?;
    let end = parameters.checked_sub(1).filter(|k| *k > first && all[*k].is(")"))?;
    let name = brackets.opening(end)?.checked_sub(1).filter(|k| *k >= first)?;
    (all[name].kind == TokenKind::Word).then_some((name, parameters))
}

fn is_linkage(words: &[Token<'_>]) -> bool {
    matches!(words, [one, other] if one.is("extern") && other.kind == TokenKind::Literal)
}

/// The names that a declaration outside of functions gives meanings to.
fn names_declared<'a>(words: &[Token<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut parens, mut braces) = (0_usize, Vec::new());
    let mut tag: Option<&str> = None;
    for (k, token) in words.iter().enumerate() {
        let next = words.get(k + 1);
        match token.text {
            "(" => parens += 1,
            ")" => parens = parens.saturating_sub(1),
            "{" => braces.push(tag.take()),
            "}" => _ = braces.pop(),
            "struct" | "union" | "enum" => {
                tag = Some(token.text);
                continue;
            }
            _ => {}
        }
        if token.kind != TokenKind::Word {
            continue;
        }
        let is_next = |texts: &[&str]| next.is_some_and(|n| texts.iter().any(|t| n.is(t)));
        let follows = |texts: &[&str]| k > 0 && texts.iter().any(|t| words[k - 1].is(t));
        if braces.is_empty() {
            let is_tag = follows(&["struct", "union", "enum"]);
            let is_pointer_to_function = follows(&["*"]) && is_next(&[")"]);
            if is_tag {
                if is_next(&["{"]) {
                    found.push(token.text);
                }
            } else if (parens == 0 && is_next(&[";", ",", "[", "=", "("])) || is_pointer_to_function {
                found.push(token.text);
            }
        } else if braces.last() == Some(&Some("enum")) && follows(&["{", ","]) {
            found.push(token.text);
        }
        if !is_next(&["{"]) && !follows(&["struct", "union", "enum"]) {
            tag = None;
        }
    }
    found
}

/// Whether a function of another file means the same here.
struct Comparison<'a> {
    own: &'a Preprocessed,
    outline: &'a Outline<'a>,
    other: &'a Other,
    /// Whether the flags agree, and those for threads.
    flags_agree: (bool, bool),
}

impl Comparison<'_> {
    /// The function with the helpers that it calls, or why it cannot be taken.
    fn function(&self, name: &str) -> Result<Vec<Addition>, String> {
        if !self.flags_agree.0 {
            return Err("is compiled with other flags".to_owned());
        }
        let (raw, directives) = tokens_and_directives(&self.other.raw);
        let theirs = Outline::of(&self.other.preprocessed.text);
        let has_label = |outline: &Outline<'_>| {
            outline.spellings(name).iter().flatten().any(|w| w.trim_matches('_') == "asm")
        };
        let is_replaceable = |t: &Token<'_>| matches!(t.text.trim_matches('_'), "weak" | "alias" | "ifunc");
        if raw.iter().any(is_replaceable) || has_label(&theirs) || has_label(self.outline) {
            return Err("may be replaced when the program is linked".to_owned());
        }
        let mut found = Vec::new();
        let mut next = vec![name.to_owned()];
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(name) = next.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            if seen.len() > MOST_FUNCTIONS {
                return Err("calls too many others".to_owned());
            }
            let definition = theirs.function(&name).ok_or("could not be read")?;
            let span = &theirs.all[definition.first..=definition.last];
            self.macros_agree(span, &raw, &directives)?;
            next.extend(self.names_agree(&theirs, span)?);
            found.push(self.addition(definition, span)?);
        }
        Ok(found)
    }

    fn addition(&self, definition: &Definition, span: &[Token<'_>]) -> Result<Addition, String> {
        let theirs = &self.other.preprocessed;
        let (start, end) = (span[0].start, span[span.len() - 1].end());
        let mut lines: Vec<(String, String, u32)> = Vec::new();
        let mut offset = start;
        for line in theirs.text[start..end].split('\n') {
            let (header, number) = theirs.place(offset);
            let file = match header {
                None => self.other.path.to_string_lossy().into_owned(),
                Some(header) => theirs.headers[header as usize].clone(),
            };
            lines.push((line.to_owned(), file, number));
            offset += line.len() + 1;
        }
        let inside = theirs.pragmas.iter().filter(|(at, _)| (start..end).contains(at));
        let pragmas: Vec<(usize, String)> = inside.map(|(at, text)| (at - start, text.clone())).collect();
        if !pragmas.is_empty() && !self.flags_agree.1 {
            return Err("is compiled for other threads".to_owned());
        }
        let inside = theirs.attributes.iter().filter(|(at, _)| (start..end).contains(at));
        let attributes = inside.map(|(at, what)| (at - start, *what)).collect();
        Ok(Addition { name: definition.name.clone(), lines, pragmas, attributes })
    }

    /// Compares what the names in a function mean; returns the functions of its file that it calls.
    fn names_agree(&self, theirs: &Outline<'_>, span: &[Token<'_>]) -> Result<Vec<String>, String> {
        let mut helpers = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut next: Vec<&str> = names_used(span);
        while let Some(name) = next.pop() {
            if !seen.insert(name) {
                continue;
            }
            if seen.len() > MOST_NAMES {
                return Err("uses too many names".to_owned());
            }
            if let Some(helper) = theirs.function(name) {
                match self.outline.function(name) {
                    None if self.outline.is_static_variable(name) => {
                        return Err(format!("uses `{name}`, which is something else here"));
                    }
                    None => helpers.push(name.to_owned()),
                    Some(own) => {
                        let words = |outline: &Outline<'_>, d: &Definition| -> Vec<String> {
                            outline.all[d.first..=d.last].iter().map(|t| t.text.to_owned()).collect()
                        };
                        let is_same = own.is_static == helper.is_static
                            && words(self.outline, own) == words(theirs, helper);
                        if !is_same {
                            return Err(format!("calls `{name}`, which is something else here"));
                        }
                    }
                }
                continue;
            }
            let spellings = theirs.spellings(name);
            if spellings.is_empty() {
                // A local name, unless it is a word of the language or of the system.
                let is_taken = self.outline.function(name).is_some_and(|f| f.is_static)
                    || self.outline.is_static_variable(name)
                    || self.outline.spellings(name).iter().any(|s| s.first() == Some(&"typedef"));
                if is_taken {
                    return Err(format!("uses `{name}`, which is something else here"));
                }
                continue;
            }
            let is_function = spellings.iter().all(|s| is_prototype(s, name));
            if is_function {
                let is_other = self.outline.function(name).is_some_and(|f| f.is_static)
                    || self.outline.is_static_variable(name);
                if is_other {
                    return Err(format!("calls `{name}`, which is something else here"));
                }
                continue;
            }
            let is_variable = !spellings.iter().any(|s| is_type(s, name));
            if is_variable && theirs.is_static_variable(name) {
                return Err(format!("uses the static variable `{name}`"));
            }
            if self.outline.spellings(name).is_disjoint(&spellings) || self.outline.function(name).is_some() {
                return Err(format!("uses `{name}`, which is not declared so here"));
            }
            for (first, last) in theirs.declared.get(name).into_iter().flatten() {
                next.extend(names_used(&theirs.all[*first..=*last]));
            }
        }
        Ok(helpers)
    }

    /// Compares the macros that a function and the conditionals around it depend on.
    fn macros_agree(
        &self,
        span: &[Token<'_>],
        raw: &[Token<'_>],
        directives: &[DirectiveLine<'_>],
    ) -> Result<(), String> {
        let theirs = &self.other.preprocessed;
        let (first, last) = (span[0].start, span[span.len() - 1].end() - 1);
        let ((None, from), (None, to)) = (theirs.place(first), theirs.place(last)) else {
            return Err("is partly in a header".to_owned());
        };
        let inside: Vec<Token<'_>> = raw.iter().filter(|t| (from..=to).contains(&t.line)).cloned().collect();
        // What makes the name need not be known here: the name is what is called.
        let name = name_in(&inside);
        let mut next: Vec<String> = inside
            .iter()
            .enumerate()
            .filter(|(k, t)| t.kind == TokenKind::Word && !name.contains(k))
            .map(|(_, t)| t.text.to_owned())
            .collect();
        let mut conditional: Vec<String> = Vec::new();
        let words_of = |d: &DirectiveLine<'_>| -> Vec<String> {
            let all = tokens(d.text.trim_start_matches('#'));
            all.iter().skip(1).filter(|t| t.kind == TokenKind::Word).map(|t| t.text.to_owned()).collect()
        };
        let outside = around(directives, from);
        let inside = directives.iter().filter(|d| (from..=to).contains(&d.line));
        for directive in outside.into_iter().chain(inside) {
            match directive.name() {
                "if" | "ifdef" | "ifndef" | "elif" => conditional.extend(words_of(directive)),
                "pragma" => next.extend(words_of(directive)),
                "else" | "endif" => {}
                _ => return Err("has directives of the preprocessor inside".to_owned()),
            }
        }
        let differs = |name: &str| format!("depends on the macro `{name}`, which is not the same here");
        let mut seen: HashSet<String> = HashSet::new();
        for name in conditional {
            if name != "defined" && !self.is_same_macro(&name, first) {
                return Err(differs(&name));
            }
            next.push(name);
        }
        while let Some(name) = next.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(define) = last_define(theirs, &name, first) else { continue };
            if define.is_predefined {
                continue;
            }
            if !self.is_same_macro(&name, first) {
                // What the file defines itself, whatever the flags are, is the same in every build.
                let is_fixed = define.own_line.is_some_and(|line| around(directives, line).is_empty());
                if !is_fixed || last_define(self.own, &name, self.own.text.len()).is_some() {
                    return Err(differs(&name));
                }
            }
            let body = define.body.as_deref().unwrap_or("");
            next.extend(tokens(body).iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text.to_owned()));
        }
        Ok(())
    }

    /// Whether a macro is defined alike in both files, or in neither.
    fn is_same_macro(&self, name: &str, at: usize) -> bool {
        let theirs = last_define(&self.other.preprocessed, name, at);
        let own = last_define(self.own, name, self.own.text.len());
        let meaning = |d: &Define| (d.is_function, d.body.clone());
        theirs.map(meaning) == own.map(meaning)
    }
}

/// The tokens that stand for the name of a function in its definition.
fn name_in(definition: &[Token<'_>]) -> std::ops::Range<usize> {
    let brackets = Brackets::of(definition);
    let Some(open) = definition.iter().position(|t| t.is("{")) else { return 0..0 };
    let close = open.checked_sub(1).filter(|k| definition[*k].is(")"));
    let Some(parameters) = close.and_then(|close| brackets.opening(close)) else { return 0..0 };
    match made_name(definition, &brackets, 0, open) {
        Some((first, end)) => first..end,
        None => parameters.saturating_sub(1)..parameters,
    }
}

/// The definition of a macro at a place; `None` if it has none there.
fn last_define<'a>(preprocessed: &'a Preprocessed, name: &str, at: usize) -> Option<&'a Define> {
    let last = preprocessed.defines.iter().rev().find(|d| d.at <= at && d.name == name)?;
    last.body.is_some().then_some(last)
}

/// The conditionals that are open at a line: what opened them, and their branches up to there.
fn around<'d, 'a>(directives: &'d [DirectiveLine<'a>], line: u32) -> Vec<&'d DirectiveLine<'a>> {
    let mut open: Vec<Vec<&DirectiveLine<'_>>> = Vec::new();
    for directive in directives.iter().take_while(|d| d.line < line) {
        match directive.name() {
            "if" | "ifdef" | "ifndef" => open.push(vec![directive]),
            "elif" | "else" => open.iter_mut().last().into_iter().for_each(|branch| branch.push(directive)),
            "endif" => _ = open.pop(),
            _ => {}
        }
    }
    open.into_iter().flatten().collect()
}

/// The names in a text, other than of members.
fn names_used<'a>(span: &[Token<'a>]) -> Vec<&'a str> {
    let is_member =
        |k: usize| k > 0 && span[k - 1].is(".") || k > 1 && span[k - 1].is(">") && span[k - 2].is("-");
    let words = span.iter().enumerate().filter(|(k, t)| t.kind == TokenKind::Word && !is_member(*k));
    words.map(|(_, t)| t.text).collect()
}

fn is_prototype(words: &[&str], name: &str) -> bool {
    words.windows(2).any(|w| w[0] == name && w[1] == "(") && words.first() != Some(&"typedef")
}

/// Whether a declaration gives a type, a structure or a constant this name.
fn is_type(words: &[&str], name: &str) -> bool {
    let opens = |w: &[&str]| w[1] == name && w[2] == "{" && ["struct", "union", "enum"].contains(&w[0]);
    words.first() == Some(&"typedef")
        || words.windows(3).any(opens)
        || (words.contains(&"enum") && words.windows(2).any(|w| ["{", ","].contains(&w[0]) && w[1] == name))
}

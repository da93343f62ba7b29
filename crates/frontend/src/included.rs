//! Files of the user that a file includes. Their texts stand in the text that is read, each in the place of the `#include`
//! that names it, so that loops in them are loops like others. Of every byte it is known which file it is from.

use crate::FrontendError;
use crate::bytes::decoded;
use crate::lexer::{DirectiveLine, TokenKind, tokens, tokens_and_directives};
use crate::preprocess::{line_marker, quoted, run};
use oxeye_ir::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The files that a text is made of.
#[derive(Clone, Debug, Default)]
pub struct Included {
    files: Vec<SourceFile>,
    pieces: Vec<Piece>,
    splices: Vec<Splice>,
    /// What stands in the places of further `#include`s of files that are to be included once; those, and the files.
    again: Vec<(Range<usize>, String, usize)>,
    /// `#include`s of files whose loops stay as they are, as bytes of the text, and why.
    pub(crate) left: Vec<(Range<usize>, String)>,
}

/// One of the files that a text is made of.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The file.
    pub path: PathBuf,
    /// As seen from the folder of the file that includes it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl SourceFile {
    /// Whether it speaks of C++.
    pub fn says_cpp(&self) -> bool {
        self.text.contains("__cplusplus")
    }
}

/// Text that stands so in a file.
#[derive(Clone, Debug)]
struct Piece {
    /// Its bytes in the whole text.
    range: Range<usize>,
    /// Index into [`Included::files`].
    file: usize,
    /// Its first byte there.
    start: usize,
    /// The line of its first byte in the whole text, and in the file.
    line: u32,
    file_line: u32,
}

/// A file in the place of its `#include`.
#[derive(Clone, Debug)]
struct Splice {
    file: usize,
    /// What was there.
    directive: String,
    /// The directives before and behind its text.
    begin: Range<usize>,
    end: Range<usize>,
}

/// A line in one of the files that a text is made of.
#[derive(Clone, Copy, Debug)]
pub struct FileLine<'a> {
    /// The included file; `None` for the user's file itself.
    pub file: Option<&'a SourceFile>,
    /// From 1.
    pub line: u32,
}

impl std::fmt::Display for FileLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.file {
            Some(file) => write!(f, "{}:{}", file.name, self.line),
            None => self.line.fmt(f),
        }
    }
}

/// Most bytes that a file may have with those that it includes.
const MOST_BYTES: usize = 4 << 20;

/// Which of the included files count as the user's own.
pub(crate) struct Owned<'a> {
    /// The folder below which they are.
    pub(crate) folder: &'a Path,
    /// Those of them that stay as they are.
    pub(crate) closed: &'a BTreeSet<PathBuf>,
}

/// A file with the user's own files that it includes and that have code in them: those that stand in it once, outside of
/// functions.
pub(crate) fn opened(
    path: &Path,
    source: String,
    compiler: &str,
    args: &[String],
    owned: &Owned<'_>,
) -> Result<(String, Included), FrontendError> {
    let (_, directives) = tokens_and_directives(&source);
    if !directives.iter().any(|d| spelled(d).is_some()) {
        return Ok(Included::none(path, source));
    }
    let output = run(path, numbered(path, &source), compiler, args)?;
    let entries = entries(&output, &quoted(path));
    let mut closed = owned.closed.clone();
    // What the preprocessor makes of both must be the same. Files that say `#pragma once` may be included by others, too.
    for _ in 0..2 {
        let tree = Tree::of(path, &source, &entries, &Owned { folder: owned.folder, closed: &closed });
        if !tree.has_any() {
            return Ok(tree.assembled());
        }
        let once = tree.once();
        let (text, included) = tree.assembled();
        let again = run(path, numbered(path, &text), compiler, args)?;
        if words(&output).eq(words(&again)) {
            return Ok((text, included));
        }
        if once.is_empty() {
            break;
        }
        closed.extend(once);
    }
    Ok(Included::none(path, source))
}

/// The files that a file includes, other than those of the system; as they are resolved.
///
/// # Errors
/// If the preprocessor fails.
pub fn includes(path: &Path, compiler: &str, args: &[String]) -> Result<BTreeSet<PathBuf>, FrontendError> {
    let source = text_of(path).ok_or_else(|| FrontendError::Encoding { path: path.to_owned() })?;
    let output = run(path, numbered(path, &source), compiler, args)?;
    let entries = entries(&output, &quoted(path));
    let own = entries.into_iter().skip(1).filter(|entry| !entry.is_system);
    Ok(own.filter_map(|entry| entry.file.canonicalize().ok()).collect())
}

/// A unit in which files have other texts: its own, which includes the others where they are to be written, in a folder, and
/// these with the names by which the preprocessor knows them and their texts.
///
/// # Errors
/// If the preprocessor fails on the unit as it is.
pub fn redirected(
    path: &Path,
    compiler: &str,
    args: &[String],
    changed: &BTreeMap<PathBuf, String>,
    folder: &Path,
) -> Result<(String, Vec<MovedFile>), FrontendError> {
    let source = text_of(path).ok_or_else(|| FrontendError::Encoding { path: path.to_owned() })?;
    let output = run(path, numbered(path, &source), compiler, args)?;
    let entries = entries(&output, &quoted(path));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let places: Vec<PathBuf> = entries.iter().map(|entry| real(&entry.file)).collect();
    let changed: BTreeMap<PathBuf, &String> = changed.iter().map(|(path, text)| (real(path), text)).collect();
    // What includes a changed file, itself or not, includes it elsewhere.
    let mut moved: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    for (idx, place) in places.iter().enumerate().skip(1) {
        if changed.contains_key(place) {
            let mut at = idx;
            while at > 0 {
                let place = places[at].as_path();
                let name = place.file_name().unwrap_or_default().to_string_lossy();
                let n_before = moved.len();
                moved.entry(place).or_insert_with(|| folder.join(format!("{n_before}-{name}")));
                at = entries[at].parent;
            }
        }
    }
    let mut texts: BTreeMap<&Path, String> = BTreeMap::new();
    for place in moved.keys().copied().chain([places[0].as_path()]) {
        let original = if place == places[0] { source.clone() } else { text_of(place).unwrap_or_default() };
        let text = changed.get(place).map_or(original.as_str(), |text| text.as_str());
        // Which file an `#include` of this one leads to, as it is spelled.
        let mut leads: BTreeMap<&str, &Path> = BTreeMap::new();
        let (_, directives) = tokens_and_directives(&original);
        for (entry, to) in entries.iter().zip(&places).skip(1) {
            if places[entry.parent] == place
                && let Some(directive) = directives.iter().find(|d| last_line(d) + 1 == entry.behind)
                && let Some((name, _)) = spelled(directive)
            {
                leads.insert(name, to);
            }
        }
        texts.insert(place, redirect(text, place, &leads, &moved, place != places[0]));
    }
    let own = texts.remove(places[0].as_path()).unwrap_or(source);
    let named = |place: &Path| {
        let entry = places.iter().position(|other| other == place);
        entry.map_or(place, |k| entries[k].file.as_path()).to_owned()
    };
    let included = texts.into_iter().map(|(place, text)| {
        let path = moved[place].clone();
        MovedFile { path, name: named(place), text }
    });
    Ok((own, included.collect()))
}

/// A file that a unit includes elsewhere.
#[derive(Clone, Debug)]
pub struct MovedFile {
    /// Where it is to be written.
    pub path: PathBuf,
    /// As the preprocessor names the original.
    pub name: PathBuf,
    /// What is to be written.
    pub text: String,
}

/// A text with its `#include`s of files that are moved leading to where they are; and if it is moved itself, with those of the
/// files beside it.
fn redirect(
    text: &str,
    place: &Path,
    leads: &BTreeMap<&str, &Path>,
    moved: &BTreeMap<&Path, PathBuf>,
    is_moved: bool,
) -> String {
    let (mut out, mut done) = (String::new(), 0);
    let (_, directives) = tokens_and_directives(text);
    for directive in &directives {
        let Some((name, is_quoted)) = spelled(directive) else { continue };
        let beside = place.parent().map(|folder| folder.join(name)).filter(|path| is_quoted && path.exists());
        // One that was not followed, since its file had been included before, leads to that.
        let real = beside.as_ref().and_then(|path| path.canonicalize().ok());
        let to = leads.get(name).copied().or(real.as_deref()).and_then(|to| moved.get(to)).cloned();
        let beside = beside.filter(|_| is_moved);
        let Some(to) = to.or(beside) else { continue };
        let lines = "\n".repeat(directive.text.matches('\n').count());
        out += &text[done..directive.start];
        out += &format!("#include \"{}\"{lines}", to.display());
        done = directive.end();
    }
    out + &text[done..]
}

fn numbered(path: &Path, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}\n", quoted(path))
}

fn text_of(path: &Path) -> Option<String> {
    decoded(std::fs::read(path).ok()?)
}

/// The words of preprocessed text, with those of pragmas.
fn words(output: &str) -> impl Iterator<Item = &str> {
    let is_kept = |line: &&str| match tokens_and_directives(line).1.first() {
        Some(d) => d.name() == "pragma" && d.text.split_whitespace().nth(2) != Some("diagnostic"),
        None => true,
    };
    output.lines().filter(is_kept).flat_map(str::split_whitespace)
}

/// What an `#include` names, and whether between quotation marks.
fn spelled<'d>(directive: &DirectiveLine<'d>) -> Option<(&'d str, bool)> {
    if directive.name() != "include" {
        return None;
    }
    let (_, rest) = directive.text.split_once("include")?;
    let rest = rest.trim_start();
    let close = if rest.starts_with('<') { '>' } else { '"' };
    let inside = rest.strip_prefix(['<', '"'])?;
    Some((&inside[..inside.find(close)?], close == '"'))
}

fn last_line(directive: &DirectiveLine<'_>) -> u32 {
    directive.line + directive.text.matches('\n').count() as u32
}

/// A file that the preprocessor read.
struct Entry {
    /// As it names it.
    file: PathBuf,
    /// The entry with its `#include`; the first entry is the file itself.
    parent: usize,
    /// The line behind that `#include`.
    behind: u32,
    /// Whether it begins outside of all braces.
    is_outermost: bool,
    is_system: bool,
    /// Whether anything is left of it.
    has_text: bool,
}

/// What the preprocessor read, in its order.
fn entries(output: &str, name: &str) -> Vec<Entry> {
    let entry = |file: &str, parent, is_outermost, is_system| Entry {
        file: file.into(),
        parent,
        behind: 0,
        is_outermost,
        is_system,
        has_text: false,
    };
    let mut found = vec![entry(name, 0, true, false)];
    let mut open = vec![0];
    let mut braces = 0_i64;
    for line in output.lines() {
        if let Some((number, file, flags)) = line_marker(line) {
            let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
            if has("1") {
                let parent = open.last().copied().unwrap_or(0);
                open.push(found.len());
                found.push(entry(file, parent, braces == 0, has("3")));
            } else if has("2") && open.len() > 1 {
                let closed = open.pop().unwrap_or(0);
                found[closed].behind = number;
            }
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            found[open.last().copied().unwrap_or(0)].has_text = true;
            if line.contains(['{', '}']) {
                let step = |t: &crate::lexer::Token<'_>| match (t.kind, t.text) {
                    (TokenKind::Punct, "{") => 1,
                    (TokenKind::Punct, "}") => -1,
                    _ => 0,
                };
                braces += tokens(line).iter().map(step).sum::<i64>();
            }
        }
    }
    found
}

/// A file and those in it that are opened.
struct Tree<'a> {
    folder: PathBuf,
    nodes: Vec<Node<'a>>,
    /// `#include`s of what stays, by the node with them and their first byte, and why.
    left: Vec<(usize, usize, String)>,
}

/// A file that is opened.
struct Node<'a> {
    entry: &'a Entry,
    /// As it is resolved.
    path: PathBuf,
    text: String,
    /// The node with its `#include`, and the first byte of that there.
    at: (usize, usize),
    is_opened: bool,
}

impl<'a> Tree<'a> {
    fn of(path: &Path, source: &str, entries: &'a [Entry], owned: &Owned<'_>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (own, root) = (real(path), real(owned.folder));
        let places: Vec<PathBuf> = entries.iter().map(|entry| real(&entry.file)).collect();
        let mut times: BTreeMap<&Path, usize> = BTreeMap::new();
        for (entry, place) in entries.iter().zip(&places).skip(1) {
            *times.entry(place).or_default() += usize::from(entry.has_text);
        }
        let first = Node {
            entry: &entries[0],
            path: own.clone(),
            text: source.to_owned(),
            at: (0, 0),
            is_opened: true,
        };
        let mut tree = Tree { folder: real(parent), nodes: vec![first], left: Vec::new() };
        let mut node_of: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
        let mut bytes = source.len();
        for (idx, (entry, place)) in entries.iter().zip(&places).enumerate().skip(1) {
            let is_own = entry.has_text && !entry.is_system && place.starts_with(&root) && *place != own;
            let Some(parent) = node_of.get(&entry.parent).copied().filter(|_| is_own) else { continue };
            let Some(at) = tree.directive(parent, entry) else { continue };
            let Some(text) = text_of(place).filter(|text| is_movable(text)) else { continue };
            let n_times = times.get(place.as_path()).copied().unwrap_or(0);
            if n_times > 1 || !entry.is_outermost {
                if has_loops(&text)
                    && !tree.left.iter().any(|(node, start, _)| (*node, *start) == (parent, at))
                {
                    let name = shown(place, &tree.folder);
                    let why = match n_times {
                        0 | 1 => {
                            format!("{name} is included inside a function, so its loops stay as they are")
                        }
                        _ => format!(
                            "{name} is included {n_times} times, so its loops may mean something else each time and stay as they are"
                        ),
                    };
                    tree.left.push((parent, at, why));
                }
                continue;
            }
            bytes += text.len();
            if bytes > MOST_BYTES || owned.closed.contains(place) {
                continue;
            }
            node_of.insert(idx, tree.nodes.len());
            let is_opened = has_bodies(&text);
            tree.nodes.push(Node { entry, path: place.clone(), text, at: (parent, at), is_opened });
        }
        // What leads to a file that is opened is opened too.
        for idx in (1..tree.nodes.len()).rev() {
            if tree.nodes[idx].is_opened {
                let (parent, _) = tree.nodes[idx].at;
                tree.nodes[parent].is_opened = true;
            }
        }
        tree
    }

    /// The first byte of the `#include` of an entry in the text of a node.
    fn directive(&self, parent: usize, entry: &Entry) -> Option<usize> {
        let (_, directives) = tokens_and_directives(&self.nodes[parent].text);
        let found = directives.iter().find(|d| last_line(d) + 1 == entry.behind)?;
        let (name, _) = spelled(found)?;
        entry.file.ends_with(Path::new(name)).then_some(found.start).or_else(|| {
            // `../x.h` is not the end of a path that was made shorter.
            let file = Path::new(name).file_name();
            (name.contains("..") && entry.file.file_name() == file).then_some(found.start)
        })
    }

    fn has_any(&self) -> bool {
        self.nodes.iter().skip(1).any(|node| node.is_opened)
    }

    /// The opened files that say `#pragma once`.
    fn once(&self) -> BTreeSet<PathBuf> {
        let says = |node: &&Node<'_>| {
            node.is_opened && tokens_and_directives(&node.text).1.iter().any(is_pragma_once)
        };
        self.nodes.iter().skip(1).filter(says).map(|node| node.path.clone()).collect()
    }

    fn assembled(self) -> (String, Included) {
        let mut builder = Builder {
            once: self.once(),
            tree: &self,
            text: String::new(),
            line: 1,
            included: Included::default(),
        };
        builder.file(0);
        let Builder { text, mut included, .. } = builder;
        let place = |(node, start, why): &(usize, usize, String)| {
            let at = included.at(included.file_of(&self.nodes[*node].path)?, *start)?;
            let length = text[at..].find('\n').unwrap_or(text.len() - at);
            Some((at..at + length, why.clone()))
        };
        included.left = self.left.iter().filter_map(place).collect();
        (text, included)
    }
}

fn is_pragma_once(directive: &DirectiveLine<'_>) -> bool {
    directive.name() == "pragma" && directive.text.split_whitespace().next_back() == Some("once")
}

/// A path as seen from a folder, where it is below that.
fn shown(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// Compilers do not warn of what is left unused in included files.
const UNLIKE_INCLUDED: &str = "#pragma GCC diagnostic push\n\
                               #pragma GCC diagnostic ignored \"-Wunused-function\"\n\
                               #pragma GCC diagnostic ignored \"-Wunused-const-variable\"\n";
const LIKE_BEFORE: &str = "#pragma GCC diagnostic pop\n";

/// Whether a text means the same where it does not stand in a file of its own.
fn is_movable(text: &str) -> bool {
    let directives = tokens_and_directives(text).1;
    let stays = |directive: &DirectiveLine<'_>| match directive.name() {
        "line" | "include_next" => true,
        "pragma" => directive.text.split_whitespace().any(|word| word == "system_header"),
        _ => false,
    };
    let has_operator = || tokens(text).iter().any(|token| token.is("_Pragma"));
    !text.starts_with('\u{feff}')
        && !directives.iter().any(stays)
        && keeps_warnings(&directives)
        && !has_operator()
}

/// Whether all warnings are behind a text as they were before it: it is put between a `push` and a `pop` of its own.
fn keeps_warnings(directives: &[DirectiveLine<'_>]) -> bool {
    let mut depth = 0_usize;
    // The conditions around each `push`, which are to be those around its `pop`.
    let (mut conditions, mut pushed) = (Vec::new(), Vec::new());
    for directive in directives {
        let words: Vec<&str> = directive.text.split_whitespace().collect();
        match directive.name() {
            "if" | "ifdef" | "ifndef" => conditions.push(words.join(" ")),
            "else" | "elif" => {
                if let Some(last) = conditions.last_mut() {
                    *last = format!("{last} else {}", words.join(" "));
                }
            }
            "endif" => _ = conditions.pop(),
            "pragma" => {
                let Some(at) = words.iter().position(|word| *word == "diagnostic") else { continue };
                match (words.get(at + 1), depth) {
                    _ if words.get(at - 1) != Some(&"GCC") => return false,
                    (Some(&"push"), _) => {
                        depth += 1;
                        pushed.push(conditions.clone());
                    }
                    (_, 0) => return false,
                    (Some(&"pop"), _) => {
                        depth -= 1;
                        if pushed.pop().as_ref() != Some(&conditions) {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    depth == 0
}

/// Whether a text may have functions.
fn has_bodies(text: &str) -> bool {
    tokens(text).windows(2).any(|pair| pair[0].is(")") && pair[1].is("{"))
}

fn has_loops(text: &str) -> bool {
    tokens(text).iter().any(|t| t.kind == TokenKind::Word && ["for", "while"].contains(&t.text))
}

/// Puts a text together.
struct Builder<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Opened files that are not to be included again.
    once: BTreeSet<PathBuf>,
    text: String,
    line: u32,
    included: Included,
}

impl Builder<'_, '_> {
    fn push(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text += text;
        self.line += text.matches('\n').count() as u32;
        start..self.text.len()
    }

    fn piece(&mut self, file: usize, bytes: Range<usize>) {
        let tree = self.tree;
        let whole = &tree.nodes[self.node_of(file)].text;
        let file_line = 1 + whole[..bytes.start].matches('\n').count() as u32;
        let (line, start) = (self.line, bytes.start);
        let range = self.push(&whole[bytes]);
        if !range.is_empty() {
            self.included.pieces.push(Piece { range, file, start, line, file_line });
        }
    }

    fn node_of(&self, file: usize) -> usize {
        let path = &self.included.files[file].path;
        self.tree.nodes.iter().position(|node| node.path == *path).unwrap_or(0)
    }

    /// Puts in a node's file, with what it includes.
    fn file(&mut self, idx: usize) {
        let tree = self.tree;
        let node = &tree.nodes[idx];
        let file = self.included.files.len();
        let name = shown(&node.path, &tree.folder);
        self.included.files.push(SourceFile { path: node.path.clone(), name, text: node.text.clone() });
        let folder = node.path.parent().unwrap_or(Path::new("/"));
        let (_, directives) = tokens_and_directives(&node.text);
        let mut done = 0;
        for directive in &directives {
            let is_child = |child: &&Node<'_>| child.is_opened && child.at == (idx, directive.start);
            let child = tree.nodes.iter().skip(1).position(|child| is_child(&child)).map(|k| k + 1);
            let (name, is_quoted) = spelled(directive).unwrap_or_default();
            let beside = Some(folder.join(name)).filter(|path| is_quoted && path.exists());
            let lines = "\n".repeat(directive.text.matches('\n').count());
            // It is looked for beside the file that this text stands in.
            let moved = beside.as_ref().filter(|_| idx > 0).map(|_| {
                let path = Path::new(&shown(folder, &tree.folder)).join(name);
                format!("#include \"{}\"{lines}", path.display())
            });
            let again =
                beside.and_then(|path| path.canonicalize().ok()).filter(|path| self.once.contains(path));
            let again = again.and_then(|path| self.included.file_of(&path));
            let is_once = idx > 0 && is_pragma_once(directive);
            if child.is_none() && again.is_none() && moved.is_none() && !is_once {
                continue;
            }
            self.piece(file, done..directive.start);
            done = directive.end();
            let as_written = moved.unwrap_or_else(|| directive.text.to_owned());
            if let Some(child) = child {
                self.splice(node, child, as_written);
            } else if let Some(again) = again {
                let range = self.push(&format!("/* once */{lines}"));
                self.included.again.push((range, as_written, again));
            } else {
                self.push(if is_once { "/* once */" } else { &as_written });
            }
        }
        self.piece(file, done..node.text.len());
    }

    fn splice(&mut self, node: &Node<'_>, child: usize, directive: String) {
        let entry = self.tree.nodes[child].entry;
        let begin = self.push(&format!("{UNLIKE_INCLUDED}#line 1 \"{}\"", entry.file.display()));
        self.push("\n");
        let file = self.included.files.len();
        let slot = self.included.splices.len();
        self.included.splices.push(Splice { file, directive, begin, end: 0..0 });
        self.file(child);
        if !self.text.ends_with('\n') {
            self.push("\n");
        }
        let end =
            self.push(&format!("{LIKE_BEFORE}#line {} \"{}\"", entry.behind, node.entry.file.display()));
        self.included.splices[slot].end = end;
    }
}

impl Included {
    /// Of a file without others in it.
    pub(crate) fn none(path: &Path, source: String) -> (String, Self) {
        let piece = Piece { range: 0..source.len(), file: 0, start: 0, line: 1, file_line: 1 };
        let name = path.to_string_lossy().into_owned();
        let file = SourceFile { path: path.to_owned(), name, text: source.clone() };
        (source, Self { files: vec![file], pieces: vec![piece], ..Self::default() })
    }

    /// The files: the user's own, and those in its text.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Whether there are other files in the text.
    pub fn is_any(&self) -> bool {
        self.files.len() > 1
    }

    fn file_of(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// The same text with the lines blank that name its files.
    pub(crate) fn unnumbered(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let marks = self.splices.iter().flat_map(|splice| [&splice.begin, &splice.end]);
        let bytes_of_marks = marks.flat_map(|mark| mark.clone());
        bytes_of_marks.filter(|at| text.as_bytes()[*at] != b'\n').for_each(|at| bytes[at] = b' ');
        String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let after = self.pieces.partition_point(|piece| piece.range.start <= at);
        self.pieces.get(after.checked_sub(1)?).filter(|piece| at <= piece.range.end)
    }

    /// The byte of the text that stands at a byte of a file.
    pub(crate) fn at(&self, file: usize, start: usize) -> Option<usize> {
        let has = |piece: &&Piece| {
            piece.file == file && (piece.start..=piece.start + piece.range.len()).contains(&start)
        };
        self.pieces.iter().find(has).map(|piece| piece.range.start + (start - piece.start))
    }

    /// The place of bytes of the text in their file, by its index; `None` if they are of several.
    pub fn place(&self, span: Span) -> Option<(usize, Span)> {
        let first = self.piece(span.start)?;
        let last = if span.end > span.start { self.piece(span.end - 1)? } else { first };
        let start = first.start + (span.start - first.range.start);
        let end = last.start + (span.end - last.range.start);
        let line = span.line.saturating_sub(first.line) + first.file_line;
        (first.file == last.file && start <= end).then_some((first.file, Span { start, end, line }))
    }

    /// Whether bytes of the text are of an included file that compilers of C++ may read as well.
    pub(crate) fn is_for_cpp(&self, span: Span) -> bool {
        let file = self.place(span).filter(|(file, _)| *file > 0);
        file.is_some_and(|(file, _)| self.files[file].says_cpp())
    }

    /// The file that a line of the text is from, and its line there.
    pub fn line(&self, line: u32) -> FileLine<'_> {
        let after = self.pieces.partition_point(|piece| piece.line <= line);
        let Some(piece) = after.checked_sub(1).and_then(|k| self.pieces.get(k)) else {
            return FileLine { file: None, line };
        };
        let file = self.files.get(piece.file).filter(|_| piece.file > 0);
        FileLine { file, line: line - piece.line + piece.file_line }
    }

    /// The line of the text that is this one of a file, by the index of that.
    pub fn line_of(&self, file: usize, line: u32) -> Option<u32> {
        let of_file = self.pieces.iter().filter(|piece| piece.file == file && piece.file_line <= line);
        let piece = of_file.max_by_key(|piece| piece.file_line)?;
        Some(line - piece.file_line + piece.line)
    }

    /// The text with only those files in it for which `keeps` says so, and what they stand in; and where its bytes are there.
    pub fn folded(&self, text: &str, keeps: impl Fn(usize) -> bool) -> Folded {
        let is_inside = |other: &Splice, splice: &Splice| {
            (splice.begin.start..splice.end.end).contains(&other.begin.start)
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut gone: Vec<Range<usize>> = Vec::new();
        for splice in &self.splices {
            let whole = splice.begin.start..splice.end.end;
            if gone.iter().any(|other| other.contains(&whole.start)) {
                continue;
            }
            if self.splices.iter().any(|other| is_inside(other, splice) && keeps(other.file)) {
                let name = &self.files[splice.file].name;
                edits.push((splice.begin.clone(), format!("{UNLIKE_INCLUDED}/* {name}: */")));
                edits.push((splice.end.clone(), format!("{LIKE_BEFORE}/* End of {name}. */")));
            } else {
                edits.push((whole.clone(), splice.directive.clone()));
                gone.push(whole);
            }
        }
        let is_gone = |at: usize| gone.iter().any(|range| range.contains(&at));
        let is_there = |file: usize| {
            self.splices.iter().any(|splice| splice.file == file && !is_gone(splice.begin.start))
        };
        let again = self.again.iter().filter(|(range, _, file)| !is_gone(range.start) && !is_there(*file));
        edits.extend(again.map(|(range, directive, _)| (range.clone(), directive.clone())));
        edits.sort_by_key(|(range, _)| range.start);
        let mut folded = Folded { text: String::new(), edits: Vec::new() };
        let mut done = 0;
        for (range, instead) in edits {
            folded.text += &text[done..range.start];
            folded.text += &instead;
            done = range.end;
            folded.edits.push((range, instead.len()));
        }
        folded.text += &text[done..];
        folded
    }
}

/// A text with some of its files back in their `#include`s.
pub struct Folded {
    /// The text.
    pub text: String,
    /// The bytes that became others, and how many those are.
    edits: Vec<(Range<usize>, usize)>,
}

impl Folded {
    /// Where bytes are in it.
    pub fn span(&self, span: Span) -> Span {
        let moved = |at: usize| {
            let before = self.edits.iter().filter(|(range, _)| range.end <= at);
            before.fold(at, |at, (range, length)| at + length - range.len())
        };
        Span { start: moved(span.start), end: moved(span.end), line: span.line }
    }
}

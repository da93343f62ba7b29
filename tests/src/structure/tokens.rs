//! What one file of Rust names: its modules, items, re-exports, and every path that may lead into another module.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// A path as it is written, `crate`, `self` and `super` included; `*` at the end for all of a module.
pub(super) type Segments = Vec<String>;

/// What stands in one module, without its inner modules. Code that is only built for tests is left out.
#[derive(Default)]
pub(super) struct Module {
    /// Inner modules, with their text where they are written inline.
    pub(super) inner: BTreeMap<String, Option<TokenStream>>,
    /// Names of items, at any depth of the text.
    pub(super) items: BTreeSet<String>,
    /// Names that `pub use` gives to what is elsewhere; under `*`, those without a name.
    pub(super) exports: BTreeMap<String, Vec<Segments>>,
    /// Names that a private `use` gives.
    pub(super) imports: BTreeMap<String, Vec<Segments>>,
    /// All paths outside `pub use`, with the line.
    pub(super) paths: Vec<(Segments, usize)>,
}

impl Module {
    /// Reads the tokens of a file, or of an inline module.
    pub(super) fn read(tokens: TokenStream) -> Self {
        let mut module = Self::default();
        module.scan(tokens, true);
        module
    }

    fn scan(&mut self, tokens: TokenStream, is_top: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(p) if p.as_char() == '#' && is_test_attribute(tokens.get(at + 1)) => {
                    at = end_of_item(&tokens, at + 2);
                    continue;
                }
                TokenTree::Group(group) => {
                    self.scan(group.stream(), false);
                    at += 1;
                    is_public = false;
                    continue;
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    let name = match tokens.get(at + 1) {
                        Some(TokenTree::Ident(name)) => Some(name.to_string()),
                        _ => None,
                    };
                    match (word.as_str(), name) {
                        ("pub", _) => {
                            is_public = true;
                            at += 1;
                            // `pub(crate)`, `pub(in path)`
                            if matches!(tokens.get(at), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis)
                            {
                                at += 1;
                            }
                            continue;
                        }
                        ("mod", Some(name)) if is_top => {
                            let text = match tokens.get(at + 2) {
                                Some(TokenTree::Group(group)) => Some(group.stream()),
                                _ => None,
                            };
                            self.inner.insert(name, text);
                            at += 3;
                            is_public = false;
                            continue;
                        }
                        ("macro_rules", None) => {
                            // Its text stands in whatever module the macro is used in.
                            if let Some(TokenTree::Group(body)) = tokens.get(at + 3) {
                                let mut inner = Self::default();
                                inner.scan(body.stream(), false);
                                inner.paths.retain(|(path, _)| path[0] == "crate");
                                self.paths.extend(inner.paths);
                            }
                            at += 4;
                            is_public = false;
                            continue;
                        }
                        ("use", _) => {
                            let end = (at..tokens.len()).find(|i| is_punct(&tokens[*i], ';'));
                            let end = end.unwrap_or(tokens.len());
                            let mut found = Vec::new();
                            leaves(&tokens[at + 1..end], &[], &mut found);
                            for (path, name) in found {
                                if is_public {
                                    self.exports.entry(name).or_default().push(path);
                                } else {
                                    self.paths.push((path.clone(), line(&tokens[at])));
                                    self.imports.entry(name).or_default().push(path);
                                }
                            }
                            at = end + 1;
                            is_public = false;
                            continue;
                        }
                        (
                            "struct" | "enum" | "union" | "trait" | "fn" | "type" | "const" | "static",
                            Some(name),
                        ) => {
                            self.items.insert(name);
                            at += 2;
                            is_public = false;
                            continue;
                        }
                        _ => {
                            let after_dot = at > 0 && is_punct(&tokens[at - 1], '.');
                            let start = at;
                            let path = path_at(&tokens, &mut at);
                            // A field or method is no path, nor is the name of a field, parameter or binding.
                            let is_binding =
                                path.len() == 1 && tokens.get(at).is_some_and(|token| is_punct(token, ':'));
                            if !after_dot && !is_binding {
                                self.paths.push((path, line(&tokens[start])));
                            }
                            continue;
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == c)
}

/// Whether the bracket behind `#` is `[cfg(test)]` or `[test]`.
pub(crate) fn is_test_attribute(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = token else { return false };
    let text: String = group.stream().to_string().split_whitespace().collect();
    group.delimiter() == Delimiter::Bracket && (text == "cfg(test)" || text == "test")
}

/// Position behind the item whose attributes end at `at`.
pub(crate) fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        let is_end = match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_punct(token, ';'),
        };
        if is_end {
            break;
        }
    }
    at
}

/// The path that begins at `at`, which is left behind it. Generic arguments end it.
fn path_at(tokens: &[TokenTree], at: &mut usize) -> Segments {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(word)) = tokens.get(*at) {
        path.push(word.to_string());
        *at += 1;
        let is_separator = |i: usize| tokens.get(i).is_some_and(|token| is_punct(token, ':'));
        if is_separator(*at)
            && is_separator(*at + 1)
            && matches!(tokens.get(*at + 2), Some(TokenTree::Ident(_)))
        {
            *at += 2;
        } else {
            break;
        }
    }
    path
}

/// The paths of a `use` tree, each with the name it is known by; `*` for all of a module.
fn leaves(tokens: &[TokenTree], before: &[String], out: &mut Vec<(Segments, String)>) {
    for tree in tokens.split(|token| is_punct(token, ',')) {
        let mut path = before.to_vec();
        let mut name = None;
        let mut at = 0;
        while let Some(token) = tree.get(at) {
            match token {
                TokenTree::Ident(word) if *word == "as" => {
                    name = tree.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    leaves(&inner, &path, out);
                    path.clear();
                    break;
                }
                token if is_punct(token, '*') => path.push("*".into()),
                _ => {}
            }
            at += 1;
        }
        // `{self}` is the module itself.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or_else(|| last.clone());
            out.push((path, name));
        }
    }
}

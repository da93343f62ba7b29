//! What one file of Rust holds that should stay small: fields of a structure, lines of a function, words that are looked for
//! in text, processes that are started. Code that is only built for tests does not count.

use super::tokens::{end_of_item, is_test_attribute};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// What was found in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Structures, with the number of their fields.
    pub structures: Vec<(String, usize)>,
    /// Functions, with the number of their lines.
    pub functions: Vec<(String, usize)>,
    /// Texts that are looked for in others, with the line.
    pub searched: Vec<(String, usize)>,
    /// Whether it makes a `Command`.
    pub starts_processes: bool,
    /// All words: names, and parts of paths.
    pub words: BTreeSet<String>,
}

/// Methods that look for a text in another.
const SEARCHES: [&str; 9] = [
    "contains",
    "find",
    "rfind",
    "matches",
    "match_indices",
    "starts_with",
    "ends_with",
    "split_once",
    "strip_prefix",
];

impl Sizes {
    /// Those of a file with this text.
    ///
    /// # Errors
    /// If it is not Rust.
    pub fn of(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        found.scan(text.parse().map_err(|e: proc_macro2::LexError| e.to_string())?);
        Ok(found)
    }

    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(p) if p.as_char() == '#' && is_test_attribute(tokens.get(at + 1)) => {
                    at = end_of_item(&tokens, at + 2);
                    continue;
                }
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(word) => self.word(&word.to_string(), &tokens[at..]),
                _ => {}
            }
            at += 1;
        }
    }

    /// A word and what stands behind it.
    fn word(&mut self, word: &str, tokens: &[TokenTree]) {
        self.words.insert(word.to_owned());
        let Some(next) = tokens.get(1) else { return };
        let body = || {
            let ends = |t: &&TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ';');
            let until = tokens.iter().take_while(|t| !ends(t));
            until.into_iter().find_map(|t| match t {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.clone()),
                _ => None,
            })
        };
        match (word, next) {
            ("struct", TokenTree::Ident(name)) => {
                let fields = body().map_or(0, |body| n_fields(body.stream()));
                self.structures.push((name.to_string(), fields));
            }
            ("fn", TokenTree::Ident(name)) => {
                if let Some(body) = body() {
                    let lines = body.span_close().end().line + 1 - tokens[0].span().start().line;
                    self.functions.push((name.to_string(), lines));
                }
            }
            ("Command", TokenTree::Punct(p)) if p.as_char() == ':' => {
                self.starts_processes |= matches!(tokens.get(3), Some(TokenTree::Ident(new)) if new == "new");
            }
            (search, TokenTree::Group(group)) if SEARCHES.contains(&search) => {
                let literals = group.stream().into_iter().filter_map(|t| match t {
                    TokenTree::Literal(text) => Some((text.to_string(), text.span().start().line)),
                    _ => None,
                });
                self.searched.extend(literals.filter(|(text, _)| text.starts_with('"')));
            }
            _ => {}
        }
    }
}

/// The number of fields between the braces of a structure.
fn n_fields(body: TokenStream) -> usize {
    let (mut depth, mut n, mut is_open, mut before) = (0i32, 0, false, ' ');
    for token in body {
        let sign = match &token {
            TokenTree::Punct(p) => p.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            ',' if depth == 0 => is_open = false,
            // Of a field, not of a path.
            ':' if depth == 0 && !is_open => {
                is_open = true;
                n += 1;
            }
            _ => {}
        }
        before = sign;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_should_stay_small_is_measured() {
        let text = "
            struct Two<'a> { a: BTreeMap<u32, Vec<(A, B)>>, pub(crate) b: std::path::PathBuf }
            struct Unit;
            fn long(x: u32) -> bool {
                text.contains(\"omp\") && { Command::new(\"cc\"); true }
            }
            trait T { fn declared(&self); }
            #[cfg(test)]
            mod tests { struct Hidden { a: u32 } fn hidden() { text.find(\"simd\"); } }
        ";
        let found = Sizes::of(text).unwrap();
        assert_eq!(found.structures, [("Two".to_owned(), 2), ("Unit".to_owned(), 0)]);
        assert_eq!(found.functions, [("long".to_owned(), 3)]);
        assert_eq!(found.searched, [("\"omp\"".to_owned(), 5)]);
        assert!(found.starts_processes);
    }
}

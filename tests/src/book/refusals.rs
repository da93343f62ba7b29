//! What is refused, as the source words it.

use crate::structure::{end_of_item, is_test_attribute};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::Path;

/// A message, and what would help.
type Message = (String, Option<String>);

/// The messages of the sources named, as rows of a table, or as a list where nothing helps.
///
/// # Errors
/// If a file cannot be read, or has no message.
pub fn refusals(root: &Path, sources: &[&str]) -> Result<String, String> {
    let mut all = BTreeSet::new();
    for source in sources {
        let found = messages(&root.join(source))?;
        if found.is_empty() {
            return Err(format!("{source} refuses nothing"));
        }
        all.extend(found);
    }
    if all.iter().all(|(_, help)| help.is_none()) {
        return Ok(all.iter().map(|(message, _)| format!("- {}\n", cell(message))).collect());
    }
    let row = |(message, help): &Message| {
        format!("| {} | {} |\n", cell(message), cell(help.as_deref().unwrap_or(super::NOTHING_HELPS)))
    };
    Ok(format!("| message | what helps |\n|---|---|\n{}", all.iter().map(row).collect::<String>()))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The files below a folder that refuse something, by their paths from the root.
///
/// # Errors
/// If a file cannot be read.
pub fn sources_of_refusals(root: &Path, folder: &str) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for path in super::sources(&root.join(folder))? {
        if !messages(&path)?.is_empty() {
            found.insert(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    Ok(found)
}

/// The variants of an enumeration in a file, as they are in JSON.
///
/// # Errors
/// If there is none.
pub fn variants(path: &Path, name: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let head = format!("pub enum {name} {{");
    let (_, rest) = text.split_once(&head).ok_or_else(|| format!("{} has no `{name}`", path.display()))?;
    let lines = rest.lines().take_while(|line| *line != "}").filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let snake = |line: &str| {
        let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let parts = word.chars().map(|c| match c.is_ascii_uppercase() {
            true => format!("_{}", c.to_ascii_lowercase()),
            false => c.to_string(),
        });
        parts.collect::<String>().trim_start_matches('_').to_owned()
    };
    Ok(names.map(snake).collect())
}

fn messages(path: &Path) -> Result<BTreeSet<Message>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let tokens: TokenStream = text.parse().map_err(|e| format!("{}: {e}", path.display()))?;
    let mut reader = Reader::default();
    reader.read(tokens);
    Ok(reader.found)
}

/// Reads the messages in tokens. A message stands in a call of one of [`MAKERS`], or in the variables named [`VARIABLES`] that were
/// set since the call before; what helps stands in a call of `help` right behind, or in a variable of that name.
#[derive(Default)]
struct Reader {
    found: BTreeSet<Message>,
    /// What variables were set to since the last call.
    set: Vec<String>,
    /// What the variable `help` was set to in this function.
    set_help: Vec<String>,
}

/// Functions that are given a message, by the type before and the name.
const MAKERS: [(&str, &str); 4] =
    [("Refusal", "new"), ("Reason", "new"), ("Reason", "unsupported"), ("Reason", "not_writable")];

/// Variables that hold messages.
const VARIABLES: [&str; 6] = ["message", "problem", "text", "reason", "what", "why"];

impl Reader {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is(&tokens, at, "#") && is_test_attribute(tokens.get(at + 1)) {
                at = end_of_item(&tokens, at + 2);
                continue;
            }
            if is(&tokens, at, "fn") {
                self.set.clear();
                self.set_help.clear();
            }
            if let Some(value) = variable(&tokens, at, &VARIABLES) {
                self.set.extend(value);
            }
            if let Some(value) = variable(&tokens, at, &["help"]) {
                self.set_help = value;
            }
            let is_made = MAKERS.iter().any(|(of, name)| is(&tokens, at, name) && is_of(&tokens, at, of));
            let arguments_at = |at: usize| tokens.get(at).and_then(arguments);
            if let Some(arguments) = arguments_at(at + 1).filter(|_| is_made) {
                let said = literals(arguments);
                let set = std::mem::take(&mut self.set);
                let helps = is(&tokens, at + 2, ".") && is(&tokens, at + 3, "help");
                let help = arguments_at(at + 4).filter(|_| helps).and_then(|words| {
                    let set = (!self.set_help.is_empty()).then(|| self.set_help.join("; or "));
                    literals(words).pop().or(set)
                });
                let said = if said.is_empty() { set } else { said };
                self.found.extend(said.into_iter().map(|message| (message, help.clone())));
            }
            if let TokenTree::Group(group) = &tokens[at] {
                self.read(group.stream());
            }
            at += 1;
        }
    }
}

/// The texts in the value of the `let` of one of these variables that begins here.
fn variable(tokens: &[TokenTree], at: usize, names: &[&str]) -> Option<Vec<String>> {
    let is_let = is(tokens, at, "let") && names.iter().any(|name| is(tokens, at + 1, name));
    let end = (at..tokens.len()).find(|i| is_let && is(tokens, *i, ";"))?;
    Some(literals(tokens[at..end].iter().cloned().collect()))
}

fn is(tokens: &[TokenTree], at: usize, word: &str) -> bool {
    match tokens.get(at) {
        Some(TokenTree::Ident(ident)) => ident == word,
        Some(TokenTree::Punct(p)) => word.starts_with(p.as_char()),
        _ => false,
    }
}

/// Whether `Of::` or, in its own methods, `Self::` stands before the word.
fn is_of(tokens: &[TokenTree], at: usize, of: &str) -> bool {
    at >= 3 && is(tokens, at - 1, ":") && (is(tokens, at - 3, of) || is(tokens, at - 3, "Self"))
}

fn arguments(token: &TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
        _ => None,
    }
}

/// The sentences among literals, with names in the place of what is put in.
fn literals(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(literals(group.stream())),
            TokenTree::Literal(literal) => found.extend(sentence(&literal.to_string())),
            _ => {}
        }
    }
    found
}

fn sentence(literal: &str) -> Option<String> {
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    // A line that goes on.
    let lines: Vec<&str> = text.split("\\\n").collect();
    let text =
        lines.iter().enumerate().map(|(k, l)| if k > 0 { l.trim_start() } else { l }).collect::<String>();
    let text = text.replace("\\\"", "\"").replace("{{", "{").replace("}}", "}");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let is_name = inside.ends_with("name") || before.ends_with('`') && !inside.is_empty();
        out += before;
        out += if is_name && before.ends_with('`') { inside } else { "…" };
        rest = behind;
    }
    out += rest;
    (out.split_whitespace().count() > 2).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_where_they_are_made() {
        let text = r#"
            fn one() { return Err(Refusal::new(at, format!("`{name}` is changed {how} here")).help("leave it as it is")); }
            fn two() {
                let message = format!("nothing ends the {what} loop");
                if x { return Err(Refusal::new(at, message)); }
                Err(Refusal::new(at, "the loop does nothing"))
            }
            fn three() { let help = "leave it out there"; Refusal::new(at, "this is too much").help(help) }
            #[cfg(test)]
            mod tests { fn four() { Refusal::new(at, "not to be found here"); } }
        "#;
        let mut reader = Reader::default();
        reader.read(text.parse().expect("tokens"));
        let found: Vec<Message> = reader.found.into_iter().collect();
        let wanted = [
            ("`name` is changed … here", Some("leave it as it is")),
            ("nothing ends the … loop", None),
            ("the loop does nothing", None),
            ("this is too much", Some("leave it out there")),
        ];
        assert_eq!(found, wanted.map(|(m, h)| (m.to_owned(), h.map(str::to_owned))));
    }
}

//! Where loops and function bodies stand in the user's own text, before preprocessing.

use crate::lexer::{Token, TokenKind, tokens};

/// Bytes of a statement or definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Line of the first byte, from 1.
    pub(crate) line: u32,
}

/// A brace-enclosed block at file scope with what stands before it: a function definition, or something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) whole: Extent,
    /// Just behind the opening brace.
    pub(crate) inside: usize,
}

/// The `for` statements and file-scope blocks of a text, in textual order.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) loops: Vec<Extent>,
    pub(crate) blocks: Vec<Block>,
}

const MAX_DEPTH: usize = 200;

impl Layout {
    pub(crate) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let brackets = Brackets::of(&tokens);
        let mut layout = Layout::default();
        let (mut parens, mut braces) = (0usize, 0usize);
        let mut definition: Option<usize> = None;
        for (position, token) in tokens.iter().enumerate() {
            if braces == 0 && definition.is_none() {
                definition = Some(position);
            }
            if token.kind == TokenKind::Word {
                if token.text == "for"
                    && parens == 0
                    && braces > 0
                    && let Some(end) = statement_end(&tokens, &brackets, position, 0)
                {
                    let end = tokens[end - 1].end();
                    layout.loops.push(Extent { start: token.start, end, line: token.line });
                }
                continue;
            }
            if token.kind != TokenKind::Punct {
                continue;
            }
            match token.text {
                "(" | "[" => parens += 1,
                ")" | "]" => parens = parens.saturating_sub(1),
                "{" => {
                    if braces == 0
                        && parens == 0
                        && let (Some(first), Some(end)) = (definition, brackets.closing(position))
                    {
                        let first = &tokens[first];
                        let whole = Extent { start: first.start, end: tokens[end].end(), line: first.line };
                        layout.blocks.push(Block { whole, inside: token.end() });
                    }
                    braces += 1;
                }
                "}" => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        definition = None;
                        parens = 0;
                    }
                }
                ";" if braces == 0 && parens == 0 => definition = None,
                _ => {}
            }
        }
        layout
    }
}

/// For each opening bracket the position of the one that closes it.
pub(crate) struct Brackets(Vec<Option<usize>>);

impl Brackets {
    pub(crate) fn of(tokens: &[Token<'_>]) -> Self {
        let mut found = vec![None; tokens.len()];
        let mut open: Vec<(usize, &str)> = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Punct {
                continue;
            }
            match token.text {
                "(" => open.push((position, ")")),
                "[" => open.push((position, "]")),
                "{" => open.push((position, "}")),
                ")" | "]" | "}" => match open.pop() {
                    Some((start, expected)) if expected == token.text => found[start] = Some(position),
                    // Nothing that is still open can be trusted.
                    _ => open.clear(),
                },
                _ => {}
            }
        }
        Brackets(found)
    }

    /// The position of the bracket that closes the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        self.0.get(open).copied().flatten()
    }
}

/// One past the last token of the statement that starts at `at`.
fn statement_end(tokens: &[Token<'_>], brackets: &Brackets, at: usize, depth: usize) -> Option<usize> {
    if depth > MAX_DEPTH {
        return None;
    }
    let token = tokens.get(at)?;
    let statement = |at| statement_end(tokens, brackets, at, depth + 1);
    let past_parens = |at: usize| {
        tokens.get(at).filter(|t| t.is("("))?;
        Some(brackets.closing(at)? + 1)
    };
    match token.text {
        "{" if token.kind == TokenKind::Punct => Some(brackets.closing(at)? + 1),
        "for" | "while" | "switch" => statement(past_parens(at + 1)?),
        "if" => {
            let end = statement(past_parens(at + 1)?)?;
            if tokens.get(end).is_some_and(|t| t.is("else")) { statement(end + 1) } else { Some(end) }
        }
        "do" => {
            let end = statement(at + 1)?;
            tokens.get(end).filter(|t| t.is("while"))?;
            let end = past_parens(end + 1)?;
            tokens.get(end).filter(|t| t.is(";"))?;
            Some(end + 1)
        }
        _ => {
            let mut at = at;
            loop {
                let token = tokens.get(at)?;
                at = match (token.kind, token.text) {
                    (TokenKind::Punct, ";") => return Some(at + 1),
                    (TokenKind::Punct, "(" | "[" | "{") => brackets.closing(at)? + 1,
                    (TokenKind::Punct, ")" | "]" | "}") => return None,
                    _ => at + 1,
                };
            }
        }
    }
}

/// A mark that survives preprocessing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// Just before the `for` of this loop.
    LoopStart(usize),
    /// Just behind this loop.
    LoopEnd(usize),
    /// Just behind the opening brace of this block.
    Block(usize),
}

const PREFIX: &str = "oxeye_mark_";

impl Mark {
    pub(crate) fn parse(word: &str) -> Option<Mark> {
        let rest = word.strip_prefix(PREFIX)?;
        let number = rest.get(1..)?.parse().ok()?;
        match rest.as_bytes().first()? {
            b's' => Some(Mark::LoopStart(number)),
            b'e' => Some(Mark::LoopEnd(number)),
            b'b' => Some(Mark::Block(number)),
            _ => None,
        }
    }

    fn word(self) -> String {
        match self {
            Mark::LoopStart(k) => format!("{PREFIX}s{k}"),
            Mark::LoopEnd(k) => format!("{PREFIX}e{k}"),
            Mark::Block(k) => format!("{PREFIX}b{k}"),
        }
    }
}

/// The text with a mark at every place of its layout.
pub(crate) fn marked(text: &str, layout: &Layout) -> String {
    let mut marks = Vec::new();
    for (k, l) in layout.loops.iter().enumerate() {
        marks.push((l.start, 1, Mark::LoopStart(k)));
        marks.push((l.end, 0, Mark::LoopEnd(k)));
    }
    for (k, block) in layout.blocks.iter().enumerate() {
        marks.push((block.inside, 0, Mark::Block(k)));
    }
    marks.sort_by_key(|(at, order, _)| (*at, *order));
    let mut out = String::with_capacity(text.len() + marks.len() * 24);
    let mut done = 0;
    for (at, _, mark) in marks {
        out.push_str(&text[done..at]);
        out.push(' ');
        out.push_str(&mark.word());
        out.push(' ');
        done = at;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_end_where_their_statement_ends() {
        let text =
            "void f(void) { for (;;) if (a) b; else for (;;) { c; } /* } */ d; for(;;);do x; while(1); }";
        let layout = Layout::of(text);
        let found: Vec<_> = layout.loops.iter().map(|l| &text[l.start..l.end]).collect();
        assert_eq!(found, ["for (;;) if (a) b; else for (;;) { c; }", "for (;;) { c; }", "for(;;);"]);
        assert_eq!(layout.blocks.len(), 1);
        assert_eq!(layout.blocks[0].whole.end, text.len());
    }

    #[test]
    fn loops_in_parentheses_and_directives_do_not_count() {
        let text = "#define L for (;;) ;\nvoid f(void) { M(for (;;) ;); ({ for (;;) ; }); L }\nint x = 3, y[] = { 1 };";
        let layout = Layout::of(text);
        assert!(layout.loops.is_empty());
        assert_eq!(layout.blocks.len(), 2);
    }

    #[test]
    fn marks_come_back() {
        for mark in [Mark::LoopStart(3), Mark::LoopEnd(0), Mark::Block(17)] {
            assert_eq!(Mark::parse(&mark.word()), Some(mark));
        }
        assert_eq!(Mark::parse("oxeye_mark_"), None);
    }
}

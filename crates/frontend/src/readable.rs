//! Words that the parser would not understand, those of complex numbers and `typeof`, or would take for words of the language, replaced by
//! others of the same length.

use crate::brackets::Brackets;
use crate::lexer::{Token, TokenKind, is_type_word, is_typeof, tokens};
use oxeye_ir::ScalarType;
use std::collections::{HashMap, HashSet};

/// Names of types that stand for `double _Complex` and `float _Complex`: known to the parser, and hardly used in C.
const STAND_INS: [(&str, ScalarType); 2] = [("max_align_t", ScalarType::F64), ("charptr_t", ScalarType::F32)];

/// Names that the parser takes for constants, and what stands for them: before C23 they mean what a program says.
const NAMES: [(&str, &str); 4] = [("true", "tru$"), ("false", "fals$"), ("TRUE", "TRU$"), ("FALSE", "FALS$")];

/// The name that some word of a readable text stands for.
pub(crate) fn name_of(word: &str) -> Option<&'static str> {
    NAMES.iter().find(|(_, stand_in)| *stand_in == word).map(|(name, _)| *name)
}

/// A preprocessed text that can be parsed, with the same places as the original.
#[derive(Debug, Default)]
pub(crate) struct Readable {
    pub(crate) text: String,
    /// Whether types are replaced.
    has_types: bool,
    /// Places of `*` that stands for `__real__` (false) or `__imag__` (true).
    parts: HashMap<usize, bool>,
    /// Places of enumerations that stand for `typeof`: the value of their constant is what that is applied to.
    typeofs: HashSet<usize>,
    /// Names of types, by the places of `int` that stand for them.
    casts: HashMap<usize, String>,
    /// Places of names that stand for imaginary numbers: these numbers without the `i`.
    imaginary: HashMap<usize, String>,
}

impl Readable {
    pub(crate) fn of(text: &str) -> Self {
        let all = tokens(text);
        let mut readable = Readable { text: text.to_owned(), ..Readable::default() };
        if all.iter().any(|t| STAND_INS.iter().any(|(name, _)| t.text == *name)) {
            return readable;
        }
        let mut edits: Vec<(usize, usize, String)> = Vec::new();
        let brackets = Brackets::of(&all);
        let types = defined_types(&all);
        for (k, token) in all.iter().enumerate() {
            match (token.kind, token.text) {
                (TokenKind::Word, "_Complex" | "__complex__" | "__complex") => {
                    edits.extend(stand_in(&all, k, text));
                }
                (TokenKind::Word, "__real__" | "__real" | "__imag__" | "__imag") => {
                    // Amid spaces, so that it does not become part of another operator.
                    let at = token.start + 3;
                    readable.parts.insert(at, token.text.starts_with("__imag"));
                    edits.push((token.start, token.end(), "   *".to_owned()));
                }
                (TokenKind::Word, word) if is_typeof(word) => {
                    let Some(operand) = Operand::of(&all, &brackets, k) else { continue };
                    if !operand.is_type {
                        readable.typeofs.insert(token.start);
                    }
                    edits.extend(operand.edits(&all, k));
                }
                (TokenKind::Word, word) => {
                    let stand_in = NAMES.iter().find(|(name, _)| *name == word);
                    edits.extend(stand_in.map(|(_, with)| (token.start, token.end(), (*with).to_owned())));
                }
                (TokenKind::Punct, "(") if is_cast_before_a_sign(&all, k, &types) => {
                    let name = &all[k + 1];
                    readable.casts.insert(name.start, name.text.to_owned());
                    edits.push((name.start, name.end(), "int".to_owned()));
                }
                (TokenKind::Number, number) => {
                    if let Some(real) = without_unit(number) {
                        readable.imaginary.insert(token.start, real);
                        edits.push((token.start, token.end(), "$".repeat(number.len())));
                    }
                }
                _ => {}
            }
        }
        let mut bytes = std::mem::take(&mut readable.text).into_bytes();
        for (start, end, with) in edits {
            readable.has_types |= STAND_INS.iter().any(|(name, _)| with.contains(name));
            let with = with.bytes().chain(std::iter::repeat(b' '));
            bytes[start..end].iter_mut().zip(with).for_each(|(byte, with)| *byte = with);
        }
        readable.text = String::from_utf8_lossy(&bytes).into_owned();
        readable
    }

    /// The type of the parts of a complex type.
    pub(crate) fn parts_of(&self, name: &str) -> Option<ScalarType> {
        let found = STAND_INS.iter().find(|(stand_in, _)| *stand_in == name).filter(|_| self.has_types);
        found.map(|(_, ty)| *ty)
    }

    /// Whether an enumeration stands for `typeof`.
    pub(crate) fn is_typeof(&self, at: usize) -> bool {
        self.typeofs.contains(&at)
    }

    /// The name of the type that an `int` stands for.
    pub(crate) fn cast_at(&self, at: usize) -> Option<&str> {
        self.casts.get(&at).map(String::as_str)
    }

    /// Whether an operator is `__real__` (false) or `__imag__` (true).
    pub(crate) fn part_at(&self, at: usize) -> Option<bool> {
        self.parts.get(&at).copied()
    }

    /// The number times `I` that a name stands for.
    pub(crate) fn imaginary_at(&self, at: usize) -> Option<&str> {
        self.imaginary.get(&at).map(String::as_str)
    }
}

/// The names that type definitions of a text define, outside of structures.
pub(crate) fn defined_types<'t>(all: &[Token<'t>]) -> HashSet<&'t str> {
    let mut types = HashSet::new();
    // How many braces of structures are open in a type definition.
    let mut in_typedef: Option<usize> = None;
    for token in all {
        match (token.text, &mut in_typedef) {
            ("typedef", _) => in_typedef = Some(0),
            (";", Some(0)) => in_typedef = None,
            ("{", Some(depth)) => *depth += 1,
            ("}", Some(depth)) => *depth = depth.saturating_sub(1),
            (text, Some(0)) if token.kind == TokenKind::Word => _ = types.insert(text),
            _ => {}
        }
    }
    types
}

/// Whether the parenthesis at `k` begins `(T) - x`, which is a difference to a parser that does not know that `T` is a type,
/// and the word has room for another.
fn is_cast_before_a_sign(all: &[Token<'_>], k: usize, types: &HashSet<&str>) -> bool {
    let is = |at: usize, texts: &[&str]| all.get(at).is_some_and(|t| texts.iter().any(|text| t.is(text)));
    let is_name = |t: &Token<'_>| t.kind == TokenKind::Word && t.text.len() >= 3 && !is_type_word(t.text);
    let is_type = all.get(k + 1).is_some_and(|t| is_name(t) && types.contains(t.text));
    let follows_operator = match k.checked_sub(1).map(|at| &all[at]) {
        Some(t) if t.kind == TokenKind::Word => ["return", "case", "else"].contains(&t.text),
        Some(t) => t.kind == TokenKind::Punct && !t.is("]"),
        None => false,
    };
    is_type && follows_operator && is(k + 2, &[")"]) && is(k + 3, &["-", "+", "*", "&"])
}

/// What a `typeof` is applied to.
struct Operand {
    /// The parentheses around it.
    open: usize,
    close: usize,
    /// Whether it is a type by its words.
    is_type: bool,
}

impl Operand {
    /// Of the `typeof` at position `k`; `None` if it is not to be replaced.
    fn of(all: &[Token<'_>], brackets: &Brackets, k: usize) -> Option<Operand> {
        const BEGINNINGS: [&str; 5] = ["const", "volatile", "struct", "union", "enum"];
        let open = Some(k + 1).filter(|open| all.get(*open).is_some_and(|t| t.is("(")))?;
        let close = brackets.closing(open)?;
        let inside = &all[open + 1..close];
        let (first, last) = (inside.first()?, inside.last()?);
        let is_pointer = last.is("*");
        let is_type = is_type_word(first.text) || BEGINNINGS.contains(&first.text) || is_pointer;
        // A pointer would be one to what only the first of several declarators is.
        let ends = |t: &&Token<'_>| t.is(";") || t.is(")") || t.is(",");
        let is_alone = || all[close..].iter().skip(1).find(ends).is_some_and(|t| !t.is(","));
        let is_plain = inside.iter().all(|t| t.kind == TokenKind::Word || t.is("*"));
        let fits =
            if is_type { is_plain && (!is_pointer || is_alone()) } else { all[k].line == all[open].line };
        fits.then_some(Operand { open, close, is_type })
    }

    /// Its parentheses go with the word before, or make the operand the value of a constant.
    fn edits(&self, all: &[Token<'_>], k: usize) -> [(usize, usize, String); 2] {
        let (start, before) = (all[k].start, all[self.open].end());
        let head = if self.is_type { "" } else { "enum{a=" };
        let end = &all[self.close];
        let tail = if self.is_type { "" } else { "}" };
        [(start, before, head.to_owned()), (end.start, end.end(), tail.to_owned())]
    }
}

/// What replaces the word `_Complex` at position `k` and the type beside it.
fn stand_in(all: &[Token<'_>], k: usize, text: &str) -> Option<(usize, usize, String)> {
    let word = |at: Option<usize>| at.and_then(|at| all.get(at)).map_or("", |t| t.text);
    let is_base = |word: &str| matches!(word, "double" | "float");
    let (first, second) = match (is_base(word(k.checked_sub(1))), is_base(word(Some(k + 1)))) {
        (true, false) => (k - 1, k),
        (false, true) => (k, k + 1),
        _ => return None,
    };
    let base = if first == k { word(Some(second)) } else { word(Some(first)) };
    let (start, end) = (all[first].start, all[second].end());
    if [word(first.checked_sub(1)), word(Some(second + 1))].contains(&"long") {
        // `long double` is not read anyway.
        return Some((all[k].start, all[k].end(), String::new()));
    }
    let name = STAND_INS[usize::from(base == "float")].0;
    // Words of macros may be on lines of their own, after as many spaces as there is text before the macro.
    let mut at = 0;
    let mut with = String::new();
    let longest = text[start..end].split('\n').map(str::len).max().filter(|n| name.len() <= *n)?;
    let mut is_written = false;
    for line in text[start..end].split('\n') {
        let word = match (line.len() == longest && !is_written, at) {
            (true, _) => name,
            // The declaration begins where it did.
            (false, 0) => "const",
            _ => "",
        };
        is_written |= word == name;
        with += &format!("{word:<width$}\n", width = line.len());
        at += line.len() + 1;
    }
    with.pop();
    (with.len() == end - start).then_some((start, end, with))
}

/// `1.0f` of `1.0if` or `1.0fi`.
fn without_unit(number: &str) -> Option<String> {
    if number.starts_with("0x") || number.starts_with("0X") {
        return None;
    }
    let units = number.chars().filter(|c| matches!(c, 'i' | 'I' | 'j' | 'J')).count();
    let real: String = number.chars().filter(|c| !matches!(c, 'i' | 'I' | 'j' | 'J')).collect();
    (units == 1).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_places() {
        let text = "double _Complex z; _Complex float w[3]; long double _Complex l; a-__imag__ z*2.5fi;\n\
                    double\n       _Complex z;";
        let readable = Readable::of(text);
        assert_eq!(
            readable.text,
            "max_align_t     z; charptr_t      w[3]; long double          l; a-   *     z*$$$$$;\n\
             const \nmax_align_t     z;"
        );
        assert_eq!(readable.parts_of("max_align_t"), Some(ScalarType::F64));
        assert_eq!(readable.part_at(text.find("__imag__").expect("is there") + 3), Some(true));
        assert_eq!(readable.imaginary_at(text.find("2.5").expect("is there")), Some("2.5f"));
        assert_eq!(Readable::of("int true = x.FALSE;").text, "int tru$ = x.FALS$;");
        let readable = Readable::of("a = (typeof(b)) c(typeof(*d), __typeof__ (int *)); typeof(T *) e, f;");
        assert_eq!(readable.text, "a = (enum{a=b}) c(enum{a=*d},             int * ); typeof(T *) e, f;");
        assert!(readable.is_typeof(5) && readable.is_typeof(18) && !readable.is_typeof(30));
        let text = "typedef double real; a = b - (real) -c * sizeof (real) - (d) - (real)(e);";
        let readable = Readable::of(text);
        assert_eq!(readable.text, text.replacen("(real) -", "(int ) -", 1));
        assert_eq!(readable.cast_at(text.find("real) -").expect("is there")), Some("real"));
        for text in ["max_align_t x; double _Complex z;", "int x = 3;"] {
            assert_eq!(Readable::of(text).text, text);
        }
    }
}

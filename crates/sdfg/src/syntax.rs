//! One grammar for the expressions of an SDFG: what sympy prints (sizes, ranges, conditions), and the Python of tasklets.

use std::fmt;

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Ex {
    /// An integer.
    Int(i64),
    /// Another number, as it is spelt.
    Float(String),
    /// `2j`, by the number before the letter.
    Imaginary(String),
    /// `True` and `False`.
    Bool(bool),
    /// A name, with the modules before it: `math.pi`.
    Name(String),
    /// `-e`
    Neg(Box<Ex>),
    /// `not e`
    Not(Box<Ex>),
    /// `~e`
    Invert(Box<Ex>),
    /// `l op r`
    Binary(Operator, Box<Ex>, Box<Ex>),
    /// `f(…)`
    Call(String, Vec<Ex>),
    /// `name[…]`
    Index(String, Vec<Ex>),
    /// `then if condition else otherwise`
    IfElse(Box<Ex>, Box<Ex>, Box<Ex>),
}

/// A statement of a tasklet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// `target = value`, `target += value`
    Assign {
        /// The variable.
        target: String,
        /// Its indices, if it is an array.
        indices: Vec<Ex>,
        /// The operator before `=`.
        operator: Option<Operator>,
        /// The value.
        value: Ex,
    },
    /// `if condition: … else: …`
    If {
        /// The condition.
        condition: Ex,
        /// If it holds.
        then: Vec<Statement>,
        /// If it does not.
        otherwise: Vec<Statement>,
    },
}

/// Why a text is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(pub String);

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

type Result<T> = std::result::Result<T, SyntaxError>;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Int(i64),
    Float(String),
    Imaginary(String),
    Name(String),
    Symbol(&'static str),
    Newline,
    Indent,
    Dedent,
}

/// Longest first.
const SYMBOLS: &[&str] = &[
    "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "(", ")", "[", "]", ",", ":", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">",
    "=", ".", ";",
];

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 100;
/// How long a text may be.
const MAX_TOKENS: usize = 4_000;

fn lex(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut indents = vec![0usize];
    let mut n_open = 0usize;
    for line in text.lines() {
        let body = line.trim_start_matches([' ', '\t']);
        let code = body.split('#').next().unwrap_or("");
        if code.trim().is_empty() {
            continue;
        }
        if n_open == 0 {
            let width = line.len() - body.len();
            let last = indents.last().copied().unwrap_or(0);
            if tokens.is_empty() {
                indents = vec![width];
            } else if width > last {
                indents.push(width);
                tokens.push(Token::Indent);
            } else {
                while indents.len() > 1 && indents.last().is_some_and(|last| width < *last) {
                    indents.pop();
                    tokens.push(Token::Dedent);
                }
            }
        }
        let mut rest = code;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        loop {
            rest = rest.trim_start();
            let Some(first) = rest.chars().next() else { break };
            if tokens.len() > MAX_TOKENS {
                return Err(SyntaxError("the text is too long".into()));
            }
            if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
            {
                let length = number_length(rest);
                let (word, behind) = rest.split_at(length);
                let plain = word.replace('_', "");
                let is_imaginary = behind.strip_prefix(['j', 'J']).filter(|b| !b.starts_with(is_part));
                if let (Some(behind), Ok(value)) = (is_imaginary, plain.parse::<f64>()) {
                    tokens.push(Token::Imaginary(format!("{value:?}")));
                    rest = behind;
                    continue;
                }
                tokens.push(match plain.parse() {
                    Ok(value) => Token::Int(value),
                    Err(_) if plain.parse::<f64>().is_ok_and(f64::is_finite) => Token::Float(plain),
                    Err(_) => return Err(SyntaxError(format!("`{word}` is no number"))),
                });
                rest = behind;
            } else if first.is_alphabetic() || first == '_' {
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                tokens.push(Token::Name(rest[..length].to_owned()));
                rest = &rest[length..];
            } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
                match *symbol {
                    "(" | "[" => n_open += 1,
                    ")" | "]" => n_open = n_open.saturating_sub(1),
                    _ => {}
                }
                tokens.push(Token::Symbol(symbol));
                rest = &rest[symbol.len()..];
            } else {
                return Err(SyntaxError(format!("`{first}` is not understood")));
            }
        }
        if n_open == 0 {
            tokens.push(Token::Newline);
        }
    }
    tokens.extend(std::iter::repeat_n(Token::Dedent, indents.len() - 1));
    Ok(tokens)
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_sign_of_exponent =
            matches!(byte, b'+' | b'-') && at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'_') || is_sign_of_exponent) {
            break;
        }
        at += 1;
    }
    at
}

/// Parses one expression.
///
/// # Errors
/// If it is none, or uses what is not known here.
pub fn parse_expression(text: &str) -> Result<Ex> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, depth: 0 };
    let value = parser.expression()?;
    while parser.take_if(&Token::Newline) {}
    if parser.at < parser.tokens.len() { Err(parser.unexpected()) } else { Ok(value) }
}

/// Parses the code of a tasklet.
///
/// # Errors
/// If it has other statements than assignments and `if`s.
pub(crate) fn parse_statements(text: &str) -> Result<Vec<Statement>> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, depth: 0 };
    let mut statements = Vec::new();
    while parser.at < parser.tokens.len() {
        parser.statement(&mut statements)?;
    }
    Ok(statements)
}

/// The two sides and the operator of `lambda x, y: …` that combines values, as an expression of `x` and `y`.
pub(crate) fn parse_combination(text: &str) -> Result<(String, String, Ex)> {
    let inner = text.trim().trim_start_matches('(').trim_start();
    let unknown = || SyntaxError(format!("`{text}` does not say how values are combined"));
    let inner = inner.strip_prefix("lambda").ok_or_else(unknown)?;
    let (names, body) = inner.split_once(':').ok_or_else(unknown)?;
    let (old, new) = names.split_once(',').ok_or_else(unknown)?;
    let n_open = |text: &str| text.matches('(').count() as i64 - text.matches(')').count() as i64;
    let mut body = body.trim();
    while n_open(body) < 0 && body.ends_with(')') {
        body = body[..body.len() - 1].trim_end();
    }
    Ok((old.trim().to_owned(), new.trim().to_owned(), parse_expression(body)?))
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take_if(&mut self, token: &Token) -> bool {
        let is_it = self.peek() == Some(token);
        self.at += usize::from(is_it);
        is_it
    }

    fn symbol(&mut self, symbol: &'static str) -> bool {
        self.take_if(&Token::Symbol(symbol))
    }

    fn word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn unexpected(&self) -> SyntaxError {
        SyntaxError(match self.peek() {
            None => "the text ends too early".into(),
            Some(Token::Symbol(s)) => format!("`{s}` is not understood here"),
            Some(Token::Name(s) | Token::Float(s) | Token::Imaginary(s)) => {
                format!("`{s}` is not understood here")
            }
            Some(Token::Int(i)) => format!("`{i}` is not understood here"),
            Some(Token::Newline | Token::Indent | Token::Dedent) => "a line ends too early".into(),
        })
    }

    fn need(&mut self, symbol: &'static str) -> Result<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Result<()> {
        if self.take_if(&Token::Newline) || self.symbol(";") {
            return Ok(());
        }
        if self.word("pass") {
            return Ok(());
        }
        if self.word("if") {
            out.push(self.branch()?);
            return Ok(());
        }
        let Some(Token::Name(target)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        let mut indices = Vec::new();
        if self.symbol("[") {
            indices = self.list("]")?;
        }
        if self.symbol(":") {
            // The type of a variable.
            self.expression()?;
        }
        const UPDATES: &[(&str, Option<Operator>)] = &[
            ("=", None),
            ("+=", Some(Operator::Add)),
            ("-=", Some(Operator::Sub)),
            ("*=", Some(Operator::Mul)),
            ("/=", Some(Operator::Div)),
            ("%=", Some(Operator::Mod)),
            ("**=", Some(Operator::Pow)),
        ];
        let found = UPDATES.iter().find(|(symbol, _)| self.peek() == Some(&Token::Symbol(symbol)));
        let Some((_, operator)) = found else { return Err(self.unexpected()) };
        self.at += 1;
        let value = self.expression()?;
        if !self.take_if(&Token::Newline) && !self.symbol(";") && self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        out.push(Statement::Assign { target, indices, operator: *operator, value });
        Ok(())
    }

    fn branch(&mut self) -> Result<Statement> {
        self.deeper()?;
        let condition = self.expression()?;
        self.need(":")?;
        let then = self.suite()?;
        let otherwise = if self.word("elif") {
            vec![self.branch()?]
        } else if self.word("else") {
            self.need(":")?;
            self.suite()?
        } else {
            Vec::new()
        };
        self.depth -= 1;
        Ok(Statement::If { condition, then, otherwise })
    }

    fn suite(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        if !self.take_if(&Token::Newline) {
            self.statement(&mut statements)?;
            return Ok(statements);
        }
        if !self.take_if(&Token::Indent) {
            return Err(self.unexpected());
        }
        while !self.take_if(&Token::Dedent) {
            if self.at >= self.tokens.len() {
                return Err(self.unexpected());
            }
            self.statement(&mut statements)?;
        }
        Ok(statements)
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(SyntaxError("the text is nested too deeply".into())) } else { Ok(()) }
    }

    fn expression(&mut self) -> Result<Ex> {
        self.deeper()?;
        let value = self.or()?;
        let value = if self.word("if") {
            let condition = self.or()?;
            if !self.word("else") {
                return Err(self.unexpected());
            }
            let otherwise = self.expression()?;
            Ex::IfElse(Box::new(condition), Box::new(value), Box::new(otherwise))
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn or(&mut self) -> Result<Ex> {
        let mut left = self.and()?;
        while self.word("or") {
            left = binary(Operator::Or, left, self.and()?);
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Ex> {
        let mut left = self.not()?;
        while self.word("and") {
            left = binary(Operator::And, left, self.not()?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Ex> {
        if !self.word("not") {
            return self.comparison();
        }
        self.deeper()?;
        let inner = self.not()?;
        self.depth -= 1;
        Ok(Ex::Not(Box::new(inner)))
    }

    fn operator(&mut self, table: &[(&'static str, Operator)]) -> Option<Operator> {
        let (_, operator) = table.iter().find(|(s, _)| self.peek() == Some(&Token::Symbol(s)))?;
        self.at += 1;
        Some(*operator)
    }

    fn comparison(&mut self) -> Result<Ex> {
        use Operator::{Eq, Ge, Gt, Le, Lt, Ne};
        let table = [("<", Lt), ("<=", Le), (">", Gt), (">=", Ge), ("==", Eq), ("!=", Ne)];
        let mut left = self.level(0)?;
        let mut whole: Option<Ex> = None;
        while let Some(operator) = self.operator(&table) {
            let right = self.level(0)?;
            let one = binary(operator, left, right.clone());
            whole = Some(match whole {
                None => one,
                Some(before) => binary(Operator::And, before, one),
            });
            left = right;
        }
        Ok(whole.unwrap_or(left))
    }

    /// Operators from the weakest to the strongest.
    fn level(&mut self, level: usize) -> Result<Ex> {
        use Operator::{Add, BitAnd, BitOr, BitXor, Div, FloorDiv, Mod, Mul, Shl, Shr, Sub};
        const LEVELS: &[&[(&str, Operator)]] = &[
            &[("|", BitOr)],
            &[("^", BitXor)],
            &[("&", BitAnd)],
            &[("<<", Shl), (">>", Shr)],
            &[("+", Add), ("-", Sub)],
            &[("*", Mul), ("/", Div), ("//", FloorDiv), ("%", Mod)],
        ];
        let Some(table) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(table) {
            left = binary(operator, left, self.level(level + 1)?);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Ex> {
        self.deeper()?;
        let value = if self.symbol("-") {
            match self.unary()? {
                Ex::Int(value) => Ex::Int(value.wrapping_neg()),
                inner => Ex::Neg(Box::new(inner)),
            }
        } else if self.symbol("+") {
            self.unary()?
        } else if self.symbol("~") {
            Ex::Invert(Box::new(self.unary()?))
        } else {
            let base = self.atom()?;
            if self.symbol("**") { binary(Operator::Pow, base, self.unary()?) } else { base }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self, end: &'static str) -> Result<Vec<Ex>> {
        let mut items = Vec::new();
        loop {
            if self.symbol(end) {
                return Ok(items);
            }
            items.push(self.expression()?);
            if !self.symbol(",") {
                self.need(end)?;
                return Ok(items);
            }
        }
    }

    fn atom(&mut self) -> Result<Ex> {
        match self.peek().cloned() {
            Some(Token::Int(value)) => {
                self.at += 1;
                Ok(Ex::Int(value))
            }
            Some(Token::Float(text)) => {
                self.at += 1;
                Ok(Ex::Float(text))
            }
            Some(Token::Imaginary(text)) => {
                self.at += 1;
                Ok(Ex::Imaginary(text))
            }
            Some(Token::Symbol("(")) => {
                self.at += 1;
                let inner = self.expression()?;
                self.need(")")?;
                Ok(inner)
            }
            Some(Token::Name(mut name)) => {
                self.at += 1;
                while self.symbol(".") {
                    let Some(Token::Name(part)) = self.peek().cloned() else { return Err(self.unexpected()) };
                    self.at += 1;
                    name = format!("{name}.{part}");
                }
                match name.as_str() {
                    "True" | "true" => return Ok(Ex::Bool(true)),
                    "False" | "false" => return Ok(Ex::Bool(false)),
                    "lambda" | "if" | "else" | "for" | "while" | "import" | "None" => {
                        return Err(SyntaxError(format!("`{name}` is not understood here")));
                    }
                    _ => {}
                }
                if self.symbol("(") {
                    return Ok(Ex::Call(name, self.list(")")?));
                }
                if self.symbol("[") {
                    return Ok(Ex::Index(name, self.list("]")?));
                }
                Ok(Ex::Name(name))
            }
            _ => Err(self.unexpected()),
        }
    }
}

fn binary(operator: Operator, left: Ex, right: Ex) -> Ex {
    Ex::Binary(operator, Box::new(left), Box::new(right))
}

impl Ex {
    /// Expressions directly inside.
    pub fn children(&self) -> Vec<&Ex> {
        match self {
            Ex::Int(_) | Ex::Float(_) | Ex::Imaginary(_) | Ex::Bool(_) | Ex::Name(_) => Vec::new(),
            Ex::Neg(e) | Ex::Not(e) | Ex::Invert(e) => vec![e],
            Ex::Binary(_, l, r) => vec![l, r],
            Ex::Call(_, args) | Ex::Index(_, args) => args.iter().collect(),
            Ex::IfElse(c, t, o) => vec![c, t, o],
        }
    }

    /// Names that occur, also those of arrays with indices.
    pub fn names(&self) -> Vec<&str> {
        let mut found = match self {
            Ex::Name(name) | Ex::Index(name, _) => vec![name.as_str()],
            _ => Vec::new(),
        };
        found.extend(self.children().into_iter().flat_map(Ex::names));
        found
    }

    /// The condition that holds if this one does not.
    pub fn negated(&self) -> Ex {
        use Operator::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        let opposite = |operator| match operator {
            Lt => Some(Ge),
            Le => Some(Gt),
            Gt => Some(Le),
            Ge => Some(Lt),
            Eq => Some(Ne),
            Ne => Some(Eq),
            _ => None,
        };
        match self {
            Ex::Not(inner) => (**inner).clone(),
            Ex::Bool(value) => Ex::Bool(!value),
            Ex::Binary(And, l, r) => binary(Or, l.negated(), r.negated()),
            Ex::Binary(Or, l, r) => binary(And, l.negated(), r.negated()),
            Ex::Binary(operator, l, r) if opposite(*operator).is_some() => {
                Ex::Binary(opposite(*operator).unwrap_or(*operator), l.clone(), r.clone())
            }
            other => Ex::Not(Box::new(other.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parse_expression(text) {
            Ok(e) => show(&e),
            Err(e) => format!("error: {e}"),
        }
    }

    fn show(e: &Ex) -> String {
        let all = |items: &[Ex]| items.iter().map(show).collect::<Vec<_>>().join(", ");
        match e {
            Ex::Int(i) => i.to_string(),
            Ex::Float(t) | Ex::Name(t) => t.clone(),
            Ex::Imaginary(t) => format!("{t}j"),
            Ex::Bool(b) => b.to_string(),
            Ex::Neg(e) => format!("(- {})", show(e)),
            Ex::Not(e) => format!("(not {})", show(e)),
            Ex::Invert(e) => format!("(~ {})", show(e)),
            Ex::Binary(op, l, r) => format!("({} {op:?} {})", show(l), show(r)),
            Ex::Call(f, args) => format!("{f}({})", all(args)),
            Ex::Index(a, args) => format!("{a}[{}]", all(args)),
            Ex::IfElse(c, t, o) => format!("({} ? {} : {})", show(c), show(t), show(o)),
        }
    }

    #[test]
    fn expressions() {
        for (text, expected) in [
            ("Min(N - 1, int_floor(M, 2) + 3*i)", "Min((N Sub 1), (int_floor(M, 2) Add (3 Mul i)))"),
            ("-x**2", "(- (x Pow 2))"),
            ("2**-1", "(2 Pow -1)"),
            ("a // b % c", "((a FloorDiv b) Mod c)"),
            ("not a < b and c >= 1e-3", "((not (a Lt b)) And (c Ge 1e-3))"),
            ("0 <= i < N", "((0 Le i) And (i Lt N))"),
            ("x if a == b else (y if c else z)", "((a Eq b) ? x : (c ? y : z))"),
            ("math.exp(- x[i, j])", "math.exp((- x[i, j]))"),
            ("dace.float64(3)", "dace.float64(3)"),
            ("z + 2j * 1e-3j", "(z Add (2.0j Mul 0.001j))"),
            ("lambda x: x", "error: `lambda` is not understood here"),
            ("(a + ", "error: the text ends too early"),
            ("a b", "error: `b` is not understood here"),
            ("\"s\"", "error: `\"` is not understood"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(shown(&"(".repeat(100_000)).starts_with("error"));
    }

    #[test]
    fn statements() {
        let code = "t = a + 1\nif t > 0:\n    o = t\n    # a remark\nelif t < -1:\n    o = -t\nelse: o = 0\np += o\n";
        let found = parse_statements(code).unwrap();
        assert_eq!(found.len(), 3);
        let Statement::If { then, otherwise, .. } = &found[1] else { panic!("no if") };
        assert_eq!((then.len(), otherwise.len()), (1, 1));
        assert!(parse_statements("for i in range(3):\n    o = i").is_err());
    }

    #[test]
    fn combinations() {
        let (old, new, e) = parse_combination("(lambda x, y: (x + y))").unwrap();
        assert_eq!((old.as_str(), new.as_str(), show(&e).as_str()), ("x", "y", "(x Add y)"));
        let (_, _, e) = parse_combination("lambda a, b: max(a, b)").unwrap();
        assert_eq!(show(&e), "max(a, b)");
    }

    #[test]
    fn negations() {
        let negated = |text| show(&parse_expression(text).unwrap().negated());
        assert_eq!(negated("i < N and not b"), "((i Ge N) Or b)");
    }
}

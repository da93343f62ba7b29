//! Reading the textual form, which the crate's front page describes.

mod error;
mod expr;
mod lexer;
mod nest;

use crate::{
    Array, ArrayId, Constraint, ControlLoop, DataflowGraph, Form, Loop, LoopId, Nest, NestId, Opaque,
    Program, Region, ScalarType, Storage, SymId, Symbol, Threads,
};
pub use error::ParseError;
use indexmap::{IndexMap, map};
pub(crate) use lexer::float_type;
use lexer::{Place, Token};
use std::collections::{HashMap, HashSet};

type Parsed<T> = Result<T, ParseError>;

/// Reads a declaration that is none of the IR's, if the parser stands at one.
type Others<'o> = &'o mut dyn FnMut(&mut Parser, &mut Program) -> Parsed<bool>;

impl Program {
    /// Reads the textual form that `Display` writes. Affine arithmetic is folded, as by
    /// [`Expr::binary`](crate::Expr::binary), and dataflow graphs are rebuilt.
    ///
    /// # Errors
    /// If the text is not a program: where, what was expected, and what was found. A program that parses may still
    /// violate the invariants of [`verify`](crate::verify).
    pub fn parse(text: &str) -> Result<Program, ParseError> {
        Self::parse_with(text, &mut |_, _| Ok(false))
    }

    /// Reads the textual form with declarations of others among its own: `others` is asked at every declaration, and reads it
    /// if it is one of them.
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn parse_with(text: &str, others: Others<'_>) -> Result<Program, ParseError> {
        let mut program = Program::new("");
        let mut parser = Parser::new(text, &program)?;
        parser.program(&mut program, others)?;
        parser.end()?;
        program.rebuild_dataflow();
        Ok(program)
    }
}

impl std::str::FromStr for Program {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Program::parse(text)
    }
}

impl Nest {
    /// Reads what [`Nest::display`] writes, with the names of `program`.
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn parse(program: &Program, text: &str) -> Result<Nest, ParseError> {
        let mut parser = Parser::new(text, program)?;
        let nest = parser.nest()?;
        parser.end()?;
        Ok(nest)
    }
}

/// What a name of the program denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    Array(ArrayId),
    Sym(SymId),
}

/// Greatest depth of nesting; deeper texts are refused so that they do not exhaust the stack.
const MAX_DEPTH: usize = 600;

/// Reads a text from its beginning to its end, and knows what the program has declared so far.
pub struct Parser {
    tokens: Vec<(Token, Place)>,
    at: usize,
    depth: usize,
    arrays: HashSet<ArrayId>,
    symbols: HashSet<SymId>,
    named: HashMap<String, Vec<Global>>,
    /// Iterators in scope, outermost first.
    path: Vec<(String, LoopId)>,
}

impl Parser {
    fn new(text: &str, program: &Program) -> Parsed<Self> {
        let mut parser = Self {
            tokens: lexer::tokenize(text)?,
            at: 0,
            depth: 0,
            arrays: HashSet::new(),
            symbols: HashSet::new(),
            named: HashMap::new(),
            path: Vec::new(),
        };
        program.symbols.values().for_each(|s| parser.declare_symbol(s));
        program.arrays.values().for_each(|a| parser.declare_array(a));
        Ok(parser)
    }

    fn declare_symbol(&mut self, symbol: &Symbol) {
        self.symbols.insert(symbol.id);
        self.named.entry(symbol.name.clone()).or_default().push(Global::Sym(symbol.id));
    }

    fn declare_array(&mut self, array: &Array) {
        self.arrays.insert(array.id);
        self.named.entry(array.name.clone()).or_default().push(Global::Array(array.id));
    }

    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)].0
    }

    fn place(&self) -> Place {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    /// The error that something else stands here.
    ///
    /// # Errors
    /// Always.
    pub fn expected<T>(&self, what: &str) -> Result<T, ParseError> {
        Err(self.place().error(format!("expected {what}, found {}", self.peek().describe())))
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if *s == symbol)
    }

    /// Whether this word stands here.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    /// Reads this sign, if it stands here.
    pub fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    /// Reads this word, if it stands here.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reads this sign.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn symbol(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.take_symbol(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    /// Reads this word.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn end(&mut self) -> Parsed<()> {
        if *self.peek() == Token::End { Ok(()) } else { self.expected("the end of the text") }
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.place().error(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// `{ item item … }`
    fn block<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.symbol("{")?;
        let mut items = Vec::new();
        while !self.take_symbol("}") {
            items.push(self.nested(&mut item)?);
        }
        Ok(items)
    }

    /// `( item , item … )`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.symbol("(")?;
        let mut items = Vec::new();
        if self.take_symbol(")") {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take_symbol(")") {
                return Ok(items);
            }
            if !self.take_symbol(",") {
                return self.expected("`,` or `)`");
            }
        }
    }

    /// A declared name: a word or a quoted string.
    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(w) | Token::Text(w) => {
                let name = w.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// Reads a text in quotation marks.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn text(&mut self) -> Result<String, ParseError> {
        match self.peek() {
            Token::Text(t) => {
                let text = t.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.expected("a quoted string"),
        }
    }

    /// Reads an id; `what` says which kind of, for the error.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn id<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, ParseError> {
        if let Token::Word(w) = self.peek()
            && let Ok(id) = w.parse()
        {
            self.at += 1;
            return Ok(id);
        }
        self.expected(what)
    }

    /// Reads an integer.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn integer(&mut self) -> Result<i64, ParseError> {
        let is_negative = self.take_symbol("-");
        match *self.peek() {
            Token::Int(value) => {
                self.at += 1;
                Ok(if is_negative { -value } else { value })
            }
            _ => self.expected("an integer"),
        }
    }

    /// Reads an integer that is not negative.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn unsigned<T: TryFrom<i64>>(&mut self) -> Result<T, ParseError> {
        if let Token::Int(value) = *self.peek()
            && let Ok(value) = T::try_from(value)
        {
            self.at += 1;
            return Ok(value);
        }
        self.expected("a non-negative integer in range")
    }

    fn scalar_type(&mut self) -> Parsed<ScalarType> {
        match self.peek_type(0) {
            Some(ty) => {
                self.at += 1;
                Ok(ty)
            }
            None => self.expected("a type (f32, f64, i8, u8, i16, u16, i32, u32, i64, u64)"),
        }
    }

    /// Whether a text in quotation marks stands here.
    pub fn is_text(&self) -> bool {
        matches!(self.peek(), Token::Text(_))
    }

    /// Whether `word` stands behind `n` other tokens.
    pub fn has_ahead(&self, n: usize, word: &str) -> bool {
        matches!(self.peek_at(n), Token::Word(w) if w == word)
    }

    /// Adds something that is declared here, under its id.
    ///
    /// # Errors
    /// If there is one already.
    pub fn declare<K, V>(&self, map: &mut IndexMap<K, V>, id: K, value: V) -> Result<(), ParseError>
    where
        K: std::hash::Hash + Eq + std::fmt::Display,
    {
        insert_new(map, id, value, self.place())
    }

    /// Reads what stands in loops of its own, such as a scan: their iterators are known until the end of it.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn scope<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let n_loops = self.path.len();
        let parsed = parse(self);
        self.path.truncate(n_loops);
        parsed
    }

    /// Reads the header of a loop without its body, which the rest of the scope is inside of.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn enter_loop(&mut self) -> Result<Loop, ParseError> {
        self.word("for")?;
        let header = self.header()?;
        self.path.push((header.name.clone(), header.id));
        Ok(header)
    }

    fn peek_type(&self, ahead: usize) -> Option<ScalarType> {
        let Token::Word(w) = self.peek_at(ahead) else { return None };
        ScalarType::ALL.into_iter().find(|t| t.name() == w)
    }

    fn program(&mut self, program: &mut Program, others: Others<'_>) -> Parsed<()> {
        self.word("program")?;
        program.name = self.name("the program's name")?;
        self.symbol("{")?;
        let mut body = None;
        loop {
            let place = self.place();
            if self.take_symbol("}") {
                break;
            } else if others(self, program)? {
                continue;
            } else if self.take_word("symbol") {
                let symbol = self.symbol_declaration()?;
                self.declare_symbol(&symbol);
                insert_new(&mut program.symbols, symbol.id, symbol, place)?;
            } else if self.take_word("assume") {
                program.assumptions.push(self.constraint()?);
            } else if self.take_word("array") {
                let array = self.array_declaration()?;
                self.declare_array(&array);
                insert_new(&mut program.arrays, array.id, array, place)?;
            } else if self.take_word("may_alias") {
                program.may_alias.push((self.array()?, self.array()?));
            } else if self.take_word("reshape") {
                let reshape: ArrayId = self.id("an array's id (A0)")?;
                insert_new(&mut program.reshapes, reshape, self.id("an array's id (A0)")?, place)?;
            } else if self.take_word("team") {
                let nest: NestId = self.id("a nest's id (N0)")?;
                insert_new(&mut program.threads, nest, Threads::Team, place)?;
            } else if self.take_word("one_thread") {
                let nest: NestId = self.id("a nest's id (N0)")?;
                let reason = self.text()?;
                insert_new(&mut program.threads, nest, Threads::One(reason), place)?;
            } else if self.is_word("nest") {
                let nest = self.nest()?;
                insert_new(&mut program.nests, nest.id, nest, place)?;
            } else if body.is_none() && self.is_region() {
                body = Some(self.region()?);
            } else if body.is_none() {
                return self.expected("a declaration, a region, a nest or `}`");
            } else {
                return self.expected("a declaration, a nest or `}` (a program has one region)");
            }
        }
        program.body = body.unwrap_or(Region::Sequence(Vec::new()));
        Ok(())
    }

    fn symbol_declaration(&mut self) -> Parsed<Symbol> {
        let id = self.id("a symbol's id (P0)")?;
        let name = self.name("the symbol's name")?;
        self.symbol(":")?;
        Ok(Symbol { id, name, ty: self.scalar_type()? })
    }

    fn array_declaration(&mut self) -> Parsed<Array> {
        let id = self.id("an array's id (A0)")?;
        let name = self.name("the array's name")?;
        self.symbol(":")?;
        let element = self.scalar_type()?;
        let mut shape = Vec::new();
        while self.take_symbol("[") {
            shape.push(if self.take_symbol("?") { None } else { Some(self.expr()?) });
            self.symbol("]")?;
        }
        let storage = self.storage()?;
        let mut array =
            Array { id, name, element, c_type: None, shape, form: Form::Nested, storage, align: 0 };
        loop {
            if self.take_word("linear") {
                array.form = match self.peek() {
                    Token::Int(_) => Form::Leading(self.unsigned()?),
                    _ => Form::Linear,
                };
            } else if self.take_word("align") {
                array.align = self.unsigned()?;
            } else if self.take_word("ctype") {
                array.c_type = Some(self.text()?);
            } else {
                return Ok(array);
            }
        }
    }

    /// Whether an id with this letter stands here.
    pub fn peek_id(&self, letter: char) -> bool {
        matches!(self.peek(), Token::Word(w) if w.starts_with(letter))
    }

    fn storage(&mut self) -> Parsed<Storage> {
        if self.take_word("param") {
            Ok(Storage::Param)
        } else if self.take_word("global") {
            Ok(Storage::Global)
        } else if self.take_word("local") {
            Ok(Storage::Local)
        } else if self.take_word("body") {
            self.symbol("(")?;
            let id = self.id("a loop's id (L0)")?;
            self.symbol(")")?;
            Ok(Storage::Body(id))
        } else if self.take_word("temp") {
            if !self.take_symbol("(") {
                return Ok(Storage::Temp(None));
            }
            let id = self.id("a loop's id (L0)")?;
            self.symbol(")")?;
            Ok(Storage::Temp(Some(id)))
        } else {
            self.expected("where the array lives (param, global, local, body(L0), temp, temp(L0))")
        }
    }

    fn constraint(&mut self) -> Parsed<Constraint> {
        let left = self.affine()?;
        let Token::Symbol(relation) = *self.peek() else { return self.expected("`>=`, `==` or `<`") };
        let build: fn(crate::Affine, crate::Affine) -> Constraint = match relation {
            ">=" => Constraint::ge,
            "==" => Constraint::eq,
            "<" => Constraint::lt,
            "<=" => |l, r| Constraint::ge(r, l),
            ">" => |l, r| Constraint::lt(r, l),
            _ => return self.expected("`>=`, `==` or `<`"),
        };
        self.at += 1;
        Ok(build(left, self.affine()?))
    }

    fn is_region(&self) -> bool {
        const HEADS: [&str; 6] = ["sequence", "dataflow", "loop", "branch", "swap", "opaque"];
        matches!(self.peek(), Token::Word(w) if HEADS.contains(&w.as_str()))
    }

    fn region(&mut self) -> Parsed<Region> {
        if self.take_word("sequence") {
            Ok(Region::Sequence(self.block(Self::region)?))
        } else if self.take_word("dataflow") {
            let nests = self.block(|p| p.id::<NestId>("a nest's id (N0) or `}`"))?;
            Ok(Region::Dataflow(DataflowGraph { order: nests, ..DataflowGraph::default() }))
        } else if self.take_word("loop") {
            let iterator = if self.is_symbol("{") || self.is_word("in") { None } else { Some(self.sym()?) };
            let range = match self.take_word("in") {
                true => {
                    let from = self.expr()?;
                    self.symbol("..")?;
                    Some((from, self.expr()?))
                }
                false => None,
            };
            Ok(Region::Loop(ControlLoop { iterator, range, body: Box::new(self.braced_region()?) }))
        } else if self.take_word("branch") {
            let condition = if self.take_symbol("?") { None } else { Some(self.expr()?) };
            let then = Box::new(self.braced_region()?);
            self.word("else")?;
            Ok(Region::Branch { condition, then, otherwise: Box::new(self.braced_region()?) })
        } else if self.take_word("swap") {
            Ok(Region::Swap(self.array()?, self.array()?))
        } else if self.take_word("opaque") {
            let reason = self.text()?;
            self.word("reads")?;
            let reads = self.touched()?;
            self.word("writes")?;
            Ok(Region::Opaque(Opaque { reason, reads, writes: self.touched()? }))
        } else {
            self.expected("a region (sequence, dataflow, loop, branch, swap, opaque)")
        }
    }

    fn braced_region(&mut self) -> Parsed<Region> {
        self.symbol("{")?;
        let region = self.nested(Self::region)?;
        self.symbol("}")?;
        Ok(region)
    }

    fn touched(&mut self) -> Parsed<Option<Vec<ArrayId>>> {
        if matches!((self.peek(), self.peek_at(1)), (Token::Symbol("("), Token::Symbol("*"))) {
            self.at += 2;
            self.symbol(")")?;
            return Ok(None);
        }
        self.list(Self::array).map(Some)
    }
}

fn insert_new<K, V>(map: &mut IndexMap<K, V>, id: K, value: V, place: Place) -> Parsed<()>
where
    K: std::hash::Hash + Eq + std::fmt::Display,
{
    match map.entry(id) {
        map::Entry::Occupied(entry) => Err(place.error(format!("{} is declared twice", entry.key()))),
        map::Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"program everything {
  symbol P0 n: i32
  symbol P1 m: i64
  symbol P2 "s->k": i32
  symbol P3 N1: i32
  assume n >= 1
  assume n + 3 >= 2*m
  assume n == P2
  assume -1 >= n
  array A0 C: f64[n][m + 1] param align 64 ctype "real"
  array A1 x: f32[?] param linear
  array A2 tmp: f64 local
  array A3 tmp: i32 body(L0)
  array A4 acc: f64[4][8] temp(L1) align 64
  array A5 max: f64 global
  array A6 idx: i32[n * m] temp
  array A7 "g->u": f64[?][m] global
  array A8 "x[][].re": f64[n][4] local
  array A9 y: f64[?] param linear
  may_alias C x
  reshape A9 A0
  one_thread N0 "each thread has its own `C`"
  team N1
  sequence {
    loop N1.P3 in 0 .. n {
      sequence {
        dataflow { N0 N1 }
        swap C x
      }
    }
    loop {
      opaque "calls \"f\"" reads(*) writes(C, tmp.A2)
    }
    branch ? {
      dataflow {  }
    } else {
      branch n < m && C[0][0] > 0.5 {
        sequence {
        }
      } else {
        opaque "x" reads() writes(*)
      }
    }
  }
  nest N0 in f span 10 .. 20 line 3 live_out(tmp.A2, max.A5) swap(C, x, 2*n - m) rotate(n, C, x, tmp.A2) swap(idx, acc, 3) mentions(n, m) unordered(max.A5) bounded(x) {
    for L0 i: i32 in 0 .. n parallel dynamic reduce(+ tmp.A2, max max.A5) {
      S0: tmp.A3 = idx[i]
      for L1 i: i64 in max(0, i - 1, ceil((n + 3) / 4)) .. min(m, data(idx[i + 1])) step -2 vector 8 {
        S1@4: C[i.L0][i.L1] += -1.0 * (x[2*i.L1 - 1] + 0.33f) / (C[0][0] - (1.0 - 2.0))
        if i.L0 % 2 == 0 && !(tmp.A3 <= 3) {
          S2: max.A5 max= fmax(sqrtf(x[idx[i.L0]]), max(1.e-3, -tmp.A2))
        } else {
          S3: tmp.A3 = (i32) (tmp.A2 + 0x1.8p3) << 2 | tmp.A3 & ~7
        }
      }
      for L2 j: i32 in 0 .. 4 unrolled {
        S4: acc[j][0] = tmp.A2 < 0.0 ? -tmp.A2 : (f64) (n - j - 1)
        S5: acc[j][1] min= (j < 2 ? 1 : 0) * 2.0 - (n - 1)
      }
      for L3 k: i32 in 0 .. 4 vector reduce(* tmp.A2) {
      }
    }
  }
  nest N1 in f {
  }
}
"#;

    #[test]
    fn prints_and_parses_everything() {
        let program = Program::parse(EVERYTHING).unwrap();
        assert_eq!(program.to_string(), EVERYTHING);
        assert_eq!(Program::parse(&program.to_string()).unwrap(), program);
        let nest = &program.nests[0];
        assert_eq!(&Nest::parse(&program, &nest.display(&program).to_string()).unwrap(), nest);
    }

    #[test]
    fn errors_name_place_and_expectation() {
        let message = |text: &str| Program::parse(text).unwrap_err().to_string();
        assert_eq!(message("program {"), "line 1, column 9: expected the program's name, found `{`");
        assert_eq!(
            message("program p {\n  array A0 x: f64 param\n  array A0 y: f64 param\n}"),
            "line 3, column 3: A0 is declared twice"
        );
        assert_eq!(
            message("program p { nest N0 in f {\n for L0 i: i32 in 0 .. n { } } }"),
            "line 2, column 24: nothing here is named `n`"
        );
        assert_eq!(message("program p { symbol P0 n: i32 assume n * n >= 1 }"), {
            "line 1, column 37: expected an affine expression of iterators and symbols"
        });
        assert_eq!(message("program p"), "line 1, column 10: expected `{`, found the end of the text");
        let deep = format!("program p {{ symbol P0 n: i32 assume {}1 >= 0 }}", "(".repeat(100_000));
        assert!(message(&deep).ends_with("nested deeper than 600 levels"));
    }
}

//! Nests: loops, guards and statements.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::{
    BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, Nest, Node, Reduction, Rotation, Span, Stmt, Update,
    WorkSharing,
};

const UPDATES: [Update; 7] =
    [Update::Assign, Update::Add, Update::Sub, Update::Mul, Update::Div, Update::Min, Update::Max];

impl Parser {
    pub(super) fn nest(&mut self) -> Parsed<Nest> {
        self.word("nest")?;
        let id = self.id("a nest's id (N0)")?;
        self.word("in")?;
        let function = self.name("the function's name")?;
        let mut span = None;
        if self.take_word("span") {
            let start = self.unsigned()?;
            self.symbol("..")?;
            let end = self.unsigned()?;
            self.word("line")?;
            span = Some(Span { start, end, line: self.unsigned()? });
        }
        let live_out = if self.take_word("live_out") { self.list(Self::array)? } else { Vec::new() };
        self.path.clear();
        let mut rotations = Vec::new();
        loop {
            if self.take_word("swap") {
                rotations.push(self.swap()?);
            } else if self.take_word("rotate") {
                rotations.push(self.rotation()?);
            } else {
                break;
            }
        }
        let mentions = if self.take_word("mentions") { self.list(Self::sym)? } else { Vec::new() };
        let unordered = if self.take_word("unordered") { self.list(Self::array)? } else { Vec::new() };
        let bounded = if self.take_word("bounded") { self.list(Self::array)? } else { Vec::new() };
        self.path.clear();
        let roots = self.block(Self::node)?;
        Ok(Nest { id, function, span, roots, live_out, rotations, mentions, unordered, bounded })
    }

    /// `(a, b, n)`
    fn swap(&mut self) -> Parsed<Rotation> {
        self.symbol("(")?;
        let first = self.array()?;
        self.symbol(",")?;
        let second = self.array()?;
        self.symbol(",")?;
        let times = self.affine()?;
        self.symbol(")")?;
        Ok(Rotation { pointers: vec![first, second], times })
    }

    /// `(n, a, b, c)`
    fn rotation(&mut self) -> Parsed<Rotation> {
        self.symbol("(")?;
        let times = self.affine()?;
        let mut pointers = Vec::new();
        while self.take_symbol(",") {
            pointers.push(self.array()?);
        }
        self.symbol(")")?;
        Ok(Rotation { pointers, times })
    }

    fn node(&mut self) -> Parsed<Node> {
        if self.take_word("for") {
            return self.for_loop().map(Node::Loop);
        }
        if self.take_word("if") {
            let condition = self.expr()?;
            let then = self.block(Self::node)?;
            let otherwise = if self.take_word("else") { self.block(Self::node)? } else { Vec::new() };
            return Ok(Node::If { condition, then, otherwise });
        }
        self.stmt().map(Node::Stmt)
    }

    fn for_loop(&mut self) -> Parsed<Loop> {
        let header = self.header()?;
        let execution = self.execution()?;
        self.path.push((header.name.clone(), header.id));
        let body = self.block(Self::node);
        self.path.pop();
        Ok(Loop { execution, body: body?, ..header })
    }

    /// A loop as far as how it is executed.
    pub(super) fn header(&mut self) -> Parsed<Loop> {
        let id = self.id("a loop's id (L0)")?;
        let name = self.name("the iterator's name")?;
        self.symbol(":")?;
        let ty = self.scalar_type()?;
        self.word("in")?;
        let lower = self.bound("max")?;
        self.symbol("..")?;
        let upper = self.bound("min")?;
        let step = if self.take_word("step") { self.integer()? } else { 1 };
        let execution = Execution::Sequential;
        Ok(Loop { id, name, ty, lower, upper, step, execution, body: Vec::new() })
    }

    fn bound(&mut self, combine: &str) -> Parsed<Bound> {
        if self.is_word(combine) && *self.peek_at(1) == Token::Symbol("(") {
            self.at += 1;
            return self.list(Self::bound_term).map(Bound);
        }
        Ok(Bound(vec![self.bound_term()?]))
    }

    fn bound_term(&mut self) -> Parsed<BoundTerm> {
        let is_call = *self.peek_at(1) == Token::Symbol("(");
        if is_call && self.take_word("open") {
            self.symbol("(")?;
            self.symbol(")")?;
            return Ok(BoundTerm::Open);
        }
        if is_call && self.take_word("data") {
            self.symbol("(")?;
            let value = self.expr()?;
            self.symbol(")")?;
            return Ok(BoundTerm::Data(value));
        }
        if is_call && self.take_word("ceil") {
            self.symbol("(")?;
            let place = self.place();
            let quotient = self.expr()?;
            self.symbol(")")?;
            if let Expr::Binary(BinaryOp::Div, expr, divisor) = &quotient
                && let (Expr::Affine(expr), Some(Some(divisor))) =
                    (&**expr, divisor.as_affine().map(|d| d.as_constant()))
            {
                return Ok(BoundTerm::Affine { expr: expr.clone(), divisor });
            }
            return Err(place.error("expected an affine expression divided by an integer"));
        }
        Ok(self.affine()?.into())
    }

    fn execution(&mut self) -> Parsed<Execution> {
        if self.take_word("parallel") {
            let sharing = if self.take_word("dynamic") {
                WorkSharing::Dynamic
            } else {
                self.take_word("static");
                WorkSharing::Static
            };
            Ok(Execution::Parallel { reductions: self.reductions()?, sharing })
        } else if self.take_word("vector") {
            let lanes = if matches!(self.peek(), Token::Int(_)) { Some(self.unsigned()?) } else { None };
            Ok(Execution::Vector { lanes, reductions: self.reductions()? })
        } else if self.take_word("unrolled") {
            Ok(Execution::Unrolled)
        } else if self.is_symbol("{") {
            Ok(Execution::Sequential)
        } else {
            self.expected("`step`, `parallel`, `vector`, `unrolled` or `{`")
        }
    }

    fn reductions(&mut self) -> Parsed<Vec<Reduction>> {
        if !self.take_word("reduce") {
            return Ok(Vec::new());
        }
        self.list(|p| {
            let op = UPDATES.into_iter().find(|u| match u.symbol() {
                "" => p.is_symbol("="),
                "min" | "max" => p.is_word(u.symbol()),
                symbol => p.is_symbol(symbol),
            });
            let Some(op) = op else { return p.expected("`+`, `-`, `*`, `min` or `max`") };
            p.at += 1;
            Ok(Reduction { op, array: p.array()? })
        })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let id = self.id("`for`, `if`, a statement's id (S0) or `}`")?;
        let line = if self.take_symbol("@") { Some(self.unsigned()?) } else { None };
        self.symbol(":")?;
        let target = self.access()?;
        let update = self.update()?;
        Ok(Stmt { id, target, update, value: self.expr()?, line })
    }

    fn update(&mut self) -> Parsed<Update> {
        for update in UPDATES {
            match update {
                Update::Min | Update::Max => {
                    if self.is_word(update.symbol()) && *self.peek_at(1) == Token::Symbol("=") {
                        self.at += 2;
                        return Ok(update);
                    }
                }
                _ => {
                    if self.take_symbol(&format!("{}=", update.symbol())) {
                        return Ok(update);
                    }
                }
            }
        }
        self.expected("`=`, `+=`, `-=`, `*=`, `/=`, `min=` or `max=`")
    }
}

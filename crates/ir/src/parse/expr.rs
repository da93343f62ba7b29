//! Expressions, accesses and references.

use super::lexer::{Token, float_type};
use super::{Global, ParseError, Parsed, Parser};
use crate::print::{is_id, strength};
use crate::{Access, Affine, ArrayId, BinaryOp, Expr, LoopId, MathFn, ScalarType, SymId, UnaryOp, Var};

/// What a reference denotes.
enum Thing {
    Array(ArrayId),
    Var(Var),
}

const OPERATORS: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::Shl,
    BinaryOp::Shr,
];

impl Parser {
    pub(super) fn affine(&mut self) -> Parsed<Affine> {
        let place = self.place();
        // A comparison ends the affine part of a constraint.
        match self.nested(|p| p.binary(strength::SUM))? {
            Expr::Affine(a) => Ok(a),
            _ => Err(place.error("expected an affine expression of iterators and symbols")),
        }
    }

    /// Reads an expression.
    ///
    /// # Errors
    /// If something else stands here.
    pub fn expr(&mut self) -> Result<Expr, ParseError> {
        self.nested(|p| {
            let condition = p.binary(strength::OR)?;
            if !p.take_symbol("?") {
                return Ok(condition);
            }
            let then = p.expr()?;
            p.symbol(":")?;
            let otherwise = p.expr()?;
            Ok(Expr::Select { condition: condition.into(), then: then.into(), otherwise: otherwise.into() })
        })
    }

    fn binary(&mut self, at_least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Token::Symbol(text) = *self.peek() {
            let found = OPERATORS.iter().find_map(|op| {
                let (symbol, binding) = op.symbol()?;
                (symbol == text && binding >= at_least).then_some((*op, binding))
            });
            let Some((op, binding)) = found else { break };
            self.at += 1;
            let right = self.nested(|p| p.binary(binding + 1))?;
            left = Expr::binary(op, left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        for (symbol, op) in [("-", UnaryOp::Neg), ("!", UnaryOp::Not), ("~", UnaryOp::BitNot)] {
            if self.take_symbol(symbol) {
                return Ok(Expr::unary(op, self.nested(Self::unary)?));
            }
        }
        if self.is_symbol("(")
            && matches!(self.peek_at(2), Token::Symbol(")"))
            && let Some(ty) = self.peek_type(1)
        {
            self.at += 3;
            return Ok(Expr::Cast(ty, Box::new(self.nested(Self::unary)?)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let word = match self.peek().clone() {
            Token::Int(value) => {
                self.at += 1;
                return Ok(Expr::from(value));
            }
            Token::Float(text) => {
                self.at += 1;
                let ty = float_type(&text).unwrap_or(ScalarType::F64);
                return Ok(Expr::Float { text, ty });
            }
            Token::Symbol("(") => {
                self.at += 1;
                let inner = self.expr()?;
                self.symbol(")")?;
                return Ok(inner);
            }
            Token::Word(word) => word,
            _ => return self.expected("an expression"),
        };
        if matches!(self.peek_at(1), Token::Symbol("(")) {
            return self.call(&word);
        }
        match self.reference()? {
            Thing::Array(array) => Ok(Expr::Read(self.indices(array)?)),
            Thing::Var(var) => Ok(Expr::Affine(Affine::var(var))),
        }
    }

    fn call(&mut self, name: &str) -> Parsed<Expr> {
        let place = self.place();
        let op = match name {
            "min" => Some(BinaryOp::Min),
            "max" => Some(BinaryOp::Max),
            _ => None,
        };
        let math = MathFn::from_name(name);
        let n_args = match (op, math) {
            (Some(_), _) => 2,
            (None, Some((function, _))) => function.n_args(),
            (None, None) => return Err(place.error(format!("`{name}` is not a known function"))),
        };
        self.at += 1;
        let args = self.list(Self::expr)?;
        if args.len() != n_args {
            return Err(place.error(format!("`{name}` takes {n_args} arguments, not {}", args.len())));
        }
        let mut args = args.into_iter();
        match (op, math) {
            (Some(op), _) => match (args.next(), args.next()) {
                (Some(l), Some(r)) => Ok(Expr::Binary(op, Box::new(l), Box::new(r))),
                _ => self.expected("two arguments"),
            },
            (None, Some((function, single))) => Ok(Expr::Call { function, single, args: args.collect() }),
            (None, None) => self.expected("a function"),
        }
    }

    pub(super) fn access(&mut self) -> Parsed<Access> {
        let array = self.array()?;
        self.indices(array)
    }

    fn indices(&mut self, array: ArrayId) -> Parsed<Access> {
        let mut indices = Vec::new();
        while self.take_symbol("[") {
            indices.push(self.expr()?);
            self.symbol("]")?;
        }
        Ok(Access { array, indices })
    }

    /// A reference to an array, without indices.
    pub(super) fn array(&mut self) -> Parsed<ArrayId> {
        let place = self.place();
        match self.reference()? {
            Thing::Array(array) => Ok(array),
            Thing::Var(_) => Err(place.error("expected an array, found a symbol or iterator")),
        }
    }

    pub(super) fn sym(&mut self) -> Parsed<SymId> {
        let place = self.place();
        match self.reference()? {
            Thing::Var(Var::Sym(sym)) => Ok(sym),
            _ => Err(place.error("expected a symbol")),
        }
    }

    /// `name`, `name.id` or `id`.
    fn reference(&mut self) -> Parsed<Thing> {
        let place = self.place();
        let Token::Word(mut word) = self.peek().clone() else { return self.expected("a name") };
        self.at += 1;
        if self.take_symbol(".") {
            match self.peek() {
                Token::Word(id) if is_id(id) => word = id.clone(),
                _ => return self.expected("an id (A0, P0, L0)"),
            }
            self.at += 1;
        }
        if is_id(&word) {
            if let Ok(array) = word.parse::<ArrayId>() {
                if self.arrays.contains(&array) {
                    return Ok(Thing::Array(array));
                }
            } else if let Ok(sym) = word.parse::<SymId>() {
                if self.symbols.contains(&sym) {
                    return Ok(Thing::Var(Var::Sym(sym)));
                }
            } else if let Ok(id) = word.parse::<LoopId>() {
                return Ok(Thing::Var(Var::Loop(id)));
            }
            return Err(place.error(format!("{word} is not declared")));
        }
        if let Some((_, id)) = self.path.iter().rev().find(|(name, _)| *name == word) {
            return Ok(Thing::Var(Var::Loop(*id)));
        }
        match self.named.get(&word).map(Vec::as_slice) {
            None | Some([]) => Err(place.error(format!("nothing here is named `{word}`"))),
            Some([Global::Array(array)]) => Ok(Thing::Array(*array)),
            Some([Global::Sym(sym)]) => Ok(Thing::Var(Var::Sym(*sym))),
            Some(_) => {
                Err(place.error(format!("several things are named `{word}`: add the id (`{word}.A0`)")))
            }
        }
    }
}

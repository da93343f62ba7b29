//! Expressions.

use super::{Converter, MAX_DEPTH, Meaning, named_children, range};
use crate::ast::*;
use crate::literal::{self, Literal};
use crate::members::{copied, member};
use oxeye_ir::{BinaryOp, ScalarType, UnaryOp};
use tree_sitter::Node;

fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        "&" => BinaryOp::BitAnd,
        "|" => BinaryOp::BitOr,
        "^" => BinaryOp::BitXor,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        _ => return None,
    })
}

fn unknown(what: String) -> ExprKind {
    ExprKind::Unknown(what, Vec::new())
}

impl Converter<'_> {
    /// Something that is not supported, with the variables in it and the names of the functions that it calls.
    pub(super) fn unknown_with(&mut self, what: &str, node: Node<'_>) -> ExprKind {
        let mut inside = Vec::new();
        let mut cursor = node.walk();
        let mut is_down = true;
        loop {
            let here = cursor.node();
            if is_down && here.kind() == "identifier" {
                let text = self.node_text(here);
                let is_called =
                    here.parent().is_some_and(|parent| parent.child_by_field_name("function") == Some(here));
                let kind = match self.lookup(text) {
                    Some(Meaning::Var(id)) => Some(ExprKind::Var(*id)),
                    _ if is_called => Some(ExprKind::Name(text.to_owned())),
                    // A function that is not called here may be from anywhere.
                    Some(Meaning::Other) => {
                        let name = Expr { kind: ExprKind::Name(text.to_owned()), range: range(here) };
                        Some(ExprKind::AddressOf(Box::new(name)))
                    }
                    _ => None,
                };
                inside.extend(kind.map(|kind| Expr { kind, range: range(here) }));
            }
            if is_down && cursor.goto_first_child() {
                continue;
            }
            is_down = cursor.goto_next_sibling();
            if !is_down && !cursor.goto_parent() {
                break;
            }
        }
        ExprKind::Unknown(what.to_owned(), inside)
    }

    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        self.depth += 1;
        let kind = if self.depth > MAX_DEPTH {
            self.unknown_with("a deeply nested expression", node)
        } else {
            self.expr_kind(node)
        };
        // What is used there is used, whatever it is.
        let kind = match kind {
            ExprKind::Unknown(what, inside) if inside.is_empty() => self.unknown_with(&what, node),
            kind => kind,
        };
        self.depth -= 1;
        Expr { kind, range: range(node) }
    }

    /// Reads something that may not be evaluated, or not yet: nothing can be done before the statement for it.
    pub(super) fn unsurely<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.before.take();
        let result = read(self);
        self.before = outer;
        result
    }

    pub(super) fn field(&mut self, node: Node<'_>, name: &str) -> Box<Expr> {
        Box::new(match node.child_by_field_name(name) {
            Some(child) => self.expr(child),
            None => Expr { kind: unknown("an incomplete expression".into()), range: range(node) },
        })
    }

    pub(super) fn operator(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("operator").map_or("", |n| self.node_text(n))
    }

    /// The type in parentheses around a single name, if it is a type name.
    pub(super) fn parenthesized_type(&mut self, node: Node<'_>) -> Option<Type> {
        if node.kind() != "parenthesized_expression" {
            return None;
        }
        let inner = named_children(node);
        let [name] = inner.as_slice() else { return None };
        if name.kind() != "identifier" {
            return None;
        }
        let text = self.node_text(*name);
        match self.lookup(text) {
            Some(Meaning::Type(ty)) => Some(ty.clone()),
            Some(_) => None,
            None => match self.named_type(text) {
                Type::Other(_) => None,
                ty => Some(ty),
            },
        }
    }

    pub(super) fn expr_kind(&mut self, node: Node<'_>) -> ExprKind {
        let text = self.node_text(node);
        match node.kind() {
            "identifier" if self.words.imaginary_at(node.start_byte()).is_some() => self.imaginary(node),
            "identifier" => match self.lookup(text) {
                Some(Meaning::Var(id)) => ExprKind::Var(*id),
                Some(Meaning::Constant(value)) => ExprKind::Int(*value, ScalarType::I32),
                Some(Meaning::Type(_)) => unknown(format!("the type name `{text}` as a value")),
                // From C23 on.
                None if text == "true" => ExprKind::Int(1, ScalarType::I32),
                None if text == "false" => ExprKind::Int(0, ScalarType::I32),
                Some(Meaning::Other) | None => ExprKind::Name(text.to_owned()),
            },
            "number_literal" => {
                // The grammar includes a sign in the number.
                let (sign, digits) = match text.as_bytes().first() {
                    Some(b'-') => (Some(UnaryOp::Neg), &text[1..]),
                    Some(b'+') => (None, &text[1..]),
                    _ => (None, text),
                };
                let kind = match literal::number(digits.trim_start()) {
                    Some(Literal::Int(value, ty)) => ExprKind::Int(value, ty),
                    Some(Literal::Great(value)) => {
                        let kind = ExprKind::Int(value, ScalarType::I64);
                        ExprKind::Cast(
                            Type::scalar(ScalarType::U64),
                            Box::new(Expr { kind, range: range(node) }),
                        )
                    }
                    Some(Literal::Float(text, ty)) => ExprKind::Float(text, ty),
                    None => match self.plain_number(node) {
                        Some(text) => ExprKind::Float(text, ScalarType::F64),
                        None => return unknown(format!("the number `{text}`")),
                    },
                };
                match sign {
                    Some(op) => ExprKind::Unary(op, Box::new(Expr { kind, range: range(node) })),
                    None => kind,
                }
            }
            "char_literal" => match literal::character(text, self.has_unsigned_char) {
                Some(value) => ExprKind::Int(value, ScalarType::I32),
                None => unknown("a character literal".into()),
            },
            "parenthesized_expression" => {
                let inner = named_children(node);
                match inner.as_slice() {
                    [e] if e.kind() == "compound_statement" => match self.statement_expression(*e) {
                        Some(value) => value,
                        None => self.unknown_with("a statement expression", node),
                    },
                    [e] if self.parenthesized_type(node).is_none() => self.expr(*e).kind,
                    _ => self.unknown_with("a cast that could not be read", node),
                }
            }
            "binary_expression" => match binary_op(self.operator(node)) {
                Some(op) => {
                    let left = self.field(node, "left");
                    let right = match op {
                        BinaryOp::And | BinaryOp::Or => self.unsurely(|c| c.field(node, "right")),
                        _ => self.field(node, "right"),
                    };
                    match self.complex_binary(op, &left, &right, range(node)) {
                        Some(kind) => kind,
                        None => ExprKind::Binary(op, left, right),
                    }
                }
                None => unknown(format!("the operator `{}`", self.operator(node))),
            },
            "unary_expression" => {
                let op = self.operator(node).to_owned();
                let argument = self.field(node, "argument");
                if let Some(kind) = self.complex_unary(&op, &argument) {
                    return kind;
                }
                match op.as_str() {
                    "-" => ExprKind::Unary(UnaryOp::Neg, argument),
                    "!" => ExprKind::Unary(UnaryOp::Not, argument),
                    "~" => ExprKind::Unary(UnaryOp::BitNot, argument),
                    "+" => ExprKind::Promote(argument),
                    _ => unknown(format!("the operator `{op}`")),
                }
            }
            "update_expression" => {
                let by = if self.operator(node) == "++" { 1 } else { -1 };
                let operator = node.child_by_field_name("operator");
                let argument = node.child_by_field_name("argument");
                let is_behind = operator.zip(argument).is_some_and(|(o, a)| a.start_byte() < o.start_byte());
                let target = self.field(node, "argument");
                if self.is_complex(&target) {
                    return ExprKind::Unknown("a step of a complex number".into(), vec![*target]);
                }
                ExprKind::Step { target, by, is_behind }
            }
            "assignment_expression" => {
                let op = self.operator(node).to_owned();
                let (left, right) = (self.field(node, "left"), self.field(node, "right"));
                let by = binary_op(op.trim_end_matches('='));
                if let Some(kind) = self.complex_assignment(by, &left, &right, range(node)) {
                    return kind;
                }
                match op.as_str() {
                    "=" => match copied(&mut self.file, &left, &right, range(node)) {
                        Some(members) => members,
                        None => ExprKind::Assign(None, left, right),
                    },
                    _ => match by {
                        Some(op) => ExprKind::Assign(Some(op), left, right),
                        None => unknown(format!("the operator `{op}`")),
                    },
                }
            }
            "conditional_expression" => {
                if node.child_by_field_name("consequence").is_none() {
                    return unknown("`?:` without a middle".into());
                }
                let condition = Box::new(self.condition(node));
                let (then, otherwise) =
                    self.unsurely(|c| (c.field(node, "consequence"), c.field(node, "alternative")));
                if let Some(choice) = self.whole_choice(node, &condition, &then, &otherwise) {
                    return choice;
                }
                match self.complex_select(&condition, &then, &otherwise) {
                    Some(kind) => kind,
                    None => ExprKind::Select(condition, then, otherwise),
                }
            }
            "cast_expression" => {
                let Some(ty) = node.child_by_field_name("type") else {
                    return unknown("a cast that could not be read".into());
                };
                let ty = self.type_descriptor(ty);
                let value = node.child_by_field_name("value").map_or("", |n| self.node_text(n));
                if let (Some(ScalarType::F64), Some(text)) =
                    (ty.as_scalar().map(|s| s.ty), literal::exact_double(value))
                {
                    return ExprKind::Float(text, ScalarType::F64);
                }
                let value = self.field(node, "value");
                match self.complex_cast(&ty, &value) {
                    Some(kind) => kind,
                    None => ExprKind::Cast(ty, value),
                }
            }
            "pointer_expression" => {
                let is_deref = self.operator(node) == "*";
                let argument = self.field(node, "argument");
                if let (true, Some(is_imaginary)) = (is_deref, self.words.part_at(node.start_byte())) {
                    return self.part(&argument, is_imaginary);
                }
                if is_deref { ExprKind::Deref(argument) } else { ExprKind::AddressOf(argument) }
            }
            "subscript_expression" => {
                ExprKind::Index(self.field(node, "argument"), self.field(node, "index"))
            }
            "call_expression" => {
                let callee = node.child_by_field_name("function");
                let args = node.child_by_field_name("arguments");
                let mut args: Vec<_> = args.map(named_children).unwrap_or_default();
                if let (Some(ty), [_]) = (callee.and_then(|f| self.parenthesized_type(f)), args.as_slice()) {
                    let value = self.expr(args.remove(0));
                    return match self.complex_cast(&ty, &value) {
                        Some(kind) => kind,
                        None => ExprKind::Cast(ty, Box::new(value)),
                    };
                }
                let callee = self.field(node, "function");
                let args: Vec<Expr> = args.into_iter().map(|a| self.expr(a)).collect();
                if let ExprKind::Name(name) = &callee.kind
                    && let Some(kind) = expected(name, &args).or_else(|| self.complex_call(name, &args))
                {
                    return kind;
                }
                let args: Vec<Expr> = args.into_iter().map(|e| self.complex_argument(e)).collect();
                let args = self.whole_arguments(&callee, args);
                if let Some(kind) = self.whole_result(&callee, &args, range(node)) {
                    return kind;
                }
                ExprKind::Call(callee, args)
            }
            "field_expression" => {
                let name = node.child_by_field_name("field").map_or("", |n| self.node_text(n)).to_owned();
                let is_arrow = self.operator(node) == "->";
                let base = *self.field(node, "argument");
                member(&mut self.file, base, &name, is_arrow, range(node))
            }
            "comma_expression" => {
                let left = self.field(node, "left");
                ExprKind::Comma(left, self.unsurely(|c| c.field(node, "right")))
            }
            "sizeof_expression" => {
                if let Some(ty) = node.child_by_field_name("type") {
                    return ExprKind::SizeofType(self.type_descriptor(ty));
                }
                if let Some(ty) = node.child_by_field_name("value").and_then(|v| self.parenthesized_type(v)) {
                    return ExprKind::SizeofType(ty);
                }
                ExprKind::SizeofExpr(self.field(node, "value"))
            }
            "string_literal" | "concatenated_string" => unknown("a string".into()),
            "initializer_list" => {
                let values = named_children(node);
                if values.iter().any(|n| n.kind() == "initializer_pair") {
                    return self.unknown_with("a list of initial values", node);
                }
                ExprKind::List(values.into_iter().map(|n| self.expr(n)).collect())
            }
            "compound_literal_expression" => match self.compound_literal(node) {
                Some(value) => value,
                None => self.unknown_with("a compound literal", node),
            },
            "gnu_asm_expression" => self.unknown_with("inline assembly", node),
            "null" => ExprKind::Int(0, ScalarType::I64),
            _ => self.unknown_with("an expression of unknown kind", node),
        }
    }
}

/// What `__builtin_expect` gives, which only tells compilers what is likely.
fn expected(name: &str, args: &[Expr]) -> Option<ExprKind> {
    let [value, _, ..] = args else { return None };
    if !matches!(name, "__builtin_expect" | "__builtin_expect_with_probability") {
        return None;
    }
    let is_truth = match &value.kind {
        ExprKind::Unary(UnaryOp::Not, _) => true,
        ExprKind::Binary(op, ..) => op.is_logical(),
        _ => false,
    };
    Some(match is_truth {
        true => value.kind.clone(),
        false => ExprKind::Cast(Type::scalar(ScalarType::I64), Box::new(value.clone())),
    })
}

//! Statements.

use super::headers::settle_header;
use super::{Converter, MAX_DEPTH, Meaning, named_children, range};
use crate::ast::*;
use std::collections::HashMap;
use tree_sitter::Node;

impl Converter<'_> {
    pub(super) fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    pub(super) fn block_items(&mut self, node: Node<'_>) -> Vec<Stmt> {
        named_children(node).into_iter().filter_map(|child| self.stmt(child)).collect()
    }

    /// A statement or declaration; `None` if it is empty.
    pub(super) fn stmt(&mut self, node: Node<'_>) -> Option<Stmt> {
        self.depth += 1;
        let kind = if self.depth > MAX_DEPTH {
            Some(self.unread("deeply nested code", node))
        } else {
            self.unsurely(|c| c.stmt_kind(node))
        };
        self.depth -= 1;
        Some(Stmt { kind: kind?, range: range(node) })
    }

    pub(super) fn boxed_stmt(&mut self, node: Option<Node<'_>>, around: Node<'_>) -> Box<Stmt> {
        let empty = Stmt { kind: StmtKind::Empty, range: range(around) };
        Box::new(node.and_then(|n| self.scoped(|c| c.stmt(n))).unwrap_or(empty))
    }

    fn label(&self, node: Node<'_>) -> String {
        node.child_by_field_name("label").map_or("", |n| self.node_text(n)).to_owned()
    }

    pub(super) fn condition(&mut self, node: Node<'_>) -> Expr {
        match node.child_by_field_name("condition") {
            Some(c) => {
                let condition = self.expr(c);
                self.as_condition(condition)
            }
            None => {
                Expr { kind: ExprKind::Unknown("a missing condition".into(), Vec::new()), range: range(node) }
            }
        }
    }

    pub(super) fn stmt_kind(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let body = node.child_by_field_name("body");
        Some(match node.kind() {
            "compound_statement" => StmtKind::Block(self.scoped(|c| c.block_items(node))),
            "expression_statement" => match named_children(node).first() {
                Some(e) => match self.disguised_declaration(*e) {
                    Some(declaration) => declaration,
                    None if has_statements(*e) => StmtKind::Block(self.unused_statements(*e)),
                    None => self.unused_value(*e, node),
                },
                None => StmtKind::Empty,
            },
            "declaration" => self.local_declaration(node),
            "type_definition" => {
                self.type_definition(node);
                return None;
            }
            "if_statement" => {
                let (condition, before) = self.with_before(|c| c.condition(node));
                let then = self.boxed_stmt(node.child_by_field_name("consequence"), node);
                let alternative = node.child_by_field_name("alternative");
                let otherwise = alternative
                    .and_then(|clause| named_children(clause).last().copied())
                    .map(|n| self.boxed_stmt(Some(n), node));
                after(before, StmtKind::If { condition, then, otherwise }, range(node))
            }
            "for_statement" => self.scoped(|c| c.for_statement(node)),
            "while_statement" => {
                let condition = self.condition(node);
                StmtKind::While { condition, body: self.boxed_stmt(body, node) }
            }
            "do_statement" => {
                let body = self.boxed_stmt(body, node);
                let condition = self.condition(node);
                // As in macros.
                if constant(&condition) == Some(0) && !leaves_early(&body) {
                    return Some(StmtKind::Block(vec![*body]));
                }
                StmtKind::DoWhile { body, condition }
            }
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "return_statement" => {
                let value = named_children(node).first().copied();
                let (value, before) = self.with_before(|c| value.map(|e| c.expr(e)));
                after(before, StmtKind::Return(value), range(node))
            }
            "goto_statement" => StmtKind::Goto(self.label(node)),
            "labeled_statement" => {
                let inner = named_children(node).last().copied();
                StmtKind::Label(self.label(node), self.boxed_stmt(inner, node))
            }
            "switch_statement" => {
                let condition = self.condition(node);
                let chain = match body {
                    Some(body) => self.scoped(|c| c.switch(&condition, body)),
                    None => Err("no body"),
                };
                let why = match chain {
                    Ok(chain) => return Some(chain),
                    Err(why) => why,
                };
                let body = body.map(|b| self.scoped(|c| c.block_items(b))).unwrap_or_default();
                let condition = Stmt { range: condition.range, kind: StmtKind::Expr(condition) };
                StmtKind::Unknown(
                    format!("a `switch` with {why}"),
                    std::iter::once(condition).chain(body).collect(),
                )
            }
            "case_statement" => {
                let inner = named_children(node).into_iter().filter(|n| is_statement(n.kind()));
                let inner: Vec<_> = inner.collect();
                let body = inner.into_iter().filter_map(|n| self.stmt(n)).collect();
                StmtKind::Unknown("`case`".into(), body)
            }
            "attributed_statement" => {
                let inner = named_children(node).last().copied()?;
                return self.stmt(inner).map(|s| s.kind);
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.type_specifier(node);
                return None;
            }
            ";" => return None,
            "function_definition" => self.unread("a nested function", node),
            _ => self.unread("a statement of unknown kind", node),
        })
    }

    /// A statement that is not supported, with the variables in it.
    fn unread(&mut self, what: &str, node: Node<'_>) -> StmtKind {
        let inside = Expr { kind: self.unknown_with(what, node), range: range(node) };
        StmtKind::Unknown(what.to_owned(), vec![Stmt { range: inside.range, kind: StmtKind::Expr(inside) }])
    }

    /// `real (*A)[m] = ...`, which looks like a call of `real` to a parser that does not know declarations.
    pub(super) fn disguised_declaration(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let mut parts = Vec::new();
        let mut at = node;
        while at.kind() == "comma_expression" {
            parts.push(at.child_by_field_name("left")?);
            at = at.child_by_field_name("right")?;
        }
        parts.push(at);
        let mut base = None;
        let mut found = Vec::new();
        for part in parts {
            let (mut target, value) = if part.kind() == "assignment_expression" {
                (part.child_by_field_name("left")?, part.child_by_field_name("right"))
            } else {
                (part, None)
            };
            let mut sizes = Vec::new();
            while target.kind() == "subscript_expression" {
                sizes.push(target.child_by_field_name("index")?);
                target = target.child_by_field_name("argument")?;
            }
            let pointer = if base.is_none() {
                let name =
                    target.child_by_field_name("function").filter(|_| target.kind() == "call_expression")?;
                let name = self.node_text(name);
                if !matches!(self.lookup(name), Some(Meaning::Type(_)) | None) {
                    return None;
                }
                base = Some(self.named_type(name)).filter(|ty| !matches!(ty, Type::Other(_)));
                base.as_ref()?;
                let args = named_children(target.child_by_field_name("arguments")?);
                let [pointer] = args.as_slice() else { return None };
                *pointer
            } else {
                *named_children(target).first().filter(|_| target.kind() == "parenthesized_expression")?
            };
            let is_pointer =
                pointer.kind() == "pointer_expression" && self.node_text(pointer).starts_with('*');
            let name =
                pointer.child_by_field_name("argument").filter(|n| is_pointer && n.kind() == "identifier")?;
            found.push((part, name, sizes, value));
        }
        let base = base?;
        let mut declared = Vec::new();
        for (part, name, sizes, value) in found {
            let mut ty = base.clone();
            for size in sizes {
                ty = Type::Array {
                    of: Box::new(ty),
                    len: Some(Box::new(self.expr(size))),
                    is_restrict: false,
                };
            }
            let ty = Type::Pointer { to: Box::new(ty), is_restrict: false };
            let name = self.node_text(name);
            let var = self.add_var(name, ty.clone(), VarKind::Local { is_static: false }, range(part));
            let init = value.map(|v| self.expr(v));
            declared.push(Declared::of_type(var, &ty, init));
        }
        Some(StmtKind::Declare(declared))
    }

    /// An expression that is evaluated for what it does; `c ? (void)0 : f()` as an `if`.
    fn unused_value(&mut self, e: Node<'_>, around: Node<'_>) -> StmtKind {
        let (e, before) = self.with_before(|c| c.expr(e));
        let kind = match e.kind {
            ExprKind::Select(condition, one, other) if [&one, &other].into_iter().any(|e| is_void(e)) => {
                let boxed = |e: Expr| Box::new(Stmt { range: e.range, kind: StmtKind::Expr(e) });
                let (then, otherwise) = (boxed(*one), Some(boxed(*other)));
                StmtKind::If { condition: *condition, then, otherwise }
            }
            kind => StmtKind::Expr(Expr { kind, range: e.range }),
        };
        after(before, kind, range(around))
    }

    /// The statements of `(a, ({ b; c; }))`, as macros make them, whose value nobody uses.
    fn unused_statements(&mut self, e: Node<'_>) -> Vec<Stmt> {
        let kind = match (e.kind(), named_children(e).as_slice()) {
            ("comma_expression", [left, right]) => {
                return [self.unused_statements(*left), self.unused_statements(*right)].concat();
            }
            ("parenthesized_expression", [inner]) if inner.kind() == "compound_statement" => {
                StmtKind::Block(self.scoped(|c| c.block_items(*inner)))
            }
            ("parenthesized_expression", [inner]) if has_statements(*inner) => {
                return self.unused_statements(*inner);
            }
            _ => self.unused_value(e, e),
        };
        vec![Stmt { kind, range: range(e) }]
    }

    pub(super) fn local_declaration(&mut self, node: Node<'_>) -> StmtKind {
        let specifiers = self.specifiers(node);
        // A type that could not be read may be computed from any variables that are named there.
        let unread = node.child_by_field_name("type").filter(|_| matches!(specifiers.ty, Type::Other(_)));
        let unread = unread.map(|ty| Expr { kind: self.unknown_with("a type", ty), range: range(ty) });
        let mut declared = Vec::new();
        // Those with what must be done before them.
        let mut first = Vec::new();
        let declare = |declared, range| Stmt { kind: StmtKind::Declare(declared), range };
        for (name, ty, init, range) in self.declarators(node, &specifiers.ty) {
            if ty == Type::Function {
                self.bind(&name, Meaning::Other);
                continue;
            }
            if specifiers.is_extern {
                // A file-scope variable in disguise, which the reader does not follow.
                self.bind(&name, Meaning::Other);
                continue;
            }
            let kind = VarKind::Local { is_static: specifiers.is_static };
            let var = self.add_var(&name, ty.clone(), kind, range);
            let name = Expr { kind: ExprKind::Var(var), range };
            let list = init.filter(|n| n.kind() == "initializer_list");
            if init.is_some() {
                self.note_fixed(var, specifiers.is_const);
            }
            let (init, before) = self.with_before(|c| {
                if let Some(list) = list
                    && !specifiers.is_static
                    && let Some(values) = c.listed(list, &ty).filter(|_| ty.is_of_structures())
                {
                    return Some((None, Some(c.set_members(&name, values, range))));
                }
                let init = init.map(|n| c.expr(n))?;
                let set = if list.is_some() { None } else { c.whole_assignment(&name, &init, range) };
                match set {
                    // The value of a number, the real part of a complex one included.
                    Some(ExprKind::Assign(None, _, value))
                        if c.file.type_of(&name)?.as_scalar().is_some() =>
                    {
                        Some((Some(*value), None))
                    }
                    Some(kind) => {
                        Some((None, Some(Stmt { kind: StmtKind::Expr(Expr { kind, range }), range })))
                    }
                    None => Some((Some(init), None)),
                }
            });
            let (init, set) = init.unwrap_or_default();
            let mut own = Declared::of_type(var, &ty, init);
            own.lengths.extend(unread.clone());
            if set.is_some() || !before.is_empty() {
                first.push(declare(std::mem::take(&mut declared), range));
                first.extend(before);
                first.push(declare(vec![own], range));
                first.extend(set);
                continue;
            }
            declared.push(own);
        }
        let is_static = specifiers.is_static;
        if !first.is_empty() && is_static {
            return StmtKind::Unknown("a static structure".into(), first);
        }
        if first.is_empty() {
            return StmtKind::Declare(declared);
        }
        first.push(declare(declared, range(node)));
        first.retain(|s| !matches!(&s.kind, StmtKind::Declare(none) if none.is_empty()));
        StmtKind::Block(first)
    }

    /// Reads part of a statement, and what must be done before it.
    pub(super) fn with_before<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        let outer = self.before.replace(Vec::new());
        let result = read(self);
        (result, std::mem::replace(&mut self.before, outer).unwrap_or_default())
    }

    pub(super) fn for_statement(&mut self, node: Node<'_>) -> StmtKind {
        let init = node.child_by_field_name("initializer").and_then(|n| {
            if n.kind() == "declaration" {
                return self.stmt(n);
            }
            let e = self.expr(n);
            Some(Stmt { range: e.range, kind: StmtKind::Expr(e) })
        });
        let condition = node.child_by_field_name("condition").map(|n| {
            let condition = self.expr(n);
            self.as_condition(condition)
        });
        let step = node.child_by_field_name("update").map(|n| self.expr(n));
        let body = *self.boxed_stmt(node.child_by_field_name("body"), node);
        let mut parts =
            For { init, condition, step, body, is_behind: false, enters_with: None, runs_first: false };
        settle_header(&self.file, &mut parts);
        StmtKind::For(Box::new(parts))
    }
}

/// A statement after others.
fn after(mut before: Vec<Stmt>, kind: StmtKind, range: Range) -> StmtKind {
    if before.is_empty() {
        return kind;
    }
    before.push(Stmt { kind, range });
    StmtKind::Block(before)
}

/// Whether a `break` or `continue` in a statement refers to an enclosing loop.
pub(super) fn leaves_early(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => false,
        _ => s.children().into_iter().any(leaves_early),
    }
}

fn is_void(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Cast(Type::Void, _))
}

/// Whether an expression is a statement expression, or a comma expression with such.
fn has_statements(e: Node<'_>) -> bool {
    match (e.kind(), named_children(e).as_slice()) {
        ("comma_expression", [left, right]) => has_statements(*left) || has_statements(*right),
        ("parenthesized_expression", [inner]) => {
            inner.kind() == "compound_statement" || has_statements(*inner)
        }
        _ => false,
    }
}

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") || kind == "declaration"
}

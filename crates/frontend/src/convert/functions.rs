//! Function definitions.

use super::{Converter, Meaning, children, named_children, range};
use crate::ast::*;
use std::collections::HashMap;
use tree_sitter::Node;

impl Converter<'_> {
    /// The name in a function's definition.
    pub(super) fn name_of_function(&self, definition: Node<'_>) -> Option<String> {
        let mut at = definition.child_by_field_name("declarator")?;
        while at.kind() != "identifier" {
            at = at.child_by_field_name("declarator").or_else(|| named_children(at).first().copied())?;
        }
        Some(self.node_text(at).to_owned())
    }

    pub(super) fn function_definition(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        let Some(declarator) = node.child_by_field_name("declarator") else { return };
        let mut returns = specifiers.ty;
        let mut at = declarator;
        while at.kind() != "function_declarator" {
            if at.kind() == "pointer_declarator" {
                returns = Type::Pointer { to: Box::new(returns), is_restrict: false };
            }
            let next = at.child_by_field_name("declarator").or_else(|| named_children(at).first().copied());
            let Some(next) = next else { return };
            at = next;
        }
        let Some(name) = at.child_by_field_name("declarator") else { return };
        if name.kind() != "identifier" {
            return;
        }
        let name = self.node_text(name).to_owned();
        self.scopes[0].insert(name.clone(), Meaning::Other);
        let problem = if node.has_error() {
            first_error(node).map(|e| ("this could not be read as C".to_owned(), range(e)))
        } else {
            None
        };
        let function = self.file.functions.len();
        self.function = Some(function);
        self.file.functions.push(Function {
            name,
            is_static: specifiers.is_static,
            returns,
            params: Vec::new(),
            body: Stmt { kind: StmtKind::Empty, range: Range::default() },
            range: range(node),
            problem: problem.clone(),
        });
        self.scopes.push(HashMap::new());
        if problem.is_none() {
            if is_old_style(at) {
                self.old_params(node, at, function);
            } else {
                self.params(at, function);
            }
            if let Some(body) = node.child_by_field_name("body") {
                // Parameters and the outermost block share a scope.
                let statements = self.block_items(body);
                let body = Stmt { kind: StmtKind::Block(statements), range: range(body) };
                self.file.functions[function].body = body;
                self.settle_result(function);
            }
        }
        self.scopes.pop();
        self.function = None;
    }

    /// Old-style parameters: `f(n, x) int n; double *x;`. Those without a declaration are `int`.
    pub(super) fn old_params(&mut self, definition: Node<'_>, declarator: Node<'_>, function: usize) {
        let mut declared: HashMap<String, (Type, Range)> = HashMap::new();
        for node in children(definition).into_iter().filter(|n| n.kind() == "declaration") {
            let specifiers = self.specifiers(node);
            for (name, ty, _, range) in self.declarators(node, &specifiers.ty) {
                declared.insert(name, (ty, range));
            }
        }
        let Some(list) = declarator.child_by_field_name("parameters") else { return };
        for (position, node) in named_children(list).into_iter().enumerate() {
            let name = self.node_text(node);
            let int = || (Type::scalar(oxeye_ir::ScalarType::I32), range(node));
            let (ty, range) = declared.remove(name).unwrap_or_else(int);
            let var = self.add_var(name, ty, VarKind::Param(position), range);
            self.file.functions[function].params.push(var);
        }
    }

    pub(super) fn params(&mut self, declarator: Node<'_>, function: usize) {
        let Some(list) = declarator.child_by_field_name("parameters") else { return };
        let nodes: Vec<_> =
            named_children(list).into_iter().filter(|n| n.kind() == "parameter_declaration").collect();
        for (position, node) in nodes.into_iter().enumerate() {
            let specifiers = self.specifiers(node);
            let named = match node.child_by_field_name("declarator") {
                Some(d) => self.declarator(d, specifiers.ty),
                None => Some((None, specifiers.ty)),
            };
            let (name, ty) = named.unwrap_or((None, Type::Other("an unreadable type".into())));
            if ty == Type::Void && name.is_none() {
                continue;
            }
            let var = self.add_var(&name.unwrap_or_default(), ty, VarKind::Param(position), range(node));
            self.file.functions[function].params.push(var);
        }
    }
}

/// Whether parameters are names without types.
fn is_old_style(declarator: Node<'_>) -> bool {
    let list = declarator.child_by_field_name("parameters");
    list.is_some_and(|l| named_children(l).iter().any(|n| n.kind() == "identifier"))
}

/// The first part that is wrong or missing.
fn first_error(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    loop {
        let next = children(at).into_iter().find(|n| n.is_error() || n.is_missing() || n.has_error());
        match next {
            Some(n) if n.is_error() || n.is_missing() => return Some(n),
            Some(n) => at = n,
            None => return Some(at),
        }
    }
}

//! Pointers to functions that lead to the same function in every call: `apply(x, n, relu)` of a static
//! `apply(double *x, int n, double (*f)(double))`.

use crate::ast::*;
use crate::flow::is_address_taken;
use crate::lexer::{TokenKind, tokens};
use crate::scan::Scan;
use std::collections::{HashMap, HashSet};

/// Records the parameters, and what they lead to.
pub(crate) fn find(file: &mut File, text: &str) {
    let called = called_only(file, text);
    let mut given: HashMap<VarId, Option<String>> = HashMap::new();
    for function in &file.functions {
        function.body.walk_exprs(&mut |e| {
            let ExprKind::Call(callee, args) = &e.kind else { return };
            let ExprKind::Name(name) = &callee.kind else { return };
            let Some((_, target)) = file.function(name).filter(|_| called.contains(name.as_str())) else {
                return;
            };
            for (k, param) in target.params.iter().enumerate() {
                let leads_to = args.get(k).and_then(function_named);
                let known = given.entry(*param).or_insert_with(|| leads_to.map(str::to_owned));
                if known.as_deref() != leads_to {
                    *known = None;
                }
            }
        });
    }
    let mut found = HashMap::new();
    for function in file.functions.iter().filter(|f| f.problem.is_none()) {
        let written = Scan::of(file, &function.body).written;
        for param in &function.params {
            let Some(Some(name)) = given.get(param) else { continue };
            let is_function = file.function(name).is_some_and(|(_, f)| f.problem.is_none());
            if is_function && !written.contains(param) && !is_address_taken(function, *param) {
                found.insert(*param, name.clone());
            }
        }
    }
    file.callees = found;
}

/// The static functions of the file that nothing names other than to call them.
fn called_only<'f>(file: &'f File, text: &str) -> HashSet<&'f str> {
    let mut found: HashSet<&str> = file
        .functions
        .iter()
        .filter(|f| f.is_static && f.problem.is_none())
        .map(|f| f.name.as_str())
        .collect();
    let all = tokens(text);
    for (k, token) in all.iter().enumerate() {
        if token.kind == TokenKind::Word && !all.get(k + 1).is_some_and(|next| next.is("(")) {
            found.remove(token.text);
        }
    }
    found
}

/// The function that an argument is.
fn function_named(e: &Expr) -> Option<&str> {
    match &e.uncast().kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::AddressOf(inner) => function_named(inner),
        _ => None,
    }
}

impl File {
    /// The function that is called, if that is known.
    pub(crate) fn callee<'a>(&'a self, e: &'a Expr) -> Option<&'a str> {
        match &e.kind {
            ExprKind::Name(name) => Some(name),
            ExprKind::Var(v) => self.callees.get(v).map(String::as_str),
            ExprKind::Deref(inner) => self.callee(inner).filter(|_| inner.as_var().is_some()),
            _ => None,
        }
    }
}

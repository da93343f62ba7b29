//! Structures by value: copied, built from lists, passed to and returned by functions of the file. Each is some variable;
//! what is copied are its members.

use super::complex::unknown;
use super::{Converter, MAX_DEPTH, named_children, range};
use crate::ast::*;
use crate::members::{Part, copied, members_at, ways_inside};
use crate::scan::Scan;
use oxeye_ir::ScalarType;
use tree_sitter::Node;

/// Most numbers in the list of an array of structures; longer ones are tables.
const MOST_LISTED: usize = 64;

impl Converter<'_> {
    /// `target = value`, if they are structures or complex numbers.
    pub(super) fn whole_assignment(&mut self, target: &Expr, value: &Expr, range: Range) -> Option<ExprKind> {
        match self.complex_assignment(None, target, value, range) {
            Some(kind) => Some(kind),
            None => copied(&mut self.file, target, value, range),
        }
    }

    /// Makes a function that returns a structure or a complex number, and otherwise only computes, one that stores it where
    /// one more parameter leads.
    pub(super) fn settle_result(&mut self, function: usize) {
        let f = &self.file.functions[function];
        let Type::Struct(id) = f.returns else { return };
        if !self.file.only_computes(f) || self.members_of(id).is_none() {
            return;
        }
        let (name, range, position) = (f.name.clone(), f.body.range, f.params.len());
        let result = Type::Pointer { to: Box::new(Type::Struct(id)), is_restrict: true };
        let var = self.add_var("whole.result", result, VarKind::Param(position), range);
        let target = Expr { kind: ExprKind::Var(var), range };
        let target = Expr { kind: ExprKind::Deref(Box::new(target)), range };
        let mut body = self.file.functions[function].body.clone();
        if self.store_result(&mut body, &target).is_none() {
            return;
        }
        let f = &mut self.file.functions[function];
        f.params.push(var);
        (f.body, f.returns) = (body, Type::Void);
        self.with_results.insert(name, id);
    }

    /// Puts an assignment before every `return`.
    fn store_result(&mut self, s: &mut Stmt, target: &Expr) -> Option<()> {
        match &mut s.kind {
            StmtKind::Block(body) => body.iter_mut().try_for_each(|s| self.store_result(s, target)),
            StmtKind::If { then, otherwise, .. } => {
                self.store_result(then, target)?;
                otherwise.as_mut().map_or(Some(()), |s| self.store_result(s, target))
            }
            StmtKind::For(f) => self.store_result(&mut f.body, target),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => self.store_result(body, target),
            StmtKind::Return(value) => {
                let value = value.take()?;
                let kind = self.whole_assignment(target, &value, value.range)?;
                if matches!(kind, ExprKind::Unknown(..)) {
                    return None;
                }
                let set = StmtKind::Expr(Expr { kind, range: value.range });
                let statements = [set, StmtKind::Return(None)].map(|kind| Stmt { kind, range: s.range });
                s.kind = StmtKind::Block(statements.into());
                Some(())
            }
            StmtKind::Empty | StmtKind::Expr(_) | StmtKind::Declare(_) | StmtKind::Break => Some(()),
            StmtKind::Continue => Some(()),
            StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..) => None,
        }
    }

    /// The result of a function of the file that returns a structure or a complex number, called before the statement.
    pub(super) fn whole_result(&mut self, callee: &Expr, args: &[Expr], range: Range) -> Option<ExprKind> {
        let ExprKind::Name(name) = &callee.kind else { return None };
        let id = *self.with_results.get(name)?;
        let what = if self.file.structures[id].complex.is_some() { "complex number" } else { "structure" };
        if self.before.is_none() || args.iter().any(has_effects) {
            return Some(unknown(&format!("a function that returns a {what}, here,")));
        }
        let name = if what == "structure" { "structure.value" } else { "complex.value" };
        let value = self.whole_variable(name, id, range);
        let address = Expr { kind: ExprKind::AddressOf(Box::new(value.clone())), range };
        let args = args.iter().cloned().chain([address]).collect();
        let call = Expr { kind: ExprKind::Call(Box::new(callee.clone()), args), range };
        self.before.get_or_insert_default().push(Stmt { kind: StmtKind::Expr(call), range });
        Some(value.kind)
    }

    /// A variable for a structure that the source has no name for, declared before the statement.
    fn whole_variable(&mut self, name: &str, id: usize, range: Range) -> Expr {
        let var = self.own_variable(name, Type::Struct(id), range);
        let value = Expr { kind: ExprKind::Var(var), range };
        self.know_members(&value);
        let declared = StmtKind::Declare(vec![Declared::plain(var, None)]);
        self.before.get_or_insert_default().push(Stmt { kind: declared, range });
        value
    }

    /// Structures as arguments of a function of the file: copies, where the function changes them.
    pub(super) fn whole_arguments(&mut self, callee: &Expr, args: Vec<Expr>) -> Vec<Expr> {
        let mut changed = vec![false; args.len()];
        if let ExprKind::Name(name) = &callee.kind
            && let Some((_, function)) = self.file.function(name)
        {
            let scan = Scan::of(&self.file, &function.body);
            for var in scan.written.iter().chain(&scan.stored) {
                let param = function.params.iter().position(|p| *p == self.file.root(*var));
                if let Some(is_changed) = param.and_then(|k| changed.get_mut(k)) {
                    *is_changed = true;
                }
            }
        }
        let mut passed = Vec::new();
        for (arg, is_changed) in args.into_iter().zip(changed) {
            passed.push(self.whole_argument(arg, is_changed));
        }
        passed
    }

    fn whole_argument(&mut self, arg: Expr, is_changed: bool) -> Expr {
        let Some(Type::Struct(id)) = self.file.type_of(&arg) else { return arg };
        self.know_members(&arg);
        if !is_changed || self.before.is_none() || self.members_of(id).is_none() || has_effects(&arg) {
            return arg;
        }
        let range = arg.range;
        let copy = self.whole_variable("structure.copy", id, range);
        if let Some(set) = copied(&mut self.file, &copy, &arg, range) {
            let set = Stmt { kind: StmtKind::Expr(Expr { kind: set, range }), range };
            self.before.get_or_insert_default().push(set);
            return copy;
        }
        arg
    }

    /// Lets a structure that is passed by value have all its members as variables.
    fn know_members(&mut self, e: &Expr) {
        let Some(Type::Struct(id)) = self.file.type_of(e) else { return };
        for way in self.members_of(id).unwrap_or_default() {
            members_at(&mut self.file, e, &way, e.range);
        }
    }

    /// The ways to the numbers and pointers in a structure.
    fn members_of(&self, id: usize) -> Option<Vec<Vec<Part>>> {
        let mut ways = Vec::new();
        ways_inside(&self.file, &Type::Struct(id), &mut Vec::new(), &mut ways)?;
        Some(ways)
    }

    /// `(vec3){ x, y, z }`: a variable that is set before the statement.
    pub(super) fn compound_literal(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let ty = self.type_descriptor(node.child_by_field_name("type")?);
        let Type::Struct(id) = ty else { return None };
        let values = self.listed(node.child_by_field_name("value")?, &ty)?;
        let has_pointers = {
            let fields = self.file.structures.get(id)?.fields.as_ref()?;
            fields.iter().any(|field| matches!(field.ty, Type::Pointer { .. }))
        };
        if has_pointers || self.before.is_none() {
            return None;
        }
        let target = self.whole_variable("structure.literal", id, range(node));
        let set = self.set_members(&target, values, range(node));
        self.before.get_or_insert_default().push(set);
        Some(target.kind)
    }

    /// `c ? a : b` of structures or complex numbers, one of which needs statements of its own, such as a call: a variable that
    /// is set before the statement. `None` if nothing can be done before it, or the two are something else.
    pub(super) fn whole_choice(
        &mut self,
        node: Node<'_>,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Option<ExprKind> {
        let ways = ["consequence", "alternative"].map(|name| node.child_by_field_name(name));
        let [Some(first), Some(second)] = ways else { return None };
        let is_unread = [then, otherwise].into_iter().any(|e| matches!(e.kind, ExprKind::Unknown(..)));
        let id = self.made_structure(first, 0).or_else(|| self.made_structure(second, 0)).or_else(|| {
            let mut types = [then, otherwise].into_iter().filter_map(|e| self.file.type_of(e));
            types.find_map(|ty| if let Type::Struct(id) = ty { Some(id) } else { None })
        })?;
        let is_read_as_numbers = self.file.structures[id].complex.is_some() && !is_unread;
        let n_before = self.before.as_ref()?.len();
        if is_read_as_numbers || self.members_of(id).is_none() || has_effects(condition) {
            return None;
        }
        let range = range(node);
        let target = self.whole_variable("structure.choice", id, range);
        let set = [first, second].map(|way| {
            let (set, mut statements) = self.with_before(|c| {
                let value = c.expr(way);
                let set = if has_effects(&value) { None } else { c.whole_assignment(&target, &value, range) };
                set.filter(|kind| !matches!(kind, ExprKind::Unknown(..)))
            });
            statements.push(Stmt { kind: StmtKind::Expr(Expr { kind: set?, range }), range });
            Some(Box::new(Stmt { kind: StmtKind::Block(statements), range }))
        });
        let [Some(then), Some(otherwise)] = set else {
            self.before.get_or_insert_default().truncate(n_before);
            return None;
        };
        let kind = StmtKind::If { condition: condition.clone(), then, otherwise: Some(otherwise) };
        self.before.get_or_insert_default().push(Stmt { kind, range });
        Some(target.kind)
    }

    /// The structure that an expression makes.
    fn made_structure(&mut self, node: Node<'_>, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        match node.kind() {
            "parenthesized_expression" => {
                self.made_structure(named_children(node).first().copied()?, depth + 1)
            }
            "conditional_expression" => ["consequence", "alternative"].into_iter().find_map(|name| {
                node.child_by_field_name(name).and_then(|n| self.made_structure(n, depth + 1))
            }),
            "call_expression" => {
                let name = node.child_by_field_name("function")?;
                self.with_results.get(self.node_text(name)).copied()
            }
            "compound_literal_expression" => match self.type_descriptor(node.child_by_field_name("type")?) {
                Type::Struct(id) => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// The values of a list for a structure, with the members that they are for: those that it does not name are zero. `None`
    /// if it cannot be told which member a value is for.
    pub(super) fn listed(&mut self, list: Node<'_>, ty: &Type) -> Option<Vec<(Vec<Part>, Expr)>> {
        let mut values = Vec::new();
        // `{0}`, however deep the first number is.
        if let [only] = named_children(list).as_slice()
            && self.node_text(*only) == "0"
            && ty.is_of_structures()
        {
            let zero = Expr { kind: ExprKind::Int(0, ScalarType::I32), range: range(*only) };
            let mut ways = Vec::new();
            ways_inside(&self.file, ty, &mut Vec::new(), &mut ways)?;
            return Some(ways.into_iter().map(|way| (way, zero.clone())).collect());
        }
        self.listed_in(list, ty, &mut Vec::new(), &mut values)?;
        Some(values).filter(|values| matches!(ty, Type::Struct(_)) || values.len() <= MOST_LISTED)
    }

    fn listed_in(
        &mut self,
        list: Node<'_>,
        ty: &Type,
        way: &mut Vec<Part>,
        values: &mut Vec<(Vec<Part>, Expr)>,
    ) -> Option<()> {
        let parts: Vec<(Part, Type)> = match ty {
            Type::Struct(id) => {
                self.members_of(*id)?;
                let fields = self.file.structures.get(*id)?.fields.as_ref()?;
                fields.iter().map(|f| (Part::Field(f.name.clone()), f.ty.clone())).collect()
            }
            Type::Array { of, len: Some(len), .. } => {
                (0..constant(len)?).map(|k| (Part::Element(k), (**of).clone())).collect()
            }
            _ => return None,
        };
        let mut given: Vec<Option<Node<'_>>> = vec![None; parts.len()];
        let mut next = 0;
        for node in named_children(list) {
            let mut value = node;
            if node.kind() == "initializer_pair" {
                let designator = node.child_by_field_name("designator")?;
                let name = named_children(designator).first().map(|n| self.node_text(*n).to_owned())?;
                next = parts.iter().position(|(part, _)| *part == Part::Field(name.clone()))?;
                value = node.child_by_field_name("value")?;
            }
            *given.get_mut(next)? = Some(value);
            next += 1;
        }
        for ((part, ty), node) in parts.into_iter().zip(given) {
            way.push(part);
            match (node, &ty) {
                (Some(node), Type::Scalar(_) | Type::Pointer { .. }) if node.kind() != "initializer_list" => {
                    let value = self.expr(node);
                    let is_plain = !has_effects(&value);
                    values.push((way.clone(), Some(value).filter(|_| is_plain)?));
                }
                (Some(node), ty) if node.kind() == "initializer_list" => {
                    self.listed_in(node, ty, way, values)?;
                }
                (Some(_), _) => return None,
                (None, ty) => {
                    let mut ways = Vec::new();
                    ways_inside(&self.file, ty, way, &mut ways)?;
                    let zero = Expr { kind: ExprKind::Int(0, ScalarType::I32), range: range(list) };
                    values.extend(ways.into_iter().map(|way| (way, zero.clone())));
                }
            }
            way.pop();
        }
        Some(())
    }

    /// Assignments to members.
    pub(super) fn set_members(&mut self, to: &Expr, values: Vec<(Vec<Part>, Expr)>, range: Range) -> Stmt {
        let set = values.into_iter().map(|(way, value)| {
            let member = members_at(&mut self.file, to, &way, range);
            let kind = ExprKind::Assign(None, Box::new(member), Box::new(value));
            Stmt { kind: StmtKind::Expr(Expr { kind, range }), range }
        });
        Stmt { kind: StmtKind::Block(set.collect()), range }
    }
}

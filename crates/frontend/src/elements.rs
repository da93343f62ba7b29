//! Members of structures in arrays by an index that may be the same in all of a nest: `blocks[b].data`, `blocks[order[n]].data`.
//!
//! For C they are elements of `blocks[].data`, and so they are for whatever looks for writes and uses. Where a nest leaves
//! the index as it is, each is a variable of its own, made here; only of arrays in whose structures something leads
//! further, since all others are arrays of numbers as they are.

use crate::ast::*;
use oxeye_binding::Step;
use oxeye_ir::BinaryOp;
use std::collections::{HashMap, HashSet};

/// Most such variables of one file.
const MOST_ELEMENTS: usize = 4_000;

/// What a member's variable and its subscript belong to: the array of structures.
type Array = (VarId, Vec<Step>);

/// Makes the variables.
pub(crate) fn find(file: &mut File) {
    let mut leading: HashSet<Array> = HashSet::new();
    let bodies = || file.functions.iter().map(|f| &f.body);
    for body in bodies() {
        body.walk_exprs(&mut |e| {
            leading.extend(file.element_of(e).filter(|(of, ..)| file.leads(*of)).map(|e| e.2))
        });
    }
    let mut found: HashMap<VarId, Vec<Expr>> = HashMap::new();
    let mut order = Vec::new();
    for body in bodies().filter(|_| !leading.is_empty()) {
        body.walk_exprs(&mut |e| {
            let Some((of, index, array)) = file.element_of(e) else { return };
            let known = found.entry(of).or_default();
            if leading.contains(&array) && !known.iter().any(|other| alike(other, index)) {
                known.push(index.clone());
                order.push((of, index.clone()));
            }
        });
    }
    for (of, index) in order.into_iter().take(MOST_ELEMENTS) {
        make(file, of, index);
    }
}

/// Makes the variable of a member of one structure.
fn make(file: &mut File, of: VarId, index: Expr) -> Option<()> {
    let (root, mut steps) = file.array_of(of)?;
    let Variable { ty, kind, range, function, member, .. } = file.var(of).clone();
    let rest = member?.steps.split_off(steps.len() + 1);
    steps.extend(file.is_behind_pointer(root, &steps).then_some(Step::Follow));
    let text = text(file, &index)?;
    let sum = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    steps.push(Step::Element(
        sum.filter(|_| matches!(index.kind, ExprKind::Binary(..))).unwrap_or(&text).to_owned(),
    ));
    steps.extend(rest);
    let view = oxeye_binding::View {
        root: file.var(root).name.clone(),
        declaration: String::new(),
        steps,
        is_loaded: false,
        record: None,
    };
    let (name, ty) = (view.base(), ty.pointee()?.clone());
    let member = Some(Member { root, steps: view.steps });
    let var = VarId(file.vars.len() as u32);
    file.vars.push(Variable { name, ty, kind, range, function, member });
    file.elements.entry(of).or_default().push((index, var));
    Some(())
}

impl File {
    /// The variable of a member of one element, for a member's variable with an index.
    pub(crate) fn element(&self, of: VarId, index: &Expr) -> Option<VarId> {
        self.elements.get(&of)?.iter().find(|(known, _)| alike(known, index)).map(|(_, var)| *var)
    }

    /// A member of an element of an array of structures: the member's variable, the index, and the array.
    pub(crate) fn element_of<'e>(&self, e: &'e Expr) -> Option<(VarId, &'e Expr, Array)> {
        let ExprKind::Index(base, index) = &e.kind else { return None };
        let of = base.as_var()?;
        Some((of, &**index, self.array_of(of)?))
    }

    /// Whether a member of structures in an array is a pointer.
    pub(crate) fn leads(&self, of: VarId) -> bool {
        matches!(self.var(of).ty.pointee(), Some(Type::Pointer { .. }))
    }

    /// The array of structures that a member's variable belongs to, if that takes one subscript and the array is a pointer
    /// or a declared array.
    pub(crate) fn array_of(&self, of: VarId) -> Option<Array> {
        let member = self.var(of).member.as_ref()?;
        let at = member.steps.iter().position(|s| *s == Step::Subscript)?;
        let rest = &member.steps[at + 1..];
        let is_plain = rest.iter().all(|s| matches!(s, Step::Field(_)));
        let root = self.var(member.root);
        let is_passed = matches!((&root.ty, root.kind), (Type::Array { .. }, VarKind::Param(_)));
        (is_plain && !is_passed).then(|| (member.root, member.steps[..at].to_vec()))
    }

    /// The variables of arrays of structures in which a nest follows pointers.
    pub(crate) fn led_by_elements(&self, nest: &Stmt) -> HashSet<VarId> {
        let mut found = HashSet::new();
        nest.walk_exprs(&mut |e| {
            let led = self.element_of(e).filter(|(of, ..)| self.leads(*of));
            found.extend(led.map(|(.., (root, _))| root));
        });
        found
    }

    /// Whether what these steps lead to is a pointer.
    fn is_behind_pointer(&self, root: VarId, steps: &[Step]) -> bool {
        let mut ty = &self.var(root).ty;
        for step in steps {
            let next = match (step, ty) {
                (Step::Follow, ty) => ty.pointee(),
                (Step::Field(name), Type::Struct(id)) => self.structures[*id].field(name).map(|f| &f.ty),
                _ => None,
            };
            let Some(next) = next else { return false };
            ty = next;
        }
        matches!(ty, Type::Pointer { .. })
    }
}

/// A sum of numbers, integer variables and elements of arrays of them, as C.
fn text(file: &File, e: &Expr) -> Option<String> {
    Some(match &e.kind {
        ExprKind::Int(value, ty) if *ty == oxeye_ir::ScalarType::I32 => value.to_string(),
        ExprKind::Var(v) if !file.var(*v).is_own() => {
            let is_steady = |m: &Member| m.steps.iter().all(|s| matches!(s, Step::Field(_) | Step::Follow));
            file.var(*v).member.as_ref().is_none_or(is_steady).then(|| file.var(*v).name.clone())?
        }
        ExprKind::Index(base, index) => format!("{}[{}]", text(file, base)?, text(file, index)?),
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
            format!("({} {} {})", text(file, l)?, op.symbol()?.0, text(file, r)?)
        }
        _ => return None,
    })
}

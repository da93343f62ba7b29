//! Members of structures as separate variables: `g->u` is one that leads to an array, `x[i][j].re` is an element of one
//! whose elements are not adjacent.

use crate::ast::*;
use oxeye_binding::{Record, Step};
use oxeye_ir::{BinaryOp, ScalarType};

/// Longest list of runs that describes a structure.
const MOST_RUNS: usize = 64;

/// `base.field` or `base->field`.
pub(crate) fn member(file: &mut File, base: Expr, field: &str, is_arrow: bool, range: Range) -> ExprKind {
    let found = if is_arrow { pointed_at(file, &base) } else { place(file, &base) };
    let made = found.and_then(|(var, subscripts)| {
        let (var, subscripts) = variable(file, var, &subscripts, field)?;
        Some((var, subscripts.into_iter().cloned().collect::<Vec<_>>()))
    });
    match made {
        Some((var, subscripts)) => subscripts.into_iter().fold(ExprKind::Var(var), |base, index| {
            let base = Expr { kind: base, range };
            let index = index.unwrap_or(Expr { kind: ExprKind::Int(0, ScalarType::I32), range });
            ExprKind::Index(Box::new(base), Box::new(index))
        }),
        None => ExprKind::Member(Box::new(base), field.to_owned()),
    }
}

/// The names of a complex number's parts, which cannot be those of other members.
pub(crate) const PARTS: [&str; 2] = ["(real)", "(imaginary)"];

/// The name of a part of a complex number, or of the lanes of a vector, that is a variable by itself.
pub(crate) fn name_of_part(member: &Member, name: &str) -> Option<String> {
    let suffix = match member.steps.last()? {
        Step::Real => "re",
        Step::Imaginary => "im",
        Step::Lanes(_) => return name.rsplit_once('&')?.1.strip_suffix(')').map(str::to_owned),
        _ => return None,
    };
    let whole = name.strip_prefix("(__real__ ").or_else(|| name.strip_prefix("(__imag__ "))?;
    Some(format!("{}_{suffix}", whole.strip_suffix(')')?))
}

/// The step to a member.
fn step_to(name: &str) -> Step {
    match PARTS.iter().position(|part| *part == name) {
        Some(0) => Step::Real,
        Some(_) => Step::Imaginary,
        None => Step::Field(name.to_owned()),
    }
}

/// The name of the member that a step leads to.
pub(crate) fn member_of(step: &Step) -> Option<&str> {
    match step {
        Step::Field(name) => Some(name),
        Step::Real => Some(PARTS[0]),
        Step::Imaginary => Some(PARTS[1]),
        Step::Follow | Step::Subscript | Step::Element(_) | Step::Lanes(_) => None,
    }
}

/// Most members of a structure whose assignment is read.
pub(crate) const MOST_COPIED: usize = 32;

/// `to = from` of structures, member by member; `None` if that is not equivalent, or there are too many.
pub(crate) fn copied(file: &mut File, to: &Expr, from: &Expr, range: Range) -> Option<ExprKind> {
    let (Some(Type::Struct(id)), Some(Type::Struct(other))) = (file.type_of(to), file.type_of(from)) else {
        return None;
    };
    let is_plain = |e: &Expr| {
        let mut is_plain = true;
        e.walk(&mut |e| {
            is_plain &= matches!(
                e.kind,
                ExprKind::Int(..)
                    | ExprKind::Var(_)
                    | ExprKind::Index(..)
                    | ExprKind::Deref(_)
                    | ExprKind::AddressOf(_)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Member(..)
                    | ExprKind::Cast(Type::Scalar(_), _)
            );
        });
        is_plain
    };
    if id != other || !is_plain(to) || !is_plain(from) {
        return None;
    }
    let mut ways = Vec::new();
    ways_inside(file, &Type::Struct(id), &mut Vec::new(), &mut ways)?;
    let mut all: Option<Expr> = None;
    for way in ways {
        let (to, from) = (members_at(file, to, &way, range), members_at(file, from, &way, range));
        let one = Expr { kind: ExprKind::Assign(None, Box::new(to), Box::new(from)), range };
        all = Some(match all {
            Some(before) => Expr { kind: ExprKind::Comma(Box::new(before), Box::new(one)), range },
            None => one,
        });
    }
    Some(all?.kind)
}

/// What this way leads to from a structure.
pub(crate) fn members_at(file: &mut File, e: &Expr, way: &[Part], range: Range) -> Expr {
    way.iter().fold(e.clone(), |e, step| match step {
        Part::Field(name) => Expr { kind: member(file, e, name, false, range), range },
        Part::Element(k) => {
            let k = Expr { kind: ExprKind::Int(*k, ScalarType::I32), range };
            Expr { kind: ExprKind::Index(Box::new(e), Box::new(k)), range }
        }
    })
}

/// A step from a structure to something inside of it.
#[derive(Clone, PartialEq)]
pub(crate) enum Part {
    Field(String),
    Element(i64),
}

/// The paths to all numbers and pointers in a type; `None` if there are too many, or other types.
pub(crate) fn ways_inside(
    file: &File,
    ty: &Type,
    way: &mut Vec<Part>,
    found: &mut Vec<Vec<Part>>,
) -> Option<()> {
    match ty {
        Type::Scalar(_) | Type::Pointer { .. } => {
            found.push(way.clone());
            (found.len() <= MOST_COPIED).then_some(())
        }
        Type::Array { of, len: Some(len), .. } => {
            for k in 0..constant(len).filter(|n| *n <= MOST_COPIED as i64)? {
                way.push(Part::Element(k));
                ways_inside(file, of, way, found)?;
                way.pop();
            }
            Some(())
        }
        Type::Struct(id) => {
            let structure = file.structures.get(*id).filter(|s| s.has.is_none())?;
            for field in structure.fields.as_ref()? {
                way.push(Part::Field(field.name.clone()));
                ways_inside(file, &field.ty, way, found)?;
                way.pop();
            }
            Some(())
        }
        _ => None,
    }
}

/// A variable and its subscripts; `None` is the first element of what it leads to.
type Place<'e> = (VarId, Vec<Option<&'e Expr>>);

fn place<'e>(file: &File, e: &'e Expr) -> Option<(VarId, Vec<Option<Expr>>)>
where
    Expr: 'e,
{
    let (var, subscripts) = place_of(file, e)?;
    Some((var, subscripts.into_iter().map(|e| e.cloned()).collect()))
}

fn pointed_at(file: &File, e: &Expr) -> Option<(VarId, Vec<Option<Expr>>)> {
    let (var, subscripts) = deref(file, e)?;
    Some((var, subscripts.into_iter().map(|e| e.cloned()).collect()))
}

/// The place `*e`.
fn deref<'e>(file: &File, e: &'e Expr) -> Option<Place<'e>> {
    match &e.kind {
        ExprKind::AddressOf(inner) => place_of(file, inner),
        ExprKind::Binary(BinaryOp::Add, l, r) => {
            let (pointer, index) = if file.type_of(l)?.is_pointer() { (l, r) } else { (r, l) };
            let (var, mut subscripts) = place_of(file, pointer)?;
            subscripts.push(Some(index));
            Some((var, subscripts))
        }
        _ => {
            let (var, mut subscripts) = place_of(file, e)?;
            subscripts.push(None);
            Some((var, subscripts))
        }
    }
}

fn place_of<'e>(file: &File, e: &'e Expr) -> Option<Place<'e>> {
    match &e.kind {
        ExprKind::Var(v) => Some((*v, Vec::new())),
        ExprKind::Index(base, index) => {
            if !file.type_of(base)?.is_pointer() {
                return None;
            }
            let (var, mut subscripts) = place_of(file, base)?;
            subscripts.push(Some(index));
            Some((var, subscripts))
        }
        ExprKind::Deref(inner) => deref(file, inner),
        _ => None,
    }
}

/// The variable for a member of `var` with these subscripts, and the subscripts it takes.
fn variable<'s>(
    file: &mut File,
    var: VarId,
    subscripts: &'s [Option<Expr>],
    field: &str,
) -> Option<(VarId, Vec<&'s Option<Expr>>)> {
    let outer = file.var(var).clone();
    // `p->x` follows a pointer to its structure, and `(*p)->x` two; of an array it is an element.
    let n_followed = pointers_to_structure(&outer.ty).filter(|n| *n == subscripts.len());
    // `p[0]->x` as well, but `p[0].x` is an element of an array.
    let is_first =
        |e: &Option<Expr>| e.as_ref().is_none_or(|e| constant(e) == Some(0) && subscripts.len() > 1);
    let n_followed = n_followed.filter(|_| subscripts.iter().all(is_first));
    let structure = match n_followed {
        Some(n) => (0..n).try_fold(&outer.ty, |ty, _| ty.pointee())?,
        None => peeled(&outer.ty, subscripts.len())?,
    };
    let Type::Struct(id) = structure else { return None };
    let ty = file.structures[*id].field(field)?.ty.clone();
    let (root, mut steps) = match &outer.member {
        Some(m) => (m.root, m.steps.clone()),
        None => (var, Vec::new()),
    };
    let n_known = steps.iter().filter(|s| **s == Step::Subscript).count();
    if let Some(n) = n_followed {
        if n_known > 0 {
            return None;
        }
        steps.extend(std::iter::repeat_n(Step::Follow, n));
    } else {
        let n_more = subscripts.len().checked_sub(n_known)?;
        steps.extend(std::iter::repeat_n(Step::Subscript, n_more));
    }
    steps.push(step_to(field));
    let taken = if n_followed.is_some() { &[] } else { subscripts };
    let ty = rebuilt(&outer.ty, taken.len(), ty)?;
    Some((intern(file, root, steps, ty), taken.iter().collect()))
}

/// How many pointers have to be followed from a variable of this type to a structure; `None` if it is no pointer.
fn pointers_to_structure(ty: &Type) -> Option<usize> {
    let pointee = |ty: &Type| if let Type::Pointer { to, .. } = ty { Some((**to).clone()) } else { None };
    let all: Vec<Type> = std::iter::successors(pointee(ty), pointee).collect();
    matches!(all.last()?, Type::Struct(_)).then_some(all.len())
}

/// The variable for a path from a root.
pub(crate) fn intern(file: &mut File, root: VarId, steps: Vec<Step>, ty: Type) -> VarId {
    if let Some(id) = file.members.get(&(root, steps.clone())) {
        return *id;
    }
    let id = VarId(file.vars.len() as u32);
    let base = file.var(root);
    let member = Member { root, steps: steps.clone() };
    let view = oxeye_binding::View {
        root: base.name.clone(),
        declaration: String::new(),
        steps: steps.clone(),
        is_loaded: false,
        record: None,
    };
    let n_subscripts = view.n_subscripts();
    let name = view.element(view.base(), std::iter::repeat_n(String::new(), n_subscripts));
    let (range, function) = (base.range, base.function);
    file.vars.push(Variable { name, ty, kind: VarKind::Member, range, function, member: Some(member) });
    file.members.insert((root, steps), id);
    id
}

/// The type after `n` subscripts, only the first of which may follow a pointer.
fn peeled(ty: &Type, n: usize) -> Option<&Type> {
    let mut at = ty;
    for k in 0..n {
        at = match at {
            Type::Array { of, .. } => of,
            Type::Pointer { to, .. } if k == 0 => to,
            _ => return None,
        };
    }
    Some(at)
}

/// The type with what comes after `n` subscripts replaced; without subscripts, the replacement.
fn rebuilt(ty: &Type, n: usize, with: Type) -> Option<Type> {
    if n == 0 {
        return Some(with);
    }
    Some(match ty {
        Type::Array { of, len, is_restrict } => Type::Array {
            of: Box::new(rebuilt(of, n - 1, with)?),
            len: len.clone(),
            is_restrict: *is_restrict,
        },
        Type::Pointer { to, is_restrict } => {
            Type::Pointer { to: Box::new(rebuilt(to, n - 1, with)?), is_restrict: *is_restrict }
        }
        _ => return None,
    })
}

impl File {
    /// Whether a variable is a member of a structure or a complex number that is itself a variable of a function; what a
    /// pointer there leads to is not.
    pub(crate) fn is_part_of_own(&self, var: VarId) -> bool {
        let is_inside = |step: &Step| member_of(step).is_some() || matches!(step, Step::Lanes(_));
        let is_member = |m: &Member| m.steps.iter().all(is_inside);
        self.var(var).member.as_ref().is_some_and(is_member) && self.lies_in_own(var)
    }

    /// The same, members of structures in arrays included.
    pub(crate) fn lies_in_own(&self, var: VarId) -> bool {
        let Some(member) = &self.var(var).member else { return false };
        let root = self.var(member.root);
        let mut ty = Some(&root.ty);
        for step in &member.steps {
            ty = match (step, ty) {
                (Step::Subscript, Some(Type::Array { of, .. })) => Some(of),
                (Step::Lanes(_), ty) => ty,
                (step, Some(Type::Struct(id))) => {
                    let field = member_of(step).and_then(|name| self.structures[*id].field(name));
                    field.map(|field| &field.ty)
                }
                _ => None,
            };
        }
        let is_own = matches!(root.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        let is_parameter = |ty: &Type| matches!((root.kind, ty), (VarKind::Param(_), Type::Array { .. }));
        is_own && !is_parameter(&root.ty) && ty.is_some_and(|ty| !matches!(ty, Type::Pointer { .. }))
    }

    /// The type of an lvalue or pointer expression, if it is simple.
    pub(crate) fn type_of(&self, e: &Expr) -> Option<Type> {
        match &e.kind {
            ExprKind::Var(v) => Some(self.var(*v).ty.clone()),
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.type_of(base)?.pointee().cloned(),
            ExprKind::Cast(ty, _) => Some(ty.clone()),
            ExprKind::AddressOf(inner) => {
                Some(Type::Pointer { to: Box::new(self.type_of(inner)?), is_restrict: false })
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
                let pointer = |e: &Expr| self.type_of(e).filter(Type::is_pointer);
                match (op, pointer(l), pointer(r)) {
                    (BinaryOp::Sub, Some(_), Some(_)) => Some(Type::scalar(ScalarType::I64)),
                    (_, l, r) => l.or(r),
                }
            }
            ExprKind::Select(_, yes, no) => {
                let pointer = |e: &Expr| self.type_of(e).filter(Type::is_pointer);
                pointer(yes).or_else(|| pointer(no))
            }
            _ => None,
        }
    }

    /// Whether the operand of `sizeof` does nothing even where it is evaluated.
    pub(crate) fn is_unevaluated(&self, e: &Expr) -> bool {
        let mut is_harmless = true;
        e.walk(&mut |e| {
            is_harmless &= !matches!(
                e.kind,
                ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call(..) | ExprKind::Unknown(..)
            );
        });
        is_harmless
    }

    /// Size and alignment of a type on an LP64 machine, if all of it is known.
    pub(crate) fn layout(&self, ty: &Type) -> Option<(u64, u64)> {
        match ty {
            Type::Scalar(s) => Some((s.ty.bytes(), s.ty.bytes())),
            Type::Pointer { .. } => Some((8, 8)),
            Type::Array { of, len: Some(len), .. } => {
                let (bytes, align) = self.layout(of)?;
                let n = u64::try_from(crate::ast::constant(len)?).ok()?;
                Some((bytes.checked_mul(n)?, align))
            }
            Type::Struct(id) => {
                let structure = &self.structures[*id];
                if structure.has.is_some() {
                    return None;
                }
                let (mut end, mut most) = (0u64, structure.least_align.max(1));
                for field in structure.fields.as_ref()? {
                    let (bytes, align) = self.layout(&field.ty)?;
                    end = end.next_multiple_of(align).checked_add(bytes)?;
                    most = most.max(align);
                }
                Some((end.next_multiple_of(most), most))
            }
            _ => None,
        }
    }

    /// The numbers that a type consists of, if it holds nothing else and they are all of one type: that type, and how many.
    /// Those of a byte might be read as anything.
    pub(crate) fn numbers<'t>(&'t self, ty: &'t Type) -> Option<(&'t Scalar, i64)> {
        let (scalar, n) = match ty {
            Type::Scalar(scalar) => (scalar, 1),
            Type::Array { of, len: Some(len), .. } => {
                let (scalar, n) = self.numbers(of)?;
                (scalar, n.checked_mul(constant(len)?)?)
            }
            Type::Struct(id) if self.structures[*id].complex.is_none() => {
                let fields = self.structures[*id].fields.as_ref()?;
                let mut parts = fields.iter().map(|field| self.numbers(&field.ty));
                let first = parts.next()??;
                parts.try_fold(first, |(scalar, n), next| {
                    let (other, more) = next?;
                    (other.ty == scalar.ty).then_some((scalar, n + more))
                })?
            }
            _ => return None,
        };
        let is_plain = !scalar.is_volatile && scalar.ty.bytes() > 1;
        let (bytes, _) = self.layout(ty).filter(|_| is_plain)?;
        (bytes == scalar.ty.bytes() * u64::try_from(n).ok()?).then_some((scalar, n))
    }

    /// How many numbers of the structure that a type is stand before a member, whose type is given too; all of it is numbers
    /// of one type.
    pub(crate) fn numbers_before<'t>(&'t self, ty: &Type, field: &str) -> Option<(i64, &'t Type)> {
        let Type::Struct(id) = ty else { return None };
        let (scalar, _) = self.numbers(ty)?;
        let size = scalar.ty.bytes();
        let (offset, ty) = self.offset(*id, field)?;
        Some((i64::try_from(offset / size).ok()?, ty))
    }

    /// The offset of a member in its structure, and its type.
    fn offset(&self, id: usize, name: &str) -> Option<(u64, &Type)> {
        self.layout(&Type::Struct(id))?;
        let mut end = 0u64;
        for field in self.structures[id].fields.as_ref()? {
            let (bytes, align) = self.layout(&field.ty)?;
            let start = end.next_multiple_of(align);
            if field.name == name {
                return Some((start, &field.ty));
            }
            end = start + bytes;
        }
        None
    }

    /// The layout of the structures that the first subscripts of a member's steps lead to.
    pub(crate) fn record(&self, member: &Member) -> Option<Record> {
        let first = member.steps.iter().position(|s| *s == Step::Subscript)?;
        // The type of the base.
        let mut ty = self.var(member.root).ty.clone();
        for step in &member.steps[..first] {
            ty = match (step, &ty) {
                (Step::Follow, Type::Pointer { to, .. }) => (**to).clone(),
                (step, Type::Struct(id)) => self.structures[*id].field(member_of(step)?)?.ty.clone(),
                _ => return None,
            };
        }
        let mut steps = member.steps[first..].iter().peekable();
        while steps.next_if(|s| **s == Step::Subscript).is_some() {
            ty = ty.pointee()?.clone();
        }
        let (bytes, _) = self.layout(&ty)?;
        let mut offsets = vec![0u64];
        for step in steps {
            match (step, &ty) {
                (step, Type::Struct(id)) => {
                    let (offset, field) = self.offset(*id, member_of(step)?)?;
                    offsets.iter_mut().for_each(|o| *o += offset);
                    ty = field.clone();
                }
                (Step::Subscript, Type::Array { of, len: Some(len), .. }) => {
                    let n = u64::try_from(crate::ast::constant(len)?).ok()?;
                    let (size, _) = self.layout(of)?;
                    if n.checked_mul(offsets.len() as u64)? > MOST_RUNS as u64 {
                        return None;
                    }
                    offsets = offsets.iter().flat_map(|o| (0..n).map(move |k| o + k * size)).collect();
                    ty = (**of).clone();
                }
                _ => return None,
            }
        }
        let (size, _) = self.layout(ty.innermost())?;
        let n = self.layout(&ty)?.0.checked_div(size)?;
        Some(Record { bytes, runs: offsets.into_iter().map(|o| (o, n)).collect() })
    }

    /// The type of the structures in a variable of file scope, if the source has no other name for it than by the variable.
    fn named_by_object(&self, var: &Variable, id: usize) -> Option<String> {
        let structure = &self.structures[id];
        let is_global = matches!(var.kind, VarKind::Global { .. });
        if structure.spelling.is_some() || structure.is_const || !structure.is_visible || !is_global {
            return None;
        }
        let mut subscripts = String::new();
        let mut ty = &var.ty;
        while let Some(inner) = ty.pointee() {
            subscripts += "[0]";
            ty = inner;
        }
        Some(format!("__typeof__({}{subscripts})", var.name))
    }

    /// A structure that only a function knows, with its members.
    fn definition(&self, id: usize) -> Option<String> {
        let structure = &self.structures[id];
        if structure.is_visible || structure.least_align > 0 {
            return None;
        }
        // Its members are all known, and so are their lengths.
        self.layout(&Type::Struct(id))?;
        let mut text = "struct { ".to_owned();
        for Field { name, ty } in structure.fields.as_ref()? {
            let leads_to_own =
                |inner: &Type| matches!(inner, Type::Struct(id) if !self.structures[*id].is_visible);
            if matches!(ty, Type::Pointer { .. }) && leads_to_own(ty.innermost()) {
                return None;
            }
            let kind = VarKind::Local { is_static: false };
            let (name, ty, function) = (name.clone(), ty.clone(), Some(0));
            let member = Variable { name, ty, kind, range: Range::default(), function, member: None };
            text += &format!("{}; ", self.declaration(&member)?);
        }
        Some(text + "}")
    }

    /// A declaration of a variable of this type and name for file scope, without qualifiers; of a parameter where lengths
    /// are not constant. `None` if its type has no name there.
    pub(crate) fn declaration(&self, var: &Variable) -> Option<String> {
        let mut declarator = var.name.clone();
        let mut ty = &var.ty;
        let mut is_pointer = false;
        loop {
            match ty {
                Type::Pointer { to, .. } => {
                    (declarator, is_pointer) = (format!("*{declarator}"), true);
                    ty = to;
                }
                Type::Array { of, len, .. } => {
                    let is_outermost = declarator == var.name;
                    // A variable is a parameter, too, where the declaration is used.
                    let len = match len.as_deref() {
                        Some(len) => match (crate::ast::constant(len), len.as_var()) {
                            (Some(n), _) => n.to_string(),
                            (None, Some(v)) if !is_outermost && !self.is_member(v) => {
                                self.var(v).name.clone()
                            }
                            (None, _) if is_outermost => String::new(),
                            (None, _) => return None,
                        },
                        None => String::new(),
                    };
                    if std::mem::take(&mut is_pointer) {
                        declarator = format!("({declarator})");
                    }
                    declarator += &format!("[{len}]");
                    ty = of;
                }
                Type::Scalar(s) => {
                    return Some(format!("{} {declarator}", s.spelling.as_deref().unwrap_or(s.ty.c_name())));
                }
                Type::Struct(id) => {
                    let structure = &self.structures[*id];
                    let spelling = structure.spelling.clone().filter(|_| structure.is_visible);
                    let spelling = spelling.or_else(|| self.named_by_object(var, *id));
                    let spelling = match spelling {
                        None if var.function.is_some() => self.definition(*id)?,
                        spelling => spelling?,
                    };
                    return Some(format!("{spelling} {declarator}"));
                }
                Type::Other(_) => return ty.vector_name().map(|name| format!("{name} {declarator}")),
                Type::Void | Type::Function => return None,
            }
        }
    }
}

//! C as the lowering sees it: names resolved, types known, everything else marked as unknown.

use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A variable of the file; unique over all functions and scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VarId(pub(crate) u32);

/// Bytes of the preprocessed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Range {
    pub(crate) fn contains(self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// An arithmetic type and its spelling in the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) ty: ScalarType,
    /// Set if it differs from the plain C name.
    pub(crate) spelling: Option<String>,
    /// `volatile` or `_Atomic`.
    pub(crate) is_volatile: bool,
    /// `_Bool`, stored as an unsigned byte but converted differently.
    pub(crate) is_bool: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Void,
    Scalar(Scalar),
    Pointer {
        to: Box<Type>,
        is_restrict: bool,
    },
    /// As a parameter, this is a pointer whose first extent is only a promise.
    Array {
        of: Box<Type>,
        len: Option<Box<Expr>>,
        is_restrict: bool,
    },
    Function,
    /// Index of the structure in the file.
    Struct(usize),
    /// Any other type, as a description.
    Other(String),
}

impl Type {
    pub(crate) fn scalar(ty: ScalarType) -> Type {
        Type::Scalar(Scalar { ty, spelling: None, is_volatile: false, is_bool: false })
    }

    pub(crate) fn as_scalar(&self) -> Option<&Scalar> {
        match self {
            Type::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The type of what a pointer or array leads to.
    pub(crate) fn pointee(&self) -> Option<&Type> {
        match self {
            Type::Pointer { to, .. } => Some(to),
            Type::Array { of, .. } => Some(of),
            _ => None,
        }
    }

    pub(crate) fn is_pointer(&self) -> bool {
        self.pointee().is_some()
    }

    /// Whether it is a structure, or an array of them.
    pub(crate) fn is_of_structures(&self) -> bool {
        match self {
            Type::Struct(_) => true,
            Type::Array { of, .. } => of.is_of_structures(),
            _ => false,
        }
    }

    /// The lengths that depend on variables, of this type and of those that it leads to.
    pub(crate) fn lengths(&self) -> Vec<&Expr> {
        let mut found = self.pointee().map_or(Vec::new(), Type::lengths);
        if let Type::Array { len: Some(len), .. } = self {
            let mut is_open = false;
            len.walk(&mut |e| is_open |= !matches!(e.kind, ExprKind::Int(..) | ExprKind::Binary(..)));
            found.extend(is_open.then_some(&**len));
        }
        found
    }

    /// The innermost type below arrays and pointers.
    pub(crate) fn innermost(&self) -> &Type {
        self.pointee().map_or(self, Type::innermost)
    }

    /// The name of a type of SSE's and AVX's vectors of floating-point numbers.
    pub(crate) fn vector_name(&self) -> Option<&str> {
        let Type::Other(what) = self else { return None };
        let name = what.strip_prefix('`')?.strip_suffix('`')?;
        let bits = name.strip_prefix("__m")?;
        ["128", "256", "512"].contains(&bits.strip_suffix('d').unwrap_or(bits)).then_some(name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) range: Range,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Int(i64, ScalarType),
    Float(String, ScalarType),
    Var(VarId),
    /// A name that is not a variable: a function.
    Name(String),
    Unary(UnaryOp, Box<Expr>),
    /// `+x`
    Promote(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++` and `--`
    Step {
        target: Box<Expr>,
        by: i64,
        /// Whether its value is the one from before.
        is_behind: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Member(Box<Expr>, String),
    Cast(Type, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    SizeofType(Type),
    SizeofExpr(Box<Expr>),
    /// A list of initial values without designators.
    List(Vec<Expr>),
    /// A complex number: its real and its imaginary part, numbers of this type.
    Complex(Box<Expr>, Box<Expr>, ScalarType),
    /// Part of a complex number that is computed from those of others; the flag says that it is `float`.
    Part(MathFn, bool, Vec<Expr>),
    /// Two assignments, to the parts of a complex number, whose values are both computed before either is stored.
    Both(Box<Expr>, Box<Expr>),
    /// A description for messages, and the variables inside.
    Unknown(String, Vec<Expr>),
}

impl Expr {
    pub(crate) fn children(&self) -> Vec<&Expr> {
        use ExprKind::*;
        match &self.kind {
            Int(..) | Float(..) | Var(_) | Name(_) => Vec::new(),
            SizeofType(ty) => ty.lengths(),
            Unknown(_, inside) | List(inside) | Part(_, _, inside) => inside.iter().collect(),
            Unary(_, e) | Promote(e) | Deref(e) | AddressOf(e) | Member(e, _) | SizeofExpr(e) => vec![e],
            Cast(ty, e) => std::iter::once(&**e).chain(ty.lengths()).collect(),
            Step { target, .. } => vec![target],
            Binary(_, l, r) | Assign(_, l, r) | Index(l, r) | Comma(l, r) | Complex(l, r, _) | Both(l, r) => {
                vec![l, r]
            }
            Call(f, args) => std::iter::once(&**f).chain(args).collect(),
            Select(c, a, b) => vec![c, a, b],
        }
    }

    pub(crate) fn children_mut(&mut self) -> Vec<&mut Expr> {
        use ExprKind::*;
        match &mut self.kind {
            Int(..) | Float(..) | Var(_) | Name(_) | SizeofType(_) => Vec::new(),
            Unknown(_, inside) | List(inside) | Part(_, _, inside) => inside.iter_mut().collect(),
            Unary(_, e)
            | Promote(e)
            | Deref(e)
            | AddressOf(e)
            | Member(e, _)
            | Cast(_, e)
            | SizeofExpr(e) => vec![e],
            Step { target, .. } => vec![target],
            Binary(_, l, r) | Assign(_, l, r) | Index(l, r) | Comma(l, r) | Complex(l, r, _) | Both(l, r) => {
                vec![l, r]
            }
            Call(f, args) => std::iter::once(&mut **f).chain(args).collect(),
            Select(c, a, b) => vec![c, a, b],
        }
    }

    /// Calls `f` on this and everything inside, parents first.
    pub(crate) fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        for child in self.children() {
            child.walk(f);
        }
    }

    pub(crate) fn mentions(&self, var: VarId) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= matches!(e.kind, ExprKind::Var(v) if v == var));
        found
    }

    pub(crate) fn as_var(&self) -> Option<VarId> {
        match self.kind {
            ExprKind::Var(v) => Some(v),
            _ => None,
        }
    }

    /// The expression without casts.
    pub(crate) fn uncast(&self) -> &Expr {
        match &self.kind {
            ExprKind::Cast(_, e) => e.uncast(),
            _ => self,
        }
    }
}

/// Whether an expression changes anything, so that it must be evaluated once.
pub(crate) fn has_effects(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(
            e.kind,
            ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Both(..) | ExprKind::Comma(..)
        );
    });
    found
}

/// Whether two expressions without effects are written alike.
pub(crate) fn alike(a: &Expr, b: &Expr) -> bool {
    use ExprKind::{Binary, Cast, Deref, Float, Index, Int, Member, Promote, SizeofType, Unary, Var};
    match (&a.kind, &b.kind) {
        (Int(a, t), Int(b, u)) => a == b && t == u,
        (Float(a, t), Float(b, u)) => a == b && t == u,
        (Var(a), Var(b)) => a == b,
        (SizeofType(a), SizeofType(b)) => a == b,
        (Unary(o, a), Unary(p, b)) => o == p && alike(a, b),
        (Promote(a), Promote(b)) | (Deref(a), Deref(b)) => alike(a, b),
        (Member(a, m), Member(b, n)) => m == n && alike(a, b),
        (Cast(t, a), Cast(u, b)) => t == u && alike(a, b),
        (Binary(o, a, b), Binary(p, c, d)) => o == p && alike(a, c) && alike(b, d),
        (Index(a, b), Index(c, d)) => alike(a, c) && alike(b, d),
        _ => false,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) range: Range,
}

/// A declared variable and its initial value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub(crate) var: VarId,
    pub(crate) init: Option<Expr>,
    /// The lengths in its type that depend on variables: they are computed here.
    pub(crate) lengths: Vec<Expr>,
}

impl Declared {
    /// A variable of a type whose lengths are known, or whose declaration is not in the source.
    pub(crate) fn plain(var: VarId, init: Option<Expr>) -> Declared {
        Declared { var, init, lengths: Vec::new() }
    }

    /// A variable of this type.
    pub(crate) fn of_type(var: VarId, ty: &Type, init: Option<Expr>) -> Declared {
        Declared { var, init, lengths: ty.lengths().into_iter().cloned().collect() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Declare(Vec<Declared>),
    Block(Vec<Stmt>),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    For(Box<For>),
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    /// To the label of this name.
    Goto(String),
    /// A label and the statement after it.
    Label(String, Box<Stmt>),
    /// A description for messages, and the expressions inside if they could be read.
    Unknown(String, Vec<Stmt>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct For {
    /// A declaration or an expression statement.
    pub(crate) init: Option<Stmt>,
    pub(crate) condition: Option<Expr>,
    pub(crate) step: Option<Expr>,
    pub(crate) body: Stmt,
    /// Whether the variable is one less in the body than in the header.
    pub(crate) is_behind: bool,
    /// If it is a `while` or `do` loop in the source, what its variable is before it.
    pub(crate) enters_with: Option<Expr>,
    /// Whether the body runs before the condition is tested for the first time: it is this loop only if the condition
    /// holds at first.
    pub(crate) runs_first: bool,
}

impl Stmt {
    /// Statements directly inside.
    pub(crate) fn children(&self) -> Vec<&Stmt> {
        match &self.kind {
            StmtKind::Block(body) | StmtKind::Unknown(_, body) => body.iter().collect(),
            StmtKind::If { then, otherwise, .. } => {
                std::iter::once(&**then).chain(otherwise.as_deref()).collect()
            }
            StmtKind::For(f) => f.init.iter().chain(std::iter::once(&f.body)).collect(),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Label(_, body) => {
                vec![body]
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn children_mut(&mut self) -> Vec<&mut Stmt> {
        match &mut self.kind {
            StmtKind::Block(body) | StmtKind::Unknown(_, body) => body.iter_mut().collect(),
            StmtKind::If { then, otherwise, .. } => {
                std::iter::once(&mut **then).chain(otherwise.as_deref_mut()).collect()
            }
            StmtKind::For(f) => f.init.iter_mut().chain(std::iter::once(&mut f.body)).collect(),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Label(_, body) => {
                vec![body]
            }
            _ => Vec::new(),
        }
    }

    /// Expressions directly in this statement, not those of statements inside.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.kind {
            StmtKind::Expr(e) => vec![e],
            StmtKind::Declare(declared) => {
                declared.iter().flat_map(|d| d.lengths.iter().chain(&d.init)).collect()
            }
            StmtKind::If { condition, .. }
            | StmtKind::While { condition, .. }
            | StmtKind::DoWhile { condition, .. } => {
                vec![condition]
            }
            StmtKind::For(f) => f.condition.iter().chain(&f.step).collect(),
            StmtKind::Return(e) => e.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Calls `f` on this and every statement inside, parents first.
    pub(crate) fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Stmt)) {
        f(self);
        for child in self.children() {
            child.walk(f);
        }
    }

    /// A loop as it is, in the parts of a `for` loop; its body is a block.
    pub(crate) fn as_for(&self) -> Option<For> {
        let (condition, body, runs_first) = match &self.kind {
            StmtKind::While { condition, body } => (condition, body, false),
            StmtKind::DoWhile { body, condition } => (condition, body, true),
            StmtKind::For(f) => {
                return Some(For { body: f.body.in_block(), ..(**f).clone() });
            }
            _ => return None,
        };
        Some(For {
            init: None,
            condition: Some(condition.clone()),
            step: None,
            body: body.in_block(),
            is_behind: false,
            enters_with: None,
            runs_first,
        })
    }

    fn in_block(&self) -> Stmt {
        match &self.kind {
            StmtKind::Block(_) => self.clone(),
            _ => Stmt { kind: StmtKind::Block(vec![self.clone()]), range: self.range },
        }
    }

    /// Whether there is a `for` in it.
    pub(crate) fn contains_for(&self) -> bool {
        let mut found = false;
        self.walk(&mut |s| found |= matches!(s.kind, StmtKind::For(_)));
        found
    }

    /// Calls `f` on every expression inside, parents first.
    pub(crate) fn walk_exprs<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.walk(&mut |s| {
            for e in s.exprs() {
                e.walk(f);
            }
        });
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarKind {
    Global {
        is_static: bool,
    },
    Param(usize),
    Local {
        is_static: bool,
    },
    /// A member of a structure, which other names may also denote.
    Member,
}

/// A member as a path from a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) root: VarId,
    pub(crate) steps: Vec<oxeye_binding::Step>,
}

/// A member of a structure as declared.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

/// A structure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structure {
    /// Its type as written in C.
    pub(crate) spelling: Option<String>,
    /// Whether it is declared at file scope.
    pub(crate) is_visible: bool,
    /// Whether it is declared together with `const` objects of it, so that these do not name the plain type.
    pub(crate) is_const: bool,
    /// Its members; `None` while it is incomplete, or if they could not be read.
    pub(crate) fields: Option<Vec<Field>>,
    /// Why members may not have their natural layout, as what the structure has; `None` if they have.
    pub(crate) has: Option<&'static str>,
    /// The alignment that an attribute asks for, in bytes; 0 if there is none.
    pub(crate) least_align: u64,
    /// The names of its bit-fields, which are not among the members.
    pub(crate) bit_fields: Vec<String>,
    /// For a complex number, the type of its parts, which are the only members.
    pub(crate) complex: Option<ScalarType>,
}

impl Structure {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.as_ref()?.iter().find(|f| f.name == name)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) kind: VarKind,
    pub(crate) range: Range,
    /// Index of the function in the file, for parameters and locals.
    pub(crate) function: Option<usize>,
    /// The path to it, for members.
    pub(crate) member: Option<Member>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_static: bool,
    pub(crate) returns: Type,
    pub(crate) params: Vec<VarId>,
    pub(crate) body: Stmt,
    pub(crate) range: Range,
    /// Why it could not be read, if so; the body is empty then.
    pub(crate) problem: Option<(String, Range)>,
}

/// The whole preprocessed file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) vars: Vec<Variable>,
    pub(crate) functions: Vec<Function>,
    pub(crate) structures: Vec<Structure>,
    /// File-scope initialisers.
    pub(crate) global_inits: Vec<(VarId, Expr)>,
    /// Names of types, structures and constants, and what declares them.
    pub(crate) named: Vec<(String, Range)>,
    /// Constants of enumerations, their values, and the list that declares them.
    pub(crate) enumerators: Vec<(String, i64, Range)>,
    /// Names of arithmetic types, and what declares them.
    pub(crate) typedefs: Vec<(String, ScalarType, Range)>,
    /// Parts outside of functions that could not be read.
    pub(crate) problems: Vec<(String, Range)>,
    /// Parameters that are pointers to functions, and the function that they all lead to.
    pub(crate) callees: HashMap<VarId, String>,
    /// Integer variables with a constant value.
    pub(crate) constants: HashMap<VarId, i64>,
    /// Variables of other types than pointers that are declared `const`, with initial values.
    pub(crate) fixed: HashSet<VarId>,
    /// The constants that static variables among them, and members of structures among them, always have.
    pub(crate) values: HashMap<VarId, Expr>,
    /// The variables made for members, by root and path.
    pub(crate) members: HashMap<(VarId, Vec<oxeye_binding::Step>), VarId>,
    /// For a member reached from a parameter or a local pointer: the members that it may be, by what is passed or
    /// assigned to that variable.
    pub(crate) stands_for: HashMap<VarId, BTreeSet<VarId>>,
    /// Members of structures in arrays with an index: by the member's variable, which takes the index as a subscript, the index
    /// and the variable of that one element's member.
    pub(crate) elements: HashMap<VarId, Vec<(Expr, VarId)>>,
}

impl Variable {
    /// Whether the source does not have it. Its name is none of C's.
    pub(crate) fn is_own(&self) -> bool {
        self.member.is_none() && self.name.contains('.')
    }
}

impl File {
    pub(crate) fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.0 as usize]
    }

    /// Other names that a variable may have, directly or indirectly.
    pub(crate) fn all_it_stands_for(&self, id: VarId) -> BTreeSet<VarId> {
        let mut found = BTreeSet::new();
        let mut next = vec![id];
        while let Some(at) = next.pop() {
            for target in self.stands_for.get(&at).into_iter().flatten() {
                if found.insert(*target) {
                    next.push(*target);
                }
            }
        }
        found
    }

    /// The variable that a member is reached from; other variables are their own root.
    pub(crate) fn root(&self, id: VarId) -> VarId {
        self.var(id).member.as_ref().map_or(id, |m| m.root)
    }

    pub(crate) fn is_member(&self, id: VarId) -> bool {
        self.var(id).kind == VarKind::Member
    }

    pub(crate) fn function(&self, name: &str) -> Option<(usize, &Function)> {
        self.functions.iter().enumerate().find(|(_, f)| f.name == name)
    }
}

/// The value of an integer constant expression.
pub(crate) fn constant(e: &Expr) -> Option<i64> {
    use oxeye_ir::BinaryOp::*;
    match &e.kind {
        ExprKind::Int(value, _) => Some(*value),
        ExprKind::Promote(e) => constant(e),
        // Of negative numbers, others have another value.
        ExprKind::Cast(Type::Scalar(to), e) => constant(e).filter(|n| *n >= 0 || !to.ty.is_unsigned()),
        ExprKind::Unary(oxeye_ir::UnaryOp::Neg, e) => constant(e)?.checked_neg(),
        ExprKind::Binary(op, l, r) => {
            let (l, r) = (constant(l)?, constant(r)?);
            match op {
                Add => l.checked_add(r),
                Sub => l.checked_sub(r),
                Mul => l.checked_mul(r),
                Div => l.checked_div(r),
                Rem => l.checked_rem(r),
                Shl => u32::try_from(r).ok().and_then(|r| l.checked_shl(r)),
                Shr if l >= 0 => u32::try_from(r).ok().and_then(|r| l.checked_shr(r)),
                _ => None,
            }
        }
        _ => None,
    }
}

//! Vectors of SSE and AVX as arrays of the numbers in their lanes: `s = _mm_add_ps(s, x);` is a loop over four additions.
//!
//! Of the intrinsics, those are known that work on each lane by itself, and with constant places those that move lanes about.
//! A variable is an array of lanes if everything that its function does with it is known; others stay what they are.

use crate::ast::*;
use crate::members::intern;
use oxeye_binding::Step;
use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};
use std::collections::{HashMap, HashSet};

/// Most nodes of expressions that are written twice.
const MOST_NODES: usize = 200;

/// The name of the variables of loops over lanes.
const LANE: &str = "lane.at";
/// The names of the variables for lanes that are stored, or moved about, all at once.
const STORED: &str = "lanes.stored";
const MOVED: &str = "lanes.moved";

/// The type of the lanes of a vector, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    of: ScalarType,
    n: i64,
}

impl Shape {
    fn of_type(ty: &Type) -> Option<Shape> {
        let name = ty.vector_name()?.strip_prefix("__m")?;
        let (bits, of) = match name.strip_suffix('d') {
            Some(bits) => (bits, ScalarType::F64),
            None => (name, ScalarType::F32),
        };
        let bits: i64 = bits.parse().ok()?;
        Some(Shape { of, n: bits / 8 / of.bytes() as i64 })
    }

    /// The shape that an intrinsic is for, and what it does: `_mm256_add_pd` adds.
    fn of_call(name: &str) -> Option<(Shape, &str)> {
        let (bits, rest) = [("_mm512_", 512), ("_mm256_", 256), ("_mm_", 128)]
            .into_iter()
            .find_map(|(prefix, bits)| Some((bits, name.strip_prefix(prefix)?)))?;
        let (what, of) = match rest.rsplit_once('_')? {
            (what, "ps" | "ps1" | "ss") => (what, ScalarType::F32),
            (what, "pd" | "pd1" | "sd") => (what, ScalarType::F64),
            _ => return None,
        };
        Some((Shape { of, n: bits / 8 / of.bytes() as i64 }, what))
    }

    /// The type of its lanes together.
    fn array(self) -> Type {
        array_of(Type::scalar(self.of), self.n)
    }
}

fn array_of(of: Type, n: i64) -> Type {
    let len = Expr { kind: ExprKind::Int(n, ScalarType::I32), range: Range::default() };
    Type::Array { of: Box::new(of), len: Some(Box::new(len)), is_restrict: false }
}

/// The type of the lanes of a variable, which is a vector or an array of vectors, and the step to them.
fn lanes_of(ty: &Type) -> Option<(Type, Step)> {
    let (mut rows, mut at) = (Vec::new(), ty);
    while let Type::Array { of, len: Some(len), .. } = at {
        rows.push(constant(len)?);
        at = of;
    }
    let shape = Shape::of_type(at)?;
    let lengths: String = rows.iter().chain([&shape.n]).map(|n| format!("[{n}]")).collect();
    let ty = rows.into_iter().rev().fold(shape.array(), array_of);
    Some((ty, Step::Lanes(format!("{} (*){lengths}", shape.of.c_name()))))
}

/// Whether a loop is one over lanes, which the source does not have.
pub(crate) fn is_over_lanes(file: &File, f: &For) -> bool {
    let declared = match f.init.as_ref().map(|init| &init.kind) {
        Some(StmtKind::Declare(declared)) => declared.as_slice(),
        _ => &[],
    };
    declared.iter().any(|d| file.var(d.var).name == LANE)
}

/// Makes the vectors of all functions arrays. Assignments inside expressions have statements of their own by then.
pub(crate) fn settle(file: &mut File) {
    for position in 0..file.functions.len() {
        let body = &file.functions[position].body;
        let mut has_any = false;
        body.walk_exprs(&mut |e| {
            has_any |= matches!(&e.kind, ExprKind::Name(name) if name.starts_with("_mm"))
        });
        if !has_any {
            continue;
        }
        let mut left: HashSet<VarId> = HashSet::new();
        loop {
            let (body, n_vars) = (file.functions[position].body.clone(), file.vars.len());
            let mut pass = Pass::new(file, position, &left);
            let body = pass.stmt(body, false);
            let unknown = pass.mentioned(&body);
            if unknown.is_empty() {
                file.functions[position].body = body;
                break;
            }
            file.vars.truncate(n_vars);
            file.members.retain(|_, var| (var.0 as usize) < n_vars);
            left.extend(unknown);
        }
    }
}

/// A lane.
#[derive(Clone, Copy)]
enum Lane {
    /// That which a loop is at.
    Each(VarId),
    One(i64),
}

/// Stands for the lane that a loop is at where nothing is made of it.
const ANY: Lane = Lane::Each(VarId(0));

struct Pass<'f> {
    file: &'f mut File,
    position: usize,
    /// The variables of lanes, by vector.
    lanes: HashMap<VarId, VarId>,
}

impl<'f> Pass<'f> {
    fn new(file: &'f mut File, position: usize, left: &HashSet<VarId>) -> Self {
        let mut pass = Pass { file, position, lanes: HashMap::new() };
        for k in 0..pass.file.vars.len() {
            let (var, id) = (&pass.file.vars[k], VarId(k as u32));
            let is_vector = var.kind == VarKind::Local { is_static: false }
                || matches!((var.kind, &var.ty), (VarKind::Param(_), Type::Other(_)));
            if var.function == Some(position)
                && is_vector
                && !left.contains(&id)
                && let Some((ty, step)) = lanes_of(&var.ty)
            {
                let own = intern(pass.file, id, vec![step], ty);
                pass.lanes.insert(id, own);
            }
        }
        pass
    }

    fn variable(&mut self, name: String, ty: Type, range: Range) -> VarId {
        let kind = VarKind::Local { is_static: false };
        self.file.vars.push(Variable { name, ty, kind, range, function: Some(self.position), member: None });
        VarId(self.file.vars.len() as u32 - 1)
    }

    /// The vectors that are still there as such.
    fn mentioned(&self, body: &Stmt) -> HashSet<VarId> {
        let mut found = HashSet::new();
        body.walk_exprs(&mut |e| found.extend(e.as_var()));
        body.walk(&mut |s| {
            if let StmtKind::Declare(declared) = &s.kind {
                found.extend(declared.iter().filter(|d| d.init.is_some()).map(|d| d.var));
            }
        });
        found.retain(|v| self.lanes.contains_key(v));
        found
    }

    fn stmt(&mut self, mut s: Stmt, is_in_loop: bool) -> Stmt {
        let is_loop = matches!(s.kind, StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. });
        let range = s.range;
        match &mut s.kind {
            StmtKind::Expr(e) => {
                if let Some(all) = self.effect(e, range, is_in_loop) {
                    s.kind = StmtKind::Block(all);
                    return s;
                }
                self.values(e);
            }
            StmtKind::Declare(declared) => {
                let all = std::mem::take(declared);
                let mut made = Vec::new();
                for d in all {
                    made.extend(self.declared(d, range, is_in_loop));
                }
                let are_declarations = made.iter().all(|s| matches!(s.kind, StmtKind::Declare(_)));
                s.kind = match are_declarations {
                    true => StmtKind::Declare(made.into_iter().flat_map(Stmt::declared).collect()),
                    false => StmtKind::Block(made),
                };
            }
            StmtKind::If { condition: e, .. } | StmtKind::Return(Some(e)) => self.values(e),
            _ => {}
        }
        let children = match &mut s.kind {
            // Before the loop there is room for one declaration or expression.
            StmtKind::For(f) => vec![&mut f.body],
            _ => s.children_mut(),
        };
        for child in children {
            let whole = std::mem::replace(child, Stmt { kind: StmtKind::Empty, range });
            *child = self.stmt(whole, is_in_loop || is_loop);
        }
        s
    }

    /// A declaration, and the initial values of the lanes.
    fn declared(&mut self, mut d: Declared, range: Range, is_in_loop: bool) -> Vec<Stmt> {
        let declare = |d| Stmt { kind: StmtKind::Declare(vec![d]), range };
        let Some(init) = d.init.as_ref().filter(|_| self.lanes.contains_key(&d.var)) else {
            d.init.iter_mut().for_each(|e| self.values(e));
            return vec![declare(d)];
        };
        let target = Expr { kind: ExprKind::Var(d.var), range };
        let set = match (&init.kind, &self.file.var(d.var).ty) {
            (ExprKind::List(values), Type::Array { len: Some(len), .. })
                if constant(len) == Some(values.len() as i64) =>
            {
                let each = |(k, value): (usize, &Expr)| {
                    self.assigned(&element(target.clone(), number(k as i64, range)), value, range, is_in_loop)
                };
                let all: Option<Vec<Vec<Stmt>>> = values.iter().enumerate().map(each).collect();
                all.map(|all| all.concat())
            }
            _ => self.assigned(&target, init, range, is_in_loop),
        };
        match set {
            Some(set) => {
                let mut all = vec![declare(Declared::plain(d.var, None))];
                all.extend(set);
                all
            }
            None => vec![declare(d)],
        }
    }

    /// The statements for an assignment to a vector, or for one that is stored.
    fn effect(&mut self, e: &Expr, range: Range, is_in_loop: bool) -> Option<Vec<Stmt>> {
        match &e.kind {
            ExprKind::Assign(None, target, value) => self.assigned(target, value, range, is_in_loop),
            ExprKind::Assign(Some(op), target, value) => {
                let kind = ExprKind::Binary(*op, target.clone(), value.clone());
                self.assigned(target, &Expr { kind, range: e.range }, range, is_in_loop)
            }
            ExprKind::Call(callee, args) => {
                let ExprKind::Name(name) = &callee.kind else { return None };
                let (shape, what) = Shape::of_call(name)?;
                let [to, value] = args.as_slice() else { return None };
                self.leads_to(to, shape.of)?;
                let is_one = name.ends_with("_ss") || name.ends_with("_sd");
                match what {
                    "store" if is_one => {
                        let value = self.lane(value, shape, Lane::One(0))?;
                        Some(vec![assign(element(to.clone(), number(0, range)), value, range)])
                    }
                    // One that ends with a digit stores the first lane in all places.
                    "store" | "storeu" | "stream" if !name.ends_with('1') => {
                        self.stored(to, value, shape, range, is_in_loop)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn assigned(&mut self, target: &Expr, value: &Expr, range: Range, is_in_loop: bool) -> Option<Vec<Stmt>> {
        if let ExprKind::Assign(None, first, value) = &value.kind {
            let mut all = self.assigned(first, value, range, is_in_loop)?;
            all.extend(self.assigned(target, first, range, is_in_loop)?);
            return Some(all);
        }
        if let Some((to, shape)) = self.pointed(target) {
            return self.stored(&to, value, shape, range, is_in_loop);
        }
        let shape = self.shape(target)?;
        let place = self.place(target)?;
        let itself = target.as_var().or_else(|| match &target.kind {
            ExprKind::Index(base, _) => base.as_var(),
            _ => None,
        })?;
        self.by_lanes(&place, value, (shape, value.mentions(itself)), range, is_in_loop)
    }

    fn stored(
        &mut self,
        to: &Expr,
        value: &Expr,
        shape: Shape,
        range: Range,
        is_in_loop: bool,
    ) -> Option<Vec<Stmt>> {
        if !is_plain(to) {
            return None;
        }
        let is_lanewise = self.lane(value, shape, ANY).is_some();
        // What is read there is read before anything is stored.
        let may_overlap = self.may_read(value, to, is_lanewise);
        if !may_overlap {
            return self.by_lanes(to, value, (shape, false), range, is_in_loop);
        }
        let own = self.variable(STORED.to_owned(), shape.array(), range);
        let own = Expr { kind: ExprKind::Var(own), range };
        let declare = StmtKind::Declare(vec![Declared::plain(own.as_var()?, None)]);
        let mut all = vec![Stmt { kind: declare, range }];
        all.extend(self.by_lanes(&own, value, (shape, false), range, is_in_loop)?);
        all.extend(self.each(shape.n, range, is_in_loop, &|_, lane| {
            let lane = place_of(lane, range);
            Some(assign(element(to.clone(), lane.clone()), element(own.clone(), lane), range))
        })?);
        Some(all)
    }

    /// Whether a value may depend on what is stored at a place while its lanes are stored there one by one; not by reading the
    /// same lane of it, if that is all it does.
    fn may_read(&self, value: &Expr, to: &Expr, is_lanewise: bool) -> bool {
        let inside = |e: &Expr| self.may_read(e, to, is_lanewise);
        match &value.kind {
            ExprKind::Call(callee, args) => match (&callee.kind, args.as_slice()) {
                (ExprKind::Name(name), [from]) if name.contains("_load") || name.contains("_broadcast") => {
                    let is_same = is_lanewise && is_load(name) && alike(from, to);
                    !is_same && !self.are_apart(from, to)
                }
                (_, args) => args.iter().any(inside),
            },
            ExprKind::Deref(_)
                if self.pointed(value).is_some_and(|(from, _)| is_lanewise && alike(&from, to)) =>
            {
                false
            }
            ExprKind::Deref(_) | ExprKind::Index(..) => {
                !self.are_apart(value, to) || value.children().into_iter().any(inside)
            }
            ExprKind::Var(v) => {
                let var = self.file.var(*v);
                let is_shared = matches!(var.kind, VarKind::Global { .. } | VarKind::Member);
                is_shared && var.ty.as_scalar().is_some() && !self.are_apart(value, to)
            }
            _ => value.children().into_iter().any(inside),
        }
    }

    /// Whether two places are in different variables for certain.
    fn are_apart(&self, a: &Expr, b: &Expr) -> bool {
        let root = |e: &Expr| {
            let mut at = e.clone();
            loop {
                at = match at.kind {
                    ExprKind::Index(base, _) | ExprKind::AddressOf(base) => *base,
                    ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, base, _) => *base,
                    ExprKind::Var(v) => return Some(v),
                    _ => return None,
                }
            }
        };
        let (Some(a), Some(b)) = (root(a), root(b)) else { return false };
        let is_own = |v: VarId| self.lanes.contains_key(&v);
        let is_object = |v: VarId| {
            let var = self.file.var(v);
            !var.ty.is_pointer()
                || matches!(var.ty, Type::Array { .. }) && !matches!(var.kind, VarKind::Param(_))
        };
        let is_member = |v: VarId| self.file.var(v).kind == VarKind::Member;
        a != b && (is_own(a) || is_own(b) || [a, b].into_iter().all(|v| is_object(v) && !is_member(v)))
    }

    /// `place[lane] = value` for each lane; the flag says whether the value is one of the place before.
    fn by_lanes(
        &mut self,
        place: &Expr,
        value: &Expr,
        (shape, is_of_itself): (Shape, bool),
        range: Range,
        is_in_loop: bool,
    ) -> Option<Vec<Stmt>> {
        let set = |pass: &Self, to: &Expr, lane: Lane| {
            let value = pass.lane(value, shape, lane)?;
            Some(assign(element(to.clone(), place_of(lane, range)), value, range))
        };
        // Where each lane is made of the same lane of others, none is read after it has been set.
        if self.lane(value, shape, ANY).is_some() {
            return self.each(shape.n, range, is_in_loop, &|pass, lane| set(pass, place, lane));
        }
        if !is_of_itself {
            return self.each(shape.n, range, false, &|pass, lane| set(pass, place, lane));
        }
        let own = self.variable(MOVED.to_owned(), shape.array(), range);
        let own = Expr { kind: ExprKind::Var(own), range };
        let declare = StmtKind::Declare(vec![Declared::plain(own.as_var()?, None)]);
        let mut all = vec![Stmt { kind: declare, range }];
        all.extend(self.each(shape.n, range, false, &|pass, lane| set(pass, &own, lane))?);
        all.extend(self.each(shape.n, range, is_in_loop, &|_, lane| {
            let lane = place_of(lane, range);
            Some(assign(element(place.clone(), lane.clone()), element(own.clone(), lane), range))
        })?);
        Some(all)
    }

    /// A statement for each lane: inside of loops as a loop, else one by one, so that no loop is made where the source has none.
    fn each(
        &mut self,
        n: i64,
        range: Range,
        is_in_loop: bool,
        make: &dyn Fn(&Self, Lane) -> Option<Stmt>,
    ) -> Option<Vec<Stmt>> {
        if !is_in_loop {
            return (0..n).map(|k| make(self, Lane::One(k))).collect();
        }
        let lane = self.variable(LANE.to_owned(), Type::scalar(ScalarType::I32), range);
        let body = make(self, Lane::Each(lane))?;
        let at = || Box::new(Expr { kind: ExprKind::Var(lane), range });
        let declare = StmtKind::Declare(vec![Declared::plain(lane, Some(number(0, range)))]);
        let condition = ExprKind::Binary(BinaryOp::Lt, at(), Box::new(number(n, range)));
        let step = ExprKind::Step { target: at(), by: 1, is_behind: true };
        let parts = For {
            init: Some(Stmt { kind: declare, range }),
            condition: Some(Expr { kind: condition, range }),
            step: Some(Expr { kind: step, range }),
            body,
            is_behind: false,
            enters_with: None,
            runs_first: false,
        };
        Some(vec![Stmt { kind: StmtKind::For(Box::new(parts)), range }])
    }

    /// The shape of a vector that is a variable or an element of one.
    fn shape(&self, e: &Expr) -> Option<Shape> {
        match &e.kind {
            ExprKind::Var(v) => self.lanes.get(v).and_then(|_| Shape::of_type(&self.file.var(*v).ty)),
            ExprKind::Index(base, _) => {
                let v = base.as_var().filter(|v| self.lanes.contains_key(v))?;
                Shape::of_type(self.file.var(v).ty.pointee()?)
            }
            _ => None,
        }
    }

    /// The array of the lanes of such a vector.
    fn place(&self, e: &Expr) -> Option<Expr> {
        let own = |v: &VarId| Some(ExprKind::Var(*self.lanes.get(v)?));
        let kind = match &e.kind {
            ExprKind::Var(v) => own(v)?,
            ExprKind::Index(base, at) if is_plain(at) => {
                let base = Expr { kind: own(&base.as_var()?)?, range: base.range };
                ExprKind::Index(Box::new(base), at.clone())
            }
            _ => return None,
        };
        Some(Expr { kind, range: e.range })
    }

    /// What `*(__m128 *)p` leads to.
    fn pointed(&self, e: &Expr) -> Option<(Expr, Shape)> {
        let ExprKind::Deref(inner) = &e.kind else { return None };
        let ExprKind::Cast(Type::Pointer { to, .. }, pointer) = &inner.kind else { return None };
        let shape = Shape::of_type(to)?;
        self.leads_to(pointer, shape.of)?;
        Some(((**pointer).clone(), shape))
    }

    /// Nothing but a pointer to numbers of this type will do.
    fn leads_to(&self, pointer: &Expr, of: ScalarType) -> Option<()> {
        let ty = self.file.type_of(pointer)?;
        (ty.pointee()?.as_scalar()?.ty == of && is_plain(pointer)).then_some(())
    }

    /// One lane of a vector.
    fn lane(&self, e: &Expr, shape: Shape, lane: Lane) -> Option<Expr> {
        let range = e.range;
        let kind = match &e.kind {
            ExprKind::Var(_) | ExprKind::Index(..) => {
                let own = self.shape(e).filter(|own| *own == shape).and_then(|_| self.place(e))?;
                return Some(element(own, place_of(lane, range)));
            }
            ExprKind::Deref(_) => {
                let (from, _) = self.pointed(e).filter(|(_, own)| *own == shape)?;
                return Some(element(from, place_of(lane, range)));
            }
            ExprKind::Cast(ty, inner) if Shape::of_type(ty) == Some(shape) => {
                return self.lane(inner, shape, lane);
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                ExprKind::Unary(UnaryOp::Neg, Box::new(self.lane(inner, shape, lane)?))
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div), l, r) => {
                let (l, r) = (self.lane(l, shape, lane)?, self.lane(r, shape, lane)?);
                ExprKind::Binary(*op, Box::new(l), Box::new(r))
            }
            ExprKind::Call(callee, args) => {
                let ExprKind::Name(name) = &callee.kind else { return None };
                return self.call(name, args, shape, lane, range);
            }
            _ => return None,
        };
        Some(Expr { kind, range })
    }

    /// One lane of what an intrinsic gives.
    fn call(&self, name: &str, args: &[Expr], shape: Shape, lane: Lane, range: Range) -> Option<Expr> {
        let known = Shape::of_call(name);
        if let Some(from) = self.moved(name, args, shape, lane) {
            return from;
        }
        let (_, what) = known.filter(|(own, _)| *own == shape)?;
        let made = |kind| Some(Expr { kind, range });
        let of = |e: &Expr| self.lane(e, shape, lane).map(Box::new);
        let function = |single: &str, double: &str, args: Vec<Expr>| {
            let name = if shape.of == ScalarType::F32 { single } else { double };
            let callee = Expr { kind: ExprKind::Name(name.to_owned()), range };
            made(ExprKind::Call(Box::new(callee), args))
        };
        let by = |op, l: Box<Expr>, r: Box<Expr>| made(ExprKind::Binary(op, l, r));
        if name.ends_with("_ss") || name.ends_with("_sd") {
            return self.first(what, args, shape, lane, range);
        }
        match (what, args) {
            ("setzero", []) => made(zero(shape.of)),
            ("set1" | "set", [value]) => self.converted(value, shape.of),
            (_, [from]) if is_load(name) => {
                self.leads_to(from, shape.of)?;
                Some(element(from.clone(), place_of(lane, range)))
            }
            ("load1" | "load" | "loaddup", [from]) => {
                self.leads_to(from, shape.of)?;
                Some(element(from.clone(), number(0, range)))
            }
            ("add", [l, r]) => by(BinaryOp::Add, of(l)?, of(r)?),
            ("sub", [l, r]) => by(BinaryOp::Sub, of(l)?, of(r)?),
            ("mul", [l, r]) => by(BinaryOp::Mul, of(l)?, of(r)?),
            ("div", [l, r]) => by(BinaryOp::Div, of(l)?, of(r)?),
            // As the instructions do it where one is not a number.
            ("min" | "max", [l, r]) => {
                let (l, r) = (of(l)?, of(r)?);
                let mut n_nodes = 0;
                [&l, &r].into_iter().for_each(|e| e.walk(&mut |_| n_nodes += 1));
                if n_nodes > MOST_NODES {
                    return None;
                }
                let op = if what == "min" { BinaryOp::Lt } else { BinaryOp::Gt };
                let first = by(op, l.clone(), r.clone())?;
                made(ExprKind::Select(Box::new(first), l, r))
            }
            ("sqrt", [value]) => function("sqrtf", "sqrt", vec![*of(value)?]),
            ("fmadd" | "fmsub" | "fnmadd" | "fnmsub", [a, b, c]) => {
                let negative = |e: Box<Expr>, is: bool| match is {
                    true => Expr { kind: ExprKind::Unary(UnaryOp::Neg, e), range },
                    false => *e,
                };
                let a = negative(of(a)?, what.starts_with("fn"));
                let c = negative(of(c)?, what.ends_with("sub"));
                function("fmaf", "fma", vec![a, *of(b)?, c])
            }
            _ => None,
        }
    }

    /// What intrinsics give that change the first lane only.
    fn first(&self, what: &str, args: &[Expr], shape: Shape, lane: Lane, range: Range) -> Option<Expr> {
        let Lane::One(k) = lane else { return None };
        let made = |kind| Some(Expr { kind, range });
        match (what, args) {
            ("set", [value]) if k == 0 => self.converted(value, shape.of),
            ("load", [from]) if k == 0 => {
                self.leads_to(from, shape.of)?;
                Some(element(from.clone(), number(0, range)))
            }
            ("set" | "load", [_]) => made(zero(shape.of)),
            ("add" | "sub" | "mul" | "div", [l, r]) => {
                let left = self.lane(l, shape, lane)?;
                if k != 0 {
                    return Some(left);
                }
                let op = match what {
                    "add" => BinaryOp::Add,
                    "sub" => BinaryOp::Sub,
                    "mul" => BinaryOp::Mul,
                    _ => BinaryOp::Div,
                };
                made(ExprKind::Binary(op, Box::new(left), Box::new(self.lane(r, shape, lane)?)))
            }
            _ => None,
        }
    }

    /// One lane of what an intrinsic gives that only moves lanes; `None` if it is none of those, and nothing inside if the lane
    /// is not known.
    fn moved(&self, name: &str, args: &[Expr], shape: Shape, lane: Lane) -> Option<Option<Expr>> {
        let half = Shape { n: shape.n * 2, ..shape };
        let at = |e: &Expr, k: i64| self.lane(e, shape, Lane::One(k));
        let range = args.first().map_or(Range::default(), |e| e.range);
        let sum = |e: &Expr, k: i64| {
            let (l, r) = (Box::new(at(e, k)?), Box::new(at(e, k + 1)?));
            Some(Expr { kind: ExprKind::Binary(BinaryOp::Add, l, r), range })
        };
        match (name, args) {
            ("_mm256_castps256_ps128" | "_mm256_castpd256_pd128", [value]) => {
                return Some(self.lane(value, half, lane));
            }
            ("_mm256_broadcast_ss" | "_mm256_broadcast_sd" | "_mm_broadcast_ss", [from]) => {
                let first = || Some(element(from.clone(), number(0, range)));
                return Some(self.leads_to(from, shape.of).and_then(|()| first()));
            }
            _ => {}
        }
        let is_known = [
            "extractf128",
            "hadd",
            "movehl",
            "movelh",
            "movehdup",
            "moveldup",
            "shuffle",
            "unpack",
            "set",
            "setr",
        ];
        let what = Shape::of_call(name).map_or("", |(_, what)| what);
        let is_list = matches!(what, "set" | "setr") && args.len() as i64 == shape.n && shape.n > 1;
        if !is_known.iter().any(|known| what.starts_with(known)) || what.starts_with("set") && !is_list {
            return None;
        }
        let Lane::One(k) = lane else { return Some(None) };
        let is_upper = k >= 2;
        Some(match (name, args) {
            ("_mm256_extractf128_ps" | "_mm256_extractf128_pd", [value, which]) => {
                constant(which).and_then(|which| self.lane(value, half, Lane::One(k + which * shape.n)))
            }
            (_, values) if is_list && what == "set" => {
                values.get((shape.n - 1 - k) as usize).and_then(|e| self.converted(e, shape.of))
            }
            (_, values) if is_list => values.get(k as usize).and_then(|e| self.converted(e, shape.of)),
            ("_mm_hadd_ps", [l, r]) => {
                if is_upper {
                    sum(r, 2 * k - 4)
                } else {
                    sum(l, 2 * k)
                }
            }
            ("_mm_hadd_pd", [l, r]) => sum(if k == 1 { r } else { l }, 0),
            ("_mm_movehl_ps", [l, r]) => {
                if is_upper {
                    at(l, k)
                } else {
                    at(r, k + 2)
                }
            }
            ("_mm_movelh_ps", [l, r]) => {
                if is_upper {
                    at(r, k - 2)
                } else {
                    at(l, k)
                }
            }
            ("_mm_movehdup_ps", [value]) => at(value, k | 1),
            ("_mm_moveldup_ps", [value]) => at(value, k & !1),
            ("_mm_unpackhi_pd", [l, r]) => at(if k == 1 { r } else { l }, 1),
            ("_mm_unpacklo_pd", [l, r]) => at(if k == 1 { r } else { l }, 0),
            ("_mm_unpackhi_ps", [l, r]) => at(if k & 1 == 1 { r } else { l }, 2 + k / 2),
            ("_mm_unpacklo_ps", [l, r]) => at(if k & 1 == 1 { r } else { l }, k / 2),
            ("_mm_shuffle_ps", [l, r, how]) => {
                constant(how).and_then(|how| at(if is_upper { r } else { l }, how >> (2 * k) & 3))
            }
            ("_mm_shuffle_pd", [l, r, how]) => {
                constant(how).and_then(|how| at(if k == 1 { r } else { l }, how >> k & 1))
            }
            _ => None,
        })
    }

    /// A number as one of this type.
    fn converted(&self, value: &Expr, to: ScalarType) -> Option<Expr> {
        if !is_plain(value) {
            return None;
        }
        let is_one = match &value.kind {
            ExprKind::Float(_, ty) => *ty == to,
            _ => self.file.type_of(value).and_then(|ty| Some(ty.as_scalar()?.ty)) == Some(to),
        };
        let cast = || ExprKind::Cast(Type::scalar(to), Box::new(value.clone()));
        Some(if is_one { value.clone() } else { Expr { kind: cast(), range: value.range } })
    }

    /// Puts lanes in the place of what takes a number out of a vector.
    fn values(&mut self, e: &mut Expr) {
        let taken = match &e.kind {
            ExprKind::Call(callee, args) => match (&callee.kind, args.as_slice()) {
                (ExprKind::Name(name), [value]) => {
                    let shape = match name.as_str() {
                        "_mm_cvtss_f32" => Some(Shape { of: ScalarType::F32, n: 4 }),
                        "_mm_cvtsd_f64" => Some(Shape { of: ScalarType::F64, n: 2 }),
                        "_mm256_cvtss_f32" => Some(Shape { of: ScalarType::F32, n: 8 }),
                        "_mm256_cvtsd_f64" => Some(Shape { of: ScalarType::F64, n: 4 }),
                        _ => None,
                    };
                    shape.and_then(|shape| self.lane(value, shape, Lane::One(0)))
                }
                _ => None,
            },
            // As GNU C has it.
            ExprKind::Index(base, at) if self.shape(base).is_some() => {
                self.place(base).map(|base| element(base, (**at).clone()))
            }
            _ => None,
        };
        if let Some(taken) = taken {
            *e = taken;
        }
        e.children_mut().into_iter().for_each(|e| self.values(e));
    }
}

impl Stmt {
    fn declared(self) -> Vec<Declared> {
        match self.kind {
            StmtKind::Declare(declared) => declared,
            _ => Vec::new(),
        }
    }
}

/// Whether an intrinsic gives the numbers that lie one after the other at a place.
fn is_load(name: &str) -> bool {
    let is_whole = !["1", "_ss", "_sd"].iter().any(|end| name.ends_with(end));
    is_whole && matches!(Shape::of_call(name), Some((_, "load" | "loadu")))
}

/// Whether an expression may be evaluated once for each lane.
fn is_plain(e: &Expr) -> bool {
    let mut is_plain = !has_effects(e);
    e.walk(&mut |e| {
        is_plain &= match &e.kind {
            ExprKind::Call(callee, _) => {
                matches!(&callee.kind, ExprKind::Name(name) if MathFn::from_c_name(name).is_some())
            }
            ExprKind::Unknown(..) | ExprKind::List(_) => false,
            _ => true,
        }
    });
    is_plain
}

fn zero(ty: ScalarType) -> ExprKind {
    ExprKind::Float(if ty == ScalarType::F32 { "0.0f" } else { "0.0" }.to_owned(), ty)
}

fn number(value: i64, range: Range) -> Expr {
    Expr { kind: ExprKind::Int(value, ScalarType::I32), range }
}

fn place_of(lane: Lane, range: Range) -> Expr {
    match lane {
        Lane::Each(at) => Expr { kind: ExprKind::Var(at), range },
        Lane::One(k) => number(k, range),
    }
}

fn element(base: Expr, at: Expr) -> Expr {
    let range = base.range;
    Expr { kind: ExprKind::Index(Box::new(base), Box::new(at)), range }
}

fn assign(to: Expr, value: Expr, range: Range) -> Stmt {
    let kind = ExprKind::Assign(None, Box::new(to), Box::new(value));
    Stmt { kind: StmtKind::Expr(Expr { kind, range }), range }
}

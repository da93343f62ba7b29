//! Expressions as C text, with the parentheses required by precedence and by compilers' warnings.

use crate::context::{Context, is_identifier};
use crate::summands::summands;
pub(crate) use crate::text::{Text, prec};
use crate::types::{affine_type, constant, expr_type};
use oxeye_binding::View;
use oxeye_ir::{Access, Affine, Array, BinaryOp, Expr, Form, MathFn, ScalarType, UnaryOp, Var};

/// Spelling and precedence of an operator; `Min` and `Max` have none.
pub(crate) fn operator(op: BinaryOp) -> Option<(&'static str, u8)> {
    Some(match op {
        BinaryOp::Add => ("+", prec::ADD),
        BinaryOp::Sub => ("-", prec::ADD),
        BinaryOp::Mul => ("*", prec::MUL),
        BinaryOp::Div => ("/", prec::MUL),
        BinaryOp::Rem => ("%", prec::MUL),
        BinaryOp::Lt => ("<", 10),
        BinaryOp::Le => ("<=", 10),
        BinaryOp::Gt => (">", 10),
        BinaryOp::Ge => (">=", 10),
        BinaryOp::Eq => ("==", 9),
        BinaryOp::Ne => ("!=", 9),
        BinaryOp::And => ("&&", 5),
        BinaryOp::Or => ("||", 4),
        BinaryOp::BitAnd => ("&", 8),
        BinaryOp::BitOr => ("|", 6),
        BinaryOp::BitXor => ("^", 7),
        BinaryOp::Shl => ("<<", 11),
        BinaryOp::Shr => (">>", 11),
        BinaryOp::Min | BinaryOp::Max => return None,
    })
}

/// An integer literal.
pub(crate) fn integer(value: i64) -> Text {
    if value == i64::MIN {
        return Text::new(format!("(-{}L - 1)", i64::MAX), prec::PRIMARY);
    }
    let suffix = if i32::try_from(value).is_ok() { "" } else { "L" };
    Text::new(format!("{value}{suffix}"), if value < 0 { prec::UNARY } else { prec::PRIMARY })
}

/// The macros for square roots that do not set `errno`, of `double` and of `float`.
pub(crate) const SILENT_ROOTS: [&str; 2] = ["OXEYE_SQRT", "OXEYE_SQRTF"];

impl Context<'_> {
    /// A variable of an affine expression.
    fn var(&self, v: Var, wide: bool) -> Text {
        let (name, ty) = match v {
            Var::Loop(l) => match self.iterators.get(&l) {
                Some((name, ty)) => (name.clone(), *ty),
                None => (l.to_string(), ScalarType::I32),
            },
            Var::Sym(s) => match self.program.symbols.get(&s) {
                Some(symbol) => {
                    let name = self.symbol_names.get(&s).unwrap_or(&symbol.name);
                    (name.clone(), symbol.ty)
                }
                None => (s.to_string(), ScalarType::I32),
            },
        };
        let name = if is_identifier(&name) { name } else { format!("({name})") };
        let unsigned = matches!(ty, ScalarType::U32 | ScalarType::U64);
        if unsigned || (wide && ty != ScalarType::I64) {
            Text::new(format!("(long){name}"), prec::UNARY)
        } else {
            Text::primary(name)
        }
    }

    /// An affine expression as a value, with the type that C gives it, in whichever it is computed. What all of its terms have
    /// in common stands before it, `256 * (it + 1)`: what is added up on the way is then a part of the value, while
    /// `256 * it` may be out of range where the value is not.
    pub(crate) fn affine(&self, a: &Affine) -> Text {
        let is_long = !self.wide && self.long.others.contains(a);
        let text = self.factored(&self.resolve(a), self.wide || is_long);
        match self.type_of(&Expr::Affine(a.clone())) {
            ScalarType::I32 if is_long => Text::new(format!("(int){}", text.at(prec::UNARY)), prec::UNARY),
            _ => text,
        }
    }

    /// A subscript. Those that are affine are as long as the memory allows, so that nothing is taken out of them, and may be
    /// `long`.
    fn subscript(&self, e: &Expr) -> Text {
        match e {
            Expr::Affine(a) => self.affine_in(a, self.wide || self.long.others.contains(a)),
            _ => self.expr(e),
        }
    }

    fn factored(&self, a: &Affine, wide: bool) -> Text {
        let constant = a.constant_part();
        let common = a.terms().next().and_then(|(_, c)| c.checked_abs()).unwrap_or(1);
        let is_in_all =
            a.terms().all(|(_, c)| c.unsigned_abs() == common.unsigned_abs()) && constant % common == 0;
        let is_sum = a.terms().count() + usize::from(constant != 0) > 1;
        if common == 1 || !is_in_all || !is_sum {
            return self.affine_in(a, wide);
        }
        let start = Affine::constant(constant / common);
        let rest = a.terms().fold(start, |sum, (v, c)| sum.add_scaled(&Affine::var(v), c.signum()));
        let rest = self.affine_in(&rest, wide).at(prec::UNARY);
        Text::new(format!("{} * {rest}", integer(common).text), prec::MUL)
    }

    /// The terms of an affine expression added up, with what is narrower than 64 bits widened before arithmetic if it is
    /// `wide`.
    pub(crate) fn affine_in(&self, a: &Affine, wide: bool) -> Text {
        let a = self.resolve(a);
        let summands = summands(&a);
        let mut k = a.constant_part();
        let mut result: Option<Text> = None;
        if k > 0 && summands.iter().all(|s| s.by < 0) && !summands.is_empty() {
            result = Some(integer(std::mem::take(&mut k)));
        }
        for summand in summands {
            let first = self.var(summand.of, wide);
            let value = match summand.less {
                Some(less) => {
                    let less = self.var(less, wide);
                    Text::new(format!("{} - {}", first.at(prec::ADD), less.at(prec::MUL)), prec::ADD)
                }
                None => first,
            };
            let magnitude = match summand.by.unsigned_abs() {
                1 => value,
                m => {
                    let m = i64::try_from(m).unwrap_or(i64::MAX);
                    Text::new(format!("{} * {}", integer(m).text, value.at(prec::UNARY)), prec::MUL)
                }
            };
            result = Some(match (result, summand.by < 0) {
                (None, false) => magnitude,
                (None, true) => Text::new(format!("-{}", magnitude.at(prec::UNARY)), prec::UNARY),
                (Some(sum), negative) => {
                    let sign = if negative { "-" } else { "+" };
                    Text::new(format!("{} {sign} {}", sum.at(prec::ADD), magnitude.at(prec::MUL)), prec::ADD)
                }
            });
        }
        match result {
            None => integer(k),
            Some(sum) if k == 0 => sum,
            Some(sum) if k == i64::MIN => {
                Text::new(format!("{} + {}", sum.at(prec::ADD), integer(k).text), prec::ADD)
            }
            Some(sum) => {
                let sign = if k < 0 { "-" } else { "+" };
                Text::new(format!("{} {sign} {}", sum.at(prec::ADD), integer(k.abs()).text), prec::ADD)
            }
        }
    }

    /// The C type of an expression.
    pub(crate) fn type_of(&self, e: &Expr) -> ScalarType {
        match e {
            Expr::Affine(a) => affine_type(self.program, self, &self.resolve(a)),
            _ => expr_type(self.program, self, e),
        }
    }

    /// An expression.
    pub(crate) fn expr(&self, e: &Expr) -> Text {
        match e {
            Expr::Affine(a) => self.affine(a),
            Expr::Float { text, .. } => {
                let prec = if text.starts_with('-') { prec::UNARY } else { prec::PRIMARY };
                Text::new(text.clone(), prec)
            }
            Expr::Read(access) => Text::primary(self.read(access)),
            Expr::Unary(op, inner) => {
                let sign = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                let inner = self.expr(inner);
                let inner = if inner.text.starts_with(['-', '+']) || !matches!(op, UnaryOp::Neg) {
                    inner.at(prec::PRIMARY)
                } else {
                    inner.at(prec::UNARY)
                };
                Text::new(format!("{sign}{inner}"), prec::UNARY)
            }
            Expr::Binary(op, l, r) => self.binary(*op, self.expr(l), self.expr(r), (l, r)),
            Expr::Call { function, single, args } if function.complex().is_some() => {
                crate::complex::call(self, *function, *single, args)
            }
            Expr::Call { function: MathFn::Sqrt, single, args } if self.math.silent_roots => {
                let args: Vec<String> = args.iter().map(|a| self.expr(a).text).collect();
                Text::primary(format!("{}({})", SILENT_ROOTS[usize::from(*single)], args.join(", ")))
            }
            Expr::Call { function, single, args } => {
                let args: Vec<String> = args.iter().map(|a| self.expr(a).text).collect();
                let suffix = if *single && function.integers().is_none() { "f" } else { "" };
                let is_own = *function == MathFn::Copysign && !self.math.has_copysign;
                let prefix = if is_own { "__builtin_" } else { "" };
                Text::primary(format!("{prefix}{}{suffix}({})", function.c_name(), args.join(", ")))
            }
            Expr::Select { condition, then, otherwise } => {
                let at = prec::TERNARY + 1;
                let text = format!(
                    "{} ? {} : {}",
                    self.expr(condition).at(at),
                    self.expr(then).at(at),
                    self.expr(otherwise).at(at)
                );
                Text::new(text, prec::TERNARY)
            }
            Expr::Cast(ty, inner) => {
                Text::new(format!("({}){}", ty.c_name(), self.expr(inner).at(prec::UNARY)), prec::UNARY)
            }
        }
    }

    /// Two operands joined; `parts` are their expressions, for the parentheses that compilers recommend.
    pub(crate) fn binary(&self, op: BinaryOp, l: Text, r: Text, parts: (&Expr, &Expr)) -> Text {
        let Some((sign, p)) = operator(op) else {
            let sign = if op == BinaryOp::Min { "<" } else { ">" };
            if self.watch.is_some() {
                // Each operand is told of once.
                let (l, r) = (l.text, r.text);
                return Text::primary(format!(
                    "__extension__({{ const __typeof__({l}) oxeye_l = {l}; const __typeof__({r}) oxeye_r = {r}; \
                     oxeye_l {sign} oxeye_r ? oxeye_l : oxeye_r; }})"
                ));
            }
            if self.wide {
                let name = if op == BinaryOp::Min { "OXEYE_MIN" } else { "OXEYE_MAX" };
                return Text::primary(format!("{name}({}, {})", l.text, r.text));
            }
            let (l, r) = (l.at(11), r.at(11));
            return Text::new(format!("{l} {sign} {r} ? {l} : {r}"), prec::TERNARY);
        };
        let wrap = |text: Text, e: &Expr, least: u8| {
            let inner = match e {
                Expr::Binary(inner, ..) => Some(*inner),
                _ => None,
            };
            let odd = |op| !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
            let warned = match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => false,
                BinaryOp::And => inner == Some(BinaryOp::Or),
                BinaryOp::Or => inner == Some(BinaryOp::And),
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
                    inner.is_some_and(odd)
                }
                _ => text.prec < prec::UNARY,
            };
            text.at(if warned { prec::PRIMARY } else { least })
        };
        let right_least = p + 1;
        Text::new(format!("{} {sign} {}", wrap(l, parts.0, p), wrap(r, parts.1, right_least)), p)
    }

    /// The value of an element.
    pub(crate) fn read(&self, access: &Access) -> String {
        let text = self.access(access);
        match self.watch.as_ref().and_then(|watch| watch.number(access, false)) {
            Some(site) => format!("OXEYE_WATCH_READ({site}, {text})"),
            None => text,
        }
    }

    /// One element, as written in C outside vectors.
    pub(crate) fn access(&self, access: &Access) -> String {
        self.access_of(access, 1)
    }

    /// The first of so many elements that are used at once.
    pub(crate) fn access_of(&self, access: &Access, lanes: u32) -> String {
        if let Some((_, name)) = self.copies.elements.iter().find(|(a, _)| a == access) {
            return name.clone();
        }
        if let Some(text) = self.register_element(access) {
            return text;
        }
        let Some(array) = self.program.arrays.get(&access.array) else { return access.array.to_string() };
        if let Some(part) = self.copies.parts.get(&array.id) {
            return self.part_element(part, array, &access.indices);
        }
        self.checked_element(array, self.element(array, access, lanes), lanes)
    }

    fn element(&self, array: &Array, access: &Access, lanes: u32) -> String {
        let name = self.name(array.id);
        let name =
            if is_identifier(name) || array.shape.is_empty() { name.to_owned() } else { format!("({name})") };
        if let Some(view) = self.binding.views.get(&array.id).filter(|v| v.is_interleaved()) {
            let is_named = self.names.get(&array.id).is_some_and(|n| *n != array.name);
            let base = if is_named { self.name(array.id).to_owned() } else { view.base() };
            return view.element(base, self.subscripts(array, access, lanes));
        }
        let form = if self.apart.contains(&array.id) { Form::Nested } else { array.form };
        match form {
            Form::Nested if self.is_in_structures(array) => {
                let n = access.indices.len() - 1;
                let indices = (0..n).map(|k| self.index(array, &access.indices, k, 1));
                let structure = indices.map(|text| format!("[{text}]")).collect::<String>();
                let number = self.index(array, &access.indices, n, lanes);
                format!("(({} *)&{name}{structure})[{number}]", element_type(array))
            }
            Form::Nested => {
                let indices = (0..access.indices.len()).map(|k| self.index(array, &access.indices, k, lanes));
                format!("{name}{}", indices.map(|text| format!("[{text}]")).collect::<String>())
            }
            Form::Linear if access.indices.is_empty() => name,
            Form::Linear => format!("{name}[{}]", self.linear_index(array, &access.indices, lanes)),
            Form::Leading(_) => {
                let subscripts = self.subscripts(array, access, lanes);
                format!("{name}{}", subscripts.map(|text| format!("[{text}]")).collect::<String>())
            }
        }
    }

    /// Whether the last index of an array counts the numbers of structures.
    fn is_in_structures(&self, array: &Array) -> bool {
        self.binding.views.get(&array.id).is_some_and(View::is_rows_of_structures)
    }

    /// The subscripts as they are written, some of which may stand for several dimensions.
    fn subscripts(&self, array: &Array, access: &Access, lanes: u32) -> impl Iterator<Item = String> {
        let n_leading = array.form.n_leading(access.indices.len());
        let (leading, others) = access.indices.split_at(n_leading);
        let leading_lanes = if others.is_empty() { lanes } else { 1 };
        let first = (!leading.is_empty()).then(|| self.linear_index(array, leading, leading_lanes));
        let others =
            (n_leading..access.indices.len()).map(move |k| self.index(array, &access.indices, k, lanes));
        first.into_iter().chain(others)
    }

    /// An index; `lanes` elements are used from the last one on.
    fn index(&self, array: &Array, indices: &[Expr], k: usize, lanes: u32) -> String {
        let lanes = if k + 1 == indices.len() { lanes } else { 1 };
        let extent = array.shape.get(k).and_then(Option::as_ref);
        self.checked_index(array, self.subscript(&indices[k]).text, extent, lanes)
    }

    /// An element of a thread's part of an array.
    pub(crate) fn part_element(&self, part: &str, array: &Array, indices: &[Expr]) -> String {
        let index = |k: usize| self.subscript(&indices[k]);
        format!("{part}[{}]", self.linear(array, indices, &index, &|_| 0))
    }

    /// Row-major position in memory.
    fn linear_index(&self, array: &Array, indices: &[Expr], lanes: u32) -> String {
        let origin = |k: usize| self.binding.origin(array.id, k);
        let index = |k: usize| match (self.checks.is_some(), origin(k)) {
            (false, 0) => self.subscript(&indices[k]),
            (false, by) => self.subscript(&Expr::binary(BinaryOp::Add, indices[k].clone(), Expr::from(by))),
            (true, 0) => Text::primary(self.index(array, indices, k, lanes)),
            (true, by) => Text::new(format!("{} + {by}", self.index(array, indices, k, lanes)), prec::ADD),
        };
        self.linear(array, indices, &index, &origin)
    }

    /// Row-major position by Horner's rule, in `long` where `int` might overflow.
    fn linear(
        &self,
        array: &Array,
        indices: &[Expr],
        index: &dyn Fn(usize) -> Text,
        origin: &dyn Fn(usize) -> i64,
    ) -> String {
        let is_nothing = |k: usize| constant(&indices[k]) == Some(-origin(k));
        if indices.len() == 1 {
            return index(0).text;
        }
        let extents: Vec<Option<Expr>> = array.shape.iter().take(indices.len()).cloned().collect();
        let total = extents.iter().skip(1).try_fold(1i64, |p, e| p.checked_mul(constant(e.as_ref()?)?));
        let first = extents.first().and_then(|e| constant(e.as_ref()?));
        let small = matches!((total, first), (Some(t), Some(f)) if t.checked_mul(f).is_some_and(|n| n < i64::from(i32::MAX)));
        let mut position = Text::new("0", prec::PRIMARY);
        let mut wide = small;
        for (k, value) in indices.iter().enumerate() {
            if k == 0 {
                position = index(0);
                wide |= self.type_of(value) == ScalarType::I64;
                if is_nothing(k) && indices.len() > 1 {
                    position = Text::new("0", prec::PRIMARY);
                }
                continue;
            }
            let Some(Some(extent)) = extents.get(k) else { continue };
            let is_zero = position.text == "0";
            wide |= self.type_of(extent) == ScalarType::I64;
            let scaled = if is_zero {
                None
            } else {
                let extent = self.expr(extent).at(prec::UNARY);
                let left = if wide {
                    position.at(prec::MUL)
                } else {
                    wide = true;
                    format!("(long){}", position.at(prec::UNARY))
                };
                Some(Text::new(format!("{left} * {extent}"), prec::MUL))
            };
            let own = if is_nothing(k) { None } else { Some(index(k)) };
            position = match (scaled, own) {
                (None, None) => Text::new("0", prec::PRIMARY),
                (Some(s), None) => s,
                (None, Some(i)) => i,
                (Some(s), Some(i)) => match i.text.strip_prefix('-') {
                    Some(rest) if i.prec == prec::UNARY => {
                        Text::new(format!("{} - {rest}", s.at(prec::ADD)), prec::ADD)
                    }
                    // A sum of integers may be written without parentheses.
                    _ => Text::new(format!("{} + {}", s.at(prec::ADD), i.at(prec::ADD)), prec::ADD),
                },
            };
        }
        position.text
    }

    /// `ty name[..][..]` with the extents of a temporary.
    pub(crate) fn declaration(&self, array: &Array) -> String {
        let extent = |e: &Option<Expr>, level| e.as_ref().map_or("1".to_owned(), |e| self.expr(e).at(level));
        let name = self.name(array.id);
        let ty = element_type(array);
        let (leading, others) = array.shape.split_at(array.form.n_leading(array.shape.len()));
        let first = match leading {
            [] => String::new(),
            [only] => format!("[{}]", extent(only, 0)),
            several => {
                let total: Vec<String> = several.iter().map(|e| extent(e, prec::UNARY)).collect();
                format!("[{}]", total.join(" * "))
            }
        };
        let others: String = others.iter().map(|e| format!("[{}]", extent(e, 0))).collect();
        format!("{ty} {name}{first}{others}")
    }
}

/// The element type as declared.
pub(crate) fn element_type(array: &Array) -> &str {
    array.c_type.as_deref().unwrap_or(array.element.c_name())
}

/// The element type where the source's own types may be out of sight. What is stored in a `_Bool` is converted as in no
/// other type of its size.
pub(crate) fn plain_type(array: &Array) -> &str {
    match array.c_type.as_deref() {
        Some("_Bool") => "_Bool",
        _ => array.element.c_name(),
    }
}

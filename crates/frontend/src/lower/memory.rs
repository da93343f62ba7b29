//! `memset`, `memcpy` and `memmove` as loops.

use super::lowerer::Lowerer;
use super::pointer::Pointer;
use super::value::{Value, constant, divided};
use crate::ast::{self, ExprKind, Range, Scalar, Type};
use crate::polynomial::polynomial;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Affine, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, Node, ScalarType, Update};

/// Where whole elements begin, their type, and the extents of the rows that a step of the pointer leads over.
struct Elements {
    pointer: Pointer,
    scalar: Scalar,
    rows: Vec<i64>,
}

impl Lowerer<'_> {
    /// `memset(p, byte, bytes)`, `memcpy(p, q, bytes)` or `memmove(p, q, bytes)` of whole numbers of elements, or of rows of them.
    pub(super) fn memory(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let refuse = |why: &str| {
            Refusal::new(at, format!("`{name}` is called {why}")).help("write it as a loop over the elements")
        };
        let no_elements = || refuse("for what is not known as an array of numbers");
        let [to, from, bytes] = args else { return Err(refuse("with other arguments than usual")) };
        let to = self.elements(to)?.ok_or_else(no_elements)?;
        let scalar = to.scalar.clone();
        let bytes = self.value(bytes)?;
        let size = to.rows.iter().try_fold(scalar.ty.bytes() as i64, |size, n| size.checked_mul(*n));
        let size = size.filter(|size| *size > 0).ok_or_else(no_elements)?;
        let count = self.count_of(&bytes, size).ok_or_else(|| {
            refuse(match to.rows.is_empty() {
                true => "with a number of bytes that is not known to be that of whole elements",
                false => "with a number of bytes that is not known to be that of whole rows",
            })
        })?;
        let mut byte = 0;
        let from = if name == "memset" {
            let set = constant(&self.value(from)?).filter(|byte| *byte == 0 || !scalar.ty.is_float());
            byte = set.ok_or_else(|| refuse("with a value other than 0 or not known beforehand"))?;
            None
        } else {
            let from = self.elements(from)?.ok_or_else(no_elements)?;
            if from.scalar.ty != scalar.ty {
                return Err(refuse("between arrays of different types"));
            }
            if from.rows != to.rows {
                return Err(refuse("between arrays whose rows have different lengths"));
            }
            Some(from.pointer)
        };
        let extents = std::iter::once(count).chain(to.rows.into_iter().map(|n| Affine::constant(n).into()));
        let mut loops: Vec<Loop> = Vec::new();
        let mark = self.facts.len();
        for (name, extent) in ["k", "l", "m", "n"].into_iter().zip(extents) {
            let id = self.fresh_loop();
            self.loop_types.insert(id, ScalarType::I64);
            let l = Loop {
                id,
                name: name.to_owned(),
                ty: ScalarType::I64,
                lower: Bound(vec![Affine::constant(0).into()]),
                upper: Bound(vec![extent]),
                step: 1,
                execution: Execution::Sequential,
                body: Vec::new(),
            };
            self.facts.push_loop(&l);
            loops.push(l);
        }
        let mut places: Vec<Expr> = loops.iter().map(|l| Expr::from(l.id)).collect();
        let mut target = self.element(to.pointer.clone(), &places, at)?;
        let mut source = from.clone().map(|from| self.element(from, &places, at)).transpose()?;
        if let (Some(from), Some(ahead)) = (from.filter(|_| name == "memmove"), &source)
            && !self.is_no_later(&target, ahead)
        {
            // What is moved up is moved from its end on.
            let last_first = self.backwards(&loops).filter(|_| self.is_no_later(ahead, &target));
            let last_first =
                last_first.ok_or_else(|| refuse("where it is not known whether it moves up or down"))?;
            places = vec![last_first];
            target = self.element(to.pointer, &places, at)?;
            source = Some(self.element(from, &places, at)?);
        }
        let value = match source {
            Some(source) => Expr::Read(source),
            None if scalar.ty == ScalarType::F32 => Expr::Float { text: "0.0f".into(), ty: scalar.ty },
            None if scalar.ty == ScalarType::F64 => Expr::Float { text: "0.0".into(), ty: scalar.ty },
            None => Expr::from(repeated(byte, scalar.ty)),
        };
        self.facts.truncate(mark);
        let mut body = Vec::new();
        self.push(target, Update::Assign, value, at, &mut body);
        for l in loops.into_iter().rev() {
            body = vec![Node::Loop(Loop { body, ..l })];
        }
        out.append(&mut body);
        Ok(())
    }

    /// How many things of this size so many bytes are, if they are whole ones.
    fn count_of(&mut self, bytes: &Value, size: i64) -> Option<BoundTerm> {
        match without_factor(&self.index(bytes.clone()), size)? {
            (Expr::Affine(count), 1) => Some(count.into()),
            (product, 1) => {
                let end = self.computed_end(&product).map(BoundTerm::from);
                Some(end.unwrap_or_else(|| BoundTerm::Data(self.in_its_width(product, &bytes.e))))
            }
            _ => None,
        }
    }

    /// A pointer to numbers or rows of them, whatever the type it is passed as.
    fn elements(&mut self, e: &ast::Expr) -> Lowered<Option<Elements>> {
        /// Loops that a copy is made of.
        const MOST_DIMENSIONS: usize = 4;
        let e = match &e.kind {
            ExprKind::Cast(Type::Pointer { to, .. }, inner) if **to == Type::Void => inner,
            _ => e,
        };
        // It must not lead beyond the end of a row.
        let pointer = self.pointer(e)?.handed_over();
        let mut rows = Vec::new();
        let mut ty = &pointer.pointee;
        while let Type::Array { of, len: Some(len), .. } = ty {
            let Some(len) = ast::constant(len) else { return Ok(None) };
            rows.push(len);
            ty = of;
        }
        let scalar = match ty {
            Type::Scalar(scalar) if !scalar.is_volatile && !scalar.is_bool && !pointer.is_object => {
                scalar.clone()
            }
            _ => return Ok(None),
        };
        Ok((rows.len() < MOST_DIMENSIONS).then_some(Elements { pointer, scalar, rows }))
    }

    /// The place that a single loop has counted down to when it counts up.
    fn backwards(&self, loops: &[Loop]) -> Option<Expr> {
        let [l] = loops else { return None };
        let last = l.upper.as_affine()?.clone().offset(-1);
        Some(Expr::Affine(last - Affine::var(l.id)))
    }

    /// Whether an element is the same as another one, or before it in the same array.
    fn is_no_later(&self, first: &Access, other: &Access) -> bool {
        let pairs = || first.indices.iter().zip(&other.indices);
        let Some(differing) = pairs().position(|(a, b)| a != b) else { return first.array == other.array };
        let (a, b) = (&first.indices[differing], &other.indices[differing]);
        let difference = Expr::Binary(BinaryOp::Sub, Box::new(b.clone()), Box::new(a.clone()));
        let affine = polynomial(&difference, &mut |_| None).and_then(|sum| {
            sum.into_iter().try_fold(Affine::default(), |sum, (variables, c)| match variables[..] {
                [] => Some(sum.offset(c)),
                [variable] => Some(sum + Affine::term(variable, c)),
                _ => None,
            })
        });
        let are_others_alike = pairs().skip(differing + 1).all(|(a, b)| a == b);
        first.array == other.array
            && are_others_alike
            && affine.is_some_and(|affine| self.facts.prove_non_negative(&affine))
    }

    /// The element so many rows and elements behind the pointer.
    fn element(&mut self, mut pointer: Pointer, places: &[Expr], at: Range) -> Lowered<Access> {
        for (k, place) in places.iter().enumerate() {
            let by = Value { e: place.clone(), ty: ScalarType::I64 };
            pointer = self.moved(pointer, BinaryOp::Add, by, at)?;
            if k + 1 < places.len() {
                pointer = self.row(pointer, at)?;
            }
        }
        self.pointed_access(pointer, at)
    }
}

/// A product without as much of a factor as is seen in it, and the rest of the factor.
fn without_factor(e: &Expr, factor: i64) -> Option<(Expr, i64)> {
    match e {
        Expr::Affine(a) => {
            let parts = a.terms().map(|(_, c)| c).chain([a.constant_part()]);
            let common = parts.fold(factor, greatest_common);
            Some((divided(a, common)?.into(), factor / common))
        }
        Expr::Binary(BinaryOp::Mul, l, r) => {
            let (l, rest) = without_factor(l, factor)?;
            let (r, rest) = without_factor(r, rest)?;
            Some(match [&l, &r].map(|e| e.as_affine().and_then(Affine::as_constant)) {
                [Some(1), _] => (r, rest),
                [_, Some(1)] => (l, rest),
                _ => (Expr::binary(BinaryOp::Mul, l, r), rest),
            })
        }
        e => Some((e.clone(), factor)),
    }
}

/// The number of which each byte is this one.
fn repeated(byte: i64, ty: ScalarType) -> i64 {
    let all = u64::from(byte as u8) * 0x0101_0101_0101_0101;
    match ty {
        ScalarType::I8 => i64::from(all as i8),
        ScalarType::U8 => i64::from(all as u8),
        ScalarType::I16 => i64::from(all as i16),
        ScalarType::U16 => i64::from(all as u16),
        ScalarType::I32 => i64::from(all as i32),
        ScalarType::U32 => i64::from(all as u32),
        _ => all as i64,
    }
}

fn greatest_common(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { greatest_common(b, a.checked_rem(b).unwrap_or(0)) }
}

//! `memset` and `memcpy` as loops.

use super::lowerer::Lowerer;
use super::pointer::Pointer;
use super::value::{Value, constant, divided};
use crate::ast::{self, ExprKind, Range, Scalar, Type};
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Affine, BinaryOp, Bound, Execution, Expr, Loop, LoopId, Node, ScalarType, Update};

impl Lowerer<'_> {
    /// `memset(p, 0, bytes)` or `memcpy(p, q, bytes)` of whole numbers of elements.
    pub(super) fn memory(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let refuse = || {
            Refusal::new(at, format!("`{name}` is called, and not for a number of whole elements"))
                .help("write it as a loop over the elements")
        };
        let [to, from, bytes] = args else { return Err(refuse()) };
        let (to, scalar) = self.elements(to)?.ok_or_else(refuse)?;
        let bytes = self.value(bytes)?;
        let bytes = self.index(bytes);
        let count =
            bytes.as_affine().and_then(|a| divided(a, scalar.ty.bytes() as i64)).ok_or_else(refuse)?;
        let from = if name == "memset" {
            if constant(&self.value(from)?) != Some(0) {
                return Err(refuse());
            }
            None
        } else {
            let (from, other) = self.elements(from)?.ok_or_else(refuse)?;
            if other.ty != scalar.ty {
                return Err(refuse());
            }
            Some(from)
        };
        let id = self.fresh_loop();
        self.loop_types.insert(id, ScalarType::I64);
        let mut l = Loop {
            id,
            name: "k".to_owned(),
            ty: ScalarType::I64,
            lower: Bound(vec![Affine::constant(0).into()]),
            upper: Bound(vec![count.into()]),
            step: 1,
            execution: Execution::Sequential,
            body: Vec::new(),
        };
        let mark = self.facts.len();
        self.facts.push_loop(&l);
        let target = self.element(to, id, at)?;
        let value = match from {
            Some(from) => Expr::Read(self.element(from, id, at)?),
            None if scalar.ty == ScalarType::F32 => Expr::Float { text: "0.0f".into(), ty: scalar.ty },
            None if scalar.ty == ScalarType::F64 => Expr::Float { text: "0.0".into(), ty: scalar.ty },
            None => Expr::from(0),
        };
        self.facts.truncate(mark);
        self.push(target, Update::Assign, value, at, &mut l.body);
        out.push(Node::Loop(l));
        Ok(())
    }

    /// A pointer to numbers, whatever the type it is passed as.
    fn elements(&mut self, e: &ast::Expr) -> Lowered<Option<(Pointer, Scalar)>> {
        let e = match &e.kind {
            ExprKind::Cast(Type::Pointer { to, .. }, inner) if **to == Type::Void => inner,
            _ => e,
        };
        let pointer = self.pointer(e)?;
        Ok(match pointer.pointee.clone() {
            Type::Scalar(scalar) if !scalar.is_volatile && !scalar.is_bool && !pointer.is_object => {
                Some((pointer, scalar))
            }
            _ => None,
        })
    }

    fn element(&mut self, pointer: Pointer, id: LoopId, at: Range) -> Lowered<Access> {
        let by = Value { e: Expr::from(id), ty: ScalarType::I64 };
        let pointer = self.moved(pointer, BinaryOp::Add, by, at)?;
        self.pointed_access(pointer, at)
    }
}

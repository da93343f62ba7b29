//! Static variables of functions that never change: numbers are their values, tables are arrays of the nest that are filled
//! before its loops.

use super::lowerer::Lowerer;
use crate::ast::{self, Declared, ExprKind, Range, Type};
use crate::constants::is_number;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Affine, Expr, Storage, Update};

/// Most elements of a table.
const MOST_ELEMENTS: i64 = 256;

impl Lowerer<'_> {
    /// Reads the declaration of a static variable.
    pub(super) fn declare_static(&mut self, d: &Declared, at: Range) -> Lowered<()> {
        let file = self.cx.file;
        if file.values.contains_key(&d.var) || self.tabulated.contains(&d.var) {
            return Ok(());
        }
        let name = self.name(d.var);
        let values = match (&file.var(d.var).ty, &d.init) {
            (Type::Array { .. }, Some(ast::Expr { kind: ExprKind::List(values), .. }))
                if file.fixed.contains(&d.var) =>
            {
                values
            }
            _ => {
                return Err(Refusal::new(at, format!("`{name}` is declared static inside the loop"))
                    .help("declare it outside of all functions"));
            }
        };
        let array = self.new_array(d.var, Storage::Temp(None), at)?;
        let declared = self.state.program.array(array);
        let is_float = declared.element.is_float();
        let extents: Option<Vec<i64>> =
            declared.shape.iter().map(|e| e.as_ref()?.as_affine()?.as_constant()).collect();
        let product = |extents: &Vec<i64>| extents.iter().try_fold(1i64, |n, e| n.checked_mul(*e));
        let Some(extents) = extents.filter(|e| product(e).is_some_and(|n| n <= MOST_ELEMENTS)) else {
            let message = format!("the table `{name}` has more than {MOST_ELEMENTS} elements");
            return Err(Refusal::new(at, message).help("declare it outside of all functions"));
        };
        let Some(elements) = elements(values, &extents) else {
            return Err(Refusal::new(at, format!("the values of the table `{name}` are not plain numbers"))
                .help("declare it outside of all functions"));
        };
        let mut nodes = Vec::new();
        for (indices, value) in elements {
            let value = match value {
                Some(value) => {
                    let value = self.value(value)?;
                    self.as_flag(value, &file.var(d.var).ty).e
                }
                None if is_float => Expr::Float { text: "0.0".into(), ty: oxeye_ir::ScalarType::F64 },
                None => Expr::from(0),
            };
            let indices = indices.into_iter().map(|k| Expr::from(Affine::constant(k))).collect();
            self.push(Access { array, indices }, Update::Assign, value, at, &mut nodes);
        }
        self.state.arrays.insert(d.var, array);
        self.outcome.tables.append(&mut nodes);
        self.tabulated.insert(d.var);
        Ok(())
    }
}

/// The elements of a table with these extents, and their values where the list has some; `None` if lists and rows do not
/// correspond.
fn elements<'e>(values: &'e [ast::Expr], extents: &[i64]) -> Option<Vec<(Vec<i64>, Option<&'e ast::Expr>)>> {
    let (extent, inner) = extents.split_first()?;
    if values.len() as i64 > *extent {
        return None;
    }
    let mut found = Vec::new();
    for k in 0..*extent {
        let value = values.get(usize::try_from(k).ok()?);
        if inner.is_empty() {
            if value.is_some_and(|value| !is_number(value)) {
                return None;
            }
            found.push((vec![k], value));
            continue;
        }
        let row = match value.map(|value| &value.kind) {
            Some(ExprKind::List(row)) => row.as_slice(),
            Some(_) => return None,
            None => &[],
        };
        let rest = elements(row, inner)?;
        found.extend(rest.into_iter().map(|(rest, value)| ([vec![k], rest].concat(), value)));
    }
    Some(found)
}

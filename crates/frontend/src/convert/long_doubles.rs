//! Literals of type `long double` where nothing is computed in that type, or nothing that rounds: they are plain numbers.

use super::Converter;
use crate::literal::exact_double;
use oxeye_ir::{MathFn, ScalarType};
use tree_sitter::Node;

impl Converter<'_> {
    /// The number without its suffix, for a literal that is exactly a `double`, if what becomes of it is the same as of that.
    pub(super) fn plain_number(&mut self, node: Node<'_>) -> Option<String> {
        let text = self.node_text(node);
        let digits = exact_double(text.trim_start_matches(['+', '-']).trim_start())?;
        self.is_rounded_soon(node, digits.parse().ok()?).then_some(digits)
    }

    /// Whether the value of an expression is converted before anything is computed with it that rounds. `value` is its size, if
    /// that is not the result of an operation.
    fn is_rounded_soon(&mut self, node: Node<'_>, value: f64) -> bool {
        let Some(parent) = node.parent() else { return false };
        let is = |field: &str| parent.child_by_field_name(field) == Some(node);
        match parent.kind() {
            "parenthesized_expression" | "unary_expression" => self.is_rounded_soon(parent, value),
            "conditional_expression" => !is("condition") && self.is_rounded_soon(parent, f64::NAN),
            "cast_expression" => {
                let ty = parent.child_by_field_name("type").map(|ty| self.type_descriptor(ty));
                ty.and_then(|ty| ty.as_scalar().map(|s| s.ty)).is_some()
            }
            // Of a variable of another type than those that are read, nothing is known anyway.
            "init_declarator" => is("value"),
            "assignment_expression" => is("right") && self.operator(parent) == "=",
            "return_statement" => true,
            "argument_list" => {
                let callee = parent.parent().and_then(|call| call.child_by_field_name("function"));
                callee.is_some_and(|callee| MathFn::from_c_name(self.node_text(callee)).is_some())
            }
            "binary_expression" => {
                let op = self.operator(parent).to_owned();
                let other = parent.child_by_field_name(if is("left") { "right" } else { "left" });
                let has_room = other.is_some_and(|other| self.is_narrow(other));
                let is_power = value != 0.0 && value.to_bits() << 12 == 0 && value.is_normal();
                match op.as_str() {
                    "<" | "<=" | ">" | ">=" | "==" | "!=" => has_room,
                    "+" | "-" => value == 0.0 && has_room && self.is_rounded_soon(parent, f64::NAN),
                    "*" => is_power && has_room && self.is_rounded_soon(parent, f64::NAN),
                    "/" => is("right") && is_power && has_room && self.is_rounded_soon(parent, f64::NAN),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether an expression has a type all values of which are `double`s.
    fn is_narrow(&mut self, node: Node<'_>) -> bool {
        let e = self.unsurely(|c| c.expr(node));
        let ty = self.arithmetic_type_of(&e);
        ty.is_some_and(|ty| !matches!(ty, ScalarType::I64 | ScalarType::U64))
    }
}

//! Accumulations whose order is open.

use oxeye_ir::{ArrayId, Program, ScalarType, Update};

/// Which accumulations may be reordered.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenOrders {
    /// All of them.
    pub(crate) all: bool,
    /// Those into these arrays: the source leaves their order open ([`Nest::unordered`](oxeye_ir::Nest::unordered)).
    pub(crate) into: Vec<ArrayId>,
}

impl OpenOrders {
    /// Whether updates of this array may be reordered.
    pub(crate) fn allow(&self, program: &Program, array: ArrayId, update: Update) -> bool {
        self.all || self.into.contains(&array) || order_is_free(update, program.array(array).element)
    }
}

/// Whether the result of accumulating does not depend on the order, whatever the floating-point policy.
fn order_is_free(update: Update, element: ScalarType) -> bool {
    !element.is_float() || matches!(update, Update::Min | Update::Max)
}

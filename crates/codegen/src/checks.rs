//! Debug builds of rendered nests: every access is checked when the program runs.
//!
//! An index is compared with the extent of its dimension where that has one, the address with what the nest as it was read
//! reaches of the array, and with the alignment of the element; a stored floating-point number must be one.

use crate::alias::Asked;
use crate::context::{Checks, Context, is_outer};
use oxeye_ir::{Access, Array, ArrayId, Execution, Expr, Nest};
use std::collections::BTreeSet;

impl Context<'_> {
    /// Declarations of the ranges of the arrays that a nest uses, where accesses are checked; `original` is the nest as it was
    /// read. Arrays of which nothing says how far the nest reaches have none.
    pub(crate) fn check_ranges(&mut self, original: &Nest, nest: &Nest) -> Vec<String> {
        let Some(mut checks) = self.checks.take() else { return Vec::new() };
        let accesses: Vec<_> = original.accesses().into_iter().chain(nest.accesses()).collect();
        let used: BTreeSet<ArrayId> = accesses.iter().map(|(access, _)| access.array).collect();
        // Inside of loops with a clause for them, their names stand for a thread's own copies.
        let mut copied: BTreeSet<ArrayId> = BTreeSet::new();
        for header in nest.loops() {
            if let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } =
                &header.execution
            {
                copied.extend(reductions.iter().map(|reduction| reduction.array));
            }
        }
        let mut declarations = Vec::new();
        for id in used {
            let array = self.program.array(id);
            let is_memory = is_outer(array.storage) && !array.shape.is_empty();
            if !is_memory || copied.contains(&id) || self.apart.contains(&id) || is_renamed(self, array) {
                continue;
            }
            let begin = self.byte_offset(original, array, false, Asked::AtMost);
            let end = self.byte_offset(original, array, true, Asked::AtMost);
            let (Some(begin), Some(end)) = (begin, end) else { continue };
            let address = self.address(array);
            let [base, first, last] =
                ["base", "first", "last"].map(|what| self.fresh(&format!("{}_{what}", array.name)));
            declarations.push(format!("const __UINTPTR_TYPE__ {base} = {address};"));
            declarations.push(format!("const __UINTPTR_TYPE__ {first} = {base} + ({begin});"));
            declarations.push(format!("const __UINTPTR_TYPE__ {last} = {base} + ({end});"));
            declarations.push(format!("(void){base}, (void){first}, (void){last};"));
            checks.ranges.insert(id, [base, first, last]);
        }
        self.checks = Some(checks);
        declarations
    }

    /// An element of an array, `lanes` of which are used at once, so that its address is checked.
    pub(crate) fn checked_element(&self, array: &Array, text: String, lanes: u32) -> String {
        let Some(checks) = self.checks.as_ref().filter(|_| !array.shape.is_empty()) else { return text };
        let range = checks.ranges.get(&array.id).filter(|_| !is_renamed(self, array));
        let [base, first, last] = match range {
            Some(range) => range.each_ref().map(String::as_str),
            None => ["0", "0", "-1L"],
        };
        let what = self.what(checks, &array.name);
        let range = [base, first, last].map(|address| format!("(__UINTPTR_TYPE__){address}")).join(", ");
        format!("OXEYE_ELEMENT({text}, {lanes}, {range}, {what})")
    }

    /// An index into a dimension with this extent, `lanes` elements of which are used at once, so that it is checked.
    pub(crate) fn checked_index(
        &self,
        array: &Array,
        text: String,
        extent: Option<&Expr>,
        lanes: u32,
    ) -> String {
        let extent = extent.filter(|extent| extent.reads().is_empty());
        let (Some(checks), Some(extent)) = (&self.checks, extent) else { return text };
        let what = self.what(checks, &array.name);
        format!("OXEYE_INDEX({text}, {}, {lanes}, {what})", self.expr(extent).text)
    }

    /// The statement that looks whether what was stored is a number, where that is asked.
    pub(crate) fn number_check(&self, target: &Access, text: &str) -> Option<String> {
        let checks = self.checks.as_ref()?;
        let array = self.program.arrays.get(&target.array).filter(|array| array.element.is_float())?;
        let what = self.what(checks, &array.name);
        Some(match self.lane_scope.as_ref().filter(|_| self.is_lanes(target)) {
            Some(scope) => format!("OXEYE_NUMBERS({text}, {}, {what});", scope.lanes),
            None => format!("OXEYE_NUMBER({text}, {what});"),
        })
    }

    /// Whether a target is written as a vector where it stands.
    fn is_lanes(&self, target: &Access) -> bool {
        let Some(scope) = &self.lane_scope else { return false };
        scope.varying.contains(&target.array) || target.indices.iter().any(|index| index.uses(scope.of))
    }

    /// Nest and array, as a string constant of C.
    fn what(&self, checks: &Checks, array: &str) -> String {
        let plain = |text: &str| text.replace(['\\', '"', '|', '\n'], "_");
        format!("\"{}|{}\"", plain(&checks.place), plain(array))
    }
}

/// Whether the name that an array has at present stands for other memory, such as a thread's part of it.
fn is_renamed(cx: &Context<'_>, array: &Array) -> bool {
    is_outer(array.storage) && cx.names.get(&array.id).is_some_and(|name| *name != array.name)
}

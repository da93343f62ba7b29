//! What a build does not show: code of other builds, and calls that attributes make.

use crate::ast::{Range, Type, Variable};
use crate::layout::Layout;
use crate::preprocess::Preprocessed;
use oxeye_ir::Span;
use std::collections::HashSet;

/// What may read variables of a function without being seen in this build.
pub(crate) struct Unseen<'a> {
    layout: &'a Layout<'a>,
    /// Words that macros drop.
    dropped: HashSet<&'a str>,
    /// Whether attributes call functions.
    has_hidden_calls: bool,
}

impl<'a> Unseen<'a> {
    /// Of the function in this part of the preprocessed text.
    pub(crate) fn of(
        layout: &'a Layout<'a>,
        preprocessed: &Preprocessed,
        function: Range,
        has_hidden_calls: bool,
    ) -> Self {
        let (_, line) = preprocessed.origin(function.start);
        let dropped = layout.dropped(line, &preprocessed.text[function.start..function.end]);
        Self { layout, dropped, has_hidden_calls }
    }

    /// The words that macros drop in it.
    pub(crate) fn dropped(&self) -> &HashSet<&'a str> {
        &self.dropped
    }

    /// The words that other builds may have in it, and all those of parts that are left out; `None` if they are not known.
    pub(crate) fn words(&self) -> Option<HashSet<&'a str>> {
        let mut words = self.layout.left_out()?;
        words.extend(&self.dropped);
        Some(words)
    }

    /// Whether a variable of the function may be read behind a part of it.
    pub(crate) fn may_read(&self, variable: &Variable, behind: Span) -> bool {
        let is_dropped = || self.dropped.contains(variable.name.as_str());
        let is_called = self.has_hidden_calls && matches!(variable.ty, Type::Pointer { .. });
        is_called || is_dropped() || self.layout.may_be_read_around(behind, &variable.name)
    }
}

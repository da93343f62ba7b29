//! Nests inside nests, and of several: a function in which some loops are control around those inside them, or are one nest together.

use crate::{FrontendError, Function, ReadOptions, Span, Unit, read_c};
use oxeye_ir::NestId;

/// A function that was read with some loops opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The function.
    pub function: Function,
    /// The nests inside the last of the opened loops, in the order of the text, or the group.
    pub nests: Vec<NestId>,
}

impl Unit {
    /// Reads a function of the file again, as `options` say, with `loops` as control around nests of their own: spans of nests,
    /// each inside the one before it. `None` if nothing inside the last of them is a nest, or the file is no longer the same.
    ///
    /// # Errors
    /// As [`read_c`].
    pub fn open(
        &self,
        options: &ReadOptions,
        function: &str,
        loops: &[Span],
    ) -> Result<Option<Opened>, FrontendError> {
        let Some(last) = loops.last() else { return Ok(None) };
        let is_inside = |span: &Span| last.start < span.start && span.end <= last.end;
        self.again(options, function, (loops, None), &is_inside)
    }

    /// The same with all from one loop to another as one nest: `group` is the span from the first byte of the one to the last of the
    /// other. `None` if it is none.
    ///
    /// # Errors
    /// As [`read_c`].
    pub fn group(
        &self,
        options: &ReadOptions,
        function: &str,
        loops: &[Span],
        group: Span,
    ) -> Result<Option<Opened>, FrontendError> {
        let is_it = |span: &Span| (span.start, span.end) == (group.start, group.end);
        self.again(options, function, (loops, Some(group)), &is_it)
    }

    fn again(
        &self,
        options: &ReadOptions,
        function: &str,
        (loops, group): (&[Span], Option<Span>),
        is_wanted: &dyn Fn(&Span) -> bool,
    ) -> Result<Option<Opened>, FrontendError> {
        let options = ReadOptions {
            function: Some(function.to_owned()),
            opened: loops.iter().map(|span| span.start).collect(),
            group,
            ..options.clone()
        };
        let again = read_c(&self.path, &options)?;
        if again.source != self.source {
            return Ok(None);
        }
        let Some(function) = again.functions.into_iter().find(|f| f.name == function) else {
            return Ok(None);
        };
        let wanted = function.program.nests.values().filter(|nest| nest.span.as_ref().is_some_and(is_wanted));
        let nests: Vec<NestId> = wanted.map(|nest| nest.id).collect();
        Ok((!nests.is_empty()).then_some(Opened { function, nests }))
    }
}

//! Rendering options.

use crate::size::SizeGuard;
use oxeye_ir::SymId;

/// Rendering options.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Threads the text is for; with 0 or 1 it has no OpenMP at all.
    pub threads: u32,
    /// Lines of the comment at the top of the block.
    pub comment: Vec<String>,
    /// Columns by which every line except the first is indented.
    pub indent: usize,
    /// Whether floating-point sums may be reordered. If not, vector loops that would do so stay sequential, and
    /// parallel ones are an error.
    pub reassociate: bool,
    /// The compiler vectorizes sums without being asked: its flags allow it to reorder them, at a sufficient
    /// optimisation level. Vector loops of several threads that only compute sums are then left to it: gcc drops the
    /// mark on a loop when it copies it, as it does in loops over iterators of unknown sign, and sums up element by
    /// element in memory.
    pub plain_sums: bool,
    /// The compiler keeps loops with square roots out of vectors, since these may set `errno`: clang, unless its flags say that
    /// nobody looks. Vector loops have roots that set nothing then.
    pub roots_set_errno: bool,
    /// The statement's own text in the user's file, which runs if the rendered nest cannot: when pointers overlap or
    /// memory is short. Without it, the program's own nest of the same id is rendered in its place.
    pub original: Option<String>,
    /// The sizes that the text is for; the original text runs on others.
    pub guard: SizeGuard,
    /// Symbols that the text is for one value of; the original text runs on others. Loops of so many iterations need no
    /// counters.
    pub known: Vec<(SymId, i64)>,
    /// Names with another meaning at the place of the text, such as the file's macros: no variable gets one of them.
    pub reserved: Vec<String>,
    /// Variables that are declared `register`, whose addresses nobody may take; others may be among them.
    pub registers: Vec<String>,
    /// The dialect has declarations at the beginnings of blocks only, and none in the heads of loops, as C had before 1999.
    pub declarations_first: bool,
    /// For a debug build: every access is checked when the program runs, and this is what findings say of the nest.
    pub checks: Option<String>,
}

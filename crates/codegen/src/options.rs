//! How a nest is rendered.

/// How a nest is rendered.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Threads the text is for; with 0 or 1 it has no OpenMP at all.
    pub threads: u32,
    /// Lines of the comment at the top of the block.
    pub comment: Vec<String>,
    /// Columns by which every line but the first is indented.
    pub indent: usize,
    /// Whether floating-point sums may be reordered. If not, loops marked as vector loops that would do so stay
    /// sequential, and parallel ones are an error.
    pub reassociate: bool,
    /// The compiler makes vectors of sums without being asked: its flags let it reorder them, and it optimises as far as
    /// that. Vector loops of several threads that only sum up are then left to it: gcc forgets that a loop was marked when it
    /// copies it, as it does in loops over iterators of unknown sign, and sums up element by element in memory.
    pub plain_sums: bool,
    /// The statement's own text in the user's file, run where the rendered nest cannot be: when pointers overlap or
    /// memory is short. Without it the program's own nest of the same id is rendered in its place.
    pub original: Option<String>,
    /// Names that mean something else where the text stands, such as the file's macros: none is given to a variable.
    pub reserved: Vec<String>,
}

//! One filetest.

/// What stands before the expectation of a file.
pub(super) struct Case<'a> {
    /// What stands behind the command's name.
    pub(super) words: Vec<&'a str>,
    /// Lines of the header that are steps of a recipe.
    pub(super) steps: Vec<&'a str>,
    /// All of it.
    pub(super) text: &'a str,
    /// All of it that is no header.
    pub(super) body: String,
}

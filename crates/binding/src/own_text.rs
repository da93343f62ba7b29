//! What the user's own text of a nest uses besides the nest's arguments.

use std::sync::LazyLock;

/// What the user's own text of a nest uses besides the nest's arguments, and what its directives say: known from reading it,
/// so that nobody has to look for it in text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnText {
    /// File-scope variables that functions called by the nest use by name, and that the program changes.
    pub by_calls: Vec<String>,
    /// Variables with a constant value: name, declaration as in the source, and value.
    pub constants: Vec<[String; 3]>,
    /// Arrays among the nest's arguments whose elements are constants that compilers know, by name; those of functions with their
    /// declarations.
    pub tables: Vec<(String, Option<String>)>,
    /// Declarations, with values, of variables whose values do not matter.
    pub unused: Vec<String>,
    /// Arrays of which the text takes the size, by name, with their declarations.
    pub sized: Vec<(String, String)>,
    /// A counter that begins with a value from before the text, and that value.
    pub begins: Option<(String, String)>,
    /// What its directives say.
    pub clauses: Clauses,
}

/// What the directives of OpenMP in and above a nest say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses {
    /// Whether one above the nest speaks of the loops inside, too: they are collapsed into one, or stand in vector lanes.
    pub reaches_inside: bool,
    /// Whether one above the nest gives it to several threads.
    pub is_for_threads: bool,
    /// Whether one of those that the compiler acts on, or one of a function that the nest calls, creates a team of threads.
    pub creates_team: bool,
    /// Of those that the compiler acts on, the variables of which threads have copies or share one, by ascending name.
    pub variables: Vec<String>,
    /// The variables that say how many threads there are, and how many iterations they take at once, likewise.
    pub counts: Vec<String>,
}

impl OwnText {
    /// A text that uses nothing but the arguments.
    pub fn none() -> &'static OwnText {
        static NONE: LazyLock<OwnText> = LazyLock::new(OwnText::default);
        &NONE
    }
}

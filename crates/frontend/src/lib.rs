//! Reads C into Oxeye programs.
//!
//! [`read_c`] runs the user's preprocessor with the user's flags, parses its output, and lowers every function that
//! contains loops to a [`Program`]. Each nest carries the exact bytes of its `for` statement in the user's own file, so
//! that everything else can stay as it is. What cannot be analysed becomes a [`Diagnostic`], never an error: the rest
//! of the file still works.
//!
//! ```
//! use oxeye_frontend::{ReadOptions, read_c};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("scale.c");
//! std::fs::write(&path, "void scale(int n, double *x)\n{\n    for (int i = 0; i < n; i++)\n        x[i] *= 2.0;\n}\n")?;
//! let unit = read_c(&path, &ReadOptions::default())?;
//! let nest = &unit.functions[0].program.nests[0];
//! let span = nest.span.expect("from a file");
//! assert_eq!(&unit.source[span.start..span.end], "for (int i = 0; i < n; i++)\n        x[i] *= 2.0;");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It changes no file, judges no transformation, and knows nothing of C++.
//!
//! # How a file becomes nests
//!
//! The unit of tuning is a **nest**: one outermost analysable loop, or a block of them that a macro makes, with the exact
//! bytes it has in the user's file. Capture, replay and replacement all happen per nest. What the frontend cannot read exactly becomes an opaque region
//! with a diagnostic and keeps its place; it never blocks the nests around it.
//!
//! A **group** is neighbouring nests, and calls of functions with nests, as one with several roots: `Function::groups` lists those of a
//! block with nothing between them that has to stay, and `Unit::group` reads the function again with all from one to another as one
//! statement (`frontend/groups`). Loops over all elements are read by the rows that others beside them have (`lower/row_by_row`). It
//! is captured, proposed for, replayed and emitted as any other nest, beside those that it is made of; `emit` keeps what gains more.
//! `Place::joined`, and with it recipe files and logs, says how many members are one with the first. Static arrays, blocks that a function
//! allocates, and those that it is lent for scratch, are dead behind a group that starts anew with them if nothing else looks at them
//! (`frontend/scratch`), so that steps like `overlap` need not store them; what code of other builds may read there is alive
//! (`frontend/unseen`).
//!
//! A nest is what one build of the file makes of it. `frontend::Conditions` says on which macros and `#if`s that depends, and of
//! which definitions of the file it has copies (`frontend/copied`: constants of the function, enumerations, types behind names);
//! `codegen::guarded` puts the user's own text into the other branch. A nest's own text in a function of its own takes such
//! constants as arguments (`Outlined::is_for_values`). A nest's span takes in the pragmas above it. Directives of
//! OpenMP say nothing about what a nest computes (`frontend/directives`, `frontend/threads`): a loop that several threads may
//! run may as well run in order. Nests that share an existing team are listed in `Binding::teams`, with their thread-private
//! variables; `frontend/uniform` proves that those which a nest reads have the same value in all threads. One thread of the team
//! captures while the others wait, replays create a team, and rendered nests are run by all its threads (`codegen::team`). A
//! loop whose work directives inside it divide is such a nest as a whole (`Context::is_run_together`). Nests that each thread
//! runs for itself, or that use memory of its own, are in `Program::threads`: the judge refuses to divide them.
//!
//! Files of the user that a file includes (below the folder of the file, or the root of the project) are a part of its text:
//! `Unit::source` is the file with these in the places of their `#include`s, between `#line` directives, so that every span is one
//! of that text and builds of it name files and lines as ever; `Unit::included` knows of every byte which file it is from
//! (`frontend/included`). That the preprocessor makes the same of both is checked; what is included several times, inside of
//! functions, or under directives that mean something else elsewhere stays an `#include`. The result is one file by itself for
//! `optimize`, with only the changed files in it, and each file where it stands for `tune` (`oxeye::written`). There, a nest in an
//! included file has to read the same in all sources that include it, or its conditions put the original there
//! (`stages/agree`), and all of them are compiled anew with the changed text (`Subject::compile_with`, `frontend::redirected`).
//!
//! Functions of other files of the program that a file calls join its preprocessed text, as if a header had them, where flags,
//! macros and everything they name mean the same in both (`frontend/elsewhere`); `Function::elsewhere` says which a nest contains.
//!
//! Functions of the file that a nest calls are lowered in place of their calls (`Function::inlined` says which), so that one
//! computation may belong to two nests: the loop around the call, and that in the function. Both are tuned; `emit` keeps the
//! winners that gain more. A nest may also be *opened*: `Unit::open` reads its function again with that loop as control, and the
//! nests found inside stand beside it, in a function of the unit of their own. `Place::within` says what was opened around a nest,
//! so that recipe files find it again; what overlaps is settled as for functions. File-scope variables that such functions name
//! themselves (`Function::named`) are set before a replay, since the functions do not see its copies. The other functions
//! of the file, which it never calls (`calls`, `Function::never_called`), have no bodies in a replay, or compilers would be busy
//! with them for every candidate. A time loop at whose end
//! pointers change places, two or three or four in turns, is lowered as groups of iterations, each with its own names for the
//! memory; `Nest::rotations` says which of them lead elsewhere behind it. The few iterations of a loop over regions, and both cases
//! of a loop whose end a comparison selects, are lowered one after the other (`lower/selectors`); if that cannot be done, the
//! nest is read again without. A loop that counts through several (`c / m`, `c % m` with `c < n * m`) is lowered as those
//! (`lower/collapsed`).
//!
//! Loops get the form `for (i = first; i < end; i += step)` in several readings, one after the other: steps inside of expressions are
//! statements (`convert/steps`), a `switch` is a chain of `if`s (`convert/switches`), `goto` to the end of a body is `continue`, which
//! branches do without (`convert/jumps`), and then `while` and `do` loops, loops that only `break` ends and steps in bodies are `for`
//! loops (`convert/counts`). `evolution` is the one evaluator of what variables
//! hold in iteration k, how often a loop runs and what it leaves: chains of recurrences, from the tree of C alone, with a printed form
//! on which its tests are. A loop whose counter steps elsewhere than in its header counts with a variable of its own, by what it says
//! (`convert/evolved`); what else a loop hands on from one iteration to the next, integers and pointers, stands for its evolution in
//! the nest (`lower/evolving`), also in each copy of a body. All kinds of loops share one lowering of their iterations
//! (`lower/iterations`). What runs once before its condition is tested
//! (`For::runs_first`) is such a loop only if the condition holds at first (`lower/once`). Loops that count with a pointer count
//! what they cover of its way (`convert/evolved`); how far their end is follows from what pointers were set to before the nest (`lower/distances`,
//! `definitions`), and otherwise from the pointers themselves, which are subtracted there (`Binding::distance`). Checks that end
//! the program are left out where they fail in no iteration (`lower/checks`), or, if they look at memory that the nest leaves alone,
//! where a scan before it finds that none does (`lower/checked_values`). All of it is proved, or tested before the nest
//! (`Outcome::tests`).
//!
//! A loop in time that now and then prints, saves or checks (`if (t % 50 == 0) …` at the beginning or the end of its body) is cut
//! there before it is read (`cuts`): insertions into the text make the iterations up to the next such step a loop of its own,
//! which is a nest. `Unit::source` has them, `Unit::own` has not; in what is written they stay only around such a nest that is
//! replaced (`oxeye::written`).
//!
//! Loops whose targets are shifted by numbers from memory are counted from the beginnings of the rows (`ragged`), with what scalars
//! hold in their place where they bound loops (`forward`).
//! Flat subscripts, `a[i * n + j]`, become subscripts of several dimensions where that can be proved (`delinearize`), counted from
//! zero, whatever the source counts from (`Binding::origins`); an iterator stands for each part that is no sum, such as
//! `(i + 1) % n` (`stand_ins`). So do those of flat memory that a cast or a parameter makes rows of (`lower/flat_rows`). Nests that need
//! another shape of an array than others see it as an array of its own with the same memory (`Program::reshapes`).
//! Members of structures are variables of their own for the frontend (`members`): `g->u` an array, `x[][].re` an array whose
//! elements lie apart. Structures by value (`convert/structures`), and arrays of them that live in a nest, are taken apart and copied member by member; functions of the file that return
//! one store it through one more parameter, and what only hands a member on is taken out again (`copies`). Pointers to structures that are names for structures elsewhere are followed to them (`handles`). In its
//! binding (`crates/binding`), `views` say how they are reached, `may_change` which stores might change what a nest takes to be constant, and
//! `entries` what is tested before a nest: that it gets to what is read beforehand (where the code before it has not, `followed`), and how rows behind pointers lie
//! (`RowForm`): evenly, so that they are one linear array, or apart, so that each is reached through its pointer, `u[i][j]`
//! (`codegen::apart`: rows that are written are apart from each other and from what else the nest uses). The capture chooses: it
//! gathers uneven rows into one buffer and marks all rows of such a nest, and recipe files keep that (`NestRecipe::uneven`).
//! Rows of structures that hold numbers of one type, `u[i][j].d`, are rows of these numbers with one more dimension, of which members
//! are constant indices (`File::numbers`, `View::is_rows_of_structures`).
//! `blocks[b].data` is an element of `blocks[].data` for all that looks for writes and uses. Where a nest leaves `b` as it is, it is a
//! variable by itself (`frontend/elements`, `lower/elements`), whose path has the index as C (`Step::Element`).
//! Rows may be looked at only if the nest uses the first and the last of them: `lower/uses` collects accesses with their loops and
//! conditions (those on iterators narrow the loops; scalars are followed to what they hold), `lower/hull` takes their ranges,
//! `lower/rows` proves it for conditions that are tested (behind two and more pointers `lower/blocks`: stencils use a cross of rows,
//! `RowTest::parts`), and otherwise `lower/row_scans` makes loops of them (`RowScan`) that find
//! the ends of the ranges before the nest (`codegen::scans`), also when calls are captured. How far a nest reaches in plain
//! arrays is found likewise where numbers from memory decide it, and pointers may overlap or sums are scattered (`lower/reaches`,
//! `Entry::reaches`).
//! Complex numbers are structures of two members, and expressions of them become pairs of real ones before anything else looks at
//! them (`convert/complex`); where the flags ask for the full rules of C, products and functions are pairs of calls that are
//! printed as the compiler's own (`codegen::complex`).
//! Integers in memory that shape a nest are symbols like others (`ahead`): their `Source` says which elements they are, and a replay
//! has their arrays as well. The trip count of a loop with a symbolic step is itself a symbol; its name is the C expression
//! (`symbolic`). `advances` are the pointers that lead further behind a nest than before it (`lower/evolving`).

mod arithmetic;
mod ast;
mod attributes;
mod brackets;
mod bytes;
mod callees;
mod calls;
mod chased;
mod conditions;
mod constants;
mod context;
mod convert;
mod copied;
mod copies;
mod cpp;
mod cuts;
mod definitions;
mod delinearize;
mod diagnostic;
mod directives;
mod elements;
mod elsewhere;
mod evolution;
mod flow;
mod followed;
mod forward;
mod groups;
mod halos;
mod handles;
mod included;
mod layout;
mod lexer;
mod literal;
mod lower;
mod members;
mod opened;
mod places;
mod pointers;
mod polynomial;
mod preprocess;
mod prove;
mod races;
mod ragged;
mod readable;
mod refusal;
mod regions;
mod rotations;
mod scan;
mod scopes;
mod scratch;
mod stand_ins;
mod teams;
mod threads;
mod uniform;
mod unit;
mod unseen;

pub use bytes::{decoded, encoded};
pub use conditions::Conditions;
pub use cpp::cpp_help;
pub use cuts::Cut;
pub use diagnostic::{Diagnostic, Severity};
pub use elsewhere::OtherSource;
pub use groups::Member;
pub use included::{FileLine, Folded, Included, MovedFile, SourceFile, includes, redirected};
pub use opened::Opened;
pub use unit::{Function, ReadOptions, Unit, read_c};

pub use oxeye_ir::{Program, Span};

use std::path::PathBuf;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontendError {
    /// The file cannot be opened.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file contains characters that Oxeye uses internally.
    #[error("{} has characters of the private plane 16, which cannot be kept; remove them first", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// The compiler cannot be started.
    #[error("cannot run the compiler `{compiler}`; name another one behind `--`")]
    Compiler {
        /// The command.
        compiler: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The preprocessor fails.
    #[error("`{compiler} -E` fails:\n{message}{help}")]
    Preprocess {
        /// The command.
        compiler: String,
        /// Its messages.
        message: String,
        /// What to do, in a line of its own; empty if that is not known.
        help: String,
    },
    /// The flags are for a machine on which types have other sizes.
    #[error(
        "only code with 64-bit pointers and a 64-bit `long` can be tuned, and {why}; give flags for such a machine (`-m64`)"
    )]
    Machine {
        /// What is different.
        why: String,
    },
    /// The file cannot be parsed.
    #[error("{} cannot be parsed", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
    },
    /// The requested function is not defined.
    #[error("no function `{name}` is defined in {}; {known}", path.display())]
    NoFunction {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The defined functions, for the message.
        known: String,
    },
}

//! Pragmas and their effect on the statements below them.
//!
//! OpenMP guarantees that a loop given to several threads may also run sequentially. So a loop below such a directive
//! is read as the plain loop. What remains of the directive is which variables are private to threads, and whether a
//! team of threads already exists.

use crate::ast::Range;
use crate::lexer::{Token, tokens};

/// The kind of a pragma.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// Tells the compiler how to run the loop below: `GCC ivdep`, `unroll`.
    Hint,
    /// `omp` with some of `parallel`, `for` and `simd`.
    Construct(Construct),
    /// Stands alone: `omp barrier`.
    Alone,
    /// Something that cannot be replaced together with the statement below it: `omp atomic`, `omp single`, `acc`.
    Kept,
    /// Does not concern statements.
    Other,
}

/// `omp parallel for simd` and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Construct {
    /// Creates a team of threads.
    pub(crate) is_parallel: bool,
    /// Divides the iterations of the loop among the team.
    pub(crate) is_shared: bool,
    /// Runs the iterations of the loop in vector lanes.
    pub(crate) is_simd: bool,
    /// Variables of which each thread has its own copy: their value afterwards is not the one that the loop leaves.
    pub(crate) private: Vec<String>,
    /// The same, with the value from before.
    pub(crate) firstprivate: Vec<String>,
    /// Number of perfectly nested loops that it collapses into one.
    pub(crate) n_collapsed: usize,
    /// Names used by its clauses.
    pub(crate) mentioned: Vec<String>,
    /// Of these, variables that threads share, or of which they have copies in other ways than the above.
    others: Vec<String>,
    /// And those that say how many threads there are, and how many iterations they take at once.
    pub(crate) counts: Vec<String>,
    /// Names in clauses `reduction`, with the operator.
    pub(crate) reduced: Vec<(String, String)>,
    /// A clause that is not supported.
    pub(crate) unknown_clause: Option<String>,
}

/// A pragma and its place in the preprocessed text.
#[derive(Clone, Debug)]
pub(crate) struct Pragma {
    pub(crate) at: usize,
    /// Without `#pragma`.
    pub(crate) text: String,
    pub(crate) directive: Directive,
}

/// The pragmas of a file, in order.
#[derive(Debug, Default)]
pub(crate) struct Directives {
    all: Vec<Pragma>,
    /// Whether the compiler acts on those of OpenACC.
    has_openacc: bool,
}

impl Directives {
    /// From the places and texts of pragmas, where the compiler acts on those of OpenACC or does not.
    pub(crate) fn of(pragmas: &[(usize, String)], has_openacc: bool) -> Self {
        let pragma = |(at, text): &(usize, String)| {
            let is_ignored = !has_openacc && is_openacc(text);
            Pragma {
                at: *at,
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                directive: if is_ignored { Directive::Other } else { parse(text) },
            }
        };
        Directives { all: pragmas.iter().map(pragma).collect(), has_openacc }
    }

    /// Whether there are directives of OpenACC that the compiler does not act on.
    pub(crate) fn ignores_openacc(&self) -> bool {
        !self.has_openacc && self.all.iter().any(|p| is_openacc(&p.text))
    }

    /// The pragmas directly above the statement that starts at `start`, which belong to it, in order.
    pub(crate) fn above(&self, text: &str, start: usize) -> impl Iterator<Item = &Pragma> {
        let n_before = self.all.partition_point(|p| p.at <= start);
        let blank = |p: &&Pragma| text.get(p.at..start).is_some_and(|t| t.trim().is_empty());
        let count = self.all[..n_before].iter().rev().take_while(blank).count();
        let all = &self.all[n_before - count..n_before];
        // A pragma that stands alone ends the group that belongs to the statement.
        let last_alone = all.iter().rposition(|p| p.directive == Directive::Alone);
        all[last_alone.map_or(0, |k| k + 1)..].iter()
    }

    /// The pragmas inside a part of the text.
    pub(crate) fn inside(&self, range: Range) -> &[Pragma] {
        let first = self.all.partition_point(|p| p.at < range.start);
        let end = self.all.partition_point(|p| p.at < range.end);
        self.all.get(first..end).unwrap_or_default()
    }

    /// Whether every thread has its own copy of a file-scope variable of this name.
    pub(crate) fn is_threadprivate(&self, name: &str) -> bool {
        self.threadprivate().flat_map(tokens).any(|t| t.is(name))
    }

    /// What directives `threadprivate` list.
    fn threadprivate(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(|p| p.text.strip_prefix("omp threadprivate"))
    }

    /// Where those stand that make teams of threads.
    pub(crate) fn teams(&self) -> impl Iterator<Item = usize> {
        let makes_team = |p: &&Pragma| matches!(&p.directive, Directive::Construct(c) if c.is_parallel);
        self.all.iter().filter(makes_team).map(|p| p.at)
    }

    /// Whether threads may add up sums in any order: by clauses `reduction`, or one thread after the other.
    pub(crate) fn leave_order_open(&self) -> bool {
        let is_it = |p: &Pragma| match &p.directive {
            Directive::Construct(c) => !c.reduced.is_empty(),
            _ => {
                let mut words = p.text.split([' ', '(']);
                words.next() == Some("omp") && matches!(words.next(), Some("critical" | "atomic"))
            }
        };
        self.all.iter().any(is_it)
    }

    /// Whether some directive may be for several loops in each other: it collapses them, or nobody knows what it says.
    pub(crate) fn are_for_several_loops(&self) -> bool {
        let is_one = |c: &Construct| c.n_collapsed > 1 || c.unknown_clause.is_some();
        self.all.iter().any(|p| matches!(&p.directive, Directive::Construct(c) if is_one(c)))
    }

    /// Whether directives of OpenMP inside a part of the text, or on what is private to threads anywhere, change how it is run.
    pub(crate) fn has_openmp(&self, range: Range) -> bool {
        let is_openmp = |p: &Pragma| p.text.split_whitespace().next() == Some("omp");
        self.inside(range).iter().any(is_openmp) || self.threadprivate().next().is_some()
    }
}

/// Whether compile arguments enable OpenMP threads.
pub(crate) fn switches_openmp_on(args: &[String]) -> bool {
    args.iter().any(|a| {
        (a.starts_with("-fopenmp") && a != "-fopenmp-simd") || a == "-qopenmp" || a == "-openmp" || a == "-mp"
    })
}

/// Whether compile arguments enable OpenACC.
pub(crate) fn switches_openacc_on(args: &[String]) -> bool {
    args.iter().any(|a| a.starts_with("-fopenacc") || a == "-acc" || a.starts_with("-acc="))
}

fn is_openacc(text: &str) -> bool {
    text.split_whitespace().next() == Some("acc")
}

/// The kind of a pragma, from the text after `#pragma`.
pub(crate) fn parse(text: &str) -> Directive {
    let all = tokens(text);
    let words: Vec<&str> = all.iter().map(|t| t.text).collect();
    match words.as_slice() {
        ["omp", ..] => openmp(&all[1..]),
        ["acc", ..] => Directive::Kept,
        ["GCC", "ivdep" | "unroll" | "novector", ..] | ["clang", "loop", ..] => Directive::Hint,
        [
            "unroll" | "nounroll" | "ivdep" | "simd" | "vector" | "novector" | "loop" | "unroll_and_jam",
            ..,
        ] => Directive::Hint,
        _ => Directive::Other,
    }
}

fn openmp(words: &[Token<'_>]) -> Directive {
    const ALONE: &[&str] = &["barrier", "flush", "taskwait", "taskyield", "threadprivate", "declare"];
    if words.first().is_some_and(|w| ALONE.contains(&w.text)) {
        return Directive::Alone;
    }
    let mut construct = Construct::default();
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        match first.text {
            "parallel" => construct.is_parallel = true,
            "for" => construct.is_shared = true,
            "simd" => construct.is_simd = true,
            _ => break,
        }
        rest = after;
    }
    if !(construct.is_parallel || construct.is_shared || construct.is_simd) {
        return Directive::Kept;
    }
    while let Some((first, after)) = rest.split_first() {
        if first.is(",") {
            rest = after;
            continue;
        }
        let inside = match after.first() {
            Some(open) if open.is("(") => {
                let length = length_of_group(after);
                let (group, after) = after.split_at(length);
                rest = after;
                group.get(1..length.saturating_sub(1)).unwrap_or_default()
            }
            _ => {
                rest = after;
                &[]
            }
        };
        construct.clause(first.text, inside);
    }
    Directive::Construct(construct)
}

impl Construct {
    /// The variables of which threads have copies or share one.
    pub(crate) fn variables(&self) -> Vec<String> {
        let reduced = self.reduced.iter().map(|(name, _)| name);
        self.private.iter().chain(&self.firstprivate).chain(reduced).chain(&self.others).cloned().collect()
    }

    fn clause(&mut self, name: &str, inside: &[Token<'_>]) {
        let is_name = |t: &&Token<'_>| t.kind == crate::lexer::TokenKind::Word;
        let names = |inside: &[Token<'_>]| -> Vec<String> {
            inside.iter().filter(is_name).map(|t| t.text.to_owned()).collect()
        };
        // The text after the colon of `if(parallel: n > 9)` and before that of `aligned(x: 32)`.
        let colon = inside.iter().position(|t| t.is(":"));
        let after_colon = colon.map_or(inside, |at| &inside[at + 1..]);
        let before_colon = colon.map_or(inside, |at| &inside[..at]);
        match name {
            "private" => {
                self.private.extend(names(inside));
                self.mentioned.extend(names(inside));
            }
            "firstprivate" => {
                self.firstprivate.extend(names(inside));
                self.mentioned.extend(names(inside));
            }
            "reduction" => {
                // `reduction(task, +: x)` has a modifier.
                let op = before_colon.last().map_or("", |t| t.text).to_owned();
                self.reduced.extend(names(after_colon).into_iter().map(|name| (name, op.clone())));
                self.mentioned.extend(names(after_colon));
            }
            "lastprivate" | "shared" | "aligned" | "linear" | "nontemporal" => {
                let of = match name {
                    "lastprivate" => after_colon,
                    "shared" => inside,
                    _ => before_colon,
                };
                self.others.extend(names(of));
                self.mentioned.extend(names(of));
            }
            "if" => self.mentioned.extend(names(after_colon)),
            "num_threads" => {
                self.counts.extend(names(inside));
                self.mentioned.extend(names(inside));
            }
            "safelen" | "simdlen" => self.mentioned.extend(names(inside)),
            "collapse" => {
                self.mentioned.extend(names(inside));
                self.n_collapsed = match inside {
                    [only] => only.text.parse().unwrap_or(usize::MAX),
                    _ => usize::MAX,
                };
            }
            "schedule" => {
                let chunk = inside.iter().position(|t| t.is(",")).map_or(&[][..], |at| &inside[at + 1..]);
                self.counts.extend(names(chunk));
                self.mentioned.extend(names(chunk));
            }
            "default" | "nowait" | "proc_bind" | "order" => {}
            _ => self.unknown_clause = Some(name.to_owned()),
        }
    }
}

/// Number of tokens in the parentheses that these start with.
fn length_of_group(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (k, token) in tokens.iter().enumerate() {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return k + 1;
            }
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn construct(text: &str) -> Construct {
        match parse(text) {
            Directive::Construct(c) => c,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn clauses_are_taken_apart() {
        let c = construct(
            "omp parallel for simd collapse(2) private(i, j) firstprivate(k) schedule(dynamic, chunk) \
             reduction(+: s, t) if(parallel: n > 9) aligned(u, v : 32) num_threads(nt) nowait",
        );
        assert!(c.is_parallel && c.is_shared);
        assert_eq!((c.private, c.firstprivate), (vec!["i".into(), "j".into()], vec!["k".to_owned()]));
        assert_eq!(c.mentioned, ["i", "j", "k", "chunk", "s", "t", "n", "u", "v", "nt"]);
        assert_eq!((c.unknown_clause, c.n_collapsed), (None, 2));
        assert_eq!(c.reduced, [("s".to_owned(), "+".to_owned()), ("t".to_owned(), "+".to_owned())]);
        assert_eq!(construct("omp for collapse(N)").n_collapsed, usize::MAX);
        assert_eq!(construct("omp for ordered(1)").unknown_clause.as_deref(), Some("ordered"));
        let c = construct("omp simd");
        assert!(c.is_simd && !c.is_shared);
    }

    #[test]
    fn kinds() {
        let cases = [
            ("omp barrier", Directive::Alone),
            ("omp atomic update", Directive::Kept),
            ("omp single", Directive::Kept),
            ("omp", Directive::Kept),
            ("acc parallel loop", Directive::Kept),
            ("GCC unroll 4", Directive::Hint),
            ("clang loop vectorize(enable)", Directive::Hint),
            ("scop", Directive::Other),
            ("GCC push_options", Directive::Other),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
        for text in ["omp for (", "omp for private(", "omp parallel for private)"] {
            parse(text);
        }
    }

    #[test]
    fn who_adds_up_in_any_order() {
        let open = |text: &str| Directives::of(&[(0, text.to_owned())], false).leave_order_open();
        for text in
            ["omp parallel for reduction(+: s)", "omp critical (sums)", "omp critical", "omp atomic update"]
        {
            assert!(open(text), "{text}");
        }
        for text in ["omp parallel for private(critical)", "omp single", "omp barrier", "acc atomic"] {
            assert!(!open(text), "{text}");
        }
    }
}

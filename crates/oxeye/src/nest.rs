//! A file and its nests on their way through the stages: everything that is known of a nest is in one place, and every
//! stage adds to it.

use crate::causes::LeftOut;
use crate::clocks::FastClocks;
use crate::coverage::{Coverage, LineReport, Stacks};
use crate::knowledge::NestDescription;
use crate::machine::{Roofs, Sizes, count};
use crate::mix::CallClass;
use crate::request::ProjectRun;
use crate::schedule::{Proved, Timing, Trial, column};
use crate::session::Session;
use crate::transfer::Advice;
use oxeye_analysis::NestKind;
use oxeye_binding::{Binding, OwnText};
use oxeye_codegen::{
    Argument, CodegenError, Site, commented, guarded, guarded_function, vector_bytes, vectors_condition,
};
use oxeye_frontend::{Conditions, Function, Unit};
use oxeye_host::{HostProfile, Provenance, Quantity};
use oxeye_ir::{LoopId, Nest, NestId, Program, Span};
use oxeye_measure::{Left, Sample};
use oxeye_profile::{NestInput, NestProfile};
use oxeye_transform::RefusedSuggestion;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A file that is being tuned.
pub struct Workpiece {
    /// The file.
    pub unit: Unit,
    /// The original program, if there is one.
    pub program: Option<ProgramRun>,
    /// Where its time goes, if it could be sampled.
    pub coverage: Option<Coverage>,
    /// The samples behind that.
    pub(crate) stacks: Option<Stacks>,
    /// Every nest with a place in the file, in the order of the file; behind them those inside nests that were opened.
    pub nests: Vec<TunedNest>,
}

/// The original program as built and run.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// Built from the file as it is.
    pub executable: PathBuf,
    /// Seconds of its first run, without what capturing took.
    pub seconds: f64,
    /// What its runs printed.
    pub outputs: Vec<Vec<u8>>,
    pub(crate) clocks: FastClocks,
    /// What it leaves when it is built with and without reordering, if that was asked.
    pub(crate) witnesses: Arc<OnceLock<Vec<Left>>>,
}

/// The variant of the user's file that is the file itself.
pub(crate) const ORIGINAL: &str = "original.c";

impl ProgramRun {
    /// A program that was run.
    pub(crate) fn new(executable: PathBuf, seconds: f64, outputs: Vec<Vec<u8>>) -> Self {
        Self { executable, seconds, outputs, clocks: FastClocks::default(), witnesses: Arc::default() }
    }

    /// A program of a project, built from what it is built from.
    pub(crate) fn of_project(executable: PathBuf, run: &ProjectRun) -> Self {
        let clocks = run.clocks.clone();
        Self { clocks, ..Self::new(executable, run.seconds, run.outputs.clone()) }
    }
}

/// A nest with all that is known of it.
pub struct TunedNest {
    /// Where it stands.
    pub place: Place,
    /// How the program calls it.
    pub calls: Calls,
    /// What replays take for known when they are compiled.
    pub(crate) known: KnownInPlace,
    /// Whether one thread has to run it as a whole.
    pub is_of_one_thread: bool,
    /// Whether it is tuned.
    pub standing: Standing,
    /// The schedules to try, best guess first.
    pub trials: Vec<Trial>,
    /// How many of them to try; the others are for when none of these is faster.
    pub n_first: usize,
    /// What was found impossible.
    pub refused: Vec<RefusedSuggestion>,
    /// What the nest is known by, and what donors and the encoder advised.
    pub advice: Option<Box<(NestDescription, Advice)>>,
    /// Whether the time was up before its turn.
    pub(crate) is_late: bool,
    /// The part of its time that the winners inside it save.
    pub(crate) saved_inside: f64,
    /// Seconds of one invocation of the original on the first sample.
    pub baseline_seconds: Option<f64>,
    /// Position of the trial to emit.
    pub winner: Option<usize>,
    /// What takes its place where the whole program does not gain from it, the best first: others that are faster than the
    /// original, too, and that one thread runs.
    pub others: Vec<usize>,
    /// The nest as the user's compiler builds it, against the roofline; `None` without a host profile.
    pub before: Option<NestProfile>,
    /// The same of the winner.
    pub after: Option<NestProfile>,
    /// How ill-conditioned it is, if the outputs of a candidate raised that question.
    pub conditioning: Option<IllConditioned>,
    /// Why nothing won, or what else there is to say.
    pub note: Option<String>,
}

/// How far roundings alone move the results of a nest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IllConditioned {
    /// The argument with the worst of its results.
    pub argument: String,
    /// How many decimal digits of that result roundings change.
    pub digits_lost: f64,
    /// How many it has.
    pub digits: f64,
    /// Results that differed by more than the usual tolerance.
    pub elements: u64,
    /// Runs of the original from which that is known.
    pub runs: usize,
}

/// Where a nest stands.
#[derive(Clone, Debug)]
pub struct Place {
    /// Index into the functions of the unit.
    pub function_idx: usize,
    /// The nest in that function's program.
    pub nest_id: NestId,
    /// Which nest of the function, from 0; of those inside the innermost opened nest, if it is in one. Of a group, which of the
    /// function's members is the first.
    pub ordinal: usize,
    /// Its bytes in the file.
    pub span: Span,
    /// The nests that do part of its work: of the functions whose bodies it has in place of their calls, and of its own
    /// loops, if it was opened.
    pub inside: Vec<usize>,
    /// The nests around it that were opened, outermost first.
    pub within: Vec<OpenedNest>,
    /// How many members are behind the first, if it is a group.
    pub joined: usize,
}

/// A nest that is taken as control around nests of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedNest {
    /// Which it is, as [`Place::ordinal`] says.
    pub ordinal: usize,
    /// Its bytes in the file.
    pub span: Span,
}

/// What a nest is called with.
#[derive(Debug, Default)]
pub struct Calls {
    /// Share of the program's time; `None` without a program.
    pub share: Option<f64>,
    /// How often the program runs it.
    pub invocations: Option<u64>,
    /// Whether several threads of the program run it at once: it is tuned for one of them.
    pub is_concurrent: bool,
    /// What a replay takes.
    pub arguments: Vec<Argument>,
    /// Arguments of some invocations, those to time first: one for each class that is timed.
    pub samples: Vec<Sample>,
    /// The invocations by how much they have to do, the timed classes first; none without a program.
    pub classes: Vec<CallClass>,
    /// How the first sample was made from the second, if it was.
    pub cut: Option<CutCall>,
}

/// A long invocation of which only some steps are timed; every step costs the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutCall {
    /// Steps that are timed.
    pub timed: i64,
    /// Steps of the whole invocation.
    pub steps: i64,
}

impl CutCall {
    /// How much longer the whole invocation takes.
    pub(crate) fn factor(self) -> f64 {
        self.steps as f64 / self.timed as f64
    }
}

/// What the compiler knows where the nest stands: without it, replays would be those of slower code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownInPlace {
    /// Integer arguments of the nest, by position, that have one value in all calls.
    pub(crate) constants: Vec<(usize, i64)>,
    /// That no two of its arrays overlap.
    pub(crate) are_apart: bool,
}

impl KnownInPlace {
    /// No more than the text of the nest says.
    pub(crate) const NOTHING: &'static Self = &Self { constants: Vec::new(), are_apart: false };

    pub(crate) fn is_nothing(&self) -> bool {
        self == Self::NOTHING
    }
}

/// Whether a nest is tuned.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It is.
    Tuned,
    /// Other nests take nearly all of the time, unless they become faster.
    Short(LeftOut),
    /// It is not, for this reason.
    Skipped(LeftOut),
}

/// Whether what a nest depends on means the same before its function.
///
/// # Errors
/// Why not.
pub(crate) fn stands_apart(unit: &Unit, function: &Function) -> Result<(), CodegenError> {
    let text = unit.source.get(function.span.start..function.span.end).unwrap_or_default();
    let is_change = |line: &str| {
        let word = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
        word.starts_with("define") || word.starts_with("undef")
    };
    // Heads in the old style, and macros before a head, are not told from what stands before a function.
    let before = unit.source.get(..function.span.start).unwrap_or_default().trim_end();
    let last = before.lines().next_back().unwrap_or_default().trim_start();
    let is_after_all = before.is_empty()
        || before.ends_with([';', '}'])
        || before.ends_with("*/")
        || last.starts_with(['#', '/']);
    let head = text.split('{').next().unwrap_or_default();
    let is_whole = head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == function.name);
    let is_after_all = is_after_all && is_whole;
    let why = match () {
        () if text.lines().any(is_change) => "macros change in its function",
        () if !is_after_all => "nothing can stand before its function",
        () => return Ok(()),
    };
    Err(CodegenError::NotApart { why: why.into() })
}

/// The condition of a build with OpenMP.
const OPENMP: &str = "defined(_OPENMP)";

/// What stands before the function with a nest, and where, if the nest's new form calls a function of its own.
pub(crate) fn helper(
    unit: &Unit,
    function: &Function,
    nest: NestId,
    proved: &Proved,
) -> Option<(Span, String)> {
    let (_, text) = proved.wide.as_ref()?;
    let start = function.span.start;
    let mut when = function.conditions.get(&nest).map_or(Vec::new(), |when| when.preprocessor.clone());
    when.extend(proved.needs_openmp.then(|| OPENMP.to_owned()));
    Some((Span { end: start, ..function.span }, guarded_function(&unit.source, start, text, &when)))
}

/// What stands in the place of a nest for which `block` is: with the user's own text for builds in which the nest is another,
/// for those without OpenMP if it needs that, and for those with narrower vectors than the block names, where the build that it
/// was tuned for had so many bytes of them: there it would be compiled to something slower than the original.
pub(crate) fn replacement(
    unit: &Unit,
    function: &Function,
    nest: NestId,
    span: Span,
    mut block: String,
    (proved, build_vectors): (&Proved, Option<u32>),
) -> String {
    if function.conditions.get(&nest).is_some_and(Conditions::is_without_openmp) {
        let comment =
            "for builds without -fopenmp: with it, the loop below runs, by its directives".to_owned();
        block = commented(&block, &[comment], column(&unit.source, span.start));
    }
    let elsewhere = function.elsewhere.get(&nest).map_or(&[][..], Vec::as_slice);
    let inlined = function.inlined.get(&nest).map_or(&[][..], Vec::as_slice);
    let is_own = |name: &&String| !elsewhere.iter().any(|(other, _)| other == *name);
    if !inlined.is_empty() && proved.own.is_none() {
        // Who changes them would not look for a copy here.
        let others = elsewhere.iter().map(|(name, file)| {
            format!("{name}() of {}", file.file_name().unwrap_or_default().to_string_lossy())
        });
        let own = inlined.iter().filter(is_own).map(|name| format!("{name}()"));
        let names = own.chain(others).collect::<Vec<_>>().join(", ");
        let comment = format!("contains {names}: to be tuned again when that changes");
        block = commented(&block, &[comment], column(&unit.source, span.start));
    }
    let unused = inlined.iter().filter(is_own).filter(|name| mentions(&unit.source, span, name) == 1);
    let uses: String = unused.map(|name| format!(" (void){name};")).collect();
    // Its only call was in the nest: a static function that nobody uses is warned of.
    let place = if proved.declares_first { block.rfind('}') } else { block.find('{') };
    match place.filter(|_| !uses.is_empty()) {
        Some(end) if proved.declares_first => {
            let columns = end - block[..end].trim_end_matches(' ').len();
            block.insert_str(end, &format!("   {uses}\n{}", " ".repeat(columns)));
        }
        Some(begin) => block.insert_str(begin + 1, &uses),
        None => {}
    }
    let when = function.conditions.get(&nest);
    let mut preprocessor = when.map_or(Vec::new(), |when| when.preprocessor.clone());
    let constant = when.map_or(Vec::new(), |when| {
        let values = when.values.iter().filter(|(name, _)| !proved.free.contains(name));
        values.map(|(_, condition)| condition).chain(&when.constant).cloned().collect()
    });
    let needed = build_vectors.map_or(0, |bytes| bytes.min(vector_bytes(&block)));
    preprocessor.extend(proved.needs_openmp.then(|| OPENMP.to_owned()));
    preprocessor.extend(vectors_condition(needed).map(str::to_owned));
    match preprocessor.is_empty() && constant.is_empty() {
        true => block,
        false => guarded(&unit.source, span, &block, &preprocessor, &constant),
    }
}

/// How often a file has a word outside of a span.
fn mentions(source: &str, span: Span, word: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_word = |(at, _): &(usize, &str)| {
        !source[..*at].ends_with(is_part)
            && !source[at + word.len()..].starts_with(is_part)
            && !(span.start..span.end).contains(at)
    };
    source.match_indices(word).filter(is_word).count()
}

impl Workpiece {
    /// The nests that are tuned, those with most of the program's time first, with their share of it.
    pub(crate) fn by_weight(&self) -> Vec<(usize, f64)> {
        let weight = |nest: &TunedNest| nest.calls.share.unwrap_or(1.0).max(0.01);
        self.ordered(|nest| (nest.standing == Standing::Tuned).then(|| weight(nest)))
    }

    /// The nests that are tuned in the order in which they have their turns, with the share of the program's time that is theirs:
    /// those without nests inside first, and of these, those with most of the time; nests around others come behind them, and
    /// what those inside take is not theirs, unless they are groups: what is won there lies between those inside.
    pub(crate) fn turns(&self) -> Vec<(usize, f64)> {
        let tuned = self.by_weight();
        let is_tuned: BTreeSet<usize> = tuned.iter().map(|(idx, _)| *idx).collect();
        let inside = |idx: usize| self.nests[idx].place.inside.iter().filter(|k| is_tuned.contains(k));
        let own = |(idx, weight): (usize, f64)| {
            if self.nests[idx].place.joined > 0 {
                return (idx, weight);
            }
            let is_outermost =
                |k: &&usize| !inside(idx).any(|other| self.nests[*other].place.inside.contains(*k));
            let taken: f64 =
                inside(idx).filter(is_outermost).filter_map(|k| self.nests[*k].calls.share).sum();
            (idx, (weight - taken).max(0.01))
        };
        let mut order: Vec<(usize, f64)> = tuned.into_iter().map(own).collect();
        order.sort_by(|a, b| inside(a.0).count().cmp(&inside(b.0).count()).then(b.1.total_cmp(&a.1)));
        order
    }

    /// The part of a nest's time that the winners inside it save.
    pub(crate) fn saved_inside(&self, idx: usize) -> f64 {
        let nest = &self.nests[idx];
        let inside = |k: &usize| self.nests[*k].winner().map(|(_, timing)| (*k, 1.0 - 1.0 / timing.speedup));
        let won: Vec<(usize, f64)> = nest.place.inside.iter().filter_map(inside).collect();
        let is_outermost =
            |k: usize| !won.iter().any(|(other, _)| self.nests[*other].place.inside.contains(&k));
        let share = |k: usize| self.nests[k].calls.share.unwrap_or(0.0);
        let saved: f64 = won.iter().filter(|(k, _)| is_outermost(*k)).map(|(k, gain)| gain * share(*k)).sum();
        (saved / nest.calls.share.unwrap_or(1.0).max(1e-9)).clamp(0.0, 0.99)
    }

    /// The nests that do the work of one as well.
    pub(crate) fn around(&self, idx: usize) -> Vec<usize> {
        (0..self.nests.len()).filter(|outer| self.nests[*outer].place.inside.contains(&idx)).collect()
    }

    /// The nests that are left out only for being short, with their share of the program's time, the largest first.
    pub(crate) fn short(&self) -> Vec<(usize, f64)> {
        self.ordered(|nest| {
            matches!(nest.standing, Standing::Short(_)).then(|| nest.calls.share.unwrap_or(0.0))
        })
    }

    fn ordered(&self, key: impl Fn(&TunedNest) -> Option<f64>) -> Vec<(usize, f64)> {
        let keys = self.nests.iter().enumerate().filter_map(|(idx, nest)| Some((idx, key(nest)?)));
        let mut order: Vec<(usize, f64)> = keys.collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order
    }
}

impl TunedNest {
    /// A nest of which nothing is known yet but its place and its arguments.
    pub(crate) fn new(place: Place, arguments: Vec<Argument>) -> Self {
        Self {
            place,
            calls: Calls { arguments, ..Calls::default() },
            known: KnownInPlace::default(),
            is_of_one_thread: false,
            standing: Standing::Tuned,
            trials: Vec::new(),
            n_first: 0,
            refused: Vec::new(),
            advice: None,
            is_late: false,
            saved_inside: 0.0,
            baseline_seconds: None,
            winner: None,
            others: Vec::new(),
            before: None,
            after: None,
            conditioning: None,
            note: None,
        }
    }

    /// The outermost loop, by its id in recipes.
    pub fn outermost_loop(&self, unit: &Unit) -> Option<LoopId> {
        let (_, _, nest) = self.place.of(unit);
        nest.loops().first().map(|l| l.id)
    }

    /// The trial to emit, and how it compares with the original.
    pub fn winner(&self) -> Option<(&Trial, &Timing)> {
        let trial = &self.trials[self.winner?];
        Some((trial, trial.timed.as_ref()?))
    }

    /// What was the winner before is the first of the others, if one thread runs it.
    pub(crate) fn keep_before(&mut self, before: Option<usize>) {
        let winner = self.winner;
        self.others.retain(|idx| Some(*idx) != winner);
        let before = before.filter(|idx| Some(*idx) != winner && !self.trials[*idx].is_parallel());
        self.others.retain(|idx| Some(*idx) != before);
        self.others.splice(0..0, before);
    }

    /// What its symbols are worth in the sample that is timed; nothing without a sample.
    pub(crate) fn sizes(&self) -> Sizes {
        let first = self.calls.samples.first();
        first.map(|sample| Sizes::of(&self.calls.arguments, sample)).unwrap_or_default()
    }

    /// Whether its code may use one thread only: it has to, or the program uses several around it.
    pub(crate) fn is_single(&self) -> bool {
        self.is_of_one_thread || self.calls.is_concurrent
    }

    /// Threads that its code may use.
    pub(crate) fn threads(&self, session: &Session<'_>) -> u32 {
        if self.is_single() { 1 } else { session.threads }
    }

    /// Seconds of the invocation that is timed, where the program runs it.
    pub(crate) fn seconds_in_place(&self) -> Option<f64> {
        Some(1e-9 * self.calls.samples.first()?.nanoseconds? as f64)
    }

    /// Its roofs on this machine; `None` without a host profile or a sample.
    pub(crate) fn roofs<'s>(&self, session: &'s Session<'_>, unit: &Unit, idx: usize) -> Option<Roofs<'s>> {
        let host = session.host_profile.as_ref()?;
        self.calls.samples.first()?;
        Some(Roofs::of(host, self.counted(session, unit, idx, host), self.sizes(), self.threads(session)))
    }

    /// What is counted and modelled of the nest with this number, as it stands in the file, with the captured sizes.
    pub(crate) fn counted(
        &self,
        session: &Session<'_>,
        unit: &Unit,
        idx: usize,
        host: &HostProfile,
    ) -> NestInput {
        let (_, program, nest) = self.place.of(unit);
        let mut input = NestInput::new(idx, self.place.name(unit));
        input.max_vector_bits = 8 * session.host.vector_bytes;
        input.share = self.calls.share.map(|value| Quantity {
            value: value.clamp(0.0, 1.0),
            spread: 0.0,
            samples: 1,
            provenance: Provenance::Measured,
        });
        count(input, program, nest, &self.sizes(), host)
    }

    /// Why it is not tuned, why nothing won, or what else there is to say.
    pub(crate) fn remarks(&self, unit: &Unit) -> Option<String> {
        if let Some(reason) = self.standing.reason() {
            return Some(reason.to_string());
        }
        let mut note = self.note.clone();
        if let Some(CutCall { timed, steps }) = self.calls.cut {
            remark(&mut note, &format!("timed on {timed} of its {steps} steps, and checked on all"));
        }
        let uneven = self.place.uneven_rows(unit);
        if !uneven.is_empty() {
            let names: Vec<String> = uneven.iter().map(|name| format!("`{name}`")).collect();
            let sentence = format!(
                "rows are not evenly spaced, so those of {} are reached through their pointers",
                names.join(", ")
            );
            remark(&mut note, &sentence);
        }
        note
    }

    /// Lets go of what trials would need to be run again, but for the winner's; as long as there is none, those that were not run
    /// may have another turn.
    pub(crate) fn release_trials(&mut self) {
        for (idx, trial) in self.trials.iter_mut().enumerate() {
            trial.library = None;
            let may_win = self.winner.is_none() && trial.is_ready();
            if Some(idx) != self.winner && !self.others.contains(&idx) && !may_win {
                trial.proved = None;
            }
        }
    }
}

impl Calls {
    /// The samples that are timed, with the share of the time that each stands for.
    pub(crate) fn timed(&self) -> impl Iterator<Item = (&Sample, f64)> {
        let shares = self.classes.iter().filter(|class| class.timed).map(|class| class.share);
        let shares: Vec<f64> = if shares.clone().next().is_some() { shares.collect() } else { vec![1.0] };
        self.samples.iter().zip(shares)
    }
}

impl Place {
    /// Whether the nest goes over arrays element by element, with neighbours at most.
    pub(crate) fn sweeps(&self, unit: &Unit) -> bool {
        use NestKind::{Copy, Elementwise, Initialization, Stencil};
        matches!(NestKind::of(self.of(unit).2), Copy | Elementwise | Initialization | Stencil)
    }

    /// Function, program and nest in the unit.
    pub fn of<'u>(&self, unit: &'u Unit) -> (&'u str, &'u Program, &'u Nest) {
        let function = &unit.functions[self.function_idx];
        (&function.name, &function.program, &function.program.nests[&self.nest_id])
    }

    /// How the function meets the program around it.
    pub(crate) fn binding<'u>(&self, unit: &'u Unit) -> &'u Binding {
        &unit.functions[self.function_idx].binding
    }

    /// What the nest's own text uses, and what its directives say.
    pub(crate) fn own_text<'u>(&self, unit: &'u Unit) -> &'u OwnText {
        unit.functions[self.function_idx].own_texts.get(&self.nest_id).unwrap_or(OwnText::none())
    }

    /// What texts are made with: the user's file, and how the function meets it.
    pub(crate) fn around<'u>(&self, unit: &'u Unit) -> (&'u str, &'u Binding) {
        (&unit.source, self.binding(unit))
    }

    /// The names of the arrays whose rows, not evenly spaced, it reaches through their pointers.
    pub(crate) fn uneven_rows(&self, unit: &Unit) -> Vec<String> {
        let Function { program, binding, .. } = &unit.functions[self.function_idx];
        binding.uneven_rows(program, self.nest_id).into_iter().map(str::to_owned).collect()
    }

    /// The nest's own text.
    pub(crate) fn text<'u>(&self, unit: &'u Unit) -> Cow<'u, str> {
        self.span.text(&unit.source)
    }

    /// The index of its file among those of the unit.
    pub(crate) fn file(&self, unit: &Unit) -> usize {
        unit.included.place(self.span).map_or(0, |(file, _)| file)
    }

    /// Its first line in its file.
    pub(crate) fn line(&self, unit: &Unit) -> u32 {
        unit.included.line(self.span.line).line
    }

    /// `function:line`, with the last line of a group, and the column where another nest begins in the same line.
    pub(crate) fn name(&self, unit: &Unit) -> String {
        format!("{}:{}", unit.functions[self.function_idx].name, self.lines(unit))
    }

    /// The column of its first letter, from 1.
    pub(crate) fn column(&self, unit: &Unit) -> u32 {
        let before = unit.source.get(..self.span.start).unwrap_or_default();
        1 + before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32
    }

    /// The last line of its text.
    pub(crate) fn last_line(&self, unit: &Unit) -> u32 {
        self.span.line + self.text(unit).lines().count().saturating_sub(1) as u32
    }

    /// Its line, or those of a group, in its file; with the column where another nest begins in the same line.
    pub(crate) fn lines(&self, unit: &Unit) -> LineReport {
        let last = (self.joined > 0).then(|| unit.included.line(self.last_line(unit)).line);
        let nests = unit.functions.iter().flat_map(|function| function.program.nests.values());
        let mut others = nests.filter_map(|nest| nest.span).filter(|span| span.start != self.span.start);
        let is_alone = others.all(|span| span.line != self.span.line);
        let column = (!is_alone).then(|| self.column(unit));
        LineReport { last, column, ..LineReport::of(&unit.included, self.span.line) }
    }

    /// Where it begins and where it ends in its file, as lines and columns from 1.
    pub(crate) fn ends(&self, unit: &Unit) -> [(u32, u32); 2] {
        let text = self.text(unit);
        let in_last = text.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32;
        let before = if text.contains('\n') { 0 } else { self.column(unit) - 1 };
        let line = |line: u32| unit.included.line(line).line;
        [(self.line(unit), self.column(unit)), (line(self.last_line(unit)), before + in_last)]
    }

    /// The nest as the generator of replay and capture programs takes it.
    pub(crate) fn site<'u>(&self, unit: &'u Unit, id: u32) -> Site<'u> {
        let function = &unit.functions[self.function_idx];
        let nest = &function.program.nests[&self.nest_id];
        let never_called = function.never_called.get(&self.nest_id).map_or(&[][..], Vec::as_slice);
        Site {
            id,
            program: &function.program,
            binding: &function.binding,
            nest,
            function: function.span,
            own_text: self.own_text(unit),
            never_called,
            constants: &[],
            are_apart: false,
            before: "",
        }
    }
}

impl Standing {
    /// Why it is not tuned.
    pub fn reason(&self) -> Option<&LeftOut> {
        match self {
            Standing::Tuned => None,
            Standing::Short(reason) | Standing::Skipped(reason) => Some(reason),
        }
    }
}

/// Adds a sentence to a note.
pub(crate) fn remark(note: &mut Option<String>, sentence: &str) {
    *note = Some(match note.take() {
        Some(before) => format!("{before}; {sentence}"),
        None => sentence.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Choice, Schedule, Unproved};
    use oxeye_transform::Recipe;

    /// Nests with these shares of the time, and these others inside.
    fn workpiece(nests: &[(f64, &[usize])]) -> Workpiece {
        let nest = |(share, inside): &(f64, &[usize])| {
            let (nest_id, span) = (NestId(0), Span { start: 0, end: 0, line: 1 });
            let inside = inside.to_vec();
            let place =
                Place { function_idx: 0, nest_id, ordinal: 0, span, inside, within: Vec::new(), joined: 0 };
            let mut nest = TunedNest::new(place, Vec::new());
            nest.calls.share = Some(*share);
            nest
        };
        let (path, source) = (PathBuf::new(), String::new());
        let unit = Unit { path, source, ..Unit::default() };
        let nests = nests.iter().map(nest).collect();
        Workpiece { unit, program: None, coverage: None, stacks: None, nests }
    }

    fn win(nest: &mut TunedNest, speedup: f64) {
        let schedule = Schedule { name: String::new(), templates: Vec::new(), recipe: Recipe::default() };
        let mut trial = Trial::new(schedule, Choice::default(), Err(Unproved::OwnTextWithSteps));
        let (baseline_seconds, seconds, interval, spread) = (1.0, 1.0 / speedup, None, None);
        let (samples, max_rel_error) = (1, 0.0);
        trial.timed =
            Some(Timing { baseline_seconds, seconds, speedup, interval, samples, spread, max_rel_error });
        nest.trials.push(trial);
        nest.winner = Some(nest.trials.len() - 1);
    }

    #[test]
    fn nests_without_others_inside_have_their_turns_first() {
        // The whole program, a loop in it with two others, one by itself, and one that is not tuned.
        let mut workpiece = workpiece(&[
            (1.0, &[1, 2, 3, 4]),
            (0.1, &[]),
            (0.5, &[1, 3]),
            (0.3, &[]),
            (0.45, &[]),
            (0.4, &[]),
        ]);
        workpiece.nests[5].standing = Standing::Skipped(LeftOut::NotChosen);
        let turns = workpiece.turns();
        let order: Vec<usize> = turns.iter().map(|(idx, _)| *idx).collect();
        assert_eq!(order, [4, 3, 1, 2, 0]);
        let own: Vec<f64> = turns.iter().map(|(_, own)| (100.0 * own).round() / 100.0).collect();
        // What those inside take is not theirs; none has nothing.
        assert_eq!(own, [0.45, 0.3, 0.1, 0.1, 0.05]);
    }

    #[test]
    fn nests_around_others_start_from_what_those_save() {
        let mut workpiece = workpiece(&[(1.0, &[1, 2, 3]), (0.1, &[]), (0.5, &[1, 3]), (0.4, &[])]);
        assert_eq!(workpiece.saved_inside(0), 0.0);
        win(&mut workpiece.nests[3], 2.0);
        assert!((workpiece.saved_inside(0) - 0.2).abs() < 1e-9);
        assert!((workpiece.saved_inside(2) - 0.4).abs() < 1e-9);
        // What the loop around it does counts once.
        win(&mut workpiece.nests[2], 5.0);
        assert!((workpiece.saved_inside(0) - 0.4).abs() < 1e-9);
        assert_eq!(workpiece.saved_inside(1), 0.0);
    }
}

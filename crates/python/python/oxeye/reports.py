"""What the commands find out."""

from __future__ import annotations

import json
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from . import _oxeye
from .records import Quantity, Record
from .tables import Table, table

__all__ = [
    "Build",
    "Candidate",
    "CheckReport",
    "Diagnostic",
    "Donor",
    "DonorTrial",
    "ExplainReport",
    "Explanation",
    "FileReport",
    "FloatingPoint",
    "Host",
    "Machine",
    "NestProfile",
    "NestReport",
    "NormalForm",
    "ProfileReport",
    "Program",
    "ProjectReport",
    "Replayed",
    "Report",
    "Skipped",
    "Trial",
]


class Machine(Record):
    """The machine in brief.

    Attributes
    ----------
    cpu : str or None
        Processor model.
    cores : int
        Cores that this process may use.
    l1_bytes, l2_bytes, l3_bytes : int
        Bytes of each cache.
    vector_bytes : int
        Bytes of the widest vector register that the compile flags allow.
    dram_gb_per_s, peak_f64_gflops : float or None
        Most that all cores together move to and from memory, 10⁹ bytes per second, and compute, 10⁹ operations per second.
    """

    cpu: str | None
    cores: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    vector_bytes: int
    dram_gb_per_s: float | None
    peak_f64_gflops: float | None


class Build(Record):
    """How the program is compiled.

    Attributes
    ----------
    compiler : str
        The command.
    version : str or None
        What it says of its version.
    args, added : list of str
        Its arguments, and those that the tuned file needs besides (``-fopenmp``).
    """

    compiler: str
    version: str | None
    args: list[str]
    added: list[str]


class FloatingPoint(Record):
    """What was done to floating point.

    Attributes
    ----------
    reassociate, used : bool
        Whether sums could be reordered, and whether any was.
    max_rel_error : float or None
        Largest relative difference of an output.
    """

    reassociate: bool
    used: bool
    max_rel_error: float | None


class Program(Record):
    """The whole program before and after.

    Attributes
    ----------
    baseline_ms, optimized_ms : float or None
        Median times in milliseconds.
    speedup : float or None
        One by the other.
    verified : bool
        Whether exit code and output were compared and agree.
    mismatch : str or None
        How the tuned program behaved unlike the original, if it did; the nests at fault were dropped.
    """

    baseline_ms: float | None
    optimized_ms: float | None
    speedup: float | None
    verified: bool
    samples: int
    mismatch: str | None
    note: str | None


class NestProfile(Record):
    """A nest against the roofline of the machine. Figures that could not be found are ``None``.

    Attributes
    ----------
    name : str
        ``function:line``.
    cold_ns, warm_ns : Quantity or None
        Time of one invocation, its data outside the caches or in them, in nanoseconds.
    flops : Quantity or None
        Floating-point operations of one invocation.
    gflops, attainable_gflops : Quantity or None
        Rate that is reached, and that the nearest roof allows, 10⁹ operations per second.
    footprint_bytes, compulsory_bytes : Quantity or None
        Distinct bytes that one invocation touches, and bytes that any cache must move for it.
    compulsory_intensity : Quantity or None
        Operations per compulsory byte.
    roof_fraction : Quantity or None
        Share of the nearest roof that is reached, 0 to 1.
    levels, roofs, scaling, counters : list of dict
        Traffic by memory level, the least time each roof allows, times by number of threads, readings of counters.
    """

    id: int
    name: str
    threads: int
    cold_ns: Quantity | None
    warm_ns: Quantity | None
    basis: str | None
    share: Quantity | None
    flops: Quantity | None
    gflops: Quantity | None
    footprint_bytes: Quantity | None
    compulsory_bytes: Quantity | None
    compulsory_intensity: Quantity | None
    attainable_gflops: Quantity | None
    roof_fraction: Quantity | None
    levels: list[Level]
    roofs: list[Roof]
    bound: dict[str, Any]
    why_missing: list[str]
    notes: list[str]


class Level(Record):
    """A memory level as a nest uses it.

    Attributes
    ----------
    level : str
        ``L1``, ``L2``, …, ``DRAM``.
    bytes : Quantity or None
        Bytes that it serves to one invocation.
    gb_per_s, ceiling_gb_per_s : Quantity or None
        Its rate, and the machine's, 10⁹ bytes per second.
    intensity : Quantity or None
        Operations per byte that it serves.
    """

    level: str
    bytes: Quantity | None
    gb_per_s: Quantity | None
    ceiling_gb_per_s: Quantity | None
    intensity: Quantity | None


class Roof(Record):
    """A lower bound on the time of one invocation.

    Attributes
    ----------
    bound : dict
        What sets it.
    least_ns : Quantity
        The least time it allows, in nanoseconds.
    """

    bound: dict[str, Any]
    least_ns: Quantity


class Trial(Record):
    """A candidate that was tried.

    Attributes
    ----------
    name : str
        Name of the recipe.
    recipe : list of str
        Its steps.
    verdict : str
        What became of it.
    screened_ms, time_ms : float or None
        Time of one invocation when it was screened, and in turns with the original, in milliseconds.
    """

    name: str
    recipe: list[str]
    donor: str | None
    predicted_speedup: float | None
    verdict: str
    screened_ms: float | None
    time_ms: float | None
    why: str | None


class NestReport(Record):
    """A nest, and what became of it.

    Attributes
    ----------
    function, line : str, int
        Where it stands.
    share : float or None
        Share of the original program's time, 0 to 1.
    baseline_ms, optimized_ms : float or None
        Median time of one invocation, before and after, in milliseconds.
    speedup : float or None
        One by the other, from runs in turns; 1 for a nest that stays.
    recipe : str or None
        Name of the chosen recipe; ``None`` if the nest stays as it is.
    steps : list of str
        The steps of the recipe.
    code : str or None
        The C block that replaces the nest.
    roof_fraction : float or None
        Share of the nearest roof that the nest reaches in the end, 0 to 1.
    profile_before, profile_after : NestProfile or None
        The nest against the roofline, as the user's compiler builds it, and as it was rewritten.
    refused : list of str
        What could not be done, and why.
    trials : list of Trial
        The candidates that were tried.
    note : str or None
        Why it stays as it is, or what else there is to say.
    """

    id: int
    function: str
    line: int
    share: float | None
    invocations: int | None
    baseline_ms: float | None
    optimized_ms: float | None
    speedup: float | None
    speedup_interval: list[float] | None
    samples: int
    verified: bool
    max_rel_error: float | None
    recipe: str | None
    steps: list[str]
    code: str | None
    donor: str | None
    likeness: float | None
    bound: str | None
    roof_fraction: float | None
    profile_before: NestProfile | None
    profile_after: NestProfile | None
    refused: list[str]
    trials: list[Trial]
    note: str | None


class Diagnostic(Record):
    """Something in the file that cannot be read exactly, and stays as it is.

    Attributes
    ----------
    function : str or None
        The function it stands in.
    line : int
        Where.
    message : str
        What.
    """

    function: str | None
    line: int
    message: str


class _Page(Record):
    """A report with a page."""

    def __init__(self, fields: dict[str, Any], html: str | None, learnt: str | None = None) -> None:
        super().__init__(fields)
        self._html = html
        #: What was added to the recipe database, in words.
        self.learnt = learnt

    def to_html(self) -> str:
        """The report as an HTML page with tables and roofline plots that needs nothing else.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the machine could not be measured: there is no roofline then.
        """
        if self._html is None:
            raise ValueError("there is no page, as the machine could not be measured")
        return self._html

    def save_html(self, path: str | PathLike[str]) -> None:
        """Writes :meth:`to_html` to a file.

        Parameters
        ----------
        path : str or path
            The file.
        """
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def _repr_html_(self) -> str | None:
        if self._html is None:
            return None
        # The page has styles of its own, for light and for dark, which must not meet those of the notebook.
        return (
            f'<iframe srcdoc="{escape(self._html)}" style="width: 100%; height: 40em; border: 0" '
            'onload="this.style.height = this.contentDocument.documentElement.scrollHeight + 20 + \'px\'"></iframe>'
        )


class Report(_Page):
    """What came of tuning a file.

    Attributes
    ----------
    input, output : str
        The file, and the tuned file.
    changed : bool
        Whether they differ.
    seconds : float
        Wall-clock seconds of the whole run.
    program : Program
        The whole program before and after.
    nests : list of NestReport
        Every nest, in the order of the file.
    nodes : list of Record
        Nodes that measured candidates: ``name``, ``measured``, why they were set ``aside``, and whether they were ``lost``.
    diagnostics : list of Diagnostic
        What could not be read, and why.
    recipes : dict
        The recipes of the winners, as :func:`replay` takes them.
    learnt : str or None
        What was added to the recipe database, in words.
    """

    input: str
    output: str
    changed: bool
    host: Machine
    build: Build
    fp: FloatingPoint
    threads: int
    seconds: float
    budget_seconds: float
    trials: int
    program: Program
    coverage: dict[str, Any] | None
    nests: list[NestReport]
    diagnostics: list[Diagnostic]
    recipes: dict[str, Any]
    search: dict[str, Any] | None
    nodes: list[Record]
    notes: list[str]

    def _keep(self, text: str, is_kept: bool) -> None:
        self._sdfg_text = text
        if not is_kept:
            # The files were there as long as the run took.
            self._fields.update(input=None, output=None)
            for name in ("input", "output"):
                self.__dict__.pop(name, None)

    @property
    def sdfg(self) -> Any:
        """The tuned DaCe program.

        Returns
        -------
        dace.SDFG
            A new one at every access.

        Raises
        ------
        ValueError
            If the run was not about a DaCe program.
        """
        text = self.__dict__.get("_sdfg_text")
        if text is None:
            raise ValueError("this report is not about a DaCe program")
        import dace

        return dace.SDFG.from_json(json.loads(text))

    def table(self) -> Table:
        """The nests as a table.

        Returns
        -------
        Table
            One row for each nest, in the order of the file.
        """
        return nest_table(self.nests)

    def profiles(self, when: str = "before") -> Table:
        """The profiles of the nests as a table.

        Parameters
        ----------
        when : {"before", "after"}
            As the user's compiler builds them, or as they were rewritten.

        Returns
        -------
        Table
            One row for each nest with such a profile.
        """
        if when not in ("before", "after"):
            raise ValueError(f"when is `before` or `after`, not {when!r}")
        found = (nest.to_dict()[f"profile_{when}"] for nest in self.nests)
        return profile_table([profile for profile in found if profile is not None])


def nest_table(nests: list[NestReport]) -> Table:
    """Nests as a table."""
    figures = [
        ("id", "number of the nest", int, "id"),
        ("function", "function that it stands in", str, "function"),
        ("line", "its first line", int, "line"),
        ("share", "share of the original program's time, 0 to 1", float, "share"),
        ("invocations", "how often the program runs it", int, "invocations"),
        ("baseline_ms", "time of one invocation before, ms", float, "baseline_ms"),
        ("optimized_ms", "time of one invocation after, ms", float, "optimized_ms"),
        ("speedup", "one by the other", float, "speedup"),
        ("samples", "timed runs of each", int, "samples"),
        ("roof_fraction", "share of the nearest roof that is reached, 0 to 1", float, "roof_fraction"),
        ("bound", "the nearest roof", str, "bound"),
        ("recipe", "what was done; empty if the nest stays as it is", str, "recipe"),
        ("donor", "the known nest that spoke for it most", str, "donor"),
        ("likeness", "how much that nest is like this one, 0 to 1", float, "likeness"),
        ("max_rel_error", "largest relative difference of an output", float, "max_rel_error"),
        ("note", "why it stays as it is, or what else there is to say", str, "note"),
    ]
    return table((name, meaning, kind, [getattr(n, field) for n in nests]) for name, meaning, kind, field in figures)


def profile_table(profiles: list[dict[str, Any]]) -> Table:
    """Profiles as a table."""
    return Table(_oxeye.Columns.of_profiles(json.dumps(profiles)))


class Skipped(Record):
    """A nest that was left out.

    Attributes
    ----------
    name : str
        ``function:line``.
    why : str
        Why.
    """

    id: int
    name: str
    why: str


class ProfileReport(_Page):
    """The nests of a file against the roofline of this machine.

    Attributes
    ----------
    nests : list of NestProfile
        The nests that ran, in the order of the file.
    skipped : list of Skipped
        The others, and why.
    program_seconds : float or None
        Seconds of the whole program, if there is one.
    from_cache : bool
        Whether all of it was kept from an earlier run.
    """

    input: str
    compiler: str
    threads: int
    program_seconds: float | None
    from_cache: bool
    nests: list[NestProfile]
    skipped: list[Skipped]
    notes: list[str]

    def table(self) -> Table:
        """The profiles as a table.

        Returns
        -------
        Table
            One row for each nest; ``table.meanings`` has the units.
        """
        return profile_table(self.to_dict()["nests"])


class BuildFinding(Record):
    """What a debug build found.

    Attributes
    ----------
    kind, place, message : str
        What it is, where, and in words.
    in_original : bool
        Whether the original program does it as well.
    """

    kind: str
    place: str
    message: str
    in_original: bool


class DebugBuild(Record):
    """A debug build of a tuned file.

    Attributes
    ----------
    name, asserts : str
        ``output``, ``threads``, ``accesses``, ``address`` or ``undefined``, and what must hold.
    outcome : str
        ``passed``, ``failed`` or ``not_done``.
    note : str or None
        Why it was not done, or what there is to say of how it was.
    findings : list of BuildFinding
        What was found.
    """

    name: str
    asserts: str
    flags: list[str]
    outcome: str
    note: str | None
    findings: list[BuildFinding]
    seconds: float | None


class VerifyReport(Record):
    """What the debug builds of a tuned file found.

    Attributes
    ----------
    passed : bool
        Whether nothing was found of which the original is free.
    builds : list of DebugBuild
        The builds.
    """

    input: str
    tuned: str
    passed: bool
    builds: list[DebugBuild]
    skipped: list[Skipped]


class RerunFigures(Record):
    """How a text of a nest does against the original; figures that are not known are ``None``."""

    wrong: str | None
    baseline_ms: float | None
    ms: float | None
    speedup: float | None
    max_rel_error: float | None
    program_speedup: float | None


class RerunCandidate(Record):
    """A candidate beside what was generated.

    Attributes
    ----------
    diff : str
        From what was generated to what is there; empty if nothing was edited.
    generated, now : RerunFigures
        The figures of both; ``now`` is ``None`` if nothing was edited.
    """

    file: str
    nest: str
    recipe: str
    edited: bool
    diff: str
    generated: RerunFigures
    now: RerunFigures | None
    notes: list[str]


class RerunReport(Record):
    """What came of candidates that were edited.

    Attributes
    ----------
    candidates : list of RerunCandidate
        Those that were run.
    """

    input: str
    folder: str
    candidates: list[RerunCandidate]
    n_unedited: int


class Finding(Record):
    """Something that helps or hinders tuning on this machine.

    Attributes
    ----------
    topic, health, found : str
        What it is, ``good``, ``limited`` or ``missing``, and what was found.
    cost, remedy : str or None
        What that costs, and what would help.
    """

    topic: str
    health: str
    found: str
    cost: str | None
    remedy: str | None


class Diagnosis(Record):
    """What of this machine helps or hinders tuning.

    Attributes
    ----------
    findings : list of Finding
        In a fixed order.
    can_tune : bool
        Whether programs can be tuned at all.
    """

    findings: list[Finding]
    can_tune: bool


class NormalForm(Record):
    """What a nest is known by: its normal form, and where that lies among others.

    Attributes
    ----------
    hash, text : str
        The normal form, as a hash and as textual IR.
    sizes : dict of str to int
        Values of its symbols.
    embedding : numpy.ndarray of float32, shape (d,)
        The vector that donors are found by, of length 1.
    """

    hash: str
    text: str
    sizes: dict[str, int]
    space: dict[str, Any]
    normalization: list[str]

    @property
    def embedding(self) -> np.ndarray:
        return np.asarray(self._fields["embedding"], dtype=np.float32)


class DonorTrial(Record):
    """A recipe that was tried on a donor.

    Attributes
    ----------
    entry : str
        The entry of the recipe database.
    template : str or None
        The template it was made from.
    steps : list of str
        Its steps.
    speedup : float or None
        What it gained there; ``None`` if it failed.
    failure : str or None
        Why it failed.
    """

    entry: str
    template: str | None
    steps: list[str]
    speedup: float | None
    failure: str | None


class Donor(Record):
    """A nest of the recipe database, with what was tried on it.

    Attributes
    ----------
    entry : str
        Its entry of the greatest gain.
    in_words : str
        What it is, and how much alike.
    distance : float or None
        Distance of the embeddings, 0 to 2.
    likeness : float or None
        How much it is like the nest that was asked for, 0 to 1.
    exact : bool
        Whether it has the same normal form.
    text : str
        Its normal form.
    embedding : numpy.ndarray of float32, shape (d,)
        Where it lies; of length 0 if its vector is of another encoder.
    trials : list of DonorTrial
        What was tried on it, greatest gain first.
    """

    entry: str
    hash: str
    in_words: str
    kind: str
    n_loops: int
    text: str
    distance: float | None
    likeness: float | None
    exact: bool
    trials: list[DonorTrial]

    @property
    def embedding(self) -> np.ndarray:
        return np.asarray(self._fields["embedding"], dtype=np.float32)

    @property
    def best_speedup(self) -> float | None:
        """The greatest gain of any recipe on it."""
        return max((trial.speedup for trial in self.trials if trial.speedup is not None), default=None)


class Candidate(Record):
    """A legal schedule for a nest.

    Attributes
    ----------
    name : str
        Its name.
    steps : list of str
        Its steps, every one proved legal.
    rank : int or None
        Its place among those that are tried first, from 1.
    donor : str or None
        The donor that speaks for it most.
    donor_speedup, predicted_speedup, speedup : float or None
        What it gained there, what is predicted here, and what it gained here.
    verdict : str or None
        What became of it, if it was tried.
    """

    name: str
    steps: list[str]
    rank: int | None
    donor: str | None
    donor_speedup: float | None
    predicted_speedup: float | None
    expected_speedup: float | None
    verdict: str | None
    screened_ms: float | None
    time_ms: float | None
    speedup: float | None
    why: str | None


class Refusal(Record):
    """What could not be made for a nest.

    Attributes
    ----------
    name, reason : str
        What, and why not.
    """

    name: str
    reason: str
    helped: str | None
    steps: list[str]


class Explanation(Record):
    """Why a nest is tuned as it is.

    Attributes
    ----------
    function, line : str, int
        Where it stands.
    nest : NormalForm or None
        What it is known by.
    donors : list of Donor
        The nests that were asked.
    candidates : list of Candidate
        Legal schedules: those that are tried, then the others.
    refused : list of Refusal
        What could not be made, and why.
    winner : str or None
        Name of the schedule that won.
    conclusion : str
        Why, in a sentence.
    """

    function: str
    line: int
    share: float | None
    nest: NormalForm | None
    donors: list[Donor]
    far: float | None
    candidates: list[Candidate]
    refused: list[Refusal]
    baseline_ms: float | None
    winner: str | None
    conclusion: str
    note: str | None

    def table(self) -> Table:
        """The candidates as a table.

        Returns
        -------
        Table
            One row for each candidate, those that are tried first.
        """
        figures: list[tuple[str, str, type]] = [
            ("rank", "place among those that are tried first, from 1", int),
            ("name", "the schedule", str),
            ("donor", "the donor that speaks for it most", str),
            ("donor_speedup", "what it gained there", float),
            ("predicted_speedup", "what is predicted here", float),
            ("screened_ms", "shortest of a few runs, ms", float),
            ("speedup", "over the original, in runs in turns", float),
            ("verdict", "what became of it", str),
        ]
        rows = self.candidates
        return table((name, what, kind, [getattr(row, name) for row in rows]) for name, what, kind in figures)


class ExplainReport(Record):
    """What would be tried on the nests of a file, and why.

    Attributes
    ----------
    nests : list of Explanation
        The nests that would be tuned.
    skipped : list of Skipped
        The others, and why.
    database_entries : int or None
        Entries of the recipe database.
    """

    input: str
    host: Machine
    threads: int
    database_entries: int | None
    measured: bool
    nests: list[Explanation]
    skipped: list[Skipped]
    notes: list[str]

    def _repr_html_(self) -> str:
        parts = []
        for nest in self.nests:
            parts.append(f"<h4>{escape(nest.function)}, line {nest.line}</h4>")
            if nest.nest is not None:
                parts.append(f"<pre>{escape(nest.nest.text)}</pre>")
            parts.append(nest.table()._repr_html_())
            parts.append(f"<p>{escape(nest.conclusion)}</p>")
        parts.extend(f"<p>not tuned: {escape(nest.name)}: {escape(nest.why)}</p>" for nest in self.skipped)
        return "".join(parts)


class FileReport(Record):
    """A file of a project.

    Attributes
    ----------
    path : str
        The file, as seen from the root of the project.
    share : float
        Its share of the program's time, 0 to 1.
    changed : bool
        Whether it has nests that were rewritten.
    report : Report or None
        Its nests.
    """

    path: str
    share: float
    changed: bool
    report: _FileNests | None
    note: str | None


class _FileNests(Record):
    """The nests of a file of a project."""

    nests: list[NestReport]
    diagnostics: list[Diagnostic]
    program: Program

    def table(self) -> Table:
        """The nests as a table.

        Returns
        -------
        Table
            One row for each nest.
        """
        return nest_table(self.nests)


class ProjectReport(_Page):
    """What came of tuning a project.

    Attributes
    ----------
    patch, folder : str or None
        Where the patch, or copies of the changed files, were written.
    program : Program
        The whole program before and after.
    files : list of FileReport
        The files that take time.
    recipes : dict
        The recipes of all files, as :func:`replay` takes them.
    added : list of str
        Flags that the changed files need besides.
    """

    build: str
    run: str
    n_sources: int
    patch: str | None
    folder: str | None
    program: Program
    tunable: float | None
    files: list[FileReport]
    recipes: dict[str, Any]
    added: list[str]
    seconds: float
    nodes: list[Record]
    notes: list[str]


class CheckReport(Record):
    """Whether a tuned project is still as fast, and still right.

    Attributes
    ----------
    passed : bool
        Whether it is.
    failures : list of str
        What is not as it was.
    slack : float
        By how much a figure may be worse than it was, relative.
    """

    passed: bool
    failures: list[str]
    slack: float
    seconds: float
    notes: list[str]


class Replayed(Record):
    """What came of applying recipes.

    Attributes
    ----------
    output : str or None
        Where the tuned file was written.
    text : str
        Its text.
    n_nests : int
        Nests that were rewritten.
    notes : list of str
        What cannot be known of the result.
    """

    input: str
    output: str | None
    n_nests: int
    text: str
    notes: list[str]


class Host(Record):
    """What this machine can do.

    Attributes
    ----------
    key : HostKey
        Which machine this is.
    thorough : bool
        Whether it was measured with care.
    clock_ghz : Quantity or None
        Clock rate of a busy core.
    memory_levels, curve, compute, rates : list of dict
        Bandwidths by memory level, reading bandwidth by array size, peak rates of multiply-add, rates of expensive
        operations.
    """

    key: HostKey
    thorough: bool
    measured_at: str
    seconds: float
    clock_ghz: Quantity | None
    memory_levels: list[_MemoryLevel]
    curve: list[Record]
    compute: list[Record]
    rates: list[Record]
    fork_join_us: Quantity | None
    noise: Record
    notes: list[str]

    def bandwidths(self) -> Table:
        """Bandwidths as a table.

        Returns
        -------
        Table
            One row for each memory level, kernel, and number of threads.
        """
        rows = [(level, one) for level in self.memory_levels for one in level.bandwidths]
        return table(
            [
                ("level", "L1, L2, …, DRAM", str, [level.name for level, _ in rows]),
                ("capacity_bytes", "bytes that fit", int, [level.capacity_bytes for level, _ in rows]),
                ("kernel", "what was done", str, [one.kernel for _, one in rows]),
                ("threads", "threads", int, [one.threads for _, one in rows]),
                ("non_temporal", "1 if stores went around the caches", int, [one.non_temporal for _, one in rows]),
                ("gb_per_s", "bandwidth, 10⁹ bytes per second", float, [one.gb_per_s for _, one in rows]),
            ]
        )

    def peaks(self) -> Table:
        """Peak rates of multiply-add as a table.

        Returns
        -------
        Table
            One row for each type, vector width, and number of threads.
        """
        return table(
            [
                ("type", "f32 or f64", str, [one.ty for one in self.compute]),
                ("vector_bits", "width of the vectors; 0 for scalars", int, [one.vector_bits for one in self.compute]),
                ("threads", "threads", int, [one.threads for one in self.compute]),
                ("gflops", "10⁹ operations per second", float, [one.gflops for one in self.compute]),
            ]
        )

    def _repr_html_(self) -> str:
        head = f"<p>{escape(self.key.cpu_model)}, {self.key.cores} cores</p>"
        return head + self.bandwidths()._repr_html_() + self.peaks()._repr_html_()


class HostKey(Record):
    """Which machine this is.

    Attributes
    ----------
    cpu_model : str
        Processor model.
    cores, threads : int
        Cores and logical processors that this process may use.
    """

    cpu_model: str
    microcode: str
    cores: int
    threads: int


class _MemoryLevel(Record):
    name: str
    level: int
    capacity_bytes: int | None
    bandwidths: list[Record]

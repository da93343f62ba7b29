"""What a program's nests read and write, found out by watching one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _words
from .commands import Heard, _call
from .records import Record
from .reports import Skipped, _Page

__all__ = ["Finding", "Flow", "FlowReport", "InspectReport", "ValuesReport", "inspect"]


class Finding(Record):
    """An array in a nest of whose values there is something to say.

    Attributes
    ----------
    pattern : str
        What it is: ``one-value``, ``zeros``, ``wider-type``, ``unchanged``, ``not-read``, …
    array, function : str
        The array, and the function with the nest.
    line : int
        First line of the nest.
    share, holds : float
        Share of the accesses of all nests, and the part of it for which the pattern holds.
    detail, advice : str
        What exactly, and what could be done.
    recipe : str or None
        The recipe that would profit.
    """

    pattern: str
    array: str
    function: str
    line: int
    lines: list[int]
    is_store: bool
    accesses: int
    share: float
    holds: float
    detail: str
    recipe: str | None
    advice: str


class ValuesReport(_Page):
    """What the values of a program have in common.

    Attributes
    ----------
    findings : list of Finding
        The largest share of the accesses first.
    looked : Record
        How much was looked at, and the seconds of the run as it is and watched.
    skipped : list of Skipped
        The nests that were not watched, and why.
    """

    input: str
    looked: Record
    nests: list[Record]
    findings: list[Finding]
    skipped: list[Skipped]
    notes: list[str]


class Flow(Record):
    """What flows from one nest to another.

    Attributes
    ----------
    origin : int or None
        The nest that stored it, by its position in the file; ``None`` for code elsewhere.
    to : int
        The nest that read it.
    bytes : int
        How much.
    arrays : list
        Names with their bytes.
    """

    to: int
    bytes: int
    arrays: list[Any]

    @property
    def origin(self) -> int | None:
        return self._fields["from"]


class FlowReport(_Page):
    """Which nest's output feeds which.

    Attributes
    ----------
    nests : list of Record
        In the order in which they ran first, with the bytes they stored, and how many of those nobody read.
    flows : list of Flow
        The most bytes first.
    duplicates : list of Record
        Arrays that held the same.
    """

    input: str
    looked: Record
    nests: list[Record]
    flows: list[Flow]
    duplicates: list[Record]
    skipped: list[Skipped]
    notes: list[str]


class InspectReport(Record):
    """What one run of a program showed of its loop nests.

    Attributes
    ----------
    values : ValuesReport
        What the values have in common that nests read and write.
    flow : FlowReport
        Which nest's output feeds which.
    """

    def __init__(self, fields: dict[str, Any], pages: list[str]) -> None:
        super().__init__(fields)
        of_values, of_flow = pages
        self.values = ValuesReport(fields["values"], of_values)
        self.flow = FlowReport(fields["flow"], of_flow)

    def _repr_html_(self) -> str:
        return f"{self.values._repr_html_()}{self.flow._repr_html_()}"


def inspect(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    timeout: float | str | None = None,
    threads: int | None = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    no_alias: bool = False,
    seconds: float | None = None,
    accesses: int | None = None,
    progress: Heard = None,
) -> InspectReport:
    """What loop nests read and write, and which feeds which, found out by watching one run.

    Parameters
    ----------
    file : str or path
        The C file.
    seconds : float, optional
        Seconds of the run in which accesses are looked at. Default: 20.
    accesses : int, optional
        Millions of accesses after which every other block of memory is left alone. Default: 4.
    cc, run, cwd, exit_code, timeout, threads, function, set, inputs, no_alias, progress
        As of :func:`oxeye.tune`.

    Returns
    -------
    InspectReport
        Its ``values`` and its ``flow`` have pages of their own.
    """
    with _words.arrays(inputs) as files:
        words = _words.options(
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            timeout=_words.duration(timeout),
            threads=threads,
            function=function,
            set=set,
            input=files,
            no_alias=no_alias,
            seconds=seconds,
            accesses=accesses,
        )
        fields, pages, _ = _call("inspect", [*words, _words.file(file)], progress, _words.compiler(cc))
        return InspectReport(fields, pages)

"""What a program's nests read and write, found out by watching one run."""

from __future__ import annotations

from typing import Any

from . import _words
from .commands import Heard, _call
from .records import Record
from .reports import Skipped, _Page

__all__ = ["Finding", "Flow", "FlowReport", "ValuesReport", "flow", "values"]


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


def _watched(
    command: str,
    file: _words.PathLike,
    cc: _words.Compiler,
    seconds: float,
    progress: Heard,
    **given: Any,
) -> tuple[dict[str, Any], str | None]:
    words = _words.options(seconds=float(seconds), **given)
    fields, html, _ = _call(command, [*words, _words.file(file)], progress, _words.compiler(cc))
    return fields, html


def values(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    seconds: float = 20,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    function: str | None = None,
    progress: Heard = None,
) -> ValuesReport:
    """What the values that loop nests read and write have in common, and which recipe would profit.

    Parameters
    ----------
    file : str or path
        The C file.
    seconds : float
        Seconds of the run in which accesses are looked at.
    cc, run, cwd, exit_code, function, progress
        As of :func:`optimize`.

    Returns
    -------
    ValuesReport
    """
    given = {"run": run, "cwd": cwd, "exit_code": exit_code, "function": function}
    return ValuesReport(*_watched("values", file, cc, seconds, progress, **given))


def flow(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    seconds: float = 20,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    function: str | None = None,
    progress: Heard = None,
) -> FlowReport:
    """Which loop nest's output feeds which, and what of it nobody reads.

    Parameters
    ----------
    file : str or path
        The C file.
    seconds : float
        Seconds of the run in which accesses are looked at.
    cc, run, cwd, exit_code, function, progress
        As of :func:`optimize`.

    Returns
    -------
    FlowReport
    """
    given = {"run": run, "cwd": cwd, "exit_code": exit_code, "function": function}
    return FlowReport(*_watched("flow", file, cc, seconds, progress, **given))

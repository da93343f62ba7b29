"""Functions under the names that they had before. They go with the next release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _words, commands
from ._renamed import renamed
from .commands import Heard, _call, _page
from .reports import Host, Replayed, Report, VerifyReport
from .watching import FlowReport, ValuesReport, inspect

__all__ = ["check_build", "flow", "host", "replay", "search", "values"]


def search(
    file: _words.PathLike,
    *,
    budget: float | str,
    cc: _words.Compiler = None,
    seed: int | None = None,
    log: _words.PathLike | None = None,
    max_trials: int | None = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    output: _words.PathLike | None = None,
    in_place: bool = False,
    top_k: int | None = None,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    save_recipe: _words.PathLike | None = None,
    database: _words.PathLike | None = None,
    no_learn: bool = False,
    progress: Heard = None,
) -> Report:
    """The old name of ``tune(file, budget="10m")``, with a log that a search can be resumed from.

    Parameters
    ----------
    file : str or path
        The C file.
    budget : float or str
        Time for the whole search: seconds, or ``"90s"``, ``"5m"``. A resumed search gets what is left of it.
    cc : str or sequence of str, optional
        Compiler and arguments, as of :func:`tune`.
    seed : int, optional
        Seed of the random choices: the same measurements give the same search.
    log : str or path, optional
        Log every trial as a line of JSON, and resume the search of a log that exists.
    max_trials : int, optional
        Compile and run at most this many candidates of each nest.
    database : str or path, optional
        The recipe database that trials are added to. Default: the user's own.
    no_learn : bool
        Add nothing to the recipe database.
    function, set, inputs, run, cwd, exit_code, threads, no_alias, output, in_place, top_k, fp, tolerance, ignore, \
compare, save_recipe, progress
        As of :func:`tune`.

    Returns
    -------
    Report
        Its ``search`` says how the search of each nest went.
    """
    renamed("oxeye.search", 'oxeye.tune(file, budget="10m")')
    with _words.arrays(inputs) as files:
        words = _words.options(
            budget=_words.duration(budget),
            seed=seed,
            log=log,
            max_trials=max_trials,
            function=function,
            set=set,
            input=files,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            threads=threads,
            no_alias=no_alias,
            output=output,
            in_place=in_place,
            top_k=top_k,
            fp=fp,
            tolerance=tolerance,
            ignore=ignore,
            compare=compare,
            save_recipe=save_recipe,
            database=database,
            no_learn=no_learn,
        )
        fields, pages, note = _call("search", [*words, _words.file(file)], progress, _words.compiler(cc))
        return Report(fields, _page(pages), note)



def replay(*arguments: Any, **options: Any) -> Replayed:
    """The old name of :func:`oxeye.apply`."""
    renamed("oxeye.replay", "oxeye.apply")
    return commands.apply(*arguments, **options)


def check_build(*arguments: Any, **options: Any) -> VerifyReport:
    """The old name of :func:`oxeye.verify`."""
    renamed("oxeye.check_build", "oxeye.verify")
    return commands.verify(*arguments, **options)


def host(**options: Any) -> Host:
    """The old name of ``oxeye.doctor(measure=True)``."""
    renamed("oxeye.host", "oxeye.doctor(measure=True)")
    return commands.doctor(measure=True, **options)


def values(*arguments: Any, **options: Any) -> ValuesReport:
    """The old name of a part of what :func:`oxeye.inspect` finds."""
    renamed("oxeye.values", "oxeye.inspect(...).values")
    return inspect(*arguments, **options).values


def flow(*arguments: Any, **options: Any) -> FlowReport:
    """The old name of a part of what :func:`oxeye.inspect` finds."""
    renamed("oxeye.flow", "oxeye.inspect(...).flow")
    return inspect(*arguments, **options).flow

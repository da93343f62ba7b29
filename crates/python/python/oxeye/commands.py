"""The commands as functions. Options are keyword arguments with the commands' names."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Union

from . import _dace, _oxeye, _words
from .progress import Listener, listening
from .units import Nest, recipe_file
from .reports import (
    CheckBuildReport,
    CheckReport,
    Diagnosis,
    ExplainReport,
    Host,
    ProfileReport,
    ProjectReport,
    Replayed,
    Report,
    RerunReport,
)

__all__ = [
    "check",
    "check_build",
    "doctor",
    "explain",
    "host",
    "optimize",
    "profile",
    "replay",
    "rerun",
    "search",
    "tune",
]

Heard = Union[bool, Listener, None]


def _call(
    command: str, words: list[str], progress: Heard, behind: Sequence[str] = ()
) -> tuple[dict[str, Any], str | None, str | None]:
    with listening(progress) as listener:
        text, html, note = _oxeye.call(["oxeye", command, *words, *behind], listener)
    return json.loads(text), html, note


def optimize(
    file: _words.PathLike | Any,
    *,
    arguments: Mapping[str, Any] | None = None,
    symbols: Mapping[str, int] | None = None,
    cc: _words.Compiler = None,
    budget: float | str = 60,
    quick: bool = False,
    fresh: bool = False,
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
    candidates: _words.PathLike | Iterable[tuple[Nest, str]] | None = None,
    values: _words.PathLike | None = None,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    save_recipe: _words.PathLike | None = None,
    keep_candidates: _words.PathLike | None = None,
    learn: bool = False,
    database: _words.PathLike | None = None,
    no_database: bool = False,
    progress: Heard = None,
) -> Report:
    """Rewrites the loop nests of a C file or a DaCe program so that they run faster, checked against the original.

    The tuned file is written; if nothing is faster, it is the input byte for byte, and the report says why.

    Parameters
    ----------
    file : str or path, or SDFG, or DaCe program
        The C file, or the DaCe program: an ``.sdfg`` file, a ``dace.SDFG``, or a ``@dace.program``. Of a DaCe program, DaCe's
        own build on the same arguments decides what is kept, and ``report.sdfg`` is the tuned program.
    arguments : mapping of str to array_like or path, optional
        Arguments of a DaCe program. Default: random ones of the SDFG's shapes.
    symbols : mapping of str to int, optional
        Sizes of a DaCe program that do not follow from the arguments.
    cc : str or sequence of str, optional
        Compiler and arguments, as you would type them, further sources and libraries included:
        ``["gcc", "-O3", "-march=native", "main.c", "-lm"]``. Default: ``cc -O3 -march=native -lm``.
    budget : float or str
        Time for trying candidates: seconds, or ``"90s"``, ``"5m"``.
    quick : bool
        Stop at what similar nests and the nests themselves suggest, however much time is left.
    fresh : bool
        Measure everything anew; otherwise a search goes on where an earlier run of the same command ended.
    function : str, optional
        Only the nests of this function.
    set : mapping of str to int, optional
        Sizes, for a function that no program calls.
    inputs : mapping of str to array_like or path, optional
        Contents of arrays, for the same case: NumPy arrays of the shapes that the sizes give, or ``.npy`` files. Other
        arrays are drawn at random from a fixed seed.
    run : str, optional
        How the program is run, as in a shell: ``"./prog -n 200 < input.dat"``. Default: without arguments.
    cwd : str or path, optional
        The folder that the program runs in. Default: the present one.
    exit_code : int, optional
        The exit code of the program when all is well. Default: 0.
    threads : int, optional
        Most threads to use; 1 emits no OpenMP. Default: all cores.
    no_alias : bool
        Assume that pointer parameters of a function never overlap.
    output : str or path, optional
        Where the tuned file goes. Default: ``gemm.oxeye.c`` beside ``gemm.c``.
    in_place : bool
        Change the file itself instead.
    top_k : int, optional
        Candidates to try first on each nest, from what helped similar nests. Default: 3.
    candidates : str or path, or iterable of (Nest, str), optional
        Recipes of one's own to try before the others: a recipe file, or nests of :func:`oxeye.read` with recipes.
    values : str or path, optional
        The JSON that ``oxeye values --json`` wrote: recipes for what it found are tried as well.
    fp : {"strict", "reassociate"}, optional
        Whether floating-point sums may be reordered. Default: as the compile flags say.
    tolerance : float, optional
        How far numbers that the program prints or writes may be apart, relative to the larger one.
    ignore : sequence of str
        Regular expressions for what is not compared in the lines that the program prints or writes.
    compare : sequence of str or path
        Files that the program writes, to be compared as well; ``"u.bin:f32"`` for raw numbers.
    save_recipe : str or path, optional
        Where to write the recipes of the chosen candidates for :func:`replay`.
    keep_candidates : str or path, optional
        A folder for the fastest candidates of every nest, as files for :func:`rerun`.
    learn : bool
        Add every trial to the recipe database.
    database : str or path, optional
        The recipe database to learn from, besides the built-in one. Default: the user's own.
    no_database : bool
        Do not look up similar nests.
    progress : bool or callable, optional
        ``True`` for a bar (of ``tqdm``), ``False`` for none, or a function of a :class:`oxeye.Progress`. Default: a bar
        in terminals and notebooks, if ``tqdm`` is installed.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If an option or a file does not fit.
    CompileError
        If the file or the program cannot be read or built.
    ProgramError
        If the program does not run to its end.
    RefusedError
        If a candidate of one's own cannot be proved legal.
    Cancelled
        After Ctrl-C, within two seconds; no file was changed then.

    Examples
    --------
    >>> report = oxeye.optimize("gemm.c", cc=["gcc", "-O3", "-march=native", "-lm"], budget=60, threads=2)
    >>> report.program.speedup, report.output
    >>> polars.DataFrame(report.table())
    """
    given = _dace.values(inputs, arguments)
    with (
        _dace.program(file, output) as program,
        _words.arrays(given, scalars=program.is_dace) as files,
        recipe_file(candidates) as own,
    ):
        words = _words.options(
            budget=_words.duration(budget),
            candidates=own,
            python=_dace.python(program.is_dace),
            quick=quick,
            fresh=fresh,
            function=function,
            set=_dace.sizes(set, symbols),
            input=files,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            threads=threads,
            no_alias=no_alias,
            output=program.output,
            in_place=in_place,
            top_k=top_k,
            values=values,
            fp=fp,
            tolerance=tolerance,
            ignore=ignore,
            compare=compare,
            save_recipe=save_recipe,
            keep_candidates=keep_candidates,
            learn=learn,
            database=database,
            no_database=no_database,
        )
        report = Report(*_call("optimize", [*words, _words.file(program.file)], progress, _words.compiler(cc)))
        if program.is_dace:
            report._keep(Path(report.output).read_text(), is_kept=program.is_kept)
        return report


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
    """Searches faster schedules of a C file's loop nests for as long as a budget allows, and writes the tuned file.

    Parameters
    ----------
    file : str or path
        The C file.
    budget : float or str
        Time for the whole search: seconds, or ``"90s"``, ``"5m"``. A resumed search gets what is left of it.
    cc : str or sequence of str, optional
        Compiler and arguments, as of :func:`optimize`.
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
        As of :func:`optimize`.

    Returns
    -------
    Report
        Its ``search`` says how the search of each nest went.
    """
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
        return Report(*_call("search", [*words, _words.file(file)], progress, _words.compiler(cc)))


def explain(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    budget: float | str = 60,
    no_run: bool = False,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    top_k: int | None = None,
    fp: str | None = None,
    database: _words.PathLike | None = None,
    no_database: bool = False,
    progress: Heard = None,
) -> ExplainReport:
    """Which nests each loop nest resembles, what made those fast, and what that does here, or why not. No file is written.

    Parameters
    ----------
    file : str or path
        The C file.
    no_run : bool
        Do not measure candidates; the program itself is still run once.
    cc, budget, function, set, inputs, run, cwd, exit_code, threads, no_alias, top_k, fp, database, no_database, progress
        As of :func:`optimize`.

    Returns
    -------
    ExplainReport
    """
    with _words.arrays(inputs) as files:
        words = _words.options(
            budget=_words.duration(budget),
            no_run=no_run,
            function=function,
            set=set,
            input=files,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            threads=threads,
            no_alias=no_alias,
            top_k=top_k,
            fp=fp,
            database=database,
            no_database=no_database,
        )
        return ExplainReport(_call("explain", [*words, _words.file(file)], progress, _words.compiler(cc))[0])


def profile(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    refresh: bool = False,
    trace: _words.PathLike | None = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    progress: Heard = None,
) -> ProfileReport:
    """What bounds each loop nest on this machine, and how much of that bound it reaches.

    Parameters
    ----------
    file : str or path
        The C file.
    refresh : bool
        Measure again even if a profile of the same program is kept.
    trace : str or path, optional
        Where to write when each thread was in which nest, for Chrome's and Perfetto's trace viewers.
    cc, function, set, inputs, run, cwd, exit_code, threads, no_alias, progress
        As of :func:`optimize`.

    Returns
    -------
    ProfileReport
    """
    with _words.arrays(inputs) as files:
        words = _words.options(
            refresh=refresh,
            trace=trace,
            function=function,
            set=set,
            input=files,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            threads=threads,
            no_alias=no_alias,
        )
        fields, html, _ = _call("profile", [*words, _words.file(file)], progress, _words.compiler(cc))
        return ProfileReport(fields, html)


def replay(
    recipe: _words.PathLike | Report | Mapping[str, Any],
    file: _words.PathLike | None = None,
    *,
    cc: _words.Compiler = None,
    trial: int | None = None,
    output: _words.PathLike | None = None,
    in_place: bool = False,
    build: str | None = None,
    compile_commands: _words.PathLike | None = None,
) -> Replayed:
    """Applies the recipes of an earlier run to a file or a project: the same result byte for byte, without running anything.

    Parameters
    ----------
    recipe : str, path, Report, ProjectReport or mapping
        A recipe file, a report or its ``recipes``, or a log of :func:`search`.
    file : str or path, optional
        The C file; for a project, its root. Default for projects: the repository, else the present folder.
    cc : str or sequence of str, optional
        Compiler and arguments to read the file with. Default: ``cc``, with what the recipe file has of flags.
    trial : int, optional
        Which trial of a search's log to apply.
    output : str or path, optional
        Where the tuned file goes. Default: ``gemm.oxeye.c`` beside ``gemm.c``; for a project the patch ``oxeye.patch``.
    in_place : bool
        Change the files themselves instead.
    build : str, optional
        For a project: the command that builds it; files are read as it compiles them.
    compile_commands : str or path, optional
        For a project: the file that lists how its sources are compiled, for the same.

    Returns
    -------
    Replayed

    Raises
    ------
    RefusedError
        If a recipe does not go with the file.
    """
    with tempfile.TemporaryDirectory(prefix="oxeye-recipe-") as folder:
        if isinstance(recipe, (str, PathLike)):
            path = fspath(recipe)
        else:
            saved = recipe if isinstance(recipe, Mapping) else recipe.recipes
            path = str(Path(folder) / "recipe.json")
            Path(path).write_text(json.dumps(saved), encoding="utf-8")
        options = _words.options(
            trial=trial, output=output, in_place=in_place, build=build, compile_commands=compile_commands
        )
        words = [*options, _words.file(path), *([] if file is None else [_words.file(file)])]
        return Replayed(_call("replay", words, False, _words.compiler(cc))[0])


def tune(
    *,
    build: str | None = None,
    compile_commands: _words.PathLike | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    budget: float | str | None = None,
    quick: bool = False,
    fresh: bool = False,
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
    save_config: bool = False,
    database: _words.PathLike | None = None,
    no_database: bool = False,
    progress: Heard = None,
) -> ProjectReport:
    """Finds the loop nests that take the time of the project in the present folder, makes them faster, and writes a patch.

    Where ``build`` or ``run`` is not given, ``oxeye.toml`` in the present folder is read.

    Parameters
    ----------
    build : str, optional
        The command that builds all of it, as in a shell: ``"make clean && make"``.
    compile_commands : str or path, optional
        The file that lists how the sources are compiled, instead of a build.
    run : str, optional
        How the program is run, as in a shell.
    budget : float or str, optional
        Time for trying candidates: seconds, or ``"90s"``, ``"5m"``. Default: a minute.
    output : str or path, optional
        Where the patch goes; a folder (``"tuned/"``) gets copies of the changed files. Default: ``oxeye.patch``.
    save_config : bool
        Keep the options of this run in ``oxeye.toml``, and what it found in ``oxeye.lock.json`` for :func:`check`.
    cwd, exit_code, quick, fresh, threads, no_alias, in_place, top_k, fp, tolerance, ignore, compare, save_recipe, \
database, no_database, progress
        As of :func:`optimize`.

    Returns
    -------
    ProjectReport
    """
    words = _words.options(
        build=build,
        compile_commands=compile_commands,
        run=run,
        cwd=cwd,
        exit_code=exit_code,
        budget=None if budget is None else _words.duration(budget),
        quick=quick,
        fresh=fresh,
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
        save_config=save_config,
        database=database,
        no_database=no_database,
    )
    fields, html, _ = _call("tune", words, progress)
    return ProjectReport(fields, html)


def check(
    *,
    lock: _words.PathLike | None = None,
    patch: _words.PathLike | None = None,
    slack: float | None = None,
    build: str | None = None,
    compile_commands: _words.PathLike | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    progress: Heard = None,
) -> CheckReport:
    """Whether the tuned project in the present folder is still as fast, and still right.

    Parameters
    ----------
    lock : str or path, optional
        What :func:`tune` kept of its run. Default: ``oxeye.lock.json``.
    patch : str or path, optional
        The sources are as they were; check with this patch in them.
    slack : float, optional
        By how much a figure may be worse than it was, in percent. Default: 25.
    build, compile_commands, run, cwd, exit_code, threads, fp, tolerance, ignore, compare, progress
        As of :func:`tune`; without ``build`` and ``run``, ``oxeye.toml`` has them.

    Returns
    -------
    CheckReport
        Its ``passed`` is the answer.
    """
    words = _words.options(
        lock=lock,
        patch=patch,
        slack=slack,
        build=build,
        compile_commands=compile_commands,
        run=run,
        cwd=cwd,
        exit_code=exit_code,
        threads=threads,
        fp=fp,
        tolerance=tolerance,
        ignore=ignore,
        compare=compare,
    )
    return CheckReport(_call("check", words, progress)[0])


def check_build(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    tuned: _words.PathLike | None = None,
    recipe: _words.PathLike | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    progress: Heard = None,
) -> CheckBuildReport:
    """Debug builds of a tuned file: checked accesses, threads, sanitizers.

    Parameters
    ----------
    file : str or path
        The C file as it was before it was tuned.
    tuned : str or path, optional
        The tuned file. Default: ``gemm.oxeye.c`` beside ``gemm.c``.
    recipe : str or path, optional
        A recipe file; what it makes is checked if no tuned file is named.
    cc, run, cwd, exit_code, threads, no_alias, fp, tolerance, ignore, compare, progress
        As of :func:`optimize`.

    Returns
    -------
    CheckBuildReport
        Its ``passed`` is the answer, ``builds`` has what each build found.
    """
    words = _words.options(
        tuned=tuned,
        recipe=recipe,
        run=run,
        cwd=cwd,
        exit_code=exit_code,
        threads=threads,
        no_alias=no_alias,
        fp=fp,
        tolerance=tolerance,
        ignore=ignore,
        compare=compare,
    )
    return CheckBuildReport(_call("check-build", [*words, _words.file(file)], progress, _words.compiler(cc))[0])


def rerun(
    file: _words.PathLike,
    candidates: _words.PathLike | Sequence[_words.PathLike],
    *,
    cc: _words.Compiler = None,
    budget: float | str = 60,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    progress: Heard = None,
) -> RerunReport:
    """Candidates that were edited by hand, verified and timed beside what was generated.

    Parameters
    ----------
    file : str or path
        The C file.
    candidates : str or path, or sequence of these
        The folder that ``optimize(keep_candidates=...)`` wrote, for all that were edited, or files in it.
    cc, budget, function, set, inputs, run, cwd, exit_code, threads, no_alias, fp, tolerance, ignore, compare, progress
        As of :func:`optimize`.

    Returns
    -------
    RerunReport
        Its ``candidates`` have a diff, and the figures of what was generated and of what is there now.
    """
    paths = [candidates] if isinstance(candidates, (str, PathLike)) else list(candidates)
    with _words.arrays(inputs) as files:
        words = _words.options(
            candidates=paths,
            budget=_words.duration(budget),
            function=function,
            set=set,
            input=files,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            threads=threads,
            no_alias=no_alias,
            fp=fp,
            tolerance=tolerance,
            ignore=ignore,
            compare=compare,
        )
        return RerunReport(_call("rerun", [*words, _words.file(file)], progress, _words.compiler(cc))[0])


def doctor(*, cc: str | None = None) -> Diagnosis:
    """What of this machine helps or hinders tuning. Nothing is measured.

    Parameters
    ----------
    cc : str, optional
        The compiler to look at. Default: ``cc``.

    Returns
    -------
    Diagnosis
        Its ``findings`` have what was found, what that costs, and what would help.
    """
    return Diagnosis(_call("doctor", _words.options(cc=cc), None)[0])


def host(*, brief: bool = False, refresh: bool = False, cc: str | None = None, progress: Heard = None) -> Host:
    """What this machine can do: bandwidths of caches and memory, peak rates. Measured the first time, then kept.

    Parameters
    ----------
    brief : bool
        Measure roughly, within three seconds, and not for a minute.
    refresh : bool
        Measure again even if this machine's profile is known.
    cc : str, optional
        Compiler whose OpenMP is timed. Default: ``cc``.
    progress : bool or callable, optional
        As of :func:`optimize`.

    Returns
    -------
    Host
    """
    return Host(_call("host", _words.options(brief=brief, refresh=refresh, cc=cc), progress)[0])

"""The commands as functions. Options are keyword arguments with the commands' names."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Union, overload

from . import _dace, _nodes, _oxeye, _words
from ._renamed import renamed
from .errors import InputError
from .progress import Listener, listening
from .records import Record
from .reports import (
    CheckReport,
    Diagnosis,
    ExplainReport,
    Host,
    ProfileReport,
    ProjectReport,
    Replayed,
    Report,
    RerunReport,
    VerifyReport,
)
from .units import Nest, recipe_file

__all__ = [
    "apply",
    "check",
    "doctor",
    "explain",
    "optimize",
    "profile",
    "rerun",
    "tune",
    "verify",
]

Heard = Union[bool, Listener, None]
Places = Union[str, Sequence[str]]


def _call(
    command: str, words: list[str], progress: Heard, behind: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str], str | None]:
    with listening(progress) as listener:
        text, pages, note = _oxeye.call(["oxeye", command, *words, *behind], listener)
    return json.loads(text), pages, note


def _page(pages: list[str]) -> str | None:
    return pages[0] if pages else None


@overload
def tune(file: _words.PathLike | Any, **options: Any) -> Report: ...
@overload
def tune(file: None = None, **options: Any) -> ProjectReport: ...
def tune(  # type: ignore[misc]  # The options of both are those that stand here.
    file: _words.PathLike | Any | None = None,
    *,
    cc: _words.Compiler = None,
    build: str | None = None,
    compile_commands: _words.PathLike | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    timeout: float | str | None = None,
    copies: int | None = None,
    rank: int | None = None,
    threads: int | None = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    symbols: Mapping[str, int] | None = None,
    no_alias: bool = False,
    budget: float | str | None = None,
    quick: bool = False,
    fresh: bool = False,
    only: Places = (),
    exclude: Places = (),
    min_share: float | None = None,
    top_k: int | None = None,
    recipes: _words.PathLike | Iterable[tuple[Nest, str]] | None = None,
    values: _words.PathLike | Record | None = None,
    nodes: int | None = None,
    slurm: str | None = None,
    local_shards: int | None = None,
    shared: _words.PathLike | None = None,
    worker: str | None = None,
    executor: Executor | None = None,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    min_speedup: float | None = None,
    output: _words.PathLike | None = None,
    in_place: bool = False,
    save_recipe: _words.PathLike | None = None,
    save_config: bool = False,
    keep_candidates: _words.PathLike | None = None,
    dry_run: bool = False,
    database: _words.PathLike | None = None,
    no_database: bool = False,
    learn: bool = False,
    progress: Heard = None,
    candidates: _words.PathLike | Iterable[tuple[Nest, str]] | None = None,
) -> Report | ProjectReport:
    """Makes the loop nests of a C file, a DaCe program or a project faster, checked against the original.

    Of a file, the tuned file is written; if nothing is faster, it is the input byte for byte, and the report says why. Without
    a file, the project in the present folder is tuned, and a patch is written; where ``build`` or ``run`` is not given,
    ``oxeye.toml`` in the present folder is read.

    Parameters
    ----------
    file : str or path, or SDFG, or DaCe program, optional
        The C file, or the DaCe program: an ``.sdfg`` file, a ``dace.SDFG``, or a ``@dace.program``. Of a DaCe program, DaCe's
        own build on the same arguments decides what is kept, and ``report.sdfg`` is the tuned program. Default: the project.
    cc : str or sequence of str, optional
        Compiler and arguments of a file, as you would type them, further sources and libraries included:
        ``["gcc", "-O3", "-march=native", "main.c", "-lm"]``. Default: ``cc -O3 -march=native -lm``.
    build : str, optional
        The command that builds all of a project, as in a shell: ``"make clean && make"``.
    compile_commands : str or path, optional
        The file that lists how the sources of a project are compiled, instead of a build.
    run : str, optional
        How the program is run, as in a shell: ``"./prog -n 200 < input.dat"``. Default for a file: without arguments.
    cwd : str or path, optional
        The folder that the program runs in. Default: the present one.
    exit_code : int, optional
        The exit code of the program when all is well. Default: 0.
    timeout : float or str, optional
        The longest a run of the program may take: seconds, or ``"90s"``, ``"5m"``. Default: twenty times the budget.
    copies : int, optional
        Processes in which nests are timed at once, as under ``mpirun``. Default: as many as that is told in ``run``.
    rank : int, optional
        The process of an MPI program of which the arguments of nests are kept. Default: that which spends most time in nests.
    threads : int, optional
        Most threads to use, of each process; 1 emits no OpenMP. Default: its part of the cores.
    function : str, optional
        Only the nests of this function of a file.
    set : mapping of str to int, optional
        Sizes, for a function that no program calls.
    inputs : mapping of str to array_like or path, optional
        Contents of arrays, for the same case: NumPy arrays of the shapes that the sizes give, or ``.npy`` files. Other
        arrays are drawn at random from a fixed seed.
    arguments : mapping of str to array_like or path, optional
        Arguments of a DaCe program. Default: random ones of the SDFG's shapes.
    symbols : mapping of str to int, optional
        Sizes of a DaCe program that do not follow from the arguments.
    no_alias : bool
        Assume that pointer parameters of a function never overlap.
    budget : float or str, optional
        Time for the whole run: seconds, or ``"90s"``, ``"5m"``. Default: a minute.
    quick : bool
        Stop at what similar nests and the nests themselves suggest, however much time is left.
    fresh : bool
        Measure everything anew; otherwise a run goes on where an earlier one of the same command ended.
    only, exclude : str or sequence of str
        Files, ``"grid.c:12"``, or functions whose nests alone are tuned, or are not tuned.
    min_share : float, optional
        Leave nests that take less of the program's time, in percent.
    top_k : int, optional
        Candidates to try first on each nest, from what helped similar nests. Default: 3.
    recipes : str or path, or iterable of (Nest, str), optional
        Recipes of one's own for a file, to try before the others: a recipe file, or nests of :func:`oxeye.read` with recipes.
    values : str or path, or InspectReport, optional
        What :func:`inspect` found in a file, or the JSON that ``oxeye inspect --json`` wrote: recipes for that are tried, too.
    nodes : int, optional
        Measure candidates on so many nodes at once, started by ``slurm``, by ``executor``, or by somebody else for the folder
        ``shared``: ``oxeye worker FOLDER``, or ``python -m oxeye worker FOLDER``.
    slurm : str, optional
        Let Slurm start the nodes: options of ``sbatch``, such as ``"--partition=cpu"``; may be empty.
    local_shards : int, optional
        Measure so many candidates at a time on this machine, each on its part of the cores.
    shared : str or path, optional
        The folder that all nodes see. One that is named stays. Default: a new one in the present folder.
    worker : str, optional
        The command that a node runs, before the folder. Default: this Python with ``-m oxeye worker``.
    executor : concurrent.futures.Executor, optional
        Run workers for ``nodes`` nodes in an executor of one's own, such as ``dask.distributed.Client.get_executor()``.
    fp : {"strict", "reassociate"}, optional
        Whether floating-point sums may be reordered. Default: as the compile flags say.
    tolerance : float, optional
        How far numbers that the program prints or writes may be apart, relative to the larger one.
    ignore : sequence of str
        Regular expressions for what is not compared in the lines that the program prints or writes.
    compare : sequence of str or path
        Files that the program writes, to be compared as well; ``"u.bin:f32"`` for raw numbers.
    min_speedup : float, optional
        Keep a result only if the program is so many times as fast. Default: 1.03.
    output : str or path, optional
        Where the tuned file goes. Default: ``gemm.oxeye.c`` beside ``gemm.c``. Of a project, where the patch goes; a folder
        (``"tuned/"``) gets copies of the changed files. Default: ``oxeye.patch``.
    in_place : bool
        Change the files themselves instead.
    save_recipe : str or path, optional
        Where to write the recipes of what was changed for :func:`apply`.
    save_config : bool
        Keep the options of a project's run in ``oxeye.toml``, and what it found in ``oxeye.lock.json`` for :func:`check`.
    keep_candidates : str or path, optional
        A folder for the fastest candidates of every nest of a file, as files for :func:`rerun`.
    dry_run : bool
        Look at the nests and their shares; try and write nothing.
    database : str or path, optional
        The recipe database to learn from, besides the built-in one: a file, or the address of a PostgreSQL server. Default: the
        user's own.
    no_database : bool
        Do not look up similar nests.
    learn : bool
        Add every trial on a file to the recipe database.
    progress : bool or callable, optional
        ``True`` for a bar (of ``tqdm``), ``False`` for none, or a function of a :class:`oxeye.Progress`. Default: a bar
        in terminals and notebooks, if ``tqdm`` is installed.
    candidates
        The old name of ``recipes``.

    Returns
    -------
    Report or ProjectReport
        Of a file, a :class:`oxeye.Report`; of a project, a :class:`oxeye.ProjectReport`.

    Raises
    ------
    InputError
        If an option or a file does not fit.
    CompileError
        If the file or the program cannot be read or built.
    ProgramError
        If the program does not run to its end.
    RefusedError
        If a recipe of one's own cannot be proved legal.
    Cancelled
        After Ctrl-C, within two seconds; no file was changed then.

    Examples
    --------
    >>> report = oxeye.tune("gemm.c", cc=["gcc", "-O3", "-march=native", "-lm"], budget=60, threads=2)
    >>> report.program.speedup, report.output
    >>> polars.DataFrame(report.table())
    >>> oxeye.tune(build="make clean && make", run="./solver -n 200")
    >>> oxeye.tune("gemm.c", nodes=8, slurm="--partition=cpu")
    """
    if candidates is not None:
        renamed("oxeye.tune(candidates=...)", "oxeye.tune(recipes=...)")
        recipes = candidates
    if file is None and (arguments or symbols or inputs):
        raise InputError("arguments, symbols and inputs are of a file; name it")
    with (
        _dace.program(file, output) as program,
        _words.arrays(_dace.values(inputs, arguments), scalars=program.is_dace) as files,
        recipe_file(recipes) as own,
        _words.report_file(values) as found,
        _nodes.workers(executor, nodes, shared) as folder,
    ):
        words = _words.options(
            build=build,
            compile_commands=compile_commands,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            timeout=_words.duration(timeout),
            copies=copies,
            rank=rank,
            threads=threads,
            function=function,
            set=_dace.sizes(set, symbols),
            input=files,
            python=_dace.python(program.is_dace),
            no_alias=no_alias,
            budget=_words.duration(budget),
            quick=quick,
            fresh=fresh,
            only=_words.several(only),
            exclude=_words.several(exclude),
            min_share=min_share,
            top_k=top_k,
            recipes=own,
            values=found,
            nodes=nodes,
            slurm=slurm,
            local_shards=local_shards,
            shared=folder,
            worker=_nodes.worker(worker, starts=slurm is not None or local_shards is not None),
            fp=fp,
            tolerance=tolerance,
            ignore=_words.several(ignore),
            compare=_words.several(compare),
            min_speedup=min_speedup,
            output=program.output,
            in_place=in_place,
            save_recipe=save_recipe,
            save_config=save_config,
            keep_candidates=keep_candidates,
            dry_run=dry_run,
            database=database,
            no_database=no_database,
            learn=learn,
        )
        named = [] if program.file is None else [_words.file(program.file)]
        fields, pages, note = _call("tune", [*words, *named], progress, _words.compiler(cc))
        if program.file is None:
            return ProjectReport(fields, _page(pages))
        report = Report(fields, _page(pages), note)
        if program.is_dace and not dry_run:
            report._keep(Path(report.output).read_text(), is_kept=program.is_kept)
        return report


#: A second name of :func:`tune`, for files.
optimize = tune


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
    timeout: float | str | None = None,
    copies: int | None = None,
    rank: int | None = None,
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
    cc, budget, function, set, inputs, run, cwd, exit_code, timeout, copies, rank, threads, no_alias, top_k, fp, database, \
    no_database, progress
        As of :func:`tune`.

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
            timeout=_words.duration(timeout),
            copies=copies,
            rank=rank,
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
    timeout: float | str | None = None,
    copies: int | None = None,
    rank: int | None = None,
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
    cc, function, set, inputs, run, cwd, exit_code, timeout, copies, rank, threads, no_alias, progress
        As of :func:`tune`.

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
            timeout=_words.duration(timeout),
            copies=copies,
            rank=rank,
            threads=threads,
            no_alias=no_alias,
        )
        fields, pages, _ = _call("profile", [*words, _words.file(file)], progress, _words.compiler(cc))
        return ProfileReport(fields, _page(pages))


def apply(
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
        A recipe file, a report or its ``recipes``, or a log of a search.
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
        return Replayed(_call("apply", words, False, _words.compiler(cc))[0])


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
    timeout: float | str | None = None,
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
    build, compile_commands, run, cwd, exit_code, timeout, threads, fp, tolerance, ignore, compare, progress
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
        timeout=_words.duration(timeout),
        threads=threads,
        fp=fp,
        tolerance=tolerance,
        ignore=_words.several(ignore),
        compare=_words.several(compare),
    )
    return CheckReport(_call("check", words, progress)[0])


def verify(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    tuned: _words.PathLike | None = None,
    recipe: _words.PathLike | None = None,
    run: str | None = None,
    cwd: _words.PathLike | None = None,
    exit_code: int | None = None,
    timeout: float | str | None = None,
    threads: int | None = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    no_alias: bool = False,
    fp: str | None = None,
    tolerance: float | None = None,
    ignore: Sequence[str] = (),
    compare: Sequence[_words.PathLike] = (),
    progress: Heard = None,
) -> VerifyReport:
    """Debug builds of a tuned file: checked accesses, threads, sanitizers.

    Parameters
    ----------
    file : str or path
        The C file as it was before it was tuned.
    tuned : str or path, optional
        The tuned file. Default: ``gemm.oxeye.c`` beside ``gemm.c``.
    recipe : str or path, optional
        A recipe file; what it makes is checked if no tuned file is named.
    cc, run, cwd, exit_code, timeout, threads, function, set, inputs, no_alias, fp, tolerance, ignore, compare, progress
        As of :func:`tune`.

    Returns
    -------
    VerifyReport
        Its ``passed`` is the answer, ``builds`` has what each build found.
    """
    with _words.arrays(inputs) as files:
        words = _words.options(
            tuned=tuned,
            recipe=recipe,
            run=run,
            cwd=cwd,
            exit_code=exit_code,
            timeout=_words.duration(timeout),
            threads=threads,
            function=function,
            set=set,
            input=files,
            no_alias=no_alias,
            fp=fp,
            tolerance=tolerance,
            ignore=_words.several(ignore),
            compare=_words.several(compare),
        )
        return VerifyReport(_call("verify", [*words, _words.file(file)], progress, _words.compiler(cc))[0])


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
    timeout: float | str | None = None,
    copies: int | None = None,
    rank: int | None = None,
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
        The folder that ``tune(keep_candidates=...)`` wrote, for all that were edited, or files in it.
    cc, budget, function, set, inputs, run, cwd, exit_code, timeout, copies, rank, threads, no_alias, fp, tolerance, ignore, compare, \
    progress
        As of :func:`tune`.

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
            timeout=_words.duration(timeout),
            copies=copies,
            rank=rank,
            threads=threads,
            no_alias=no_alias,
            fp=fp,
            tolerance=tolerance,
            ignore=_words.several(ignore),
            compare=_words.several(compare),
        )
        return RerunReport(_call("rerun", [*words, _words.file(file)], progress, _words.compiler(cc))[0])


@overload
def doctor(*, cc: str | None = None, measure: Literal[False] = False) -> Diagnosis: ...
@overload
def doctor(
    *,
    cc: str | None = None,
    measure: Literal[True],
    brief: bool = False,
    refresh: bool = False,
    progress: Heard = None,
) -> Host: ...
def doctor(
    *,
    cc: str | None = None,
    measure: bool = False,
    brief: bool = False,
    refresh: bool = False,
    progress: Heard = None,
) -> Diagnosis | Host:
    """What of this machine helps or hinders tuning, or with ``measure`` what the machine can do.

    Parameters
    ----------
    cc : str, optional
        The compiler to look at. Default: ``cc``.
    measure : bool
        Measure bandwidths of caches and memory and peak rates: a minute the first time, then kept.
    brief : bool
        Measure roughly, within three seconds.
    refresh : bool
        Measure again even if this machine's profile is known.
    progress : bool or callable, optional
        As of :func:`tune`.

    Returns
    -------
    Diagnosis or Host
        The ``findings`` of a :class:`oxeye.Diagnosis` have what was found, what that costs, and what would help; a
        :class:`oxeye.Host` has the figures that were measured.
    """
    words = _words.options(cc=cc, measure=measure, brief=brief, refresh=refresh)
    fields = _call("doctor", words, progress if measure else None)[0]
    return Host(fields) if measure else Diagnosis(fields)

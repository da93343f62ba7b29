"""A file as its loop nests, to look at and to rewrite one by one."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from . import _oxeye, _words
from .errors import OxeyeError
from .reports import Donor, NormalForm
from .tables import Table, table

__all__ = ["Nest", "Unit", "read"]


class Nest:
    """A loop nest of a file.

    ``print(nest)`` shows it as textual IR: arrays with their shapes, loops, statements.

    Attributes
    ----------
    id : int
        Its number in the file, from 0.
    function : str
        The function it stands in.
    line : int
        Its first line.
    n_loops, n_statements : int
        How many of each it has.
    sizes : list of str
        Names of the sizes of its function.
    source : str
        Its text in the file.
    """

    def __init__(self, unit: Unit, idx: int, summary: dict[str, Any]) -> None:
        self.unit = unit
        self.id = idx
        self.function: str = summary["function"]
        self.line: int = summary["line"]
        self.n_loops: int = summary["n_loops"]
        self.n_statements: int = summary["n_statements"]
        self.sizes: list[str] = summary["sizes"]
        self.source: str = summary["source"]

    def __repr__(self) -> str:
        return f"Nest {self.id}: {self.function}, line {self.line}, {self.n_loops} loops, {self.n_statements} statements"

    def __str__(self) -> str:
        return self.unit._reading.text(self.id)

    def dot(self) -> str:
        """The dataflow graph of the nest: arrays, the nest, and what it reads and writes of them.

        Returns
        -------
        str
            Input for Graphviz.
        """
        return self.unit._reading.dot(self.id)

    def svg(self) -> str:
        """The dataflow graph as a picture.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        OxeyeError
            If Graphviz's ``dot`` is not there.
        """
        if shutil.which("dot") is None:
            raise OxeyeError("`dot` of Graphviz makes the picture, and it is not installed; nest.dot() is its input")
        done = subprocess.run(["dot", "-Tsvg"], input=self.dot(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OxeyeError(f"`dot` fails: {done.stderr.strip()}")
        return done.stdout

    def _repr_html_(self) -> str:
        text = f"<pre>{escape(str(self))}</pre>"
        return text if shutil.which("dot") is None else self.svg() + text

    def normal_form(self, set: Mapping[str, int] | None = None) -> NormalForm:
        """What the nest is known by. Looks at the machine, which takes seconds where it was never measured.

        Parameters
        ----------
        set : mapping of str to int, optional
            Values of sizes, over those that the file was read with. The embedding depends on them.

        Returns
        -------
        NormalForm
        """
        return NormalForm(json.loads(self.unit._reading.describe(self.id, self._sizes(set))))

    def embedding(self, set: Mapping[str, int] | None = None) -> np.ndarray:
        """Where the nest lies among others, without a profile of its run.

        Parameters
        ----------
        set : mapping of str to int, optional
            Values of sizes, over those that the file was read with.

        Returns
        -------
        numpy.ndarray of float32, shape (d,)
            A vector of length 1: the distance of two such vectors says how much two nests are alike.
        """
        return self.normal_form(set).embedding

    def donors(self, set: Mapping[str, int] | None = None) -> list[Donor]:
        """Known nests that are most like this one, with what was tried on them.

        Parameters
        ----------
        set : mapping of str to int, optional
            Values of sizes, over those that the file was read with.

        Returns
        -------
        list of Donor
            Those of the same normal form first, then the nearest.
        """
        return [Donor(each) for each in json.loads(self.unit._reading.donors(self.id, self._sizes(set)))]

    def apply(self, recipe: str) -> str:
        """The C block that stands in the place of the nest with a recipe.

        Parameters
        ----------
        recipe : str
            Its steps, such as ``"tile i:32 j:32; parallelize i"``. Loops are called by their names in the source, or by
            their ids (``L0``).

        Returns
        -------
        str
            C text. Every step of it is proved legal.

        Raises
        ------
        RefusedError
            If a step does not fit, or cannot be proved legal; its ``reason`` says why.
        InputError
            If the text is no recipe.
        """
        return self.unit._reading.apply(self.id, recipe)

    def _sizes(self, given: Mapping[str, int] | None) -> dict[str, int]:
        # Those that the file was read with may be other functions'.
        known = {name: value for name, value in self.unit._sizes.items() if name in self.sizes}
        return {**known, **{name: int(value) for name, value in (given or {}).items()}}


class Unit:
    """A C file that was read.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    nests : list of Nest
        Its loop nests, in the order of the file.
    diagnostics : list of str
        What cannot be read exactly, and why, with the lines of the source.
    has_main : bool
        Whether it defines ``main``.
    """

    def __init__(self, path: Path, reading: _oxeye.Reading, sizes: Mapping[str, int]) -> None:
        self.path = path
        self._reading = reading
        self._sizes = dict(sizes)
        summary = json.loads(reading.summary())
        self.nests = [Nest(self, idx, nest) for idx, nest in enumerate(summary["nests"])]
        self.diagnostics: list[str] = summary["diagnostics"]
        self.has_main: bool = summary["has_main"]

    def __repr__(self) -> str:
        return f"Unit {self.path}: {len(self.nests)} nests"

    def table(self) -> Table:
        """The nests as a table.

        Returns
        -------
        Table
            One row for each nest.
        """
        rows = self.nests
        return table(
            [
                ("id", "number of the nest", int, [nest.id for nest in rows]),
                ("function", "function that it stands in", str, [nest.function for nest in rows]),
                ("line", "its first line", int, [nest.line for nest in rows]),
                ("n_loops", "its loops", int, [nest.n_loops for nest in rows]),
                ("n_statements", "its statements", int, [nest.n_statements for nest in rows]),
            ]
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self.path))}</p>{self.table()._repr_html_()}"

    def rewrite(
        self, recipes: Mapping[int, str] | Iterable[tuple[Nest, str]], save_recipe: str | PathLike[str] | None = None
    ) -> str:
        """The text of the file with recipes applied to some of its nests.

        Parameters
        ----------
        recipes : mapping of int to str, or iterable of (Nest, str)
            Recipes by nests, or by the ids of nests.
        save_recipe : str or path, optional
            Where to write them as :func:`oxeye.replay` takes them.

        Returns
        -------
        str
            C text. Compile it with ``-fopenmp`` if a recipe shares loops among threads.

        Raises
        ------
        RefusedError
            If any recipe cannot be applied.
        """
        pairs = recipes.items() if isinstance(recipes, Mapping) else recipes
        text, saved = self._reading.rewrite([(n.id if isinstance(n, Nest) else int(n), recipe) for n, recipe in pairs])
        if save_recipe is not None:
            Path(save_recipe).write_text(saved, encoding="utf-8")
        return text


@contextmanager
def recipe_file(candidates: _words.PathLike | Iterable[tuple[Nest, str]] | None) -> Iterator[str | None]:
    """A recipe file with recipes for nests, for as long as a run takes."""
    if candidates is None or isinstance(candidates, (str, PathLike)):
        yield None if candidates is None else fspath(candidates)
        return
    # One by one, since there may be several for a nest.
    files = [json.loads(nest.unit._reading.rewrite([(nest.id, recipe)])[1]) for nest, recipe in candidates]
    if not files:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="oxeye-candidates-") as folder:
        path = Path(folder) / "candidates.json"
        nests = [nest for file in files for nest in file["nests"]]
        path.write_text(json.dumps({**files[0], "nests": nests}), encoding="utf-8")
        yield str(path)


def read(
    file: _words.PathLike,
    *,
    cc: _words.Compiler = None,
    function: str | None = None,
    set: Mapping[str, int] | None = None,
    threads: int | None = None,
    no_alias: bool = False,
    fp: str | None = None,
    database: _words.PathLike | None = None,
    no_database: bool = False,
) -> Unit:
    """Reads a C file into its loop nests. Nothing is compiled or run but the preprocessor.

    Parameters
    ----------
    file : str or path
        The C file.
    cc : str or sequence of str, optional
        Compiler and arguments, as you would type them. Default: ``cc -O3 -march=native -lm``.
    function : str, optional
        Only the nests of this function.
    set : mapping of str to int, optional
        Values of sizes, on which embeddings depend.
    threads : int, optional
        Most threads that rewritten nests use; 1 emits no OpenMP. Default: all cores.
    no_alias : bool
        Assume that pointer parameters of a function never overlap.
    fp : {"strict", "reassociate"}, optional
        Whether floating-point sums may be reordered. Default: as the compile flags say.
    database : str or path, optional
        The recipe database for :meth:`Nest.donors`, besides the built-in one: a file, or the address of a PostgreSQL server.
        Default: the user's own.
    no_database : bool
        Look nothing up.

    Returns
    -------
    Unit

    Raises
    ------
    InputError
        If there is no such file.
    CompileError
        If the preprocessor fails, or the file is not C.

    Examples
    --------
    >>> unit = oxeye.read("gemm.c", cc=["gcc", "-O3"])
    >>> print(unit.nests[0])
    >>> unit.nests[0].apply("interchange i j")
    """
    options = _words.options(
        function=function,
        threads=threads,
        no_alias=no_alias,
        fp=fp,
        database=database,
        no_database=no_database,
    )
    words = ["oxeye", "explain", *options, _words.file(file), *_words.compiler(cc)]
    return Unit(Path(fspath(file)), _oxeye.Reading(words), set or {})

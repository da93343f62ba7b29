"""DaCe programs as files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _words
from .errors import InputError


@dataclass
class Program:
    """A program as a file.

    Attributes
    ----------
    file : str or path or None
        The file; ``None`` for a project.
    output : str or path or None
        Where the tuned one goes.
    is_dace : bool
        Whether it is a DaCe program.
    is_kept : bool
        Whether the files are there after the run.
    """

    file: _words.PathLike | None
    output: _words.PathLike | None
    is_dace: bool
    is_kept: bool


def _sdfg(given: Any) -> Any:
    """The SDFG of a DaCe object, or ``None``."""
    if hasattr(given, "to_sdfg"):
        return given.to_sdfg()
    return given if hasattr(given, "to_json") and hasattr(given, "save") else None


@contextmanager
def program(given: Any, output: _words.PathLike | None) -> Iterator[Program]:
    """A path, or nothing, as it is; an SDFG or a ``@dace.program`` as a file for as long as the run takes."""
    if given is None:
        yield Program(None, output, False, True)
        return
    if isinstance(given, (str, os.PathLike)):
        yield Program(given, output, os.fspath(given).endswith(".sdfg"), True)
        return
    sdfg = _sdfg(given)
    if sdfg is None:
        raise InputError(f"a file or a DaCe program is needed, not {type(given).__name__}")
    with tempfile.TemporaryDirectory(prefix="oxeye-sdfg-") as folder:
        path = Path(folder) / f"{sdfg.name}.sdfg"
        sdfg.save(str(path))
        yield Program(path, output or path.with_suffix(".tuned.sdfg"), True, output is not None)


def python(is_dace: bool) -> str | None:
    """The Python for DaCe programs: this one."""
    return sys.executable if is_dace else None


def sizes(set: Mapping[str, int] | None, symbols: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """Sizes under either name."""
    if not symbols:
        return set
    return {**(set or {}), **{str(name): int(value) for name, value in symbols.items()}}


def values(inputs: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Contents of arrays under either name."""
    return {**(inputs or {}), **arguments} if arguments else inputs

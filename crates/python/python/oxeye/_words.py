"""Keyword arguments as the words of the command line."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Union

import numpy as np

from .errors import InputError
from .records import Record

PathLike = Union[str, "os.PathLike[str]"]
Compiler = Union[str, Sequence[str], None]


def compiler(cc: Compiler) -> list[str]:
    """The words behind ``--``."""
    if cc is None:
        return []
    words = shlex.split(cc) if isinstance(cc, str) else [os.fspath(word) for word in cc]
    if not words:
        raise InputError("cc is empty; it is a compiler with its arguments, such as ['gcc', '-O3']")
    return ["--", *words]


def duration(time: float | str | None) -> str | None:
    """Seconds, or a time with a unit."""
    return time if time is None or isinstance(time, str) else f"{float(time):.9g}s"


def several(given: PathLike | Sequence[PathLike]) -> Sequence[PathLike]:
    """Several of what may be one."""
    return [given] if isinstance(given, (str, os.PathLike)) else given


def options(**given: Any) -> list[str]:
    """Options by their names: what is ``None`` or ``False`` is left out, lists and mappings are repeated."""
    words: list[str] = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words.extend(f"{option}={key}={_word(each)}" for key, each in value.items())
        elif isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike)):
            words.extend(f"{option}={_word(each)}" for each in value)
        else:
            words.append(f"{option}={_word(value)}")
    return words


def _word(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # As exact as it is.
    return repr(value) if isinstance(value, float) else str(value)


@contextmanager
def arrays(inputs: Mapping[str, Any] | None, scalars: bool = False) -> Iterator[dict[str, str]]:
    """Contents of arrays as ``.npy`` files: what is a path stays, the rest is written for as long as the run takes."""
    with tempfile.TemporaryDirectory(prefix="oxeye-inputs-") as folder:
        files = {}
        for position, (name, value) in enumerate((inputs or {}).items()):
            if isinstance(value, (str, os.PathLike)):
                files[name] = os.fspath(value)
                continue
            # Messages name the file.
            path = Path(folder) / f"{name if name.isidentifier() else position}.npy"
            # That makes arrays of numbers, too.
            whole = np.asarray(value, order="C") if scalars else np.ascontiguousarray(value)
            np.save(path, whole, allow_pickle=False)
            files[name] = str(path)
        yield files


@contextmanager
def report_file(report: PathLike | Record | None) -> Iterator[PathLike | None]:
    """A report as a file: a path stays, what is an object is written for as long as the run takes."""
    if report is None or isinstance(report, (str, os.PathLike)):
        yield report
        return
    with tempfile.TemporaryDirectory(prefix="oxeye-report-") as folder:
        path = Path(folder) / "report.json"
        path.write_text(json.dumps(report.to_dict()), encoding="utf-8")
        yield path


def file(path: PathLike) -> str:
    """A file that is not taken for an option."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text

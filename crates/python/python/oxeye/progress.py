"""The progress of a run: a bar, or a function of one's own."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """Something happened in a run.

    Attributes
    ----------
    phase : str
        What the run is at: ``reading``, ``building``, ``capturing``, ``trying candidates``, …
    message : str
        What of that: a nest, a file; empty if it goes on with the same.
    n_done, n_total : float or None
        How far that is, in candidates, files, or seconds.
    best_speedup : float or None
        Best speedup over the original so far.
    """

    phase: str
    message: str
    n_done: float | None
    n_total: float | None
    best_speedup: float | None


Listener = Callable[[Progress], object]


@contextmanager
def listening(progress: bool | Listener | None) -> Iterator[Callable[..., object] | None]:
    """What the extension module calls; nothing where nobody listens."""
    if callable(progress):
        yield _with_phase(progress)
        return
    bar = _bar(required=progress is True) if progress is True or (progress is None and _is_interactive()) else None
    if bar is None:
        yield None
        return
    try:
        yield _with_phase(bar.show)
    finally:
        bar.close()


def _with_phase(listener: Listener) -> Callable[..., object]:
    phase = ""

    def heard(**fields: Any) -> None:
        nonlocal phase
        phase = fields.pop("phase") or phase
        listener(Progress(phase=phase, **fields))

    return heard


def _is_interactive() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def _bar(required: bool) -> _Bar | None:
    try:
        with warnings.catch_warnings():
            # That a notebook has no widgets is no news: the bar is text then.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        if required:
            warnings.warn("there is no progress bar without tqdm; install it, or give a function", stacklevel=4)
        return None
    return _Bar(tqdm)


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(total=None, leave=False, bar_format="{desc} {bar} {elapsed}")
        self._what = ""

    def show(self, progress: Progress) -> None:
        if progress.message:
            self._what = progress.message
        best = f", best {progress.best_speedup:.2f}x" if progress.best_speedup else ""
        self._bar.set_description_str(self._what + best, refresh=False)
        self._bar.total = progress.n_total
        self._bar.n = progress.n_done or 0
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()

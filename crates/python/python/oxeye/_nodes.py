"""Nodes that measure candidates: workers in a user's executor, and the command that others start."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, wait
from contextlib import contextmanager

from .errors import InputError

#: The command that works for a folder, which comes behind it.
WORKER = [sys.executable, "-m", "oxeye", "worker"]

#: Workers see that a run has ended within so many seconds, unless they are in the middle of a candidate.
GRACE = 30.0


def worker(given: str | None, starts: bool) -> str | None:
    """The command that is started on nodes, where this program is not ``oxeye`` itself."""
    return shlex.join(WORKER) if given is None and starts else given


def work(folder: str) -> int:
    """Measures in a process of its own what a run posts in a folder; the exit code of ``oxeye worker``."""
    return subprocess.run([*WORKER, folder], stdin=subprocess.DEVNULL, check=False).returncode


@contextmanager
def workers(
    executor: Executor | None, nodes: int | None, shared: str | os.PathLike[str] | None
) -> Iterator[str | os.PathLike[str] | None]:
    """The folder that is shared, as long as workers in an executor take tasks from it."""
    if executor is None:
        yield shared
        return
    if nodes is None:
        raise InputError("executor needs nodes: how many workers it is to run at once")
    folder = tempfile.mkdtemp(prefix=".oxeye-nodes-", dir=".") if shared is None else os.fspath(shared)
    os.makedirs(folder, exist_ok=True)
    futures = [executor.submit(work, os.path.abspath(folder)) for _ in range(nodes)]
    try:
        yield folder
    finally:
        for future in futures:
            future.cancel()
        if shared is None:
            shutil.rmtree(folder, ignore_errors=True)
        wait(futures, timeout=GRACE)

"""Makes the loop nests of C programs fast, and checks that they still compute the same.

>>> import oxeye
>>> report = oxeye.optimize("gemm.c", cc=["gcc", "-O3", "-march=native", "-lm"])

Functions have the names of the commands: :func:`optimize`, :func:`search`, :func:`explain`, :func:`profile`,
:func:`replay`, :func:`tune`, :func:`check`, :func:`values`, :func:`flow`, :func:`host`. Their options are keyword arguments. :func:`read` reads a file
into its nests, and :class:`Database` opens a recipe database. Runs measure one after the other, also from several threads.
"""

from __future__ import annotations

import atexit
import os

from . import _oxeye
from .commands import check, explain, host, optimize, profile, replay, search, tune
from .database import Database, Entry, Tally
from .errors import (
    Cancelled,
    CompileError,
    DatabaseError,
    InputError,
    InternalError,
    OxeyeError,
    ProgramError,
    RefusedError,
)
from .progress import Progress
from .records import Quantity, Record
from .reports import CheckReport, Donor, ExplainReport, Host, NormalForm, ProfileReport, ProjectReport, Replayed, Report
from .tables import Table
from .units import Nest, Unit, read
from .watching import Finding, Flow, FlowReport, ValuesReport, flow, values

__version__ = _oxeye.VERSION

__all__ = [
    "Cancelled",
    "CheckReport",
    "CompileError",
    "Database",
    "DatabaseError",
    "Donor",
    "Entry",
    "ExplainReport",
    "Finding",
    "Flow",
    "FlowReport",
    "Host",
    "InputError",
    "InternalError",
    "Nest",
    "NormalForm",
    "OxeyeError",
    "ProfileReport",
    "ProgramError",
    "Progress",
    "ProjectReport",
    "Quantity",
    "Record",
    "RefusedError",
    "Replayed",
    "Report",
    "Table",
    "Tally",
    "Unit",
    "ValuesReport",
    "check",
    "explain",
    "flow",
    "host",
    "optimize",
    "profile",
    "read",
    "replay",
    "search",
    "tune",
    "values",
]


def _leave(process: int = os.getpid()) -> None:
    # A run that did not end in time after Ctrl-C may still have children; a fork has none of them.
    if os.getpid() == process:
        _oxeye.interrupt()


atexit.register(_leave)

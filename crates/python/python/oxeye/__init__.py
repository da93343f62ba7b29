"""Makes the loop nests of C programs fast, and checks that they still compute the same.

>>> import oxeye
>>> report = oxeye.tune("gemm.c", cc=["gcc", "-O3", "-march=native", "-lm"])

Functions have the names of the commands: :func:`tune`, :func:`profile`, :func:`explain`, :func:`inspect`, :func:`check`,
:func:`verify`, :func:`doctor`, :func:`apply`, :func:`rerun`. Their options are keyword arguments. :func:`read` reads a file
into its nests, and :class:`Database` opens a recipe database. Runs measure one after the other, also from several threads.
"""

from __future__ import annotations

import atexit
import os

from . import _oxeye
from ._old import check_build, flow, host, replay, search, values
from .commands import apply, check, doctor, explain, optimize, profile, rerun, tune, verify
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
from .reports import (
    CheckReport,
    Diagnosis,
    Donor,
    ExplainReport,
    Host,
    NormalForm,
    ProfileReport,
    ProjectReport,
    Replayed,
    Report,
    RerunReport,
    VerifyReport,
)
from .tables import Table
from .units import Nest, Unit, read
from .watching import Finding, Flow, FlowReport, InspectReport, ValuesReport, inspect

__version__ = _oxeye.VERSION

__all__ = [
    "Cancelled",
    "CheckReport",
    "CompileError",
    "Database",
    "DatabaseError",
    "Diagnosis",
    "Donor",
    "Entry",
    "ExplainReport",
    "Finding",
    "Flow",
    "FlowReport",
    "Host",
    "InputError",
    "InspectReport",
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
    "RerunReport",
    "Table",
    "Tally",
    "Unit",
    "ValuesReport",
    "VerifyReport",
    "apply",
    "check",
    "check_build",
    "doctor",
    "explain",
    "flow",
    "host",
    "inspect",
    "optimize",
    "profile",
    "read",
    "replay",
    "rerun",
    "search",
    "tune",
    "values",
    "verify",
]


def _leave(process: int = os.getpid()) -> None:
    # A run that did not end in time after Ctrl-C may still have children; a fork has none of them.
    if os.getpid() == process:
        _oxeye.interrupt()


atexit.register(_leave)

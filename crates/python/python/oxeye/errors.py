"""What can go wrong.

Every exception of this package is an :class:`OxeyeError`, but for :class:`Cancelled`, which is a ``KeyboardInterrupt``.
"""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "CompileError",
    "DatabaseError",
    "InputError",
    "InternalError",
    "OxeyeError",
    "ProgramError",
    "RefusedError",
]


class OxeyeError(Exception):
    """Something could not be done; the message says what, and what would help."""


class InputError(OxeyeError, ValueError):
    """An option, a file or a size does not fit."""


class CompileError(OxeyeError):
    """A file cannot be read as C, or a program cannot be built."""


class ProgramError(OxeyeError):
    """The program was built and does not run to its end."""


class RefusedError(OxeyeError):
    """A recipe cannot be applied: a step does not fit the nest, or cannot be proved legal.

    Attributes
    ----------
    reason : str
        Why.
    """

    @property
    def reason(self) -> str:
        return str(self)


class DatabaseError(OxeyeError):
    """A recipe database cannot be read or written."""


class InternalError(OxeyeError):
    """A bug of Oxeye; please report it."""


class Cancelled(KeyboardInterrupt):
    """The run was interrupted. No file was changed, and no process of it is left."""

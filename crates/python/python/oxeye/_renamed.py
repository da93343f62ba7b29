"""Hints at names that have changed."""

from __future__ import annotations

import warnings


def renamed(old: str, new: str) -> None:
    """Says in the caller's caller that a name is another one now."""
    warnings.warn(f"{old} is {new} now; the old name goes with the next release", FutureWarning, stacklevel=3)

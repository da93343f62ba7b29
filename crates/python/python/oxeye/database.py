"""Recipe databases: what was tried on which nest, and with which result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _oxeye
from .errors import DatabaseError
from .records import Record
from .tables import Table, table

__all__ = ["Database", "Entry", "Tally"]


class Entry(Record):
    """One trial of one recipe on one nest.

    Attributes
    ----------
    id : str
        Its number.
    n_added : int
        How often it was added.
    entry : dict
        Everything else, in the form of an export.
    """

    id: str
    n_added: int
    entry: dict[str, Any]

    @property
    def hash(self) -> str:
        """Hash of the nest's normal form."""
        return self.entry["nest"]["hash"]

    @property
    def verdict(self) -> str:
        """``faster``, ``slower`` or the like, or ``failed``."""
        verdict = self.entry["verdict"]
        return verdict if isinstance(verdict, str) else next(iter(verdict))

    @property
    def speedup(self) -> float | None:
        """Median speedup over the original; ``None`` for a failure."""
        measured = self.entry["measured"]
        return None if measured is None else measured["speedup"]["median"]

    @property
    def recipe(self) -> str:
        """The template that the recipe was made from, or the names of its steps."""
        steps = self.entry["recipe"]["steps"]
        if isinstance(steps, dict):
            if steps.get("template"):
                return steps["template"]
            steps = steps.get("steps", [])
        return ", ".join(step["step"] for step in steps)


class Tally(Record):
    """What came of an import or a merge.

    Attributes
    ----------
    inserted, replaced, kept : int
        Entries that were new, took the place of weaker ones, or were there already.
    bad_lines : list of dict
        Lines that are no entries: ``line`` from 1, and ``reason``.
    """

    inserted: int
    replaced: int
    kept: int
    bad_lines: list[dict[str, Any]]


class Database:
    """A recipe database in a file or on a PostgreSQL server.

    Parameters
    ----------
    path : str or path, optional
        The file, which is made if it is not there, or the address of a server, ``"postgresql://host/database"``, which is only
        read. Default: what ``oxeye db path`` says.

    Examples
    --------
    >>> own = oxeye.Database()
    >>> own.import_("recipes.jsonl")
    >>> own.table().to_polars()
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._store = _oxeye.Store(fspath(_oxeye.Store.default_location() if path is None else path))

    @classmethod
    def shipped(cls) -> Database:
        """The database that is part of the package. It is only read.

        Returns
        -------
        Database
        """
        self = cls.__new__(cls)
        self._store = _oxeye.Store.shipped()
        return self

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for one on a server, and for the one that is part of the package."""
        path = self._store.path
        return None if path is None else Path(path)

    @property
    def address(self) -> str | None:
        """The address of the server, if it is on one."""
        return self._store.address

    def __len__(self) -> int:
        return self._store.n_entries()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries())

    def __repr__(self) -> str:
        return f"Database {self.path or self.address or 'of the package'}: {len(self)} entries"

    def get(self, id: str | int) -> Entry:
        """The entry with a number.

        Parameters
        ----------
        id : str or int
            The number.

        Returns
        -------
        Entry

        Raises
        ------
        KeyError
            If there is none.
        """
        text = self._store.get(str(id))
        if text is None:
            raise KeyError(id)
        return Entry(json.loads(text))

    def entries(
        self, *, hash: str | None = None, verdict: str | None = None, limit: int | None = None
    ) -> list[Entry]:
        """Entries, newest first.

        Parameters
        ----------
        hash : str, optional
            Only those of the nest with this normal form (``nest.normal_form().hash``).
        verdict : str, optional
            Only those of this verdict.
        limit : int, optional
            At most so many.

        Returns
        -------
        list of Entry
        """
        return [Entry(json.loads(text)) for text in self._store.entries(hash, verdict, limit)]

    def table(self, **which: Any) -> Table:
        """Entries as a table.

        Parameters
        ----------
        **which
            As of :meth:`entries`.

        Returns
        -------
        Table
            One row for each entry.
        """
        found = self.entries(**which)
        return table(
            [
                ("id", "number of the entry", str, [each.id for each in found]),
                ("hash", "hash of the nest's normal form", str, [each.hash for each in found]),
                ("verdict", "what became of it", str, [each.verdict for each in found]),
                ("speedup", "over the original", float, [each.speedup for each in found]),
                ("recipe", "template, or steps", str, [each.recipe for each in found]),
                ("threads", "threads", int, [each.entry["context"]["threads"] for each in found]),
                ("compiler", "compiler", str, [each.entry["context"]["compiler"] for each in found]),
                ("created_at", "when it was measured, UTC", str, [each.entry["created_at"] for each in found]),
            ]
        )

    def add(self, entry: Entry | dict[str, Any]) -> str:
        """Adds a trial. An entry of the same recipe on the same nest is updated.

        Parameters
        ----------
        entry : Entry or dict
            In the form of a line of an export.

        Returns
        -------
        str
            The number of the entry that has it now.
        """
        fields = entry.to_dict() if isinstance(entry, Entry) else dict(entry)
        fields.pop("id", None)
        return self._store.add(json.dumps(fields))

    def import_(self, path: str | PathLike[str], *, skip_bad: bool = False) -> Tally:
        """Adds the entries of an export.

        Parameters
        ----------
        path : str or path
            JSON Lines of :meth:`export` or ``oxeye db export``.
        skip_bad : bool
            Take the good lines where others are bad; otherwise nothing is taken then.

        Returns
        -------
        Tally

        Raises
        ------
        DatabaseError
            If there are bad lines, unless they are skipped.
        """
        tally = Tally(json.loads(self._store.import_file(fspath(path), skip_bad)))
        if tally.bad_lines and not skip_bad:
            first = tally.bad_lines[0]
            raise DatabaseError(
                f"nothing was imported: line {first['line']} of {fspath(path)}: {first['reason']}; "
                "skip_bad=True imports the other lines"
            )
        return tally

    def merge(self, path: str | PathLike[str]) -> Tally:
        """Adds the entries of another database; of two equal trials, the one with more samples is kept.

        Parameters
        ----------
        path : str or path
            Its file, which is only read.

        Returns
        -------
        Tally
        """
        return Tally(json.loads(self._store.merge_file(fspath(path))))

    def export(self, path: str | PathLike[str]) -> int:
        """Writes all entries as JSON Lines, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        int
            How many there are.
        """
        return self._store.export_file(fspath(path))

"""Tables for pandas, polars and whatever else reads Arrow."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable

from . import _oxeye

__all__ = ["Table"]


class Table:
    """Named columns of numbers and words; cells without a figure are empty.

    It has the Arrow PyCapsule interface, so that ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and
    ``pandas.DataFrame.from_arrow(table)`` take it over without going through text.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    meanings : dict of str to str
        What is in each column, with its unit.
    """

    def __init__(self, columns: _oxeye.Columns) -> None:
        self._columns = columns
        self.meanings: dict[str, str] = dict(columns.meanings)
        self.columns: list[str] = list(self.meanings)

    def __len__(self) -> int:
        return self._columns.n_rows

    def __repr__(self) -> str:
        return f"Table of {len(self)} rows: {', '.join(self.columns)}"

    def __arrow_c_schema__(self) -> object:
        return self._columns.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def to_dict(self) -> dict[str, list[Any]]:
        """The cells by column.

        Returns
        -------
        dict of str to list
            Lists of one length; empty cells are ``None``.
        """
        return self._columns.to_dict()

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self)
        return pandas.DataFrame(self.to_dict(), columns=self.columns)

    def to_polars(self) -> Any:
        """The table as a ``polars.DataFrame``.

        Returns
        -------
        polars.DataFrame
        """
        import polars

        return polars.DataFrame(self)

    def _repr_html_(self) -> str:
        cells = self.to_dict()
        head = "".join(f'<th title="{escape(self.meanings[name])}">{escape(name)}</th>' for name in self.columns)
        rows = zip(*(cells[name] for name in self.columns)) if self.columns else ()
        body = "".join("<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(cell: Any) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def table(columns: Iterable[tuple[str, str, type, Iterable[Any]]]) -> Table:
    """A table of columns: names, meanings with units, what the cells are, and the cells."""

    def cells(kind: type, values: Iterable[Any]) -> list[Any]:
        # An empty column of numbers must not become one of whole numbers.
        return [None if value is None else kind(value) for value in values]

    def column(name: str, meaning: str, kind: type, values: Iterable[Any]) -> tuple[str, str, str, list[Any]]:
        return name, meaning, kind.__name__, cells(kind, values)

    return Table(_oxeye.Columns([column(*each) for each in columns]))

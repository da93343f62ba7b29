"""Tables in the hands of other libraries."""

from __future__ import annotations

import oxeye
import pytest


def test_tables_go_to_polars_pandas_and_arrow(tuned):
    table = tuned[0].table()
    cells = table.to_dict()
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table)
    assert frame.columns == table.columns and frame.height == len(table)
    assert frame["speedup"].to_list() == cells["speedup"] and frame["speedup"].dtype == polars.Float64
    assert frame["line"].dtype == polars.Int64 and frame["recipe"].dtype == polars.String
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(table).to_pydict() == cells
    assert pyarrow.schema(table).names == table.columns
    pytest.importorskip("pandas")
    assert table.to_pandas()["function"].tolist() == cells["function"]


def test_profiles_are_tables_with_meanings(tuned):
    before, after = tuned[0].profiles(), tuned[0].profiles("after")
    assert "ms" in before.meanings["runtime_ms"] and len(before) >= len(after) >= 1
    assert all(time > 0 for time in before.to_dict()["runtime_ms"])
    with pytest.raises(ValueError, match="before"):
        tuned[0].profiles("never")


def test_empty_columns_keep_their_types():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(oxeye.Database.shipped().table(limit=0))
    assert frame.height == 0 and frame["speedup"].dtype == polars.Float64


def test_tables_are_shown_with_escapes(tuned):
    shown = tuned[0].table()._repr_html_()
    assert shown.count("<tr>") == len(tuned[0].nests) + 1
    assert "<th" in shown and "–" in shown or len(tuned[0].nests) == 0

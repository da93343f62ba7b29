"""A file nest by nest, and recipe databases."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import oxeye
import pytest
from conftest import CC


@pytest.fixture(scope="module")
def unit(scale_c):
    return oxeye.read(scale_c, cc=CC, threads=1, set={"n": 300, "m": 200})


def test_nests_can_be_looked_at(unit, scale_c):
    assert [(nest.function, nest.n_loops) for nest in unit.nests] == [("scale", 2), ("prefix", 1)]
    nest = unit.nests[0]
    assert str(nest).startswith("program scale {") and "for L0 j" in str(nest)
    assert "scale" in repr(nest) and nest.source.startswith("for (int j")
    assert nest.sizes == ["n", "m"] or set(nest.sizes) == {"n", "m"}
    assert nest.dot().startswith("digraph")
    assert unit.table().to_dict()["function"] == ["scale", "prefix"] and not unit.has_main


@pytest.mark.parametrize("document", ["docs/book/src/python.md", "crates/python/README.md"])
def test_what_documents_do_with_nests_works(document, monkeypatch):
    repository = Path(__file__).parents[3]
    blocks = re.findall(r"```python\n(.*?)```", (repository / document).read_text(), re.DOTALL)
    [example] = [block for block in blocks if "oxeye.read" in block]
    monkeypatch.chdir(repository / "benchmarks/kernels")
    names = {"oxeye": oxeye}
    exec(example, names)
    assert "kernel_gemm" in repr(names["nest"])


def test_pictures_need_graphviz(unit, monkeypatch):
    if shutil.which("dot"):
        assert "<svg" in unit.nests[0].svg()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(oxeye.OxeyeError, match="dot"):
        unit.nests[0].svg()
    assert "<pre>" in unit.nests[0]._repr_html_()


def test_embeddings_depend_on_sizes(unit):
    first, second = (unit.nests[0].embedding(set=sizes) for sizes in (None, {"n": 20000, "m": 3}))
    assert first.dtype == np.float32 and first.ndim == 1
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-4)
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(first, unit.nests[0].embedding(set={"n": 300, "m": 200}))
    with pytest.raises(oxeye.InputError, match="`k` is no size"):
        unit.nests[0].embedding(set={"k": 1})


def test_the_same_computation_has_one_normal_form(unit, tmp_path):
    other = tmp_path / "other.c"
    other.write_text("""
        void other(int rows, int cols, double y[rows][cols], const double f[cols]) {
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < cols; b++)
                    y[a][b] *= f[b];
        }""")
    twin = oxeye.read(other, cc=CC).nests[0].normal_form(set={"rows": 300, "cols": 200})
    assert twin.hash == unit.nests[0].normal_form().hash


def test_donors_are_near(unit):
    donors = unit.nests[0].donors()
    distances = [donor.distance for donor in donors if not donor.exact]
    assert distances == sorted(distances) and len(distances) > 1
    assert any(donor.best_speedup for donor in donors)


def test_recipes_are_proved(unit):
    block = unit.nests[0].apply("interchange j i")
    assert block.index("i++") < block.index("j++")
    with pytest.raises(oxeye.RefusedError, match="depend on each other") as refused:
        unit.nests[1].apply("reverse i")
    assert "x" in refused.value.reason
    with pytest.raises(oxeye.RefusedError, match="no loop `q`"):
        unit.nests[0].apply("tile q:3")
    with pytest.raises(oxeye.InputError, match="no transformation `dance`"):
        unit.nests[0].apply("dance i")


def test_files_are_rewritten_and_the_recipes_kept(unit, scale_c, tmp_path):
    saved = tmp_path / "recipe.json"
    text = unit.rewrite([(unit.nests[0], "interchange j i")], save_recipe=saved)
    assert "x[i] += x[i - 1];" in text and text != scale_c.read_text()
    assert oxeye.apply(saved, scale_c, output=tmp_path / "out.c", cc=CC).text == text
    assert unit.rewrite({}) == scale_c.read_text()
    with pytest.raises(oxeye.RefusedError):
        unit.rewrite({0: "interchange j i", 1: "reverse i"})
    with pytest.raises(oxeye.InputError, match="no nest 7"):
        unit.rewrite({7: "reverse i"})


def test_databases_are_asked_carried_over_and_extended(tmp_path):
    shipped = oxeye.Database.shipped()
    few = shipped.entries(limit=3)
    assert len(shipped) > 100 and shipped.path is None and len(few) == 3
    assert shipped.get(few[0].id) == few[0]
    assert few[0].hash in shipped.table(hash=few[0].hash).to_dict()["hash"]
    with pytest.raises(oxeye.DatabaseError, match="only read"):
        shipped.add(few[0])

    own = oxeye.Database(tmp_path / "own.sqlite")
    assert len(own) == 0 and own.table().to_dict()["id"] == []
    ids = [own.add(entry) for entry in few]
    assert len(own) == len(set(ids)) and own.get(ids[0]).entry["recipe"] == few[0].entry["recipe"]
    with pytest.raises(KeyError):
        own.get(999)
    with pytest.raises(oxeye.InputError):
        own.add({"entry": {}})

    lines = tmp_path / "entries.jsonl"
    assert own.export(lines) == len(own)
    other = oxeye.Database(tmp_path / "other.sqlite")
    assert other.import_(lines).inserted == len(own) == len(list(other))
    assert other.merge(tmp_path / "own.sqlite").kept == len(own)
    lines.write_text(lines.read_text() + json.dumps({"nonsense": 1}) + "\n")
    with pytest.raises(oxeye.DatabaseError, match=r"line \d"):
        oxeye.Database(tmp_path / "third.sqlite").import_(lines)
    assert len(oxeye.Database(tmp_path / "third.sqlite").import_(lines, skip_bad=True).bad_lines) == 1


def test_databases_on_servers_are_named_by_their_address():
    with pytest.raises(oxeye.DatabaseError, match="cannot reach the recipe database"):
        oxeye.Database("postgresql:///recipes?host=/nowhere")

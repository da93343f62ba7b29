"""DaCe programs in and out. Skipped where there is no DaCe."""

from __future__ import annotations

import json

import numpy as np
import pytest

dace = pytest.importorskip("dace")

import oxeye  # noqa: E402


def scaled_sum() -> "dace.SDFG":
    """C += 2 A B, as a map with a write-conflict resolution: DaCe's own uses atomics for each of its sums."""
    n = dace.symbol("N", dtype=dace.int64)
    sdfg = dace.SDFG("scaled_sum")
    for name in "ABC":
        sdfg.add_array(name, [n, n], dace.float64)
    state = sdfg.add_state()
    state.add_mapped_tasklet(
        "product",
        {"i": "0:N", "j": "0:N", "k": "0:N"},
        {"a": dace.Memlet("A[i, k]"), "b": dace.Memlet("B[k, j]")},
        "c = 2 * a * b",
        {"c": dace.Memlet("C[i, j]", wcr="lambda x, y: x + y")},
        external_edges=True,
    )
    return sdfg


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory):
    sdfg = scaled_sum()
    rng = np.random.default_rng(3)
    arguments = {name: rng.random((300, 300)) for name in "ABC"}
    before = json.dumps(sdfg.to_json()["attributes"]["_arrays"], default=str)
    report = oxeye.tune(sdfg, arguments=arguments, budget=20, quick=True, threads=1, no_database=True, progress=False)
    assert json.dumps(sdfg.to_json()["attributes"]["_arrays"], default=str) == before
    return report, arguments


def test_a_dace_program_is_tuned(tuned):
    report, _ = tuned
    assert report.changed and report.program.verified
    assert report.program.speedup > 1
    assert report.input is None and report.output is None
    tasklets = [n for n, _ in report.sdfg.all_nodes_recursive() if isinstance(n, dace.nodes.Tasklet)]
    assert [t.language for t in tasklets] == [dace.Language.CPP]


def test_the_tuned_program_computes_the_same(tuned, tmp_path, monkeypatch: pytest.MonkeyPatch):
    report, arguments = tuned
    monkeypatch.chdir(tmp_path)
    result = arguments["C"].copy()
    sdfg = report.sdfg
    sdfg.name = "scaled_sum_tuned"
    sdfg(A=arguments["A"], B=arguments["B"], C=result, N=300)
    np.testing.assert_allclose(result, arguments["C"] + 2 * arguments["A"] @ arguments["B"], rtol=1e-9)


def test_sizes_that_are_missing_are_named():
    with pytest.raises(oxeye.InputError, match="--set N="):
        oxeye.tune(scaled_sum(), quick=True, progress=False)


def test_other_objects_are_refused():
    with pytest.raises(oxeye.InputError, match="not int"):
        oxeye.tune(3)


def test_files_are_named_from_where_one_is_and_plain_c_will_do(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """DaCe's own has an atomic update for every weight; C has none, and no schedule is faster than that in one thread."""
    n, bins = (dace.symbol(name, dtype=dace.int64) for name in ("N", "BINS"))
    sdfg = dace.SDFG("weights_of_bins")
    sdfg.add_array("keys", [n], dace.int32)
    sdfg.add_array("weights", [n], dace.float64)
    sdfg.add_array("sums", [bins], dace.float64)
    state = sdfg.add_state()
    state.add_mapped_tasklet(
        "add",
        {"i": "0:N"},
        {"key": dace.Memlet("keys[i]"), "weight": dace.Memlet("weights[i]")},
        "total[key] = weight",
        {"total": dace.Memlet("sums[0:BINS]", dynamic=True, wcr="lambda x, y: x + y")},
        external_edges=True,
    )
    monkeypatch.chdir(tmp_path)
    sdfg.save("weights.sdfg")
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 64, 2_000_000).astype(np.int32)
    report = oxeye.tune(
        "weights.sdfg",
        symbols={"N": 2_000_000, "BINS": 64},
        inputs={"keys": keys},
        budget=10,
        quick=True,
        threads=1,
        no_database=True,
        progress=False,
    )
    assert report.changed and report.program.verified
    assert (tmp_path / "weights.oxeye.sdfg").exists()

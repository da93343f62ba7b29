"""Candidates that are measured by other processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import oxeye
import pytest
from conftest import CC


def measured(report: oxeye.Report) -> int:
    return sum(node.measured for node in report.nodes)


def test_an_executor_runs_workers(sum_c, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "out.c"
    with ThreadPoolExecutor(2) as executor:
        report = oxeye.tune(
            sum_c, cc=CC, budget=20, threads=1, fresh=True, output=output, nodes=2, executor=executor, min_speedup=1
        )
    assert measured(report) > 0 and all(node.aside is None for node in report.nodes)
    assert not list(tmp_path.glob(".oxeye-nodes*"))


def test_parts_of_this_machine_are_started_by_this_python(sum_c, tmp_path):
    output = tmp_path / "out.c"
    report = oxeye.tune(sum_c, cc=CC, budget=20, threads=1, fresh=True, output=output, local_shards=2, min_speedup=1)
    assert {node.name for node in report.nodes} == {"shard1", "shard2"} and measured(report) > 0


def test_an_executor_needs_a_number(sum_c):
    with ThreadPoolExecutor(1) as executor, pytest.raises(oxeye.InputError, match="executor needs nodes"):
        oxeye.tune(sum_c, cc=CC, executor=executor)

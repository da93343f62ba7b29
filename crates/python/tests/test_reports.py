"""The commands as functions, and what they return."""

from __future__ import annotations

import copy
import pickle
import subprocess
from pathlib import Path

import numpy as np
import oxeye
import pytest
from conftest import CC


def test_a_tuned_file_is_as_right_as_the_original(tuned, tmp_path):
    report, _ = tuned
    assert report.changed and report.program.verified
    assert Path(report.output).name == "sum.oxeye.c"
    outputs = []
    for file in (report.input, report.output):
        subprocess.run(["gcc", "-O2", file, "-o", tmp_path / "sum", "-lm"], check=True)
        outputs.append(subprocess.run([tmp_path / "sum"], capture_output=True, check=True).stdout)
    assert outputs[0] == outputs[1] != b""


def test_reports_are_objects_with_the_fields_of_the_json_form(tuned):
    report, _ = tuned
    fields = report.to_dict()
    assert fields["schema"] == "oxeye.report/1"
    assert [nest.line for nest in report.nests] == [nest["line"] for nest in fields["nests"]]
    assert report.nests is report.nests
    assert "baseline_ms" in dir(report.program) and "speedup" in repr(report.program)
    with pytest.raises(AttributeError, match="no field 'quickness'"):
        report.program.quickness
    for twin in (copy.deepcopy(report.program), pickle.loads(pickle.dumps(report.program))):
        assert twin == report.program and twin is not report.program


def test_figures_are_numbers_with_their_provenance(tuned):
    report, _ = tuned
    time = next(nest.profile_before.warm_ns for nest in report.nests if nest.profile_before is not None)
    assert isinstance(time, float) and time * 1e-6 > 0
    assert time.provenance == "measured" and time.samples >= 1
    assert pickle.loads(pickle.dumps(time)).samples == time.samples


def test_what_is_learnt_goes_to_the_own_database(tuned):
    report, _ = tuned
    assert "added to" in report.learnt
    assert len(oxeye.Database()) > 0


def test_pages_stand_in_notebooks_and_files(tuned, tmp_path):
    report, _ = tuned
    assert report._repr_html_().startswith("<iframe srcdoc=")
    report.save_html(tmp_path / "report.html")
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_progress_is_heard(tuned):
    _, heard = tuned
    assert {"reading", "building", "capturing", "trying candidates"} <= {each.phase for each in heard}
    candidates = [each for each in heard if each.n_total is not None]
    assert candidates and all(each.n_done <= each.n_total for each in candidates)


def test_a_bar_is_drawn_where_it_is_asked_for(scale_c, capfd):
    pytest.importorskip("tqdm")
    oxeye.profile(scale_c, cc=CC, function="scale", set={"n": 200, "m": 300}, threads=1, progress=True)
    assert "profiling" in capfd.readouterr().err
    oxeye.profile(scale_c, cc=CC, function="scale", set={"n": 200, "m": 300}, threads=1, progress=False)
    assert capfd.readouterr().err == ""


def test_recipes_give_the_same_text_again(tuned, tmp_path):
    report, _ = tuned
    again = oxeye.apply(report, report.input, output=tmp_path / "again.c", cc=CC)
    assert again.text == Path(report.output).read_text() == (tmp_path / "again.c").read_text()
    assert again.n_nests == sum(nest.recipe is not None for nest in report.nests)
    with pytest.raises(oxeye.RefusedError, match="no function"):
        other = tmp_path / "other.c"
        other.write_text("void f(double *x) { for (int i = 0; i < 9; i++) x[i] = i; }")
        oxeye.apply(report.recipes, other, output=tmp_path / "no.c")
    assert not (tmp_path / "no.c").exists()


def test_arrays_are_inputs(scale_c, tmp_path):
    given = dict(cc=CC, function="scale", set={"n": 30, "m": 20}, quick=True, threads=1)
    arrays = {"x": np.arange(600.0).reshape(30, 20), "w": np.ones(40)[::2]}
    report = oxeye.tune(scale_c, inputs=arrays, output=tmp_path / "scaled.c", **given)
    assert [nest.function for nest in report.nests] == ["scale"]
    with pytest.raises(oxeye.OxeyeError, match=r"w\.npy.*20 elements"):
        oxeye.tune(scale_c, inputs={"w": np.ones((2, 2))}, output=tmp_path / "scaled.c", **given)


def test_own_candidates_are_tried(sum_c, tmp_path):
    unit = oxeye.read(sum_c, cc=CC, threads=1)
    nest = next(nest for nest in unit.nests if nest.n_loops == 3)
    given = dict(cc=CC, budget="5m", threads=1, no_database=True, output=tmp_path / "out.c")
    own = [(nest, "tile j:64 i:16"), (nest, "tile i:8")]
    report = oxeye.tune(sum_c, recipes=own, **given)
    tried = [trial for trial in report.nests[nest.id].trials if trial.name == "my own"]
    assert len(tried) == 2 and all(trial.recipe[0].startswith("tile") for trial in tried)
    with pytest.raises(oxeye.RefusedError, match="depend on each other"):
        oxeye.tune(sum_c, recipes=[(nest, "reverse t")], **given)
    other = tmp_path / "other.c"
    other.write_text("int main(void) { static int a[4]; for (int i = 0; i < 4; i++) a[i] = i; return a[0]; }")
    with pytest.raises(oxeye.InputError, match="loop nest 2 of `main`"):
        oxeye.tune(other, recipes=own[:1], **given)


def test_explanations_have_donors_and_candidates(sum_c):
    report = oxeye.explain(sum_c, cc=CC, threads=1, no_run=True)
    nest = next(nest for nest in report.nests if nest.nest is not None and nest.nest.text.count("for L") == 3)
    assert nest.nest.embedding.dtype == np.float32
    assert nest.donors and nest.donors[0].embedding.shape == nest.nest.embedding.shape
    assert nest.candidates and len(nest.table()) == len(nest.candidates)
    assert nest.conclusion in report._repr_html_().replace("&#x27;", "'")


def test_searches_are_logged(short_c, tmp_path):
    log = tmp_path / "log.jsonl"
    with pytest.warns(FutureWarning, match=r'oxeye.search is oxeye.tune\(file, budget="10m"\) now'):
        report = oxeye.search(
            short_c, budget="20s", max_trials=2, log=log, cc=CC, threads=1, no_learn=True, output=tmp_path / "out.c"
        )
    assert report.search is not None and log.exists() and report.learnt is None


def test_the_machine_is_described():
    host = oxeye.doctor(measure=True, brief=True)
    assert host.key.cores >= 1 and host.clock_ghz is None or host.clock_ghz > 0
    assert set(host.peaks().to_dict()["type"]) == {"f32", "f64"}
    assert "DRAM" in host.bandwidths().to_dict()["level"]
    assert host.key.cpu_model in host._repr_html_()


def test_projects_are_tuned_in_their_folder(tmp_path, monkeypatch, sum_c):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.c").write_text(sum_c.read_text())
    report = oxeye.tune(build="gcc -O2 -g sum.c -o sum -lm", run="./sum", quick=True, threads=1, budget=30)
    assert report.n_sources == 1 and report.patch is not None
    assert [file.path for file in report.files] == ["sum.c"]
    assert (tmp_path / report.patch).read_text().startswith(("---", "diff"))
    assert len(report.files[0].report.table()) == len(report.files[0].report.nests) > 0
    (tmp_path / "oxeye.toml").write_text('build = "gcc -O2 -g sum.c -o sum -lm"\nrun = "./sum"\nonly = "main"\n')
    with pytest.raises(oxeye.InputError, match="line 3: `only` is a list of strings"):
        oxeye.tune()


def test_values_and_flow_are_watched(tmp_path):
    file = tmp_path / "watched.c"
    file.write_text(
        "#include <stdio.h>\n"
        "static double x[1000], y[1000];\n"
        "int main(void) {\n"
        "    for (int i = 0; i < 1000; i++) x[i] = 2.5;\n"
        "    for (int i = 0; i < 1000; i++) y[i] = x[i] * (0.1 * i) * i;\n"
        '    printf("%g\\n", y[10]);\n'
        "    return 0;\n"
        "}\n"
    )
    report = oxeye.inspect(file, cc=CC)
    values, flow = report.values, report.flow
    assert [(finding.array, finding.pattern) for finding in values.findings] == [("x", "one-value")]
    assert values.findings[0].recipe == "specialisation" and "<svg" in values.to_html()
    assert "<svg" in flow.to_html() and "<iframe" in report._repr_html_()
    between = [flow for flow in flow.flows if flow.origin is not None]
    assert [(flow.origin, flow.to, flow.bytes, flow.arrays) for flow in between] == [(0, 1, 8000, [["x", 8000]])]

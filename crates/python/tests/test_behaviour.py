"""Exceptions, Ctrl-C, other threads, and the command itself."""

from __future__ import annotations

import inspect
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import oxeye
import pytest
from conftest import CC, SUM


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"file": "no-such.c"}, oxeye.InputError, "no-such.c"),
        ({"budget": "5 parsecs"}, oxeye.InputError, "parsecs"),
        ({"budget": 0}, oxeye.InputError, "more than zero"),
        ({"top_k": 0}, oxeye.InputError, "top-k"),
        ({"cc": []}, oxeye.InputError, "cc is empty"),
        ({"cc": ["no-such-compiler"]}, oxeye.OxeyeError, "no-such-compiler"),
        ({"cc": ["gcc", "-include", "no-such.h"]}, oxeye.CompileError, "no-such.h"),
        ({"run": "cat in | sort"}, oxeye.InputError, "./NAME"),
        ({"exit_code": 3}, oxeye.ProgramError, "exit"),
        ({"output": "no-such-folder/out.c"}, oxeye.InputError, "no-such-folder"),
        ({"fp": "sloppy"}, oxeye.InputError, "strict"),
        ({"output": "out.c", "in_place": True}, oxeye.InputError, "in-place"),
        ({"only": "no_such_function"}, oxeye.InputError, "no_such_function"),
        ({"min_speedup": -1}, oxeye.InputError, "factor such as 1.03"),
        ({"file": None, "cc": None, "inputs": {"a": [1.0]}}, oxeye.InputError, "are of a file"),
    ],
)
def test_what_cannot_be_done_is_an_exception_of_its_kind(short_c, given, error, words):
    given = {"file": short_c, "cc": CC, **given}
    with pytest.raises(error, match=words):
        oxeye.tune(given.pop("file"), **given)


def test_the_hierarchy_is_small():
    assert issubclass(oxeye.InputError, ValueError) and issubclass(oxeye.InputError, oxeye.OxeyeError)
    assert issubclass(oxeye.Cancelled, KeyboardInterrupt) and not issubclass(oxeye.Cancelled, Exception)


def test_a_listener_that_fails_ends_the_run(short_c, tmp_path):
    def fail(progress: oxeye.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        oxeye.tune(short_c, cc=CC, output=tmp_path / "out.c", progress=fail)
    assert not (tmp_path / "out.c").exists()
    # The next run is not disturbed.
    assert oxeye.read(short_c, cc=CC).nests


def test_other_threads_run_meanwhile(short_c):
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    oxeye.profile(short_c, cc=CC, refresh=True)
    done.set()
    thread.join()
    assert len(ticks) > 10


def test_runs_of_several_threads_take_turns(short_c):
    found = []
    read = lambda: found.append(len(oxeye.profile(short_c, cc=CC, threads=1).nests))
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1


# Says when it is about to try something; the search has an hour.
LONG = """
import os, sys, oxeye
def heard(progress):
    if progress.phase == sys.argv[2]:
        print("now", flush=True)
try:
    oxeye.search(sys.argv[1], budget="1h", cc=["gcc", "-O2"], no_learn=True, progress=heard)
except oxeye.Cancelled as cancelled:
    print(f"cancelled: {cancelled}", flush=True)
    sys.exit(7)
"""


def processes_of(folder: Path) -> list[str]:
    """Processes with this folder among their environment: a run's children have it from their parent."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (process / "environ").read_text(errors="replace"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("phase", ["building", "trying candidates"])
def test_ctrl_c_ends_a_run_and_leaves_nothing_behind(tmp_path, phase):
    file = tmp_path / "sum.c"
    file.write_text(SUM)
    environment = {**os.environ, "OXEYE_TEST_MARK": str(tmp_path)}
    words = [sys.executable, "-c", LONG, str(file), phase]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert run.stdout is not None and run.stdout.readline() == "now\n"
    assert processes_of(tmp_path)
    run.send_signal(signal.SIGINT)
    # Far beyond the two seconds that it should take, on a machine that is busy.
    output, _ = run.communicate(timeout=60)
    assert run.returncode == 7 and "no file was changed" in output
    assert [path.name for path in tmp_path.iterdir()] == ["sum.c"]
    assert processes_of(tmp_path) == []


def test_the_command_comes_with_the_package(short_c):
    words = [sys.executable, "-m", "oxeye"]
    told = subprocess.run([*words, "--version"], capture_output=True, text=True)
    assert told.stdout.split()[:2] == ["oxeye", oxeye.__version__] and told.returncode == 0
    script = Path(sys.executable).with_name("oxeye")
    failed = subprocess.run([script, "optimize", "no-such.c"], capture_output=True, text=True)
    assert failed.returncode == 2 and "no-such.c" in failed.stderr


#: Options that are about a terminal, or about files that Python has as values.
ABOUT_TERMINALS = {"help", "quiet", "verbose", "color", "no-progress", "json", "html", "fail-if-unchanged", "format", "events"}
#: Those of a report's parts and tables, which reports have as methods.
OF_TABLES = {"csv", "parquet", "trace-events", "values-html", "flow-html", "values-svg", "flow-svg", "dot"}
#: Arguments that stand for words which are no options, or for options that Python knows by itself.
ONLY_PYTHON = {"file", "cc", "progress", "arguments", "symbols", "recipe", "executor"}


@pytest.mark.parametrize(
    "command", ["tune", "profile", "explain", "inspect", "check", "verify", "doctor", "apply", "rerun"]
)
def test_options_have_the_names_of_the_command_line(command):
    told = subprocess.run([sys.executable, "-m", "oxeye", command, "--help"], capture_output=True, text=True)
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", told.stdout, re.M))
    known = set(inspect.signature(getattr(oxeye, command)).parameters)
    names = {"inputs": "input", "candidates": "recipes" if command == "tune" else "candidates"}
    known = {names.get(name, name).replace("_", "-") for name in known}
    assert known - options <= ONLY_PYTHON
    assert options - known <= ABOUT_TERMINALS | OF_TABLES | {"python"}


@pytest.mark.parametrize(("old", "new"), [("replay", "apply"), ("check_build", "verify")])
def test_old_names_work_and_name_the_new_ones(old, new):
    with pytest.warns(FutureWarning, match=f"oxeye.{old} is oxeye.{new} now"), pytest.raises(oxeye.OxeyeError):
        getattr(oxeye, old)("no-such-file.c")


def test_the_package_is_typed():
    assert (Path(oxeye.__file__).parent / "py.typed").exists()


def test_every_public_name_is_documented():
    for name in oxeye.__all__:
        assert getattr(oxeye, name).__doc__, name

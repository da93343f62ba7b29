"""Tunes the programs of this folder and compares them with DaCe's own.

    python benchmarks/dace/compare.py [--oxeye COMMAND] [--budget 60s] [--quick] [--small] [PROGRAM...]

For each program: whether the tuned one gives what DaCe's gives (and both what NumPy gives, at the small sizes), and medians
of interleaved runs of DaCe's program, of what `auto_optimize` makes of it, and of the tuned one. Exits with 1 if one is
wrong or slower. Needs `dace==1.0.2 networkx==3.4.2 numpy==1.26.4`.
"""

import argparse
import copy
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
import dace
import numpy as np
from dace.transformation.auto.auto_optimize import auto_optimize

from export import HERE, names, referenced

def compiled(sdfg, name, folder):
    sdfg.name = name
    sdfg.build_folder = str(folder / name)
    return sdfg.compile()


class Run:
    """A compiled program with arguments of its own."""

    def __init__(self, program, arguments, sizes):
        self.fresh = arguments
        self.arrays = {n: v.copy() for n, v in arguments.items() if isinstance(v, np.ndarray)}
        known = program.sdfg.arglist()
        more = {n: v for n, v in sizes.items() if n in known and n not in arguments}
        given = {n: v for n, v in {**arguments, **self.arrays, **more}.items() if n in known}
        self.program = program
        program(**given)
        self.call, self.init = program._construct_args(given)

    def seconds(self):
        for name, array in self.arrays.items():
            np.copyto(array, self.fresh[name])
        start = time.perf_counter()
        self.program.fast_call(self.call, self.init)
        return time.perf_counter() - start


def distance(a, b):
    """Largest difference, relative to the larger of a number and the mean of its array."""
    worst = 0.0
    for name in a:
        x, y = np.asarray(a[name], dtype=np.float64), np.asarray(b[name], dtype=np.float64)
        scale = np.maximum(np.abs(x), np.mean(np.abs(x)))
        worst = max(worst, float(np.max(np.abs(x - y) / np.where(scale > 0, scale, 1), initial=0)))
    return worst


def one(name, options, folder):
    module = importlib.import_module(name)
    sizes = dict(module.SIZES if options.small else module.LARGE)
    arguments = module.arguments(np.random.default_rng(1), **sizes)
    sdfg = getattr(module, name).to_sdfg()
    path, tuned = folder / f"{name}.sdfg", folder / f"{name}.tuned.sdfg"
    sdfg.save(str(path))
    words = [options.oxeye, "optimize", str(path), "-o", str(tuned), "--json", str(folder / "report.json")]
    words += ["--python", sys.executable, "--budget", options.budget, *(["--quick"] if options.quick else [])]
    words += [f"--set={n}={v}" for n, v in sizes.items()]
    for key, value in arguments.items():
        np.save(folder / f"{key}.npy", value)
        words.append(f"--input={key}={folder / f'{key}.npy'}")
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    took = time.perf_counter() - start
    if done.returncode not in (0, 1) or not tuned.exists():
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it failed")
    report = json.loads((folder / "report.json").read_text())
    runs = [Run(compiled(sdfg, f"{name}_dace", folder), arguments, sizes)]
    ours = dace.SDFG.from_file(str(tuned))
    runs.append(Run(compiled(ours, f"{name}_oxeye", folder), arguments, sizes))
    try:
        auto = auto_optimize(copy.deepcopy(getattr(module, name).to_sdfg()), dace.DeviceType.CPU)
        runs.append(Run(compiled(auto, f"{name}_auto", folder), arguments, sizes))
    except Exception:
        runs.append(None)
    times = [[], [], []]
    for _ in range(7):
        for which, run in enumerate(runs):
            times[which].append(run.seconds() if run else float("nan"))
    medians = [float(np.median(each)) * 1e3 for each in times]
    worst = distance(runs[0].arrays, runs[1].arrays)
    small = dict(module.SIZES)
    before = module.arguments(np.random.default_rng(2), **small)
    right = referenced(module, small, before)
    run = Run(runs[1].program, before, small)
    run.seconds()
    against = distance({n: v for n, v in right.items() if isinstance(v, np.ndarray)}, run.arrays)
    single = any(v.dtype == np.float32 for v in runs[0].arrays.values())
    limit = 1e-4 if single else 1e-9
    agrees = worst <= limit and against <= max(limit, 1e-8)
    notes = "; ".join([*filter(None, [report["program"]["mismatch"]]), *report["notes"]])
    return agrees, worst, medians, took, report["changed"], notes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--oxeye", default="oxeye")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--small", action="store_true", help="at the sizes of the tests")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    is_bad = False
    print(f"{'program':20} {'agrees':7} {'error':>8} {'DaCe ms':>10} {'auto ms':>10} {'tuned ms':>10} {'x DaCe':>7} {'x auto':>7} {'took s':>7}")
    gains = []
    for name in options.programs or names():
        with tempfile.TemporaryDirectory(prefix="oxeye-dace-") as folder:
            try:
                agrees, worst, (before, ours, auto), took, changed, notes = one(name, options, Path(folder))
            except Exception as error:
                print(f"{name:20} failed: {type(error).__name__}: {str(error)[:200]}", flush=True)
                is_bad = True
                continue
        is_bad |= not agrees or before / ours < 0.9
        gains.append(auto / ours)
        print(
            f"{name:20} {'yes' if agrees else 'NO':7} {worst:8.1e} {before:10.2f} {auto:10.2f} {ours:10.2f} "
            f"{before / ours:7.2f} {auto / ours:7.2f} {took:7.0f} {'' if changed else 'unchanged '}{notes[:150]}",
            flush=True,
        )
    known = [gain for gain in gains if gain == gain]
    if known:
        mean = float(np.exp(np.mean(np.log(known))))
        print(f"{sum(g > 1.02 for g in known)} of {len(known)} faster than auto_optimize, geometric mean {mean:.2f}")
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()

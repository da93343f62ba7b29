"""What the oracles and peers of the applications share.

An oracle computes the results of a program from its inputs, a peer is the package's own code on the same inputs:

    python APPLICATION/oracle.py PROGRAM FOLDER...   is out_*.npy of each folder right, for the inputs in the first?
    python APPLICATION/peer.py PROGRAM FOLDER        runs the peer once for every line it reads
    python application.py compare FOLDER OTHER       are the results in both folders the same?
    python application.py change FOLDER              copies FOLDER for each result and changes one element of that

The answers are lines of JSON. Exit code 1 says that something is not right.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np


def tolerance(array):
    """The largest difference that is allowed, as a share of the field's maximum."""
    if array.dtype.kind != "f":
        return 0.0
    return 1e-5 if array.dtype.itemsize == 4 else 1e-10


def fields(folder, prefix):
    """The arrays that a program wrote, by name; arrays of one element are numbers."""
    found = {p.stem[len(prefix) :]: np.load(p) for p in sorted(Path(folder).glob(f"{prefix}*.npy"))}
    return found if prefix != "in_" else {name: number(a) if a.size == 1 and a.ndim == 1 else a for name, a in found.items()}


def number(array):
    value = float(array[0])
    return int(value) if value.is_integer() else value


def distance(expected, got):
    """Largest difference as a share of the largest expected value, and where it is; infinite if not comparable."""
    if expected.shape != got.shape:
        return float("inf"), f"shape {got.shape} instead of {expected.shape}"
    if expected.dtype.kind != got.dtype.kind:
        return float("inf"), f"type {got.dtype} instead of {expected.dtype}"
    if expected.size == 0:
        return 0.0, ""
    if expected.dtype.kind != "f":
        off = np.flatnonzero(expected.ravel() != got.ravel())
        return float(off.size), f"at {position(off[0], expected)}" if off.size else ""
    difference = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    if not np.all(np.isfinite(difference)):
        return float("inf"), "not finite"
    worst = int(np.argmax(difference))
    scale = float(np.max(np.abs(expected)))
    value = float(difference.ravel()[worst])
    return (value / scale if scale > 0 else (0.0 if value == 0 else float("inf"))), f"at {position(worst, expected)}"


def position(flat, array):
    return tuple(int(i) for i in np.unravel_index(flat, array.shape))


def judge(expected, got, loosened=1.0):
    """What is wrong (nothing: empty) and the difference of each field."""
    wrong, differences = [], {}
    for name, reference in expected.items():
        if name not in got:
            wrong.append(f"{name} is missing")
            continue
        reference = np.asarray(reference)
        if reference.dtype.kind == "f" and got[name].dtype.kind == "f":
            limit = loosened * max(tolerance(got[name]), tolerance(reference))
        else:
            limit = 0.0
        off, where = distance(reference, got[name])
        differences[name] = off
        if not off <= limit:
            wrong.append(f"{name} differs by {off:.2e} {where}")
    return wrong, differences


def say(**facts):
    print(json.dumps({k: (str(v) if isinstance(v, float) and not np.isfinite(v) else v) for k, v in facts.items()}), flush=True)


def report(name, expected, folder):
    wrong, differences = judge(expected, fields(folder, "out_"))
    worst = max(differences.values(), default=0.0)
    say(folder=str(folder), program=name, right=not wrong, largest=worst, wrong="; ".join(wrong), fields=sorted(expected))
    return not wrong


def oracle(programs):
    """The main function of an oracle: `programs` maps names to functions from inputs to the results by name."""
    if len(sys.argv) < 3 or sys.argv[1] not in programs:
        sys.exit(f"usage: oracle.py {'|'.join(programs)} FOLDER...")
    name, folders = sys.argv[1], sys.argv[2:]
    expected = programs[name](fields(folders[0], "in_"))
    extra = set(fields(folders[0], "out_")) - set(expected)
    if not expected or extra:
        sys.exit(f"the oracle says nothing of {', '.join(sorted(extra)) or 'any field'}")
    right = [report(name, expected, folder) for folder in folders]
    sys.exit(0 if all(right) else 1)


def peer(programs):
    """The main function of a peer: `programs` maps names to functions that take the inputs and give `run` and `results`.

    `run()` computes everything once, from the beginning, and gives the seconds that took; `results()` gives the fields
    of the latest run that the package has, too, by name. The first run is for warming up, and compared with the
    program's results; the answers after that are the seconds of one run for each line that is read.
    """
    if len(sys.argv) != 3 or sys.argv[1] not in programs:
        sys.exit(f"usage: peer.py {'|'.join(programs)} FOLDER")
    name, folder = sys.argv[1:]
    run, results = programs[name](fields(folder, "in_"))
    run()
    wrong, differences = judge(results(), fields(folder, "out_"))
    say(ready=True, right=not wrong, largest=max(differences.values(), default=0.0), wrong="; ".join(wrong))
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        say(seconds=run())


def compare(folder, other):
    expected = fields(folder, "out_")
    if not expected:
        sys.exit(f"no results in {folder}")
    return report("compare", expected, other)


def change(folder):
    """One copy of the folder for each result, in which one element of that is off by three times the tolerance."""
    for path in sorted(Path(folder).glob("out_*.npy")):
        copy = Path(f"{folder}.changed-{path.stem[len('out_'):]}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        array = np.load(path)
        if array.size == 0:
            sys.exit(f"{path} is empty")
        flat = array.reshape(-1)
        middle = flat.size // 2
        if array.dtype.kind == "f":
            scale = float(np.max(np.abs(array)))
            flat[middle] += 3 * tolerance(array) * (scale if scale > 0 else 1.0)
        else:
            flat[middle] += 1
        np.save(copy / path.name, array)
        say(folder=str(copy), field=path.stem[len("out_") :])


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(0 if compare(*sys.argv[2:]) else 1)
    elif len(sys.argv) == 3 and sys.argv[1] == "change":
        change(sys.argv[2])
    else:
        sys.exit(__doc__)

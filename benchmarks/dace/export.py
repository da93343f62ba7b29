"""Writes the programs of this folder as `.sdfg` files with small inputs and what NumPy makes of them.

    python benchmarks/dace/export.py [FOLDER] [PROGRAM...]

Needs `dace==1.0.2 networkx==3.4.2 numpy==1.26.4`. A program is a file with `SIZES`, `LARGE` ones to be timed with, a `@dace.program` of the file's name,
`arguments(rng, **sizes)`, and `reference`, which changes such arguments as the program does. Beside NAME.sdfg, NAME.json
has the sizes, the arguments before, and the arguments after.
"""

import copy
import importlib
import inspect
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "crates" / "sdfg" / "tests" / "data"

# What says only where and when a program was made.
PROVENANCE = {"debuginfo", "guid", "hash", "orig_sdfg", "transformation_hist", "dace_version", "instrument", "timestamp"}

# Programs that are written a second time, as NAME.plain.sdfg, before DaCe simplifies them.
PLAIN = {"haar_x", "limiter", "normalize", "smooth", "softmax", "syrk"}


def without_provenance(value):
    if isinstance(value, dict):
        return {key: without_provenance(inner) for key, inner in value.items() if key not in PROVENANCE}
    if isinstance(value, list):
        return [without_provenance(inner) for inner in value]
    return value


def arguments_of(module, seed=1):
    sizes = dict(module.SIZES)
    return sizes, module.arguments(np.random.default_rng(seed), **sizes)


def referenced(module, sizes, arguments):
    after = copy.deepcopy(arguments)
    wanted = inspect.signature(module.reference).parameters
    module.reference(**{name: value for name, value in {**sizes, **after}.items() if name in wanted})
    return after


def listed(arguments):
    return {name: value.ravel().tolist() if hasattr(value, "ravel") else value for name, value in arguments.items()}


def names():
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("export", "compare"))


def export(name, folder, simplify=True):
    module = importlib.import_module(name)
    sdfg = getattr(module, name).to_sdfg(simplify=simplify)
    sdfg.validate()
    document = without_provenance(json.loads(json.dumps(sdfg.to_json())))
    stem = name if simplify else f"{name}.plain"
    (folder / f"{stem}.sdfg").write_text(json.dumps(document) + "\n")
    sizes, before = arguments_of(module)
    after = referenced(module, sizes, before)
    sample = {"sizes": sizes, "before": listed(before), "after": listed(after)}
    (folder / f"{name}.json").write_text(json.dumps(sample) + "\n")


def main():
    sys.path.insert(0, str(HERE))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TESTS
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or names():
        for simplify in (True, False) if name in PLAIN else (True,):
            export(name, folder, simplify)


if __name__ == "__main__":
    main()

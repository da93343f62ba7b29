"""What Oxeye asks DaCe. A request comes as JSON in the file of the first argument, the answer is the last line printed."""

import json
import os
import shutil
import sys
import time
import warnings

warnings.simplefilter("ignore")
# What was installed beside this Python, such as cmake, is there whether or not its environment is active.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")


def build_type():
    """What CMake adds for DaCe's type of build: the last level of optimization holds."""
    flags = {"Debug": "-g", "Release": "-O3 -DNDEBUG", "RelWithDebInfo": "-O2 -g -DNDEBUG", "MinSizeRel": "-Os -DNDEBUG"}
    return flags.get(dace.Config.get("compiler", "build_type"), "").split()


def answer(value):
    sys.stdout.flush()
    print("\n" + json.dumps(value))
    sys.stdout.flush()
    # Libraries of programs may not survive an orderly end.
    os._exit(0)


def fail(message):
    answer({"error": message})


try:
    import numpy as np
    import dace
except ImportError as error:
    fail(f"missing: {error}")


def symbols_of(sdfg):
    """Names of the symbols among the arguments."""
    return [name for name in sdfg.arglist() if name not in sdfg.arrays]


def evaluated(expression, values):
    return int(dace.symbolic.evaluate(expression, values)) if not isinstance(expression, int) else expression


def sizes_from(sdfg, given, arrays):
    """Sizes: those given, and those that follow from the shapes of given arrays."""
    sizes = dict(given)
    for name, array in arrays.items():
        described = sdfg.arrays.get(name)
        if described is None or isinstance(described, dace.data.Scalar):
            continue
        for extent, known in zip(described.shape, array.shape):
            free = getattr(extent, "free_symbols", set())
            if len(free) == 1 and str(next(iter(free))) not in sizes:
                import sympy

                (symbol,) = free
                solutions = sympy.solve(sympy.Eq(extent, known), symbol)
                if len(solutions) == 1 and solutions[0].is_integer:
                    sizes[str(symbol)] = int(solutions[0])
    return sizes


def values_of(request, sdfg):
    """Values of all arguments by name, and of all sizes: what DaCe expands may need more of them than it says."""
    rng = np.random.default_rng(request["seed"])
    given = {name: np.load(path) for name, path in request["inputs"].items()}
    scalars = {name: array[()] for name, array in given.items() if array.ndim == 0}
    known = {name: int(value) for name, value in scalars.items() if name not in sdfg.arrays}
    sizes = sizes_from(sdfg, {**request["sizes"], **known}, given)
    arguments = sdfg.arglist()
    unknown = [name for name in given if name not in arguments]
    if unknown:
        fail(f"the program has no argument `{unknown[0]}`; it has {', '.join(arguments)}")
    needed = set(symbols_of(sdfg)) | {str(name) for name in sdfg.free_symbols if str(name) not in sdfg.arrays}
    for name in arguments:
        if name in sdfg.arrays:
            needed |= {str(s) for s in sdfg.arrays[name].free_symbols}
    missing = sorted(name for name in needed if name not in sizes)
    if missing:
        words = " ".join(f"--set {name}=..." for name in missing)
        fail(f"sizes are not known: give {words}")
    smallest = min([value for value in sizes.values() if value > 0] or [1])
    values = {}
    for name, described in arguments.items():
        if name not in sdfg.arrays:
            values[name] = sizes[name]
            continue
        dtype = np.dtype(described.dtype.as_numpy_dtype())
        if isinstance(described, dace.data.Scalar):
            drawn = 1 if dtype.kind in "iub" else 0.5 + rng.random()
            values[name] = dtype.type(scalars.get(name, sizes.get(name, drawn)))
            continue
        shape = tuple(evaluated(extent, sizes) for extent in described.shape)
        if name in given:
            array = np.ascontiguousarray(given[name], dtype=dtype)
            if array.shape != shape:
                fail(f"`{name}` has the shape {array.shape}, and {shape} is needed")
            values[name] = array
        elif name.startswith("__return"):
            values[name] = np.zeros(shape, dtype)
        elif dtype.kind in "iu":
            # Indices fit into everything.
            values[name] = rng.integers(0, max(1, smallest - 1), size=shape).astype(dtype)
        elif dtype.kind == "b":
            values[name] = rng.random(shape) < 0.5
        else:
            array = rng.random(shape)
            if dtype.kind == "c":
                array = array + 1j * rng.random(shape)
            if len(shape) == 2 and shape[0] == shape[1]:
                # Such that it can be factorized.
                array = (array + array.T) / 2 + shape[0] * np.eye(shape[0])
            values[name] = array.astype(dtype)
    return values, sizes


def load(path):
    try:
        return dace.SDFG.from_file(path)
    except Exception as error:
        fail(f"DaCe does not load it: {type(error).__name__}: {error}")


def prepare(request):
    """Makes the arguments, and says how DaCe compiles."""
    sdfg = load(request["sdfg"])
    values, sizes = values_of(request, sdfg)
    scalars = {name: repr(int(value)) for name, value in sizes.items()}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            strides = [evaluated(s, values) for s in sdfg.arrays[name].strides]
            dense = value
            if len(strides) > 1 and strides[0] < strides[-1]:
                dense = np.asfortranarray(value)
            dense.ravel(order="K").tofile(os.path.join(request["folder"], name + ".bin"))
            np.save(os.path.join(request["folder"], name + ".npy"), dense)
        else:
            number = value.item() if hasattr(value, "item") else value
            scalars[name] = repr(int(number) if isinstance(number, bool) else number)
    answer(
        {
            "scalars": scalars,
            "flags": dace.Config.get("compiler", "cpu", "args").split() + build_type(),
            "compiler": dace.Config.get("compiler", "cpu", "executable") or "",
            "version": dace.__version__,
        }
    )


def build(request):
    """Compiles an SDFG into a folder."""
    if shutil.which("cmake") is None:
        fail(f"DaCe compiles with cmake, and there is none: {sys.executable} -m pip install cmake")
    sdfg = load(request["sdfg"])
    sdfg.name = request["name"]
    sdfg.build_folder = request["folder"]
    try:
        sdfg.validate()
        sdfg.compile()
    except Exception as error:
        fail(f"DaCe does not compile it: {type(error).__name__}: {error}")
    answer({"folder": request["folder"]})


def arguments_in(request, sdfg):
    values = dict(request["scalars"])
    for name, described in sdfg.arglist().items():
        path = os.path.join(request["arguments"], name + ".npy")
        if os.path.exists(path):
            values[name] = np.load(path)
        elif name in values:
            text = values[name]
            kind = complex if "j" in text else int if text.lstrip("-").isdigit() else float
            number = kind(text)
            values[name] = described.dtype.type(number) if hasattr(described, "dtype") else number
    return {name: values[name] for name in sdfg.arglist()}


class Program:
    """A compiled program with arguments of its own."""

    def __init__(self, folder, request):
        self.compiled = dace.sdfg.utils.load_precompiled_sdfg(folder)
        self.fresh = arguments_in(request, self.compiled.sdfg)
        self.arrays = {n: v.copy(order="K") for n, v in self.fresh.items() if isinstance(v, np.ndarray)}
        arguments = {**self.fresh, **self.arrays}
        self.compiled(**arguments)
        self.call, self.init = self.compiled._construct_args(arguments)

    def renew(self):
        for name, array in self.arrays.items():
            np.copyto(array, self.fresh[name])

    def run(self):
        self.renew()
        start = time.perf_counter()
        self.compiled.fast_call(self.call, self.init)
        return time.perf_counter() - start


def difference(a, b):
    """Largest difference relative to the larger of a number and the mean of its array, and whether it may be so large."""
    if a.dtype.kind == "c":
        # Both parts of each number.
        a, b = (np.ascontiguousarray(x).view(x.real.dtype) for x in (a, b))
    if a.dtype.kind != "f":
        return (0.0, True) if np.array_equal(a, b) else (1.0, False)
    if a.size == 0 or np.array_equal(a, b, equal_nan=True):
        return 0.0, True
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return 1.0, False
    finite = np.isfinite(a)
    a, b = a[finite].astype(np.float64), b[finite].astype(np.float64)
    if a.size == 0:
        return 0.0, True
    scale = np.maximum(np.abs(a), np.mean(np.abs(a)))
    relative = np.abs(a - b) / np.where(scale > 0, scale, 1)
    return float(relative.max()), True


def judge(request):
    """Runs two compiled programs on the same arguments, compares what they leave, and times them in turns."""
    before = Program(request["before"], request)
    before.run()
    left = {name: array.copy() for name, array in before.arrays.items()}
    # What differs from run to run decides nothing.
    before.run()
    after = Program(request["after"], request)
    for _ in range(2):
        after.run()
        worst, wrong = 0.0, None
        for name, array in left.items():
            error, is_comparable = difference(array, after.arrays[name])
            tolerance = request["tolerance"]["f32" if array.real.dtype.itemsize <= 4 else "f64"]
            own, _ = difference(array, before.arrays[name])
            if not is_comparable or error > max(tolerance, 10 * own):
                wrong = f"`{name}` differs by {error:.1e}"
            worst = max(worst, error)
        if wrong:
            answer({"wrong": wrong})
    times = [[], []]
    end = time.perf_counter() + request["seconds"]
    while len(times[0]) < 7 or (time.perf_counter() < end and len(times[0]) < 200):
        order = (0, 1) if len(times[0]) % 2 == 0 else (1, 0)
        for which in order:
            times[which].append((before, after)[which].run())
        if time.perf_counter() > end + request["seconds"] * 4 and len(times[0]) >= 3:
            break
    answer({"before": times[0], "after": times[1], "error": None, "worst": worst})


with open(sys.argv[1]) as file:
    asked = json.load(file)
try:
    {"prepare": prepare, "build": build, "judge": judge}[asked["do"]](asked)
except Exception as error:
    fail(f"{type(error).__name__}: {error}")

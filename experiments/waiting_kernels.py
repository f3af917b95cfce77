"""What emitted kernels do on a machine that is busy: their calls on two threads, and as they choose, over one thread.

    python -m experiments.waiting_kernels measure --out waiting-kernels.json.xz
    python -m experiments.waiting_kernels table waiting-kernels.json.xz

Each nest is optimized for all cores. Its emitted library, and the same C compiled with ``-DPOLYDL_ALL_THREADS``, are
then called again and again in processes of their own, with OpenMP's ways to wait (``experiments/waiting.py``), beside
busy processes. One thread is the emitted library with ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polydl
from experiments.in_turns import elements, floats
from experiments.waiting import KEPT, WAYS, measured, printed, ratios, read, write

_EXAMPLES = Path(__file__).parents[1] / "examples"
#: The file and the sizes of each nest, by the name that stands in the table.
NESTS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "product 128": ("matmul.c", {"M": 128, "N": 128, "K": 128}),
    "product 384": ("matmul.c", {"M": 384, "N": 384, "K": 384}),
    "product 1024": ("matmul.c", {"M": 1024, "N": 1024, "K": 1024}),
    "conv.c": ("conv.c", {}),
}


@dataclass(frozen=True)
class Kernel:
    """One nest as it was emitted."""

    function: str
    #: Floats of each parameter.
    elements: Sequence[int]
    #: The library that chooses its threads from call to call, and the one that takes all.
    libraries: Mapping[str, Path]


def emitted(name: str, folder: Path) -> Kernel:
    """The nest, optimized for all cores. Raises RuntimeError if what is fastest runs on one thread."""
    file, sizes = NESTS[name]
    result = polydl.optimize(_EXAMPLES / file, defines=sizes, out=folder, records=False)
    if "polydl_team" not in result.files["c"].read_text(encoding="utf-8"):
        raise RuntimeError(f"{name}: one thread is as fast as all of them, so that nothing is to be chosen")
    lines = (folder / "README.txt").read_text(encoding="utf-8").splitlines()
    build = next(shlex.split(line) for line in lines if " -shared " in line)
    everyone = folder / "all.so"
    build[build.index("-o") + 1] = everyone.name
    subprocess.run([*build, "-DPOLYDL_ALL_THREADS"], cwd=folder, check=True)
    libraries = {"all or one": result.files["library"], "all": everyone}
    return Kernel(result.scop.function.name, elements(result.scop), libraries)


def called(library: str, function: str, counts: Sequence[int], seconds: float) -> dict[str, Any]:
    """Call the function of float arrays for so many seconds: single calls, how many, the mean and the median."""
    arrays = floats(counts)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    kernel = ctypes.CDLL(library)[function]
    kernel.restype = None
    times, end = [], time.perf_counter() + seconds
    last = time.perf_counter()
    while last < end:
        kernel(*pointers)
        now = time.perf_counter()
        times.append(now - last)
        last = now
    kept = [round(1e9 * each) for each in times[:: len(times) // KEPT + 1]]
    return {"nanoseconds": kept, "calls": len(times), "mean": fmean(times), "median": median(times)}


def measure(seconds: float, rounds: int) -> dict[str, Any]:
    """All cells of the table, each for so many seconds in each of so many rounds, in a process of its own."""
    with tempfile.TemporaryDirectory() as root:
        kernels = {name: emitted(name, Path(root, str(place))) for place, name in enumerate(NESTS)}

        def run(name: float | str, taken: str, threads: int, way: str) -> dict[str, Any]:
            kernel = kernels[str(name)]
            request = json.dumps([str(kernel.libraries[taken]), kernel.function, kernel.elements, seconds])
            command = [sys.executable, "-m", "experiments.waiting_kernels", "call", request]
            return printed(command, {**WAYS[way], "OMP_NUM_THREADS": str(threads)})

        return measured(tuple(NESTS), "all or one", rounds, run)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("measure")
    step.add_argument("--seconds", type=float, default=0.5, help="of each cell in each round")
    step.add_argument("--rounds", type=int, default=3)
    step.add_argument("--out", type=Path, required=True, help="where the raw numbers go")
    steps.add_parser("table").add_argument("data", type=Path)
    steps.add_parser("call", help="what a measurement runs").add_argument("request", type=json.loads)
    options = parser.parse_args(arguments)
    if options.step == "call":
        print(json.dumps(called(*options.request)))
    elif options.step == "table":
        print(*ratios(read(options.data)), sep="\n")
    else:
        document = measure(options.seconds, options.rounds)
        write(document, options.out)
        print(*ratios(document), sep="\n")


if __name__ == "__main__":
    main()

"""The Scop of a nest, run in Python, does what the C does that gcc made of the same file."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontend_interpreter
import numpy as np
import pytest
from marks import parametrized

from polydl.frontend.pet import parse
from polydl.ir.scop import Array, Scop

pytestmark = pytest.mark.native

NESTS = Path(__file__).parent / "nests"
FILES = sorted(NESTS.glob("*.c"))


def _clamp(x: float, top: float) -> float:
    return 0.25 if x < 0.25 else min(x, top)


FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "__builtin_inff": ("float", lambda: float("inf")),
    "clamp": ("float", _clamp),
    "larger": ("float", max),
    "twice": ("float", lambda x: _clamp(x, 3) + x),
    **dict.fromkeys(("max", "imax"), ("int", max)),
    "floord": ("int", min),
    "sum_to": ("float", lambda n: n * (n + 1) / 2),
}


def defines_of(path: Path) -> dict[str, str]:
    found = re.search(r"^// defines: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(word.split("=", 1) for word in found[1].split()) if found else {}


def seen(scop: Scop) -> list[Array]:
    """The arrays whose values outlive the region, or come from before it."""
    return [array for array in scop.arrays if array.storage != "local"]


def instrumented(scop: Scop) -> str:
    """The file with two copies of everything that the region can see: before it and after it."""
    buffers, copies = "", {"before": "", "after": ""}
    for array in seen(scop):
        address = array.name if array.extents else f"&{array.name}"
        for when in copies:
            buffer = f"polydl_{when}_{array.name}"
            buffers += f"char {buffer}[{array.bytes}];\n"
            copies[when] += f"__builtin_memcpy({buffer}, {address}, {array.bytes});"
    start, end = scop.region
    head, region, tail = scop.source[:start], scop.source[start:end], scop.source[end:]
    return f"{buffers}{head}\n{{{copies['before']}}}\n{region}\n{{{copies['after']}}}\n{tail}"


def random_values(array: Array, generator: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(frontend_interpreter.DTYPES[array.element])
    if dtype.kind == "f":
        return np.asarray(generator.uniform(-2, 2, array.extents), dtype)
    low = -20 if dtype.kind == "i" else 0
    return np.asarray(generator.integers(low, 20, array.extents), dtype)


@parametrized("path", FILES, ids=[path.stem for path in FILES], quick=9)
def test_the_scop_computes_what_the_c_computes(path: Path, tmp_path: Path) -> None:
    defines = defines_of(path)
    scop = parse(path, defines=defines)
    source, library = tmp_path / "nest.c", tmp_path / "nest.so"
    source.write_text(instrumented(scop), encoding="utf-8")
    command = ["gcc", "-O1", "-w", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run([*command, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))

    generator = np.random.default_rng(len(path.stem))
    arguments: list[Any] = []
    kept = []
    for parameter in scop.function.parameters:
        array = scop.array(parameter.array)
        values = random_values(array, generator)
        if parameter.value is not None:
            values = np.asarray(parameter.value, values.dtype)
        kept.append(values)
        scalar = np.ctypeslib.as_ctypes_type(values.dtype)
        arguments.append(ctypes.c_void_p(values.ctypes.data) if parameter.is_pointer else scalar(values.item()))
    for array in scop.arrays:
        if array.storage == "global" and hasattr(loaded, array.name):
            values = random_values(array, generator)
            place = (ctypes.c_char * array.bytes).in_dll(loaded, array.name)
            ctypes.memmove(place, values.ctypes.data, array.bytes)
    getattr(loaded, scop.function.name)(*arguments)

    def snapshot(when: str, array: Array) -> np.ndarray:
        content = (ctypes.c_char * array.bytes).in_dll(loaded, f"polydl_{when}_{array.name}").raw
        dtype = frontend_interpreter.DTYPES[array.element]
        return np.frombuffer(content, dtype).reshape(array.extents).copy()

    memory = {array.name: snapshot("before", array) for array in seen(scop)}
    for array in scop.arrays:
        if array.storage == "local":
            memory[array.name] = random_values(array, generator)
    before = {name: values.copy() for name, values in memory.items()}
    frontend_interpreter.Interpreter(scop, memory, FUNCTIONS).run()

    changed = False
    for array in seen(scop):
        expected = snapshot("after", array)
        changed = changed or not np.array_equal(expected, before[array.name])
        if array.element in ("float", "double"):
            np.testing.assert_allclose(memory[array.name], expected, rtol=1e-6, err_msg=array.name)
        else:
            np.testing.assert_array_equal(memory[array.name], expected, err_msg=array.name)
    assert changed, "the region has no effect, so the test would show nothing"

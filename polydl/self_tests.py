"""Real work for each component, run in a process of its own: ``python -m polydl.self_tests NAME RESULT``.

A component that is broken may crash or hang its process; the parent (``polydl.doctor``) then reports how
it ended. The result is a JSON file, since a component may print what it likes.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from polydl.system.files import temporary_directory


@dataclass(frozen=True)
class Evidence:
    """What a self-test saw: the component's version, the file or directory it came from, what it did."""

    version: str
    where: str
    text: str


class SelfTestError(Exception):
    """A component did its work, but wrongly."""


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SelfTestError(otherwise)


_LOOP = "void f(float a[8]) {\n#pragma scop\n  for (int i = 0; i < 8; ++i)\n    a[i] = 2;\n#pragma endscop\n}\n"
_PET = """
typedef struct isl_ctx isl_ctx; typedef struct isl_schedule isl_schedule; typedef struct pet_scop pet_scop;
isl_ctx *isl_ctx_alloc_with_pet_options(void);
pet_scop *pet_scop_extract_from_C_source(isl_ctx *, const char *file, const char *function);
isl_schedule *pet_scop_get_schedule(pet_scop *);
char *isl_schedule_to_str(isl_schedule *);
"""


def pet() -> Evidence:
    """Reads a loop with libpet. Raises SelfTestError for a wrong scop, MissingComponentError without libpet."""
    import cffi

    from polydl.frontend.pet_library import find_pet_library, open_libraries

    library = find_pet_library()
    ffi: Any = cffi.FFI()
    ffi.cdef(_PET)
    isl, libpet = open_libraries(ffi, library.paths)
    with temporary_directory() as directory:
        source = directory / "loop.c"
        source.write_text(_LOOP, encoding="utf-8")
        context = libpet.isl_ctx_alloc_with_pet_options()
        scop = libpet.pet_scop_extract_from_C_source(context, str(source).encode(), ffi.NULL)
    _expect(scop != ffi.NULL, "pet found no scop in a loop of three lines")
    schedule = ffi.string(isl.isl_schedule_to_str(libpet.pet_scop_get_schedule(scop))).decode()
    _expect("i <= 7" in schedule, f"pet read a loop of 8 iterations as {schedule}")
    origin = f"tadashi {version('tadashi')}" if "tadashi" in library.origin else library.origin
    return Evidence(f"{Path(library.pet).name} ({origin})", library.pet, "parsed a loop of 8 iterations")


def islpy() -> Evidence:
    """Counts the points of a set. Raises SelfTestError for a wrong number."""
    import islpy

    triangle = islpy.Set("{ [i, j] : 0 <= i < 4 and 0 <= j <= i }")
    points = triangle.count_val().to_python()
    _expect(points == 10, f"isl counted {points} points in a triangle of 10")
    return Evidence(version("islpy"), str(islpy.__file__), "counted the 10 points of a triangle")


def libclang() -> Evidence:
    """Parses a function. Raises SelfTestError if it sees anything else."""
    from clang import cindex

    index = cindex.Index.create()
    unit = index.parse("loop.c", unsaved_files=[("loop.c", _LOOP)])
    found = [cursor.spelling for cursor in unit.cursor.get_children()]
    _expect(found == ["f"], f"libclang found {found} where one function f is declared")
    return Evidence(version("libclang"), str(cindex.__file__), "found the function of a C source")


def numpy() -> Evidence:
    """Multiplies matrices of whole numbers. Raises SelfTestError for a wrong product."""
    import numpy

    a = numpy.arange(16, dtype=numpy.float32).reshape(4, 4)
    expected = [[sum(float(a[i, k] * a[k, j]) for k in range(4)) for j in range(4)] for i in range(4)]
    _expect((a @ a).tolist() == expected, f"numpy's 4x4 product is {(a @ a).tolist()}, not {expected}")
    return Evidence(numpy.__version__, str(numpy.__file__), "multiplied two 4x4 matrices")


def libxsmm() -> Evidence:
    """Dispatches and calls a kernel, and looks for the functions that polydl calls.

    Raises SelfTestError for what is wrong or lacking, MissingComponentError without LIBXSMM.
    """
    import numpy

    from polydl import native
    from polydl.microkernels.libxsmm_declarations import dispatch_name

    library = native.libxsmm_library()
    dispatch = library.libxsmm_smmdispatch
    dispatch.restype = ctypes.c_void_p
    one = ctypes.c_float(1)
    address = dispatch(
        ctypes.c_int(4),
        ctypes.c_int(4),
        ctypes.c_int(4),
        None,
        None,
        None,
        ctypes.byref(one),
        ctypes.byref(one),
        None,
        None,
    )
    _expect(address is not None, "LIBXSMM has no kernel for a 4x4x4 product")
    generator = numpy.random.default_rng(0)
    a, b, c = (generator.random((4, 4), dtype=numpy.float32) for _ in range(3))
    expected = c + b @ a  # LIBXSMM's matrices are column-major: what numpy sees is transposed
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)(*pointers)
    error = float(abs(c - expected).max())
    _expect(error < 1e-5, f"LIBXSMM's 4x4x4 product differs from numpy's by {error}")
    for stem, many in product(("smm", "dmm", "bsmm", "subimm"), (False, True)):
        name = dispatch_name(stem, many=many)
        _expect(hasattr(library, name), f"LIBXSMM has no {name}")
    linked = native.libxsmm_version()
    library.libxsmm_get_target_arch.restype = ctypes.c_char_p
    target = library.libxsmm_get_target_arch().decode()
    return Evidence(
        linked, str(native.libxsmm_path()), f"compiled a 4x4x4 product for {target} that agrees with numpy's"
    )


def runtime() -> Evidence:
    """Runs two probes of the C runtime and allocates memory. Raises SelfTestError for impossible answers."""
    from polydl import native

    library = native.runtime()
    gflops, latency = library.fma_gflops(), library.latency(16 << 10)
    _expect(gflops > 0 and latency > 0, f"the probes measured {gflops} GFLOPS and {latency} s")
    address = library.allocate(1000, alignment=4096)
    _expect(address % 4096 == 0, "memory is not aligned")
    library.free(address)
    text = f"probed {gflops:.0f} GFLOPS ({library.isa}), {latency * 1e9:.1f} ns to the first cache"
    return Evidence(version("polydl"), str(library.path), text)


SELF_TESTS: dict[str, Callable[[], Evidence]] = {
    "pet": pet,
    "islpy": islpy,
    "libclang": libclang,
    "numpy": numpy,
    "libxsmm": libxsmm,
    "runtime": runtime,
}


def main(name: str, result: Path) -> None:
    """Writes the evidence, or ``error`` with what was raised."""
    try:
        outcome: dict[str, str] = asdict(SELF_TESTS[name]())
    except Exception as error:
        outcome = {"error": f"{type(error).__name__}: {getattr(error, 'message', error)}"}
    result.write_text(json.dumps(outcome), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

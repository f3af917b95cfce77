"""The functions that join lanes: all types and widths, for several compilers and targets."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polydl.codegen.lane_totals import FUNCTIONS, TOGETHER, WIDTHS

COMPILERS = ("gcc -O1", "gcc -O3 -march=native", "clang -O2 -march=native -Wall -Wextra -Werror")


@pytest.mark.native
@pytest.mark.parametrize("compiler", COMPILERS)
def test_totals_of_four_vectors_are_those_of_each(tmp_path: Path, compiler: str) -> None:
    definitions = "\n".join(FUNCTIONS[f"polydl_four_totals_{element}"].text for element in WIDTHS)
    callers = "\n".join(
        f"void totals_{element}_{lanes}({element} *to, const {element} *from);\n"
        f"void totals_{element}_{lanes}({element} *to, const {element} *from) {{ polydl_four_totals_{element}("
        f"to, from, from + {lanes}, from + {2 * lanes}, from + {3 * lanes}, {lanes}); }}"
        for element, widths in WIDTHS.items()
        for lanes in widths
    )
    (tmp_path / "t.c").write_text(f"{definitions}\n{callers}\n", encoding="utf-8")
    command = [*compiler.split(), "-shared", "-fPIC", "-o", str(tmp_path / "t.so"), str(tmp_path / "t.c")]
    subprocess.run(command, check=True, capture_output=True)
    library = ctypes.CDLL(str(tmp_path / "t.so"))
    for element, widths in WIDTHS.items():
        for lanes in widths:
            # Powers of two, so that a lane which is missing, or there twice, changes the sum.
            bits = 2.0 ** np.arange(lanes)
            sums = np.outer([1.0, 3.0, 5.0, 7.0], bits).astype(np.float32 if element == "float" else np.float64)
            totals = np.zeros(TOGETHER, sums.dtype)
            library[f"totals_{element}_{lanes}"](ctypes.c_void_p(totals.ctypes.data), ctypes.c_void_p(sums.ctypes.data))
            assert totals.tolist() == [float(factor * bits.sum()) for factor in (1, 3, 5, 7)]

"""Products whose operands are both contiguous along k, as those of linear layers: who takes them, and at what cost."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from computed import check_kernels
from gemm_sites import site
from machines import detected, machine_with

from polydl import pipeline
from polydl.calibration.formulas import fitted_constants
from polydl.calibration.programs import formula_sites, timed_calls
from polydl.contracts import CallArguments, GemmShape, GemmSite, Microkernel
from polydl.ir.scop import Scop
from polydl.machine.core import constants
from polydl.machine.processors import WIDE_CORE
from polydl.match.product import GemmMatch, NoMatch, match
from polydl.microkernels.amx import AMX
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.model.nest_loops import time_loops

LINEAR = """\
#include <polydl/bfloat16.h>
void linear({output} y[{rows}][{outputs}], const {inputs} x[{rows}][{terms}], const {weights} w[{outputs}][{terms} + 1])
{{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {outputs}; j++) {{
      y[i][j] = 0;
      for (int k = 0; k < {terms}; k++)
        y[i][j] += {product};
    }}
#pragma endscop
}}
"""
BYTES = {"output": "int", "inputs": "unsigned char", "weights": "signed char", "product": "x[i][k] * w[j][k]"}
FLOATS = {"output": "float", "inputs": "float", "weights": "float", "product": "x[i][k] * w[j][k]"}
BFLOAT16S = {
    "output": "float",
    "inputs": "bfloat16",
    "weights": "bfloat16",
    "product": "bfloat16_to_float(x[i][k]) * bfloat16_to_float(w[j][k])",
}


def parsed(folder: Path, types: dict[str, str], rows: int = 45, outputs: int = 120, terms: int = 352) -> Scop:
    path = folder / "nest.c"
    path.write_text(LINEAR.format(rows=rows, outputs=outputs, terms=terms, **types))
    return pipeline.parse(path)


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """`c-amx` counts as available on any processor."""
    monkeypatch.setattr(type(AMX), "unavailable", lambda self: None)


def found(scop: Scop, kernel: Microkernel) -> tuple[GemmMatch, ...] | NoMatch:
    statement = scop.statements[-1]
    return match(scop, statement, tuple(range(statement.depth)), kernel)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("types", [BYTES, BFLOAT16S, FLOATS], ids=["bytes", "bfloat16", "float"])
def test_tiles_take_rows_by_rows_with_any_leading_dimension(types: dict[str, str], tmp_path: Path) -> None:
    scop = parsed(tmp_path, types)
    matches = found(scop, AMX)
    assert not isinstance(matches, NoMatch)
    [only] = matches
    assert [scop.statements[-1].iterators[loop] for loop in (only.m, only.n, only.k)] == ["j", "i", "k"]
    assert (only.form.a.array, only.form.b.array) == ("w", "x")
    assert (only.stride_am, only.lda, only.stride_bn, only.stride_bk, only.ldc) == (353, 1, 352, 1, 120)


@pytest.mark.usefixtures("anywhere")
def test_what_fits_no_pattern_is_told_what_would(tmp_path: Path) -> None:
    scop = parsed(tmp_path, FLOATS)
    for kernel in (PLAIN_C, LIBXSMM):
        refusal = found(scop, kernel)
        assert isinstance(refusal, NoMatch)
        if kernel.unavailable() is None:
            assert "(m contiguous in the output and one operand, n or k contiguous in the other)" in refusal.reason
    text = LINEAR.format(rows=45, outputs=120, terms=352, **FLOATS)
    (tmp_path / "strided.c").write_text(text.replace("y[i][j]", "y[i][2 * j]").replace("j < 120", "j < 60"))
    refusal = found(pipeline.parse(tmp_path / "strided.c"), AMX)
    assert isinstance(refusal, NoMatch)
    assert "m contiguous in the output, m or k contiguous in one operand" in refusal.reason


def test_predictions_know_what_transposing_takes() -> None:
    rows = GemmShape("signed char", "int", 80, 64, 192, 3, 1, 80, 192, 1, stride_am=192)
    slow = AMX.on(replace(AMX.core, tile_transpose_cycles=AMX.core.tile_transpose_cycles + 100.0))
    # 5 tiles along m by 3 along k of 3 products.
    tiles = 5 * 3 * 3
    assert slow.predicted_cycles(rows, 16) - AMX.predicted_cycles(rows, 16) == pytest.approx(tiles * 100.0)
    columns = replace(rows, lda=80, stride_am=1)
    assert slow.predicted_cycles(columns, 16) == AMX.predicted_cycles(columns, 16)
    # A tile of floats has a third of the steps of two tiles of bytes, in three parts.
    floats = replace(rows, element="float", accumulator="float", anew_a=0.5)
    assert slow.predicted_cycles(floats, 16) - AMX.predicted_cycles(floats, 16) == pytest.approx(3 * tiles * 100.0)


def test_few_columns_of_floats_are_not_worth_transposing() -> None:
    rows = GemmShape("float", "float", 64, 33, 64, 1, 1, 64, 64, 1, stride_am=64)
    assert AMX.rejects(rows) is None
    few = replace(rows, n=16, rows=2)
    assert "32 columns" in (AMX.rejects(few) or "")
    assert AMX.rejects(replace(few, lda=64, stride_am=1)) is None
    assert AMX.rejects(replace(few, element="bfloat16")) is None


def test_what_transposing_takes_is_fitted_to_calls_with_such_rows() -> None:
    [wanted] = [each for each in AMX.formula_constants if each.row_by_row]
    assert wanted.names == ("tile_transpose_cycles",)
    sites = formula_sites(AMX, wanted, 16)
    assert sites
    assert all((each.lda, each.stride_am) == (1, each.k[0]) for each in sites)
    truth = AMX.on(WIDE_CORE.having(constants({"tile_transpose_cycles": 250.0}, "measured")))
    cycles = {call.shape: truth.predicted_cycles(call.shape, 16) for call in timed_calls(sites)}
    assert fitted_constants(AMX, wanted, WIDE_CORE, cycles, 16) == pytest.approx(
        {"tile_transpose_cycles": 250.0}, rel=0.1
    )


@pytest.mark.usefixtures("anywhere")
def test_lines_of_rows_are_used_at_once(tmp_path: Path) -> None:
    scop = parsed(tmp_path, BFLOAT16S)
    machine = machine_with(1, 64)
    space = pipeline.space_on(scop, machine, microkernel="c-amx")
    generated = pipeline.generate(space, max_variants=40, seed=1).variants
    # Beside them are register blocks along the sum.
    variants = [each for each in generated if not each.rewrites and each.microkernels]
    assert variants
    for variant in variants:
        plan = space.apply(variant).plan
        nest = next(each for each in plan.nests if each.microkernel is not None)
        loops = [(loop.iterator, loop.size) for loop in time_loops(scop, nest, None, machine.core)]
        # 32 steps are a line: for each of them all rows of A, and for each row all columns.
        assert loops[-4:] == [(2, 32), (1, 1), (0, 1), (2, 1)]


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.amx
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("types", [BYTES, BFLOAT16S, FLOATS], ids=["bytes", "bfloat16", "float"])
def test_layers_in_tiles_compute_the_same(types: dict[str, str], threads: int, tmp_path: Path) -> None:
    scop = parsed(tmp_path, types)
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine, microkernel="c-amx")
    variants = [each for each in pipeline.generate(space, max_variants=60, seed=2).variants if not each.rewrites]
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants[:8]]
    assert len(kernels) == 8
    assert all(use.stride_am == 353 for kernel in kernels for use in kernel.microkernels)
    check_kernels(tmp_path, scop, kernels, threads)


def guarded(case: GemmSite, folder: Path) -> ctypes.CDLL:
    """The compiled call of a site."""
    emitted = AMX.emit(case, 64)
    call = AMX.call(case, CallArguments("a", "b", "c", "0", "0", "0", "1", "1"))
    text = f"{emitted.definitions}\nvoid setup(void)\n{{\n{emitted.setup}\n}}\n"
    text += f"void run(const {case.element} *a, const {case.type_b} *b, {case.accumulator} *c) {{ {call} }}\n"
    (folder / "call.c").write_text(text)
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "call.c", "-o", "call.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "call.so"))


@pytest.mark.native
@pytest.mark.amx
def test_nothing_behind_the_last_row_is_read(tmp_path: Path) -> None:
    """A ends where its page does, and the process may not read the next one."""
    steps, rows = 40, 37
    case = site(element="signed char", accumulator="int", m=(rows, rows), n=(16, 16), k=(steps, steps), lda=1)
    case = replace(case, stride_am=steps + 3, ldc=rows, stride_bn=steps, overwrites=True)
    library = guarded(case, tmp_path)
    library.setup()
    size = (rows - 1) * (steps + 3) + steps
    pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, pages + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protected = ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + pages), ctypes.c_size_t(mmap.PAGESIZE), 0)
    assert protected == 0
    generator = np.random.default_rng(5)
    a = generator.integers(-128, 128, size).astype(np.int8)
    b = generator.integers(-128, 128, (16, steps)).astype(np.int8)
    memory[pages - size : pages] = a.tobytes()
    c = np.zeros((16, rows), np.int32)
    library.run(ctypes.c_void_p(start + pages - size), ctypes.c_void_p(b.ctypes.data), ctypes.c_void_p(c.ctypes.data))
    whole = np.lib.stride_tricks.as_strided(a, (rows, steps), (steps + 3, 1)).astype(np.int32)
    assert np.array_equal(c, b.astype(np.int32) @ whole.T)

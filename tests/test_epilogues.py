"""Element-wise statements that a microkernel applies to blocks of its output: where it may, and what comes out."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from computed import parse
from emitted_text import emitted_text
from marks import marked, parametrized

from polydl import pipeline
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Interchange, Step, Tile, UseMicrokernel, Variant
from polydl.machine import Machine

KERNELS = pytest.mark.parametrize(
    "kernel",
    marked(("c",), ("c-amx",)),
)
BEFORE = Attach("S0", "S1", "first")
AFTER = Attach("S2", "S1", "last")


def tilings(kernel: str) -> dict[str, tuple[Step, ...]]:
    """A call's tile is whole; there are last tiles of m, or of n as well; sums go on in later calls; a call has several
    products."""
    microkernel = UseMicrokernel(1, kernel, "k", "x", "c", (), ("y",))
    found: dict[str, tuple[Step, ...]] = {
        "whole": (Tile(1, "y", (3,)), microkernel, Interchange(1, ("t", "s", "y_t1"))),
        # Tile registers take no fewer than 16 rows and columns.
        "last tiles": (
            Tile(1, "k", (24,)),
            UseMicrokernel(1, kernel, "k", "x", "c", (), ()),
            Interchange(1, ("t", "s", "y", "k_t1")),
        ),
        "several calls": (
            Tile(1, "c", (16,)),
            Tile(1, "y", (2,)),
            microkernel,
            Interchange(1, ("t", "c_t1", "s", "y_t1")),
        ),
        "several products": (
            UseMicrokernel(1, kernel, "k", "x", "c", ("s",), ("y",)),
            Interchange(1, ("t",)),
        ),
    }
    if kernel == "c":
        found["few in last tiles"] = (
            Tile(1, "k", (32,)),
            Tile(1, "x", (20,)),
            UseMicrokernel(1, kernel, "k", "x", "c", (), ()),
            Interchange(1, ("t", "s", "y", "k_t1", "x_t1")),
        )
        # Vectors overlap; rows are dot products; they are fewer than a vector's.
        for rows in (19, 33, 9):
            found[f"{rows} rows"] = (
                Tile(1, "k", (rows,)),
                UseMicrokernel(1, kernel, "k", "x", "c", (), ("y",)),
                Interchange(1, ("t", "s", "k_t1")),
            )
    return found


OPERATORS = {
    "relu6": "Y < 0.0f ? 0.0f : (Y > 6.0f ? 6.0f : Y)",
    "bounds": "Y < -1 ? (Y < -3 ? -3.0f : -1.0f) : (Y > b[t][k] ? b[t][k] : Y * 2)",
    "bias": "Y + b[t][k]",
    "residual": "Y + r[t][y][x][k] / 2 > 0.0f ? Y + r[t][y][x][k] / 2 : 0.0f",
    "across": "Y * d[y][x] + e[x][y] - w[k][0]",
    "sigmoid": "1.0f / (1.0f + expf(-Y / 64.0f))",
}


def nest(operator: str, element: str = "float", output: str = "float", head: str = "#include <math.h>") -> str:
    """Blocks of 40 channels, images of 6x24, products over 2 blocks of 32; then the operator."""
    loops = "for (int t = 0; t < 3; t++) for (int y = 0; y < 6; y++) for (int x = 0; x < 24; x++)"
    inner = "for (int k = 0; k < 40; k++)"
    text = operator.replace("Y", "o[t][y][x][k]")
    return f"""{head}
void f({output} o[3][6][24][40], const {element} a[3][2][32][40], const {element} i[2][6][24][32],
       const float b[3][40], const float r[3][6][24][40], const float d[6][24], const float e[24][6],
       const float w[40][2]) {{
#pragma scop
  {loops} {inner}
    o[t][y][x][k] = 0;
  {loops.replace("for (int y", "for (int s = 0; s < 2; s++) for (int y")} {inner} for (int c = 0; c < 32; c++)
    o[t][y][x][k] += a[t][s][c][k] * i[s][y][x][c];
  {loops} {inner}
    o[t][y][x][k] = {text};
#pragma endscop
}}
"""


def function(scop: Scop, *steps: Step) -> str:
    """The C of the nest's function without white space."""
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine)
    text = pipeline.kernel(space.apply(Variant((BEFORE, AFTER, *steps))), machine.vector_bytes).c
    return re.sub(r"\s", "", emitted_text(text).tuned)


FINISHED = {
    **{name: nest(operator) for name, operator in OPERATORS.items()},
    "swish": nest(
        "swish(Y)", head="#include <math.h>\nstatic float swish(float x) { return x / (1.0f + expf(-x / 64.0f)); }"
    ),
    "bytes": nest("Y < 0 ? 0 : Y / 4", "signed char", "int"),
    "doubles": nest("Y < 0 ? 0 : Y > 6 ? 6 : Y", "double", "double"),
}


@pytest.mark.native
@parametrized(
    ("kernel", "name"),
    # Tiles take no doubles.
    marked(*(case for case in product(("c", "c-amx"), FINISHED) if case != ("c-amx", "doubles"))),
    quick=1,
)
def test_blocks_are_finished_in_the_call(kernel: str, name: str, tmp_path: Path) -> None:
    source = FINISHED[name]
    scop = parse(tmp_path, source)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine)
    tried = tilings(kernel)
    if (kernel, name) == ("c-amx", "bytes"):
        # Sixteen steps, in fours, are too few for a tile.
        del tried["several calls"]
    variants = [Variant((BEFORE, AFTER, *steps)) for steps in tried.values()]
    assert variants
    for variant in variants:
        assert space.apply(variant).violations == ()
    sources = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    for each in sources:
        text = emitted_text(each.c).tuned
        assert "polydl_gemm1_operands){&o[" in text
        assert "for (int k =" not in text
    built = EXECUTOR.build([original(scop), *sources], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.5)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=3)
    assert [each.message for each in measured if each.status != "ok"] == []


@KERNELS
def test_the_last_call_for_a_tile_finishes_it(kernel: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, nest(OPERATORS["relu6"]))
    text = function(scop, *tilings(kernel)["several calls"])
    assert "(c_t1==0)&&(s==0),(c_t1==1)&&(s==1),&(structpolydl_gemm1_operands){&o[t][2*y_t1][0][0]});" in text


@pytest.mark.parametrize(("operator", "inner"), [("relu6", 1), ("bounds", 1), ("residual", 0), ("sigmoid", 0)])
def test_plain_c_finishes_what_is_in_registers(operator: str, inner: int, tmp_path: Path) -> None:
    scop = parse(tmp_path, nest(OPERATORS[operator]))
    machine = Machine.detect(threads=1)
    variant = Variant((BEFORE, AFTER, *tilings("c")["whole"]))
    text = pipeline.kernel(pipeline.space_on(scop, machine).apply(variant), machine.vector_bytes).c
    block = text[text.index("_block0_") : text.index("_run_000(")]
    # What calls functions is applied to the whole tile, since registers don't survive calls.
    assert block.count("_after_column(") == block.count("sums = c")
    assert ("_after_column(" in block) == (operator != "sigmoid")
    assert ("_after(operands, c + " in text) == (operator == "sigmoid")
    assert len(re.findall(r"float inner\d+\[", text)) == inner


def test_what_is_finished_in_registers_is_predicted_to_cost_less_than_loops(tmp_path: Path) -> None:
    scop = parse(tmp_path, nest(OPERATORS["relu6"]))
    machine = Machine.detect(threads=1)
    found = {}
    for kernel in ("c", "libxsmm"):
        variant = Variant((BEFORE, AFTER, *tilings(kernel)["last tiles"]))
        (found[kernel],) = pipeline.candidates(scop, [variant], machine=machine)
    assert 0 < found["c"].cycles[2] < found["libxsmm"].cycles[2] / 2


@pytest.mark.parametrize(
    "source",
    [
        nest("half(Y)", head="float half(float x) { x = x / 2; return x; }"),
        nest("halves(Y)", head="static float halves(float x) { while (x > 1) x = x / 2; return x; }"),
    ],
    ids=["visible function", "function with a loop"],
)
@KERNELS
def test_what_the_source_defines_stays_in_its_loops(source: str, kernel: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, source)
    text = function(scop, *tilings(kernel)["whole"])
    assert "polydl_gemm1_operands" not in text
    assert "o[t][y][x][k]=" in text


@pytest.mark.parametrize(
    "source",
    [
        nest("half(Y)", head="static float half(float x) { x = x / 2; return x; }"),
        nest("(real)Y / 3", head="typedef float real;"),
    ],
    ids=["static function", "type"],
)
@KERNELS
def test_what_the_source_defines_alone_is_applied_in_the_call(source: str, kernel: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, source)
    text = function(scop, *tilings(kernel)["whole"])
    assert "polydl_gemm1_operands" in text
    assert "o[t][y][x][k]=" not in text
    assert "real" not in text


def test_an_input_may_not_be_the_output_shifted(tmp_path: Path) -> None:
    scop = parse(tmp_path, nest("Y + o[t][y][x][39 - k]"))
    machine = Machine.detect(threads=1)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=40)
    assert variants
    assert not [variant for variant in variants if AFTER in variant.steps]

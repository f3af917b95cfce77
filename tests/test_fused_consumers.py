"""Operators that read each result of a product once and write another array, on the product's tiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.frontend.constants import with_constants
from polydl.fusion.choices import elementwise_fusions
from polydl.ir.variant import Attach, UseMicrokernel, Variant
from polydl.plan.rewriting import as_written

MACHINE = machine_with(2, 32)

NEST = """
#include <math.h>
void f(float D[48][40], {c}, const float A[40][32], const float B[32][48], const float b[48], float E[40][48])
{{
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 48; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < 32; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 48; j++)
      {text}
#pragma endscop
}}
"""
THEN = "for (int i = 0; i < 40; i++) for (int j = 0; j < 48; j++)"
THEN = "for (int i = 0; i < 40; i++) for (int j = 0; j < 48; j++)"
PARAMETER, UNUSED = "float C[40][48]", "float unused[1]"


@pytest.mark.native
@parametrized(
    ("text", "in_registers", "stored"),
    [
        ("E[i][j] = fmaxf(C[i][j] + b[j], 0.0f);", True, False),
        # Both operators are applied to the block.
        (
            f"E[i][j] = C[i][j] * b[j]; {THEN} C[i][j] += b[j];",
            True,
            False,
        ),
        # The transposed array is written with gaps.
        ("D[j][i] = C[i][j];", True, False),
        # What the second operator reads is not written to memory by the time.
        (
            f"E[i][j] = 2 * C[i][j]; {THEN} C[i][j] += E[i][j];",
            True,
            True,
        ),
        ("E[i][j] = expf(-C[i][j]);", True, False),
        ("E[i][j] += C[i][j];", False, False),
    ],
    quick=2,
)
@parametrized("local", [False, True], quick=1)
def test_what_consumes_results_is_computed_on_their_tiles(
    text: str, in_registers: bool, stored: bool, local: bool, tmp_path: Path
) -> None:
    source = NEST.format(c=UNUSED if local else PARAMETER, text=text)
    if local:
        source = source.replace("#pragma scop", "  float C[40][48];\n#pragma scop")
    scop = parse(tmp_path, source)
    space = pipeline.space_on(scop, MACHINE, microkernel="c")
    variants = pipeline.generate(space, max_variants=300).variants
    fused = [each for each in variants if any(step.place == "last" for step in each.attached)]
    assert fused
    chosen = fused[:: -(-len(fused) // 4)]
    applied = [space.apply(each) for each in chosen]
    epilogues = [site.epilogue for each in applied for site in each.sites.values()]
    assert any(each is not None for each in epilogues) == in_registers
    # Results that nobody else reads need no memory.
    written = {operand.written for each in epilogues if each for operand in each.operands if operand.output}
    assert written == ({stored or not local} if in_registers else set())
    for each in applied:
        each.prove()
    check_kernels(tmp_path, scop, [pipeline.kernel(each, MACHINE.vector_bytes) for each in applied])


@pytest.mark.parametrize(
    ("second", "applied"),
    [("E[i][j] = b[j] * C[i][j];", 2), ("E[i][j + 1] = b[j] * C[i][j];", 1)],
)
def test_blocks_do_not_meet_in_what_two_operators_write(second: str, applied: int, tmp_path: Path) -> None:
    """Steps of a person's own may attach what Algorithm 3 does not: a call applies it where blocks stay apart."""
    text = NEST.format(c=PARAMETER, text=f"E[i][j] = 2 * C[i][j]; {THEN} {second}").replace("E[40][48]", "E[40][49]")
    scop = parse(tmp_path, text)
    steps = (Attach("S0", "S1", "first"), Attach("S2", "S1", "last"), Attach("S3", "S1", "last"))
    one = pipeline.apply(
        scop, Variant((*steps, UseMicrokernel(1, "c", "j", "i", "k"))), machine=MACHINE, microkernel="c", prove=False
    )
    (site,) = one.sites.values()
    assert site.epilogue is not None
    assert len(site.epilogue.nests) == applied


def test_results_that_nobody_reads_are_computed_all_the_same(tmp_path: Path) -> None:
    source = NEST.format(c=UNUSED, text="C[i][j] = 3 * C[i][j];")
    scop = parse(tmp_path, source.replace("#pragma scop", "  float C[40][48];\n#pragma scop"))
    space = pipeline.space_on(scop, MACHINE, microkernel="c")
    fused = [each for each in pipeline.generate(space, max_variants=40).variants if len(each.attached) == 2]
    (site,) = space.apply(fused[0]).sites.values()
    assert site.epilogue is not None
    assert [operand.written for operand in site.epilogue.operands] == [True]


def test_what_changes_with_each_call_stays_apart_from_what_is_prepared(tmp_path: Path) -> None:
    """Sums of constant weights run once; what reads them and a bias of each call would make them run at every call."""
    text = """
void f(float C[40], const float B[32][40], const float b[40])
{
  float sums[40];
#pragma scop
  for (int j = 0; j < 40; j++)
    sums[j] = 0;
  for (int j = 0; j < 40; j++)
    for (int k = 0; k < 32; k++)
      sums[j] += B[k][j];
  for (int j = 0; j < 40; j++)
    C[j] = sums[j] * b[j];
#pragma endscop
}
"""
    scop = parse(tmp_path, text)
    for constants, last in (((), True), (("B",), False), (("B", "b"), False)):
        left = as_written(with_constants(scop, constants))
        (proposal,) = elementwise_fusions(left.scop, left.nests, left.dependences)
        assert [isinstance(each, Attach) and each.place for each in proposal.attached] == ["first", "last"][: 1 + last]

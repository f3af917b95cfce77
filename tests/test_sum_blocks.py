"""Register blocks along the sum of products by rows: where they are proposed, how large they are, what they compute."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.microkernels.amx import AMX
from polydl.variants.build_space import build_space
from polydl.variants.register_blocks import RegisterBlock
from polydl.variants.space import NestSpace
from polydl.variants.sum_blocks import FEWEST_VECTORS

ROWS = """
void f({sum} C[{m}][{n}], const {kind} A[{m}][{k}], const {kind} B[{n}][{k}]) {{
#pragma scop
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {k}; k++)
        C[i][j] += {product};
#pragma endscop
}}
"""


def rows(tmp_path: Path, product: str = "A[i][k] * B[j][k]", **sizes: int | str) -> Scop:
    usual = {"m": 40, "n": 60, "k": 512, "kind": "float", "sum": "float"}
    return parse(tmp_path, ROWS.format(**{**usual, **sizes}, product=product))


def space(scop: Scop, numerics: Numerics = "bounded", vector_bytes: int = 64) -> NestSpace:
    (found,) = pipeline.space_on(scop, machine_with(1, vector_bytes), numerics=numerics, microkernel="c").spaces
    return found


def blocks(scop: Scop, numerics: Numerics = "bounded", vector_bytes: int = 64) -> list[RegisterBlock]:
    return [shape.block for shape in space(scop, numerics, vector_bytes).shapes if shape.block is not None]


def test_vectors_run_along_the_sum_with_rows_of_both_operands_inside(tmp_path: Path) -> None:
    found = blocks(rows(tmp_path))
    assert {block.vector for block in found} == {2}
    assert {frozenset(loop for loop, _ in block.outputs) for block in found} == {frozenset({0, 1})}
    assert {block.terms for block in found} == {()}
    costs = [block.cycles_per_operation for block in found]
    assert costs == sorted(costs)


@pytest.mark.amx
def test_blocks_stand_beside_calls_that_take_rows_by_rows(tmp_path: Path) -> None:
    scop = rows(tmp_path, m=256, n=256)
    space = build_space(scop, (AMX,), machine_with(1, 64))
    (nest,) = space.spaces
    assert {shape.match.kernel if shape.match else "" for shape in nest.shapes} == {"c-amx", ""}
    assert nest.called
    assert space.reports[0].kernel == "c-amx"
    costs = [shape.cycles_per_operation for shape in nest.shapes]
    assert costs == sorted(costs)
    chosen = {choice.shape.match is None for choice in (nest.sample(Random(seed)) for seed in range(40)) if choice}
    assert chosen == {True, False}


@pytest.mark.parametrize(("vector_bytes", "registers"), [(64, 32), (32, 16)])
def test_sums_and_what_they_read_fit_into_registers(tmp_path: Path, vector_bytes: int, registers: int) -> None:
    found = blocks(rows(tmp_path), vector_bytes=vector_bytes)
    products = {size * other for block in found for (_, size), (_, other) in [block.outputs]}
    # Multiply-adds wait for each other less than the eight that run at once would.
    assert min(products) >= 8
    for block in found:
        (_, outer), (_, inner) = block.outputs
        assert outer * inner + inner + 1 < registers


def test_a_sum_is_taken_whole_or_in_pieces_that_the_first_cache_holds(tmp_path: Path) -> None:
    scop = rows(tmp_path, k=3072)
    found = blocks(scop)
    first = machine_with(1, 64).core.first_cache_bytes
    assert {block.span for block in found} > {3072}
    for block in found:
        assert 3072 % block.span == 0
        size = sum(size for _, size in block.outputs) * block.span * 4
        assert block.span == 3072 or (size <= first and block.span % 16 == 0)


def test_fewer_rows_than_a_block_has_are_taken_whole(tmp_path: Path) -> None:
    found = blocks(rows(tmp_path, m=3))
    assert found
    assert all(dict(block.outputs)[0] <= 3 for block in found)


@pytest.mark.parametrize(
    ("product", "sizes", "numerics"),
    [
        ("A[i][k] * B[j][k]", {"k": 16 * FEWEST_VECTORS - 16}, "bounded"),
        ("A[i][k] * B[j][k]", {"m": 1}, "bounded"),
        ("A[i][k] * B[j][k]", {}, "strict"),
        ("A[i][k] * B[k][j]", {"n": 512, "k": 512}, "bounded"),
        ("A[i][k] * B[j][0]", {}, "bounded"),
        ("A[i][k] * B[i][k]", {"m": 60}, "bounded"),
    ],
    ids=["short sum", "one row", "sum in order", "another layout", "one operand", "one loop shares nothing"],
)
def test_other_nests_have_none(tmp_path: Path, product: str, sizes: dict[str, int], numerics: Numerics) -> None:
    assert blocks(rows(tmp_path, product, **sizes), numerics) == []


def test_blocks_are_predicted_to_take_less_than_loops_as_they_stand(tmp_path: Path) -> None:
    scop = rows(tmp_path, m=128, n=128, k=1024)
    machine = machine_with(1, 64)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, microkernel="c")
    candidates = pipeline.candidates(scop, [each for each in variants if not each.rewrites], machine=machine)
    best = min(candidates, key=lambda candidate: candidate.cycles[0])
    # All multiply-adds, two vectors a cycle, and no more than a half besides.
    assert 1.0 < best.cycles[0] / (128 * 128 * 1024 / 16 / machine.core.fma_per_cycle) < 1.5


@pytest.mark.native
@parametrized(
    ("product", "sizes"),
    [
        ("A[i][k] * B[j][k]", {"m": 7, "n": 11, "k": 96}),
        ("A[i][k] * B[j][k]", {"m": 5, "n": 6, "k": 200, "kind": "double", "sum": "double"}),
        ("A[i][k] * B[j][k]", {"m": 9, "n": 5, "k": 333, "kind": "signed char", "sum": "int"}),
        ("(A[i][k] - B[j][k]) * (A[i][k] - B[j][k])", {"m": 9, "n": 5, "k": 128}),
    ],
    quick=1,
)
def test_blocks_compute_what_the_source_does(tmp_path: Path, product: str, sizes: dict[str, int | str]) -> None:
    scop = rows(tmp_path, product, **sizes)
    machine = machine_with(1, 32)
    variants = [
        each
        for each in pipeline.generate_variants(scop, machine=machine, max_variants=24, microkernel="c")
        if len(each.steps) > 2
    ]
    kernels = [pipeline.kernel(pipeline.apply(scop, each, machine=machine), 32) for each in variants]
    assert any("polydl_sum0_1_1" in kernel.c for kernel in kernels)
    check_kernels(tmp_path, scop, kernels)

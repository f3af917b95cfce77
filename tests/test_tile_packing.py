"""Operands packed tile by tile: the new scop, when it is refused, that generated code computes the same."""

from __future__ import annotations

from pathlib import Path

import computed
import islpy as isl
import pytest
from computed import check_kernels, separate
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Variant
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.pack_panels import PackPanels
from polydl.variants.rewrites.pack_tiles import PackTiles, far_apart, pack_tiles
from polydl.variants.rewrites.split import Split, split

PRODUCT = """
void f(float C[37][{n}], const float A[37][{k}], const float B[{k}][{n}]) {{
#pragma scop
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < {n}; j++) {{
      C[i][j] = 0.0f;
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""
SWEEP = """
void f(float A[40][32], const float B[40][32]) {
#pragma scop
  for (int t = 1; t < 40; t++)
    for (int x = 0; x < 30; x++)
      A[t][x] = A[t - 1][x + 2] + B[t][x];
#pragma endscop
}
"""


def parse(tmp_path: Path, source: str) -> Scop:
    return separate(computed.parse(tmp_path, source))


def packed(scop: Scop, shared: tuple[str, ...] = ("j_block", "k_block")) -> Scop:
    for loop, size in (("j", 4), ("j", 2), ("k", 3)):
        scop = split(scop, Split("S1", loop, size))
    own = tuple(name for name in ("j_block", "j_block_", "k_block", "k", "j") if name not in shared)
    return pack_tiles(scop, PackTiles("S1", "B", shared, own), dependences(scop))


def executed(scop: Scop) -> list[tuple[tuple[int, ...], Statement, tuple[int, ...]]]:
    """All instances of the original schedule, in their order: time, statement, iterators."""
    found = []
    for statement in scop.statements:
        isl_points: list[isl.Point] = []
        isl.Set(statement.domain).foreach_point(isl_points.append)
        points = [
            tuple(point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(statement.depth))
            for point in isl_points
        ]
        for point in points:
            time = [statement.betas[0]]
            for value, beta in zip(point, statement.betas[1:], strict=True):
                time += [value, beta]
            found.append((tuple(time), statement, point))
    return sorted(found, key=lambda instance: instance[0])


@pytest.mark.parametrize(
    "shared", [("j_block", "k_block"), ("k_block",), ("k_block", "i"), ("j_block", "i", "k_block")]
)
def test_every_product_reads_what_was_copied_last(tmp_path: Path, shared: tuple[str, ...]) -> None:
    before = parse(tmp_path, PRODUCT.format(n=8, k=6))
    scop = packed(before, shared)
    tile: dict[tuple[int, ...], tuple[int, ...]] = {}
    products = set()
    for _, statement, point in executed(scop):
        at = {
            (access.array, access.kind): tuple(form.at(point) for form in access.subscripts or ())
            for access in statement.accesses
        }
        if statement.name == "pack_B":
            tile[at["B_tile", "write"]] = at["B", "read"]
        elif statement.name == "S1":
            products.add((at["C", "write"], at["A", "read"], tile[at["B_tile", "read"]]))
    assert products == {((i, j), (i, k), (k, j)) for i in range(37) for j in range(8) for k in range(6)}
    assert len(tile) == scop.array("B_tile").elements


def test_the_buffer_has_one_dimension_per_loop_and_shares_the_outer_loops(tmp_path: Path) -> None:
    scop = packed(parse(tmp_path, PRODUCT.format(n=8, k=6)))
    assert scop.array("B_tile").extents == (2, 3, 2)
    copy, product = (nest for nest in distribute(scop, dependences(scop)) if nest.depth == 2)
    assert copy.statements == ("pack_B",)
    assert copy.prefix[:-1] == product.prefix[:-1]
    assert product.loops == ("i", "j_block_", "j", "k")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (PackTiles("S1", "C", ("i",), ("j",)), "once|written"),
        (PackTiles("S1", "B", ("k",), ("k", "j")), "each element"),
        (PackTiles("S1", "B", (), ("k", "j")), "different loops"),
        (PackTiles("S1", "B", ("l",), ("k", "j")), "different loops"),
        (PackTiles("S1", "B", ("k", "k"), ("j",)), "different loops"),
    ],
)
def test_tiles_that_make_no_sense_are_refused(tmp_path: Path, step: PackTiles, reason: str) -> None:
    scop = parse(tmp_path, PRODUCT.format(n=8, k=6))
    with pytest.raises(IllegalVariantError, match=reason):
        pack_tiles(scop, step, dependences(scop))


def test_an_order_that_breaks_a_dependence_is_refused(tmp_path: Path) -> None:
    scop = parse(tmp_path, SWEEP)
    with pytest.raises(IllegalVariantError, match="dependence"):
        pack_tiles(scop, PackTiles("S0", "B", ("x",), ("t",)), dependences(scop))


def test_the_step_survives_json() -> None:
    variant = Variant((PackTiles("S1", "B", ("j_block", "k_block"), ("k", "j")),))
    assert variant_from_json(variant.to_json()) == variant


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_variants_with_tiles_compute_the_same(tmp_path: Path, threads: int) -> None:
    scop = pipeline.parse(_written(tmp_path, PRODUCT.replace("37", "112").format(n=1536, k=1024)))
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=100, seed=4)
    found: dict[object, list[Variant]] = {}
    for variant in variants:
        if any(isinstance(step, PackTiles) for step in variant.rewrites):
            found.setdefault(variant.rewrites, []).append(variant)
    assert len(found) >= 2
    chosen = [variant for each in found.values() for variant in each[:2]]
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen]
    assert all("B_tile" in kernel.c for kernel in kernels)
    assert any("pack_B" not in kernel.c and "== 0" in kernel.c for kernel in kernels)
    check_kernels(tmp_path, scop, kernels, threads, timeout_seconds=60.0)


@pytest.mark.parametrize(("k", "whole"), [(1024, True), (4096, False)])
def test_large_operands_are_packed_by_tiles_only(tmp_path: Path, k: int, whole: bool) -> None:
    scop = pipeline.parse(_written(tmp_path, PRODUCT.replace("37", "112").format(n=1536, k=k)))
    space = pipeline.space_on(scop, machine_with(1, 64))
    kinds = {type(step) for each in space.alternatives for step in each.rewrites}
    assert PackTiles in kinds
    assert (PackPanels in kinds) == whole


@pytest.mark.parametrize(
    ("stride_bytes", "rows", "apart"),
    [(4096, 2, True), (4095, 2, False), (3072, 64, False), (3072, 128, True), (1024, 5000, False), (1088, 5000, True)],
)
def test_rows_are_far_apart_that_need_a_page_each_or_more_pages_than_the_first_table_holds(
    stride_bytes: int, rows: int, apart: bool
) -> None:
    core = machine_with(1, 32).core
    assert (core.page_bytes, core.first_tlb_entries) == (4096, 64)
    assert far_apart(stride_bytes, rows, core) == apart


@parametrized(("vector_bytes", "rows"), [(32, 32), (64, 64)], quick=1)
def test_panels_are_four_vectors_wide(tmp_path: Path, vector_bytes: int, rows: int) -> None:
    # B's rows are 3072 bytes long.
    scop = pipeline.parse(_written(tmp_path, PRODUCT.replace("37", "128").format(n=768, k=1024)))
    space = pipeline.space_on(scop, machine_with(1, vector_bytes))
    packed = [each.rewrites for each in space.alternatives if any(isinstance(s, PackTiles) for s in each.rewrites)]
    assert packed
    for steps in packed:
        assert [step.size for step in steps if isinstance(step, Split) and step.loop == "j"][-1] == rows


def _written(folder: Path, source: str) -> Path:
    path = folder / "nest.c"
    path.write_text(source)
    return path

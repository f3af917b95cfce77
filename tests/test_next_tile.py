"""Tiles copied inside the calls that use the one before: the same results, and no such copies where they can't be."""

from __future__ import annotations

import ctypes
import mmap
import random
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.ir.statement import Access
from polydl.ir.variant import Parallel, Tile, UseMicrokernel, Variant
from polydl.plan.call_sites import CallSite
from polydl.plan.next_tile import next_tile_of
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute, distributed
from polydl.variants.rewrites.pack_tiles import PackTiles, pack_tiles
from polydl.variants.rewrites.split import Split, split

PRODUCT = """
void f({element} C[{m}][{n}], const {element} A[{m}][{k}], const {element} B[{k}][{n}]) {{
#pragma scop
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++) {{
      C[i][j] = 0;
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""
SHARED = (("k_block", "j_block"), ("j_block", "k_block"))


def tiled(
    folder: Path, sizes: tuple[int, int, int], blocks: tuple[int, int], shared: tuple[str, ...], element: str = "float"
) -> Scop:
    """A product of (m, n, k) with B packed in tiles of blocks of j and k."""
    m, n, k = sizes
    path = folder / f"nest_{m}_{n}_{k}.c"
    path.write_text(PRODUCT.format(m=m, n=n, k=k, element=element))
    scop = pipeline.parse(path)
    base = distributed(scop, distribute(scop, dependences(scop)))
    assert base is not None
    for loop, size in (("j", blocks[0]), ("k", blocks[1])):
        base = split(base, Split("S1", loop, size)) if size else base
    loops = set(base.statement("S1").iterators) - set(shared)
    own = tuple(name for name in ("k_block", "j_block", "k", "j") if name in loops)
    return pack_tiles(base, PackTiles("S1", "B", shared, own), dependences(base))


def generated(scop: Scop, rows: tuple[int, ...], threads: int = 1, name: str = "c") -> KernelSource:
    """The C of a scop whose product calls the microkernel for so many rows of the output, tiled."""
    space = pipeline.space_on(scop, machine_with(threads, 64))
    product = next(nest for nest in space.nests if nest.statements == ("S1",))
    steps: list[Tile | UseMicrokernel | Parallel] = [UseMicrokernel(product.index, name, "j", "i", "k")]
    if rows:
        steps.append(Tile(product.index, "i", rows))
    if threads > 1:
        steps.append(Parallel(product.index, f"i_t{len(rows)}"))
    return pipeline.kernel(space.apply(Variant(tuple(steps))), 64)


def check(folder: Path, scop: Scop, kernel: KernelSource, threads: int = 1) -> None:
    """Run the kernel on random numbers; what it copies from ends where a page begins that nobody may read."""
    (m, n), (_, k) = scop.array("C").extents, scop.array("A").extents
    kind = np.float32 if scop.array("C").element == "float" else np.float64
    source = folder / f"{kernel.id}.c"
    source.write_text(kernel.c)
    library = source.with_suffix(".so")
    command = ["gcc", "-O1", "-march=native", "-w", "-fopenmp", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run([*command, *kernel.link_flags], check=True, timeout=60)
    random_numbers = np.random.default_rng(3)
    pages = mmap.mmap(-1, (-(-(k * n * kind().itemsize) // mmap.PAGESIZE) + 1) * mmap.PAGESIZE)
    first = np.frombuffer(pages, np.uint8)[len(pages) - mmap.PAGESIZE - k * n * kind().itemsize :]
    b = first[: k * n * kind().itemsize].view(kind).reshape(k, n)
    b[:] = random_numbers.standard_normal((k, n))
    guard = ctypes.c_void_p(np.frombuffer(pages, np.uint8).ctypes.data + len(pages) - mmap.PAGESIZE)
    assert ctypes.CDLL(None).mprotect(guard, mmap.PAGESIZE, 0) == 0
    a = random_numbers.standard_normal((m, k)).astype(kind)
    c = np.full((m, n), np.nan, kind)
    loaded = ctypes.CDLL(str(library))
    if threads > 1:
        loaded.omp_set_num_threads(threads)
    for _ in range(2):
        loaded.f(*(ctypes.c_void_p(array.ctypes.data) for array in (c, a, b)))
        np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), atol=1e-3)


Case = tuple[tuple[int, int, int], tuple[int, int], tuple[int, ...], tuple[str, ...]]


def cases(count: int) -> list[Case]:
    """Sizes (m, n, k), blocks of n and k, tiles of m, shared loops: short last tiles, broken vectors."""
    choose = random.Random(7)
    found: list[Case] = []
    for _ in range(count):
        wide, deep = choose.choice([64, 48, 40, 16, 7]), choose.choice([3, 4, 13, 32, 100])
        m = choose.randint(24, 90)
        tile = choose.choice([(), (m,), (24,), (6,), (1,), (24, 12), (12, 6)])
        sizes = m, wide * choose.randint(2, 4), deep * choose.randint(2, 4)
        found.append((sizes, (wide, deep), tuple(size for size in tile if size < m), choose.choice(SHARED)))
    return found


@pytest.mark.native
@parametrized(("sizes", "blocks", "rows", "shared"), cases(10), quick=1)
def test_the_calls_copy_all_of_the_next_tile(
    tmp_path: Path,
    sizes: tuple[int, int, int],
    blocks: tuple[int, int],
    rows: tuple[int, ...],
    shared: tuple[str, ...],
) -> None:
    scop = tiled(tmp_path, sizes, blocks, shared, "double" if sizes[0] % 2 else "float")
    kernel = generated(scop, rows)
    # Where an outer tile is shorter, calls are missing that would have had to copy.
    complete = len(rows) < 2 or sizes[0] % rows[0] == 0
    assert bool(kernel.microkernels[0].copied) == complete
    assert ("columns" in kernel.c) == complete
    check(tmp_path, scop, kernel)


@pytest.mark.slow
@pytest.mark.native
def test_threads_fill_one_buffer(tmp_path: Path) -> None:
    scop = tiled(tmp_path, (100, 256, 96), (64, 32), SHARED[0])
    kernels = [generated(scop, rows, threads=2) for rows in ((24,), (6,))]
    assert all("omp parallel for" in kernel.c for kernel in kernels)
    assert all(kernel.microkernels[0].copied for kernel in kernels)
    for kernel in kernels:
        check(tmp_path, scop, kernel, threads=2)


@pytest.mark.native
@pytest.mark.parametrize(
    ("blocks", "shared"),
    [((0, 32), ("k_block",)), ((64, 0), ("j_block",))],
)
def test_one_shared_loop_is_enough(tmp_path: Path, blocks: tuple[int, int], shared: tuple[str, ...]) -> None:
    sizes = (48, blocks[0] * 3 or 64, blocks[1] * 3 or 40)
    scop = tiled(tmp_path, sizes, blocks, shared)
    kernel = generated(scop, (12,))
    assert kernel.microkernels[0].copied
    check(tmp_path, scop, kernel)


@pytest.mark.slow
@pytest.mark.native
def test_a_microkernel_that_cannot_copy_gets_copies_made_before(tmp_path: Path) -> None:
    scop = tiled(tmp_path, (48, 128, 64), (64, 32), SHARED[0])
    kernel = generated(scop, (12,), name="libxsmm")
    assert not kernel.microkernels[0].copied
    check(tmp_path, scop, kernel)


@pytest.mark.slow
def test_few_columns_are_not_worth_it(tmp_path: Path) -> None:
    assert not generated(tiled(tmp_path, (18, 128, 64), (64, 32), SHARED[0]), (6,)).microkernels[0].copied


def site_of(scop: Scop) -> CallSite:
    space = pipeline.space_on(scop, machine_with(1, 64))
    product = next(nest for nest in space.nests if nest.statements == ("S1",))
    steps = UseMicrokernel(product.index, "c", "j", "i", "k"), Tile(product.index, "i", (12,))
    applied = space.apply(Variant(steps))
    return applied.sites[product.index]


def accessing(scop: Scop, statement: str, access: Access) -> Scop:
    """The scop with one more access in a statement."""
    changed = (replace(each, accesses=(*each.accesses, access)) if each.name == statement else each
               for each in scop.statements)  # fmt: skip
    return replace(scop, statements=tuple(changed))


def test_nothing_else_may_touch_the_buffer_or_write_what_is_copied(tmp_path: Path) -> None:
    scop = tiled(tmp_path, (48, 128, 64), (64, 32), SHARED[0])
    site = site_of(scop)
    copy = scop.statement("pack_B")
    found = next_tile_of(scop, site.plan, site.match, site.gemm, site.kernel.core)
    assert found == site.next_tile
    assert found is not None
    assert found.copy == copy.name
    to, source = copy.writes[0], copy.reads[0]
    for statement, access in (
        ("S0", replace(to, kind="read")),
        ("S0", to),
        ("pack_B", replace(to, kind="read")),
        ("S0", replace(source, kind="write")),
    ):
        assert (
            next_tile_of(accessing(scop, statement, access), site.plan, site.match, site.gemm, site.kernel.core) is None
        )
    alone = replace(scop, shared=())
    assert next_tile_of(alone, site.plan, site.match, site.gemm, site.kernel.core) is None
    on_threads = replace(scop, shared=tuple(replace(each, parallel=True) for each in scop.shared))
    assert next_tile_of(on_threads, site.plan, site.match, site.gemm, site.kernel.core) is None


def test_a_call_must_use_all_of_a_tile(tmp_path: Path) -> None:
    scop = tiled(tmp_path, (48, 128, 64), (64, 32), SHARED[0])
    site = site_of(scop)
    for changes in ({"k": (16, 16)}, {"m": (64, 32)}, {"lda": 128}, {"offsets_a": (0, 64)}, {"element": "int"}):
        changed = replace(site.gemm, **changes)
        assert next_tile_of(scop, site.plan, site.match, changed, site.kernel.core) is None

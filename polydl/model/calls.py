"""What the calls of a microkernel take, operands in the first-level cache."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from polydl.contracts import GemmShape
from polydl.contracts.first_cache import kept_block
from polydl.machine import Core
from polydl.model.same_set import same_set_cycles
from polydl.plan.call_sites import CallSite
from polydl.plan.nest_plan import ends


def call_cycles(site: CallSite, vector_elements: int, core: Core) -> float:
    """Core cycles of all calls of a site; shorter last tiles for what they are.

    ``vector_elements`` are the elements of C in a vector.
    """
    step = site.plan.microkernel
    assert step is not None
    batches = dict.fromkeys(site.gemm.batch)
    total = 0.0
    for last, shape in site.gemm.shapes():
        share = prod(_share(site, loop, end) for loop, end in zip((step.m, step.n, step.k), last, strict=True))
        shape = replace(shape, reach_b=_reach_of_b(site, shape))
        for number, batch in enumerate(batches):
            part = share * _share(site, step.batch[0], number) if len(batches) > 1 else share
            whole = replace(shape, batch=batch)
            cycles = site.kernel.predicted_cycles(whole, vector_elements)
            total += part * max(cycles, same_set_cycles(site.kernel, whole, site.element_bytes, vector_elements, core))
    return site.calls * (total + _page_cycles(site, vector_elements, core))


def _reach_of_b(site: CallSite, shape: GemmShape) -> int:
    """``GemmShape.reach_b``, where a microkernel copies operands."""
    if "copies" not in site.kernel.abilities or shape.stride_bk != 1:
        return 0
    pieces = site.gemm.pieces_of_b((shape.n - 1) * shape.stride_bn + shape.k)
    return sum(end - begin for begin, end in pieces)


def register_block(site: CallSite, vector_elements: int) -> tuple[int, int] | None:
    """Rows and columns of C that a call with full tiles keeps in registers, as the microkernel says."""
    return site.kernel.register_block(site.gemm.shapes()[0][1], vector_elements)


def _page_cycles(site: CallSite, vector_elements: int, core: Core) -> float:
    """Cycles of a call for addresses that the first table of pages has forgotten when a register block needs them.

    Each block walks through all of A's columns; where these lie on more pages than the table holds, it looks up
    each page anew, which arithmetic hides in part. A kernel that copies its operands does so panel by panel.
    """
    gemm = site.gemm
    if gemm.stride_am > gemm.lda:
        # Rows of a panel are walked through together, and no other panel has them.
        pages = gemm.m[0] * gemm.batch[0] * min(1.0, gemm.stride_am * site.element_bytes[1] / core.page_bytes)
        return pages * core.first_tlb_miss_cycles * core.exposed_page_share if pages > core.first_tlb_entries else 0.0
    columns, element_bytes = gemm.k[0] * gemm.batch[0], site.element_bytes[1]
    pages = columns * min(1.0, gemm.lda * element_bytes / core.page_bytes)
    if pages <= core.first_tlb_entries:
        return 0.0
    if "copies" in site.kernel.abilities:
        blocks = -(-gemm.m[0] // site.kernel.panel_rows(vector_elements))
    else:
        full = gemm.shapes()[0][1]
        block_rows, block_columns = kept_block(site.kernel, full, vector_elements, site.element_bytes[0], core)
        blocks = -(-gemm.m[0] // block_rows) * -(-gemm.n[0] * gemm.rows // block_columns)
    return blocks * pages * core.first_tlb_miss_cycles * core.exposed_page_share


def _share(site: CallSite, loop: str, last: int) -> float:
    """The part of a loop's tiles that are shorter last ones (1) or the others (0)."""
    full, end = ends(site.plan, loop)
    if full == end:
        return 1.0
    tiles = -(-site.plan.extent(loop) // full)
    return 1.0 / tiles if last else 1.0 - 1.0 / tiles

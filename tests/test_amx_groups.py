"""Products in tile registers of operands in groups: which shapes are taken, and what one tile product takes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gemm_sites import IN_TILES

from polydl.contracts import GemmShape
from polydl.microkernels.amx_groups import AMX_GROUPS, groups_of


def test_groups_that_fill_too_little_of_a_tile_are_left_to_others() -> None:
    usual = GemmShape("signed char", "int", 64, 64, 4, 48, lda=1, ldc=64, stride_bn=192, stride_bk=1, stride_am=4)

    def refusal(**changed: Any) -> str:
        return AMX_GROUPS.rejects(replace(usual, **changed)) or ""

    assert refusal() == ""
    assert "4 steps" in refusal(k=2)
    assert "fill a tile" in refusal(m=8)
    assert "fill a tile" in refusal(n=8)
    assert "divides the 21 groups" in refusal(batch=21)


def test_a_tile_product_takes_groups_that_are_evenly_apart() -> None:
    sixteen, eight, nine, none, *_ = [groups_of(each) for each in IN_TILES if each.element == "signed char"]
    assert (sixteen, eight, nine, none) == ((16, 256), (12, 200), (9, 64), (1, 0))

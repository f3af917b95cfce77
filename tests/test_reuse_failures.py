"""Where the analysis of working sets ends, for one schedule among many."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from nest_factory import Work, make_scop, matmul, schedule_of
from reuse_enumeration import enumerate_working_sets
from reuse_examples import CACHES, MACHINE, schedules

from polydl import generate_variants, parse
from polydl.errors import AnalysisError
from polydl.ir.schedule import Loop
from polydl.ir.variant import Tile, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.pipeline import analyze_variants, candidates
from polydl.reuse.isl import working_sets as reuse_isl
from polydl.reuse.working_sets import working_sets, working_sets_of_many

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_set_whose_last_point_isl_cannot_find() -> None:
    """isl_set_lexmax gives up on this one with an internal error; its coordinates are then found one by one."""
    work = Work("S", (("i", 1, 2), ("j", 0, 4)), (("write", "A", ("j + 2 * i - 1",)),))
    scop, [schedule] = make_scop([work]), schedules(work, ["j/4 j/2 i/3 j i/2 i"])
    expected = enumerate_working_sets([work], scop, schedule, CACHES)
    assert working_sets(scop, schedule, CACHES, method="isl") == replace(expected, method="isl")


def wheel(size: int) -> Work:
    """A nest whose footprints isl can only walk: sums and divisions that no dimension is free of."""
    return Work(
        "S",
        (("i", 0, size), ("j", 0, size), ("k", 0, size)),
        (("read", "a", ("(i + j) // 2 + (j + k) // 3 + (i + k) // 5",)), ("write", "b", ("i", "j"))),
        "i + j + k <= 40",
    )


def test_the_quota_ends_with_a_status_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    work = wheel(25)
    scop = make_scop([work])
    chosen = schedules(work, ["i j k", "k j i"])
    for operations in (100, 500, 2_000):
        monkeypatch.setattr(reuse_isl, "_nests", {})
        monkeypatch.setattr(reuse_isl, "OPERATIONS", operations)
        with pytest.raises(AnalysisError, match="operations") as caught:
            working_sets(scop, chosen[0], CACHES)
        assert caught.value.remedy
        assert (caught.value.file, caught.value.line) == (scop.file, scop.line)
    table = working_sets_of_many(scop, chosen, CACHES)
    assert sorted(table.failures) == [0, 1]
    assert table.status(1) == "failed"
    assert table.levels[1].tolist() == [0, 0, 0]
    with pytest.raises(AnalysisError, match="operations"):
        table[1]


def test_a_failure_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work("S", (("i", 0, 9), ("j", 0, 9)), (("read", "a", ("i",)), ("write", "b", ("i", "j"))), "j <= i")
    scop = make_scop([work])
    chosen = schedules(work, ["i j", "i/4 j i", "j i"])
    real = reuse_isl.IslReuse.footprint

    def footprint(self: reuse_isl.IslReuse, first: tuple[int, ...], last: tuple[int, ...]) -> tuple[int, int]:
        if len(first) == 3:
            raise AnalysisError("isl gave up")
        return real(self, first, last)

    monkeypatch.setattr(reuse_isl.IslReuse, "footprint", footprint)
    table = working_sets_of_many(scop, chosen, CACHES)
    assert sorted(table.failures) == [1]
    for row in (0, 2):
        assert table[row] == working_sets(scop, chosen[row], CACHES)


def test_a_closed_form_that_is_forced_fails_row_by_row() -> None:
    work = matmul(8, 8, 8)
    coarse = schedule_of(("S", (Loop("i", 0), Loop("j", 1), Loop("k_t4", 2, size=4))))
    table = working_sets_of_many(make_scop([work]), [coarse, *schedules(work, ["i j k"])], CACHES, method="closed-form")
    assert list(table.failures) == [0]
    assert "outside the class" in table.failures[0].message
    assert table[1].method == "closed-form"


@pytest.mark.parametrize(("failing", "left"), [((1,), (0, 2)), ((0, 2), (1,))])
def test_variants_that_cannot_be_analysed_are_left_out(
    monkeypatch: pytest.MonkeyPatch, failing: tuple[int, ...], left: tuple[int, ...]
) -> None:
    nest = parse(EXAMPLES / "matmul.c", defines={"M": "40", "N": "40", "K": "40"})
    variants = [Variant(()), Variant((Tile(0, "i", (8,)),)), Variant((Tile(0, "j", (8,)),))]
    give_up_on(monkeypatch, failing)
    assert [each.variant for each in candidates(nest, variants, machine=MACHINE)] == [variants[n] for n in left]
    give_up_on(monkeypatch, (0,))
    with pytest.raises(AnalysisError, match="gave up"):
        candidates(nest, variants[:1], machine=MACHINE)


def give_up_on(patch: pytest.MonkeyPatch, rows: tuple[int, ...]) -> None:
    def failing(*arguments: Any, **options: Any) -> Any:
        table = working_sets_of_many(*arguments, **options)
        table.failures.update(dict.fromkeys(rows, AnalysisError("isl gave up")))
        return table

    patch.setattr("polydl.reuse.variants.working_sets_of_many", failing)


@pytest.mark.slow
def test_larger_caches_never_hold_less() -> None:
    """A property of Algorithm 2 over sampled variants: what fits moves inwards as a level grows."""
    nest = parse(EXAMPLES / "matmul.c")
    variants = generate_variants(nest, machine=MACHINE, max_variants=20, seed=3)
    assert len(variants) == 20

    def memory(scale: int) -> list[int]:
        machine = MACHINE.with_cache_sizes([level.bytes * scale for level in MACHINE.caches])
        found: list[WorkingSets] = [analyze_variants(nest, [v], machine=machine)[0] for v in variants]
        return [each.memory for each in found]

    for smaller, larger in pairwise([memory(scale) for scale in (1, 2, 4)]):
        assert all(few <= many for few, many in zip(larger, smaller, strict=True))

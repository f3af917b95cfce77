"""Which variants of a ranking are run first: the parts of a whole are the whole, and a budget of runs is one of all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from computed import parse
from reuse_examples import MACHINE
from stencils import JACOBI

from polydl import pipeline
from polydl.optimization.budget import Budget
from polydl.optimization.ranked import RankedVariants, ranked_variants
from polydl.optimization.selection import Selection, chosen_picks, spending
from polydl.optimization.shards import Shard
from polydl.registry import DEFAULT_STRATEGY
from polydl.system.clock import Clock
from polydl.system.waiting import add_waited

TOP_K = 4


@pytest.fixture(scope="module")
def stencil(tmp_path_factory: pytest.TempPathFactory) -> RankedVariants:
    machine = replace(MACHINE, threads=2)
    options = pipeline.ApplyOptions(microkernel="none", numerics="bounded")
    built = pipeline.space_on(parse(tmp_path_factory.mktemp("stencil"), JACOBI), machine, **options)
    generation = pipeline.generate(built, max_variants=8, seed=0)
    ranker = pipeline.ranker_named("cost-model")
    return ranked_variants(built, generation, ranker, options, machine, clock=Clock(), progress=None)


def selection(part: Shard | None = None, limit: Budget | None = None, count: int = TOP_K) -> Selection:
    return Selection(count, False, False, False, part, limit, DEFAULT_STRATEGY, 0)


def chosen(ranked: RankedVariants, wanted: Selection) -> list[str]:
    return [each.variant.id for _, each in chosen_picks(ranked, wanted, runs=True)[1]]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_parts_of_the_picks_are_the_whole(stencil: RankedVariants, count: int) -> None:
    whole = chosen(stencil, selection())
    [alone] = stencil.by_isl_alone(stencil.first_picks(TOP_K, with_unfused=False))
    assert alone.id in whole
    parts = [chosen(stencil, selection(Shard(number, count))) for number in range(1, count + 1)]
    assert sorted(each for part in parts for each in part) == sorted(whole)


@pytest.mark.parametrize("most", [1, 3, 4, 5, 100])
@pytest.mark.parametrize("count", [TOP_K, 0])
def test_a_budget_of_runs_is_one_of_the_first_picks_too(stencil: RankedVariants, most: int, count: int) -> None:
    unlimited = chosen(stencil, selection(limit=Budget(seconds=10.0), count=count))
    assert len(chosen(stencil, selection(limit=Budget(runs=most), count=count))) == min(most, len(unlimited))


def test_a_budget_is_not_spent_while_others_use_the_machine() -> None:
    clock = Clock(started=0.0)
    plain, earlier = spending(clock, None), spending(clock, Budget(seconds=10.0, before=3.0))
    first = plain()
    assert first > 0.0
    add_waited(1e6)
    assert plain() < first - 1e5
    before, both, after = plain(), earlier(), plain()
    assert before + 3.0 <= both <= after + 3.0


def test_what_was_waited_for_before_is_not_taken_off() -> None:
    add_waited(1e6)
    assert spending(Clock(), None)() >= 0.0

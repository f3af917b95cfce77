"""Search strategies over spaces of which everything is known, without a compiler."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from chance import SEARCHES, shares_by_lot
from marks import parametrized
from recorded_space import best, bounded, landscape, measured
from reuse_examples import MACHINE

from polydl import pipeline, registry
from polydl.contracts.search import Strategy, Trial
from polydl.errors import AnalysisError, OptionError
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Tile, Variant
from polydl.learning.recorded_space import RecordedSpace, Row, RowsNode, named_steps, rows_of, searched
from polydl.learning.samples import machines_beside, measured_nests, read_records
from polydl.optimization.budget import MOST_IN_VAIN, Budget, expected_gain
from polydl.optimization.ranked import RankedVariants, ranked_variants
from polydl.optimization.search_space import RankedSpace
from polydl.plan.apply import Applied
from polydl.reuse.variants import AnalysedVariants, working_sets_of_variants
from polydl.system.clock import Clock
from polydl.variants.search.bound import BOUND
from polydl.variants.search.evolutionary import inherited
from polydl.variants.search.threshold_ascent import BOUND_TAG, upper_bound
from polydl.variants.search.walk import walked

NAMES = registry.names("strategies")
ROWS = {seed: landscape(seed) for seed in range(4)}
OPTIMUM = {seed: min(row.seconds for row in rows if row.seconds is not None) for seed, rows in ROWS.items()}


def strategy(name: str) -> Strategy:
    found: Strategy = registry.load("strategies", name)
    return found


def space(seed: int, ranked: int = 60) -> RecordedSpace:
    return bounded(ROWS[seed], ranked, seed, lambda row: 0.5 * (row.seconds or math.inf))


@pytest.mark.parametrize("name", NAMES)
def test_a_search_proposes_nothing_twice_and_all_at_last(name: str) -> None:
    rows = ROWS[0][::8]
    few = bounded(rows, 10, 0, lambda row: 0.0)
    trials = measured(strategy(name).begin(few, seed=0), few, len(rows) + 10)
    assert len({trial.variant.id for trial in trials}) == len(trials)
    assert len(trials) >= 0.9 * len(rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_search(name: str) -> None:
    one, other = (measured(strategy(name).begin(each, seed=3), each, 40) for each in (space(1), space(1)))
    assert len(one) == 40
    assert one == other


@parametrized("name", [name for name in NAMES if name != "random"], quick=2)
def test_every_strategy_beats_1000_that_search_by_lot(name: str) -> None:
    """By the share of the best after 30 measurements, over a few spaces and seeds."""
    by_lot = shares_by_lot([space(seed) for seed in ROWS for _ in range(3)], 30)
    assert len(by_lot) == SEARCHES
    assert share_after_30(name) > by_lot.max()


def test_random_searches_by_lot() -> None:
    by_lot = shares_by_lot([space(seed) for seed in ROWS for _ in range(3)], 30)
    assert by_lot.min() < share_after_30("random") < by_lot.max()


def share_after_30(name: str) -> float:
    shares = []
    for seed in ROWS:
        for repeat in range(3):
            each = space(seed)
            trials = measured(strategy(name).begin(each, seed=repeat), each, 30)
            shares.append(OPTIMUM[seed] / best(trials))
    return statistics.mean(shares)


def test_ranked_learns_which_kinds_were_predicted_too_fast() -> None:
    """Trials move all of their kind: here each variant is a kind of its own, and the order is kept."""
    each = space(0)
    search = strategy("ranked").begin(each, seed=0)
    first = search.propose(5)
    predicted = each.predicted(first)
    assert list(predicted) == sorted(predicted)
    assert max(predicted) <= statistics.median(row.predicted for row in ROWS[0])


# ---- budgets


def test_budgets_as_they_are_written() -> None:
    assert Budget.parse("30s") == Budget(seconds=30)
    assert Budget.parse("1.5m") == Budget(seconds=90)
    assert Budget.parse("200runs") == Budget(runs=200)
    assert Budget.parse("1run") == Budget.parse("1 runs") == Budget(runs=1)
    assert Budget.parse("5%") == Budget(gain=0.05)


@pytest.mark.parametrize("text", ["", "30", "0s", "-5%", "5 percent", "30sec", "1e3s", "nans"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="is no budget") as raised:
        Budget.parse(text)
    assert "200runs" in (raised.value.remedy or "")


@pytest.mark.parametrize(("text", "whole"), [("1.5runs", "2runs"), ("0.5 run", "1runs"), ("3.0runs", "3runs")])
def test_runs_are_whole(text: str, whole: str) -> None:
    with pytest.raises(OptionError, match="part of a run") as raised:
        Budget.parse(text)
    assert (raised.value.remedy or "").endswith(whole)
    assert Budget.parse(whole).runs == int(whole.removesuffix("runs"))


def test_nothing_gains_the_whole_time() -> None:
    assert Budget.parse("99.5%") == Budget(gain=0.995)
    for text in ("100%", "500%"):
        with pytest.raises(OptionError, match="is the whole time or more"):
            Budget.parse(text)


def test_a_budget_is_spent_by_seconds_runs_or_when_little_is_to_be_gained() -> None:
    times = [1.0 + 0.001 * place for place in range(12)]
    assert not Budget(seconds=5).spent(4.9, times)
    assert Budget(seconds=5).spent(5.0, times)
    assert Budget(runs=12).spent(0.0, times)
    assert not Budget(runs=13).spent(0.0, times)
    assert Budget(gain=0.05).spent(0.0, times)
    assert not Budget(gain=0.05).spent(0.0, times[:5]), "of so few, nothing is expected"
    assert not Budget(gain=0.05).spent(0.0, [0.5, *times]), "the best is far ahead of the others"


@pytest.mark.parametrize("passed", [[], [1.0]])
def test_a_budget_for_a_gain_ends_where_hardly_anything_passes(passed: list[float | None]) -> None:
    vain: list[float | None] = [None] * (MOST_IN_VAIN - len(passed))
    assert not Budget(gain=0.05).spent(0.0, [*passed, *vain[1:]])
    assert Budget(gain=0.05).spent(0.0, [*passed, *vain])


def test_the_expected_gain_is_that_of_doubling_the_runs() -> None:
    """In the mean over many samples, though too much rather than too little."""
    chance = random.Random(0)
    gained, expected = [], []
    for _ in range(400):
        times = [math.exp(chance.gauss(0, 0.3)) for _ in range(40)]
        gained.append(1 - min(times) / min(times[:20]))
        expected.append(expected_gain(times[:20]))
    assert statistics.mean(gained) <= statistics.mean(expected) <= 2 * statistics.mean(gained)
    assert expected_gain([1.0, None]) == 1.0
    assert expected_gain([1.0, 1.0, None, 1.0]) == 0.0


# ---- what each strategy is known for


def test_bound_proves_the_best_where_the_bound_is_close() -> None:
    tight = bounded(ROWS[0], 60, 0, lambda row: 0.97 * (row.seconds or math.inf))
    search = BOUND.begin(tight, seed=0)
    assert search.gap == 1.0
    trials = measured(search, tight, 200)
    assert best(trials) <= OPTIMUM[0] / 0.97
    assert search.gap == 0.0
    assert search.pruned > 0
    assert search.opened < len(ROWS[0]) / 4


def test_a_loose_bound_leaves_a_gap_that_says_so() -> None:
    loose = bounded(ROWS[0], 60, 0, lambda row: 0.1 * OPTIMUM[0])
    search = BOUND.begin(loose, seed=0)
    trials = measured(search, loose, 30)
    assert search.gap == pytest.approx(1 - 0.1 * OPTIMUM[0] / best(trials))


def test_what_was_opened_and_waits_may_still_be_faster() -> None:
    few = bounded(ROWS[0][::40], 0, 0, lambda row: 0.1 * OPTIMUM[0])
    search = BOUND.begin(few, seed=0)
    trials = measured(search, few, 5)
    assert search.gap == pytest.approx(1 - 0.1 * OPTIMUM[0] / best(trials))
    trials += measured(search, few, 100)
    assert len(trials) == len(ROWS[0][::40])
    assert search.gap == 0.0


def test_what_was_proposed_and_not_measured_may_still_be_faster() -> None:
    few = bounded(ROWS[0][::40], 0, 0, lambda row: 0.1 * OPTIMUM[0])
    search = BOUND.begin(few, seed=0)
    trials = measured(search, few, 5)
    while search.propose(8):
        pass
    assert search.gap == pytest.approx(1 - 0.1 * OPTIMUM[0] / best(trials))


def test_threshold_ascent_goes_where_the_fastest_are() -> None:
    """All that is fast has one shape, which is measured more often than any other, though the bound says nothing."""
    each = bounded(ROWS[2], 0, 0, lambda row: 0.0)
    search = BOUND_TAG.begin(each, seed=0)
    times = {row.variant.id: 1.0 if row.values["shape"] == 3 else 2.0 for row in ROWS[2]}
    search.told([Trial(row.variant, times[row.variant.id]) for row in ROWS[2][::9]])
    chosen: list[Variant] = []
    for _ in range(12):
        proposed = search.propose(5)
        search.told([Trial(variant, times[variant.id]) for variant in proposed])
        chosen += proposed
    assert len(chosen) == 60
    counts = Counter(each.decisions(variant)["shape"] for variant in chosen)
    assert all(counts[3] > 1.5 * counts[shape] for shape in range(6) if shape != 3)
    assert len(counts) > 1, "others are tried again at times"


def test_threshold_ascent_prunes_what_the_bound_excludes() -> None:
    tight = bounded(ROWS[0], 60, 0, lambda row: 0.97 * (row.seconds or math.inf))
    search = BOUND_TAG.begin(tight, seed=0)
    trials = measured(search, tight, 200)
    assert best(trials) <= OPTIMUM[0] / 0.97
    assert search.opened < len(ROWS[0]) / 4


def test_threshold_ascent_tries_what_may_be_best() -> None:
    """The upper bound of a part of variants: what was never tried comes first, then what is fast, or little known."""
    assert upper_bound(0, 0, 1.0) == math.inf
    assert upper_bound(5, 10, 1.0) > upper_bound(4, 10, 1.0) > upper_bound(4, 20, 1.0) > 4 / 20
    assert upper_bound(0, 1, 3.0) > upper_bound(5, 10, 3.0), "one that was slow says little"


def test_of_a_bucket_of_many_variants_few_are_looked_at() -> None:
    """One structure has nearly all variants, and is expected to be the fastest; the others are measured, too."""
    rows = [
        Row(
            Variant((Tile(0, "i", (number + 1,)),)), {"a": max(0, number - 120), "b": 0, "c": number}, 1.0 + number, 1.0
        )
        for number in range(128)
    ]
    crowded = bounded(rows, 128, 0, lambda row: 0.0)
    chosen = strategy("hierarchical").begin(crowded, seed=0).propose(14)
    structures = {crowded.decisions(variant)["a"] for variant in chosen}
    assert structures == set(range(8))
    assert len(chosen) == 7 + 7, "log2 of 121, and each of those that are alone"


def test_generative_draws_what_was_fast() -> None:
    """All that is measured fast has one value; distributions lean to it, and to no value alone."""
    each = space(2, ranked=0)
    search = strategy("generative").begin(each, seed=0)
    shape = "shape"
    search.told([Trial(row.variant, 1.0 if row.values[shape] == 3 else 2.0) for row in ROWS[2][::9]])
    chosen = [each.decisions(variant)[shape] for _ in range(4) for variant in search.propose(10)]
    assert chosen.count(3) > len(chosen) / 2


def test_children_take_after_their_parents() -> None:
    weights = inherited({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ones, both = weights("a", [1, 2]), weights("b", [2, 3, 4])
    assert ones[0] > 10 * ones[1] > 0
    assert both[0] == both[1] > 10 * both[2] > 0


# ---- in a space of loops


SOURCE = """
void f(float C[48][24], const float A[48][32], const float B[32][24])
{
#pragma scop
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Scop:
    path = tmp_path_factory.mktemp("product") / "nest.c"
    path.write_text(SOURCE)
    return pipeline.parse(path)


def ranked_space(scop: Scop) -> RankedSpace:
    return RankedSpace(ranked_of(scop))


def ranked_of(scop: Scop) -> RankedVariants:
    machine = replace(MACHINE, threads=2)
    options = pipeline.ApplyOptions(microkernel="c", numerics="bounded")
    built = pipeline.space_on(scop, machine, **options)
    generation = pipeline.generate(built, max_variants=30, seed=0)
    ranker = pipeline.ranker_named("cost-model")
    return ranked_variants(built, generation, ranker, options, machine, clock=Clock(), progress=None)


def test_what_isl_gives_up_on_joins_no_ranking_and_is_not_explained(
    product: Scop, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = ranked_of(product)
    first, other = (entry.variant for entry in each.ranking.entries[:2])
    few = replace(each, ranking=replace(each.ranking, entries=each.ranking.entries[:1]))

    def given_up(variants: Sequence[Variant], applied: Sequence[Applied], caches: Sequence[int]) -> AnalysedVariants:
        wrong = [number for number, variant in enumerate(variants) if variant == other]
        failures = {number: AnalysisError("isl gave up") for number in wrong}
        monkeypatch.setattr(AnalysedVariants, "failures", failures)
        return working_sets_of_variants(variants, applied, caches)

    monkeypatch.setattr(pipeline, "working_sets_of_variants", given_up)
    assert few.including([other]) is few
    with pytest.raises(AnalysisError, match="isl gave up"):
        pipeline.explain(product, first, other, machine=each.machine, **each.options)


def test_walks_end_at_legal_variants_whose_decisions_are_known(product: Scop) -> None:
    each = ranked_space(product)
    generator = random.Random(0)
    walks = [found for _ in range(20) if (found := walked(each.root, generator)) is not None]
    assert len(walks) == 20
    for found in walks:
        node = each.root
        bounds = [node.least_seconds()]
        for name, value in found.values.items():
            if name in node.undecided:
                narrower = node.take(name, value)
                assert narrower is not None
                node = narrower
                bounds.append(node.least_seconds())
        assert bounds == sorted(bounds), "never lower once more is decided"
        assert node.variant() == found.variant
        each.root.alternatives[0].space.apply(found.variant).prove()
    for variant in each.ranked[:5]:
        assert set(each.decisions(variant)) == set(walks[0].values) or each.root.undecided == ("rewrites",)


@parametrized("name", NAMES, quick=1)
def test_strategies_search_loops(name: str, product: Scop) -> None:
    """Here every variant takes what the cost model says."""
    each = ranked_space(product)
    search = strategy(name).begin(each, seed=0)
    known: dict[str, float] = {}
    batch = list(each.ranked[:4])
    for _ in range(4):
        assert batch
        assert not known.keys() & {variant.id for variant in batch}
        seconds = each.predicted(batch)
        known.update(zip((variant.id for variant in batch), seconds, strict=True))
        search.told([Trial(variant, taken) for variant, taken in zip(batch, seconds, strict=True)])
        batch = list(search.propose(4))
    assert len(each.ranking.entries) >= 30


# ---- replayed


def test_steps_of_variants_become_decisions_that_each_of_them_has() -> None:
    tiled = Variant((Tile(0, "i", (8,)), Interchange(0, ("i", "j"))))
    plain = Variant((Interchange(0, ("j", "i")),))
    one, other = named_steps([tiled, plain])
    assert list(one) == list(other) == ["rewrites", "0 tile i", "0 interchange"]
    assert one["0 tile i"] == Tile(0, "i", (8,))
    assert other["0 tile i"] is None


def test_the_best_time_of_a_replayed_search_never_rises() -> None:
    times = searched(RowsNode(tuple(ROWS[1])), strategy("ranked"), seed=0, runs=23)
    assert len(times) == 23
    assert times == sorted(times, reverse=True)


def test_recorded_nests_are_searched_as_they_were_measured() -> None:
    source = Path(__file__).parents[1] / "experiments" / "data" / "ranking" / "records.jsonl.xz"
    nest = measured_nests(islice(read_records(source), 100), {}, machines_beside(source))[0]
    rows = rows_of(nest, pipeline.ranker_named("cost-model"))
    assert len(rows) >= 40
    assert [row.seconds for row in rows] == list(nest.seconds)
    assert all(row.least < (row.seconds or 0.0) for row in rows), "a bound is one"
    for name in NAMES:
        times = searched(RowsNode(tuple(rows)), strategy(name), seed=0, runs=len(rows))
        assert times[-1] == pytest.approx(min(nest.seconds), rel=0.1), name

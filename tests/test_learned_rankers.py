"""Networks, tournaments, features and weights; what is learned is learned from measurements in tests/data."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from chance import pairs_by_lot, tops_by_lot
from marks import parametrized
from measured import MACHINE, NESTS, SOURCE

from polydl import registry
from polydl.contracts.ranking import MeasuredNest
from polydl.errors import WeightsError
from polydl.ir.families import OPERANDS, SCHEDULING
from polydl.learning.evaluation import judge
from polydl.learning.metrics import geomean, random_quality
from polydl.learning.samples import groups_of_workloads, machines_beside, measured_nests, read_records
from polydl.model.times import nest_times, predicted_times
from polydl.ranking import features
from polydl.ranking.bound import lower_bounds
from polydl.ranking.cost_model import COST_MODEL
from polydl.ranking.explanation import explain
from polydl.ranking.learned import DNN, DNN_PAPER, REGRESSION, SHARPNESS, UtilityTournament
from polydl.ranking.network import Network, Weights, load, network_of, scale
from polydl.ranking.tournament import BEST, EVERYONE, THRESHOLD, wins
from polydl.ranking.training import _scaling

PARTS = ("total", "arithmetic")
PAPER_SIZES = (8, 64, 32, 16, 8, 2)


def random_network(seed: int = 0) -> Network:
    generator = np.random.default_rng(seed)
    pairs = list(itertools.pairwise(PAPER_SIZES))
    arrays = [(generator.normal(size=(i, o)) / np.sqrt(i), generator.normal(size=o)) for i, o in pairs]
    return network_of(arrays, ["relu", "relu", "softsign", "relu", "linear"])


def random_sets(count: int, seed: int = 1) -> features.Matrix:
    return (10 ** np.random.default_rng(seed).uniform(2, 8, (count, 4))).astype(np.float32)


def chances(network: Network, first: features.Matrix, second: features.Matrix) -> tuple[float, float]:
    """The paper's game, written out for one pair in double precision."""
    values = np.concatenate([first, second]).astype(np.float64)
    values = values / values.sum()
    for number, layer in enumerate(network.layers):
        values = values @ layer.weights.astype(np.float64) + layer.bias
        if number in (0, 1, 3):
            values = np.maximum(values, 0)
        elif number == 2:
            values = values / (1 + np.abs(values))
    powers = np.exp(values - values.max())
    one, two = powers / powers.sum()
    return float(one), float(two)


def test_the_tournament_plays_every_game_of_the_paper() -> None:
    network, sets = random_network(), random_sets(40)
    expected = [0] * len(sets)
    order = np.argsort(sets.sum(axis=1))
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            chance_one, chance_other = chances(network, sets[one], sets[other])
            expected[one] += chance_one > THRESHOLD
            expected[other] += chance_other > THRESHOLD
    assert wins(network, sets).tolist() == expected
    assert 0 < sum(expected) < 40 * 39 / 2, "some games are draws"


def test_the_tournament_does_not_depend_on_the_order_and_equals_win_the_same() -> None:
    network, sets = random_network(), random_sets(60)
    sets[30] = sets[7]
    won = wins(network, sets)
    shuffled = np.random.default_rng(2).permutation(60)
    assert (wins(network, sets[shuffled]) == won[shuffled]).all()
    assert won[30] == won[7]


def test_the_best_of_a_large_tournament_play_everyone_among_themselves() -> None:
    network, sets = random_network(), random_sets(EVERYONE + 200)
    won = wins(network, sets)
    best = np.argsort(-won, kind="stable")[:BEST]
    among_themselves = wins(network, sets[best])
    assert np.ptp(won[best] - among_themselves) <= np.ptp(np.delete(won, best)) + 70
    assert won[best].min() > np.delete(won, best).max()


def utilities(seed: int = 0) -> Weights:
    generator = np.random.default_rng(seed)
    sizes = (len(features.RICH_NAMES), 8, 1)
    pairs = list(itertools.pairwise(sizes))
    network = network_of([(generator.normal(size=p), generator.normal(size=p[1])) for p in pairs], ["relu", "linear"])
    ones = np.ones(sizes[0], np.float32)
    return Weights("dnn", features.RICH, (network,), 0 * ones, 10 * ones, {"seed": seed})


def test_wins_by_rating_are_those_of_all_games() -> None:
    ranker = UtilityTournament(given=utilities())
    candidates = NESTS[0].candidates
    ratings = ranker.ratings(candidates, MACHINE)
    expected = []
    for one in ratings:
        chance = [1 / (1 + np.exp(-SHARPNESS * (one - other))) for other in ratings]
        expected.append(sum(each > THRESHOLD for each in chance))
    assert ranker.wins(candidates, MACHINE) == tuple(expected)
    order = [entry.variant.id for entry in ranker.rank(candidates, MACHINE).entries]
    ids = [candidate.variant.id for candidate in candidates]
    assert [expected[ids.index(each)] for each in order] == sorted(expected, reverse=True)


def test_variants_without_a_microkernel_stay_where_the_cost_model_sees_them() -> None:
    some = NESTS[0].candidates[:6]
    plain = [replace(candidate, microkernels=()) for candidate in some]
    predicted = features.rich(plain, MACHINE)[:, features.PREDICTED]
    assert DNN.ratings(plain, MACHINE) == pytest.approx((-predicted).tolist(), abs=1e-6)
    assert DNN.ratings(some, MACHINE) != pytest.approx((-predicted).tolist(), abs=1e-3)
    seconds = {entry.variant.id: entry.score for entry in DNN.rank(plain, MACHINE).entries}
    for candidate in plain:
        expected = sum(time.total for time in nest_times(candidate, MACHINE))
        assert seconds[candidate.variant.id] == pytest.approx(expected, rel=1e-4)


def test_the_shipped_weights_know_all_families_but_two() -> None:
    families = {family for name in registry.GROUPS["rewrites"] for family in registry.load("rewrites", name).families}
    assert families - set(DNN.weights.rewrites) == {OPERANDS, SCHEDULING}


def test_rewrites_that_training_did_not_see_are_taken_to_be_as_well_predicted_as_the_best() -> None:
    some = NESTS[0].candidates[:20]
    predicted = features.rich(some, MACHINE)[:, features.PREDICTED]
    corrections = np.array(DNN.ratings(some, MACHINE)) + predicted
    strange = (*some[:-1], replace(some[-1], families=frozenset({"layout", "of a plug-in"})))
    best = np.argsort(predicted[:-1], kind="stable")[:10]
    corrections[-1] = corrections[best].mean()
    assert DNN.ratings(strange, MACHINE) == pytest.approx((corrections - predicted).tolist(), abs=1e-5)


def test_how_threads_share_the_work_is_left_to_the_cost_model() -> None:
    nest = NESTS[0]
    several = replace(MACHINE, cores=4, threads=4)
    alone, together = (np.array(DNN.ratings(nest.candidates, machine)) for machine in (MACHINE, several))
    predicted = [features.predicted(nest.candidates, machine) for machine in (MACHINE, several)]
    assert not np.allclose(predicted[0], predicted[1])
    assert alone + predicted[0] == pytest.approx(together + predicted[1], abs=1e-5)


def test_weights_come_back_as_they_were(tmp_path: Path) -> None:
    weights = utilities()
    (tmp_path / "one.npz").write_bytes(weights.to_bytes())
    assert weights.to_bytes() == (tmp_path / "one.npz").read_bytes()
    found = load(tmp_path / "one.npz", kind="dnn", features=features.RICH)
    seen = features.rich(NESTS[0].candidates, MACHINE)
    assert (found(seen) == weights(seen)).all()
    assert found.card == {"seed": 0}


def test_weights_of_other_features_or_rankers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    path.write_bytes(utilities().to_bytes())
    with pytest.raises(WeightsError, match="trained on the features"):
        load(path, kind="dnn", features="rich 0")
    with pytest.raises(WeightsError, match="not of 'regression'"):
        load(path, kind="regression", features=features.RICH)
    with np.load(path) as file:
        np.savez(tmp_path / "no bias.npz", **{name: file[name] for name in file.files if name != "bias_0_1"})
    np.save(tmp_path / "no archive.npy", np.zeros(3))
    (tmp_path / "empty.npz").touch()
    path.write_bytes(path.read_bytes()[:100])
    for broken in (path, *(tmp_path / name for name in ("nowhere.npz", "no bias.npz", "no archive.npy", "empty.npz"))):
        with pytest.raises(WeightsError, match="polydl train --ranker dnn"):
            load(broken, kind="dnn", features=features.RICH)


@parametrized("name", registry.names("trainers"), quick=1)
def test_shipped_weights_say_where_they_come_from_and_rank(name: str) -> None:
    ranker = registry.load("rankers", name)
    card = ranker.weights.card
    assert card["ranker"] == name
    assert card["data"]["nests"] >= 60
    assert all(machine["cpu"] for machine in card["machines"])
    for nest in NESTS:
        ranking = ranker.rank(nest.candidates, MACHINE)
        assert {entry.variant for entry in ranking.entries} == {each.variant for each in nest.candidates}
        again = ranker.rank(nest.candidates[::-1], MACHINE)
        assert [entry.variant for entry in again.entries] == [entry.variant for entry in ranking.entries]
    assert ranker.rank([], MACHINE).entries == ()


@lru_cache
def held_out(sources: tuple[str, ...], groups: tuple[str, ...]) -> tuple[MeasuredNest, ...]:
    """The nests of these groups, by the names of the files with their records."""
    known = groups_of_workloads()
    nests: list[MeasuredNest] = []
    for source in (SOURCE.parent / name for name in sources):
        records = [each for each in read_records(source) if known.get(each.workload or "", each.workload) in groups]
        nests += measured_nests(records, known, machines_beside(source))
    assert len(nests) >= 30
    return tuple(nests)


@lru_cache
def best_by_lot(nests: tuple[MeasuredNest, ...]) -> tuple[float, float]:
    """The largest tau, and the best performance of the first variant; without ties, tau says the same as pairs do."""
    return 2 * float(pairs_by_lot(nests).max()) - 1, float(tops_by_lot(nests).max())


@pytest.mark.slow
def test_scores_of_shipped_weights_are_beyond_chance() -> None:
    """On nests that training did not see. One pick of each says less of a ranker than its order of all."""
    for name in registry.names("trainers"):
        card = registry.load("rankers", name).weights.card
        nests = held_out(tuple(card["data"]["sources"]), tuple(card["split"]["held_out"]))
        tau, top = best_by_lot(nests)
        assert card["scores"]["tau"] > tau, name
        if name == DNN.name:
            assert card["scores"]["top 1"] > top


def test_rankers_do_better_than_1000_that_order_by_lot() -> None:
    by_lot = tops_by_lot(NESTS)
    assert len(by_lot) == 1000
    # The mean performance, which is above that of a usual ranker, and below that of the luckiest.
    assert by_lot.mean() < geomean([random_quality(nest.seconds).top[0] for nest in NESTS]) < by_lot.max()
    for ranker in (DNN, REGRESSION, COST_MODEL):
        assert geomean([judge(ranker, nest).top[0] for nest in NESTS]) > by_lot.max()


def test_no_recorded_variant_is_faster_than_its_bound() -> None:
    shares = []
    for nest in NESTS:
        for bound, seconds in zip(lower_bounds(nest.candidates, MACHINE), nest.seconds, strict=True):
            assert 0 < bound <= seconds, nest.name
            shares.append(bound / seconds)
    assert max(shares) > 0.5, "a bound far below everything would be of no use"


def test_a_bound_counts_whole_vectors_and_the_busiest_thread() -> None:
    nest = next(nest for nest in NESTS if nest.candidates[0].microkernels)
    candidate = nest.candidates[0]
    use = replace(candidate.microkernels[0], nest=0)
    calls = 10
    flops = 2 * use.m * use.n * use.k * use.batch * calls
    plain = replace(candidate, microkernels=(use,), calls=(calls,), flops=flops, parallel_iterations=(1,))
    odd = replace(use, m=use.m - 15)
    ragged = replace(plain, microkernels=(odd,), flops=flops // use.m * odd.m)
    assert use.m % 16 == 0
    assert lower_bounds([ragged], MACHINE) == pytest.approx(lower_bounds([plain], MACHINE))
    two = replace(MACHINE, cores=2, threads=2)
    halved = [replace(plain, parallel_iterations=(count,)) for count in (2, 3)]
    bounds = lower_bounds([plain, *halved], two)
    assert np.array(bounds) / bounds[0] == pytest.approx([1, 1 / 2, 2 / 3])


def test_features_have_a_row_each_and_are_finite() -> None:
    assert NESTS
    for nest in NESTS:
        rows = features.rich(nest.candidates, MACHINE)
        assert rows.shape == (len(nest.candidates), len(features.RICH_NAMES))
        assert np.isfinite(rows).all()
        plain = features.parameters(nest.candidates, MACHINE)
        assert plain.shape == (len(nest.candidates), len(features.PARAMETER_NAMES))
        assert (plain >= 0).all()
        sets = features.working_sets(nest.candidates)
        assert sets[:, :3] == pytest.approx(np.array([c.working_sets.levels for c in nest.candidates]), rel=1e-6)


def test_what_is_seen_of_a_candidate_does_not_depend_on_the_others() -> None:
    assert NESTS
    for nest in NESTS[::9]:
        some = nest.candidates[::5]
        assert some
        together, times = features.rich(some, MACHINE), predicted_times(some, MACHINE)
        for place, candidate in enumerate(some):
            assert (features.rich([candidate], MACHINE)[0] == together[place]).all()
            assert times.of(place) == nest_times(candidate, MACHINE)
        predicted = [sum(time.total for time in nest_times(each, MACHINE)) for each in some]
        assert times.summed(times.total) == pytest.approx(predicted, rel=1e-12)
        scores = {entry.variant: entry.score for entry in DNN.rank(some, MACHINE).entries}
        alone = [entry.score for each in some for entry in DNN.rank([each], MACHINE).entries]
        assert [scores[each.variant] for each in some] == pytest.approx(alone, rel=1e-5)


def test_features_count_what_they_name() -> None:
    column = {name: number for number, name in enumerate(features.RICH_NAMES)}
    nest = next(nest for nest in NESTS if nest.name == "gemm_128x2048x4096")
    for candidate in nest.candidates[::4]:
        use = features.heaviest_use(candidate)
        assert use is not None
        seen = features.rich([candidate], MACHINE)[0]
        elements = {i * use.stride_bn + j * use.stride_bk for i in range(use.n) for j in range(use.k)}
        assert seen[column["shared B"]] == pytest.approx(np.log2(use.n * use.k / len(elements)), abs=1e-6)
        # Columns of C begin with a line.
        lines = {(j * use.ldc * 4 + i * 4) // 64 for j in range(use.n * use.rows) for i in range(use.m)}
        held = Counter(line % (4096 // 64) for line in lines)
        assert seen[column["C lines per set of L1"]] == pytest.approx(np.log2(len(lines) / len(held)), abs=1e-6)
        total, arithmetic = (sum(getattr(time, part) for time in nest_times(candidate, MACHINE)) for part in PARTS)
        ideal = candidate.flops / (MACHINE.peak_gflops * 1e9)
        assert seen[column["predicted"]] == pytest.approx(np.log(total / ideal), rel=1e-5)
        assert seen[column["arithmetic"]] == pytest.approx(np.log(arithmetic / ideal), rel=1e-5)
        assert seen[column["calls"]] == pytest.approx(np.log(candidate.calls[use.nest]), rel=1e-5)


def test_machines_may_have_fewer_or_more_caches() -> None:
    for count in (1, 2, 3, 4):
        outermost = replace(MACHINE.caches[-1], name="L4", bytes=2 * MACHINE.caches[-1].bytes)
        machine = replace(MACHINE, caches=(*MACHINE.caches, outermost)[:count], total_bandwidths=())
        some = []
        for each in NESTS[0].candidates[:5]:
            levels, traffic = (*each.working_sets.levels, 0)[:count], each.traffic
            sets = replace(each.working_sets, levels=levels)
            moved = tuple((*own, own[-1])[:count] for own in traffic)
            some.append(replace(each, working_sets=sets, traffic=moved))
        for ranker in (COST_MODEL, DNN, DNN_PAPER, REGRESSION):
            assert len(ranker.rank(some, machine).entries) == 5


def test_further_caches_count_as_memory_does() -> None:
    outermost = replace(MACHINE.caches[-1], name="L4", bytes=2 * MACHINE.caches[-1].bytes)
    four = replace(MACHINE, caches=(*MACHINE.caches, outermost), total_bandwidths=())
    candidate = NESTS[0].candidates[0]
    held = (*candidate.working_sets.levels, 10**9)
    traffic = tuple((*moved, moved[-1]) for moved in candidate.traffic)
    further = replace(candidate, working_sets=replace(candidate.working_sets, levels=held), traffic=traffic)
    column = features.RICH_NAMES.index("held by memory")
    expected = np.log1p((10**9 + candidate.working_sets.memory) / MACHINE.caches[-1].bytes)
    assert features.rich([further], four)[0, column] == pytest.approx(expected)


@pytest.mark.parametrize("value", [np.log1p(1.0), 0.1, 3.0, 0.0])
def test_of_what_never_changes_nothing_is_learned(value: float) -> None:
    rows = np.full((9671, 2), value, np.float32)
    rows[:, 1] = np.arange(len(rows)) % 7
    mean, deviation = _scaling(rows)
    other = np.array([[value, 0], [0.7, 3], [-9.0, 6]], np.float32)
    scaled = scale(other, mean, deviation)
    assert (scaled[:, 0] == 0.0).all()
    assert scaled[:, 1] == pytest.approx([-1.5, 0.0, 1.5], abs=1e-3)


def test_shipped_weights_take_features_that_never_changed_as_nothing() -> None:
    """All data is of one thread: no parallel loop changes what is predicted."""
    alone = features.parameters(NESTS[0].candidates, MACHINE)
    two = alone.copy()
    two[:, features.PARAMETER_NAMES.index("iterations")] = 64.0
    two[:, features.PARAMETER_NAMES.index("share of the busiest thread")] = 0.5
    predicted = [REGRESSION.weights(np.log1p(rows).astype(np.float32)) for rows in (alone, two)]
    assert (predicted[0] == predicted[1]).all()


def test_explanations_name_what_differs() -> None:
    nest = NESTS[0]
    entries = COST_MODEL.rank(nest.candidates, MACHINE).entries
    of = {candidate.variant: candidate for candidate in nest.candidates}
    first, last = of[entries[0].variant], of[entries[-1].variant]
    words = " ".join(explain(first, last, MACHINE))
    assert "are predicted instead of" in words
    assert "less time" in words
    assert "would prefer the second" in " ".join(explain(last, first, MACHINE))
    assert "hardly a difference" in " ".join(explain(first, first, MACHINE))


def test_rankers_import_no_isl_and_ranking_never_imports_tensorflow() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from polydl import registry\n"
        "rankers = [registry.load('rankers', name) for name in registry.names('rankers')]\n"
        "assert len(rankers) >= 6 and 'islpy' not in sys.modules\n"
        "from measured import MACHINE, NESTS\n"
        "for ranker in rankers:\n"
        "    ranker.rank(NESTS[0].candidates, MACHINE)\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    root = Path(__file__).parents[1]
    ended = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names("trainers"))
def test_training_twice_gives_the_same_weights(name: str) -> None:
    pytest.importorskip("tensorflow")
    trainer = replace(registry.load("trainers", name), steps=20)
    told: list[tuple[int, int]] = []
    some = NESTS[::8]
    one = trainer.train(some, seed=3, progress=lambda done, total: told.append((done, total)))
    two, other = (trainer.train(some, seed=seed) for seed in (3, 4))
    assert told[-1] == (20, 20)

    def arrays(ranker: object) -> list[bytes]:
        networks = ranker.weights.networks  # type: ignore[attr-defined]
        return [layer.weights.tobytes() + layer.bias.tobytes() for network in networks for layer in network.layers]

    assert arrays(one) == arrays(two)
    assert arrays(one) != arrays(other)


@pytest.mark.slow
def test_training_learns_what_distinguishes_the_variants() -> None:
    pytest.importorskip("tensorflow")
    some = NESTS[::8]
    for name, steps in (("dnn", 150), ("regression", 400)):
        ranker = replace(registry.load("trainers", name), steps=steps).train(some, seed=0)
        reached = geomean([judge(ranker, nest).top[0] for nest in some])
        assert reached > tops_by_lot(some).max()


def test_the_paper_s_network_has_its_layers() -> None:
    layers = DNN_PAPER.weights.networks[0].layers
    assert [layer.weights.shape for layer in layers] == list(itertools.pairwise(PAPER_SIZES))
    assert [layer.activation for layer in layers] == ["relu", "relu", "softsign", "relu", "linear"]


def test_what_the_networks_have_never_seen_is_said_and_left_to_the_cost_model() -> None:
    called = next(each for each in NESTS[0].candidates if each.microkernels)
    (use,) = called.microkernels
    unseen = {
        "no elements but float": (replace(use, element_bytes=(8, 8, 8)),),
        "nothing like `other`": (replace(use, name="other", family="of a plug-in"),),
        "no nest without a microkernel": (),
    }
    assert not DNN.unseen(features.heaviest_use(called), MACHINE)
    for words, uses in unseen.items():
        strange = replace(called, microkernels=uses)
        predicted = features.rich([strange], MACHINE)[:, features.PREDICTED]
        assert DNN.ratings([strange], MACHINE) == pytest.approx((-predicted).tolist(), abs=1e-6)
        (entry,) = DNN.rank([strange], MACHINE).entries
        assert words in entry.reason
    (entry,) = DNN.rank([called], MACHINE).entries
    assert "the networks know" not in entry.reason


def test_machines_of_an_architecture_that_training_did_not_see_are_left_to_the_cost_model() -> None:
    other = replace(MACHINE, isa=("asimd",))
    some = NESTS[0].candidates[:6]
    predicted = features.rich(some, other)[:, features.PREDICTED]
    assert DNN.ratings(some, other) == pytest.approx((-predicted).tolist(), abs=1e-6)
    assert all("the networks know no machine of AArch64" in entry.reason for entry in DNN.rank(some, other).entries)

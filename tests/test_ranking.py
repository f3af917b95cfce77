"""Rankers on candidates made by hand: orders, ties, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from polydl import registry
from polydl.contracts import Candidate, Ranker
from polydl.ir.ranking import Ranking
from polydl.ir.variant import Interchange, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import CacheLevel, Machine
from polydl.model.times import nest_times
from polydl.ranking.cold_constants import ColdConstants
from polydl.ranking.cost_model import COST_MODEL
from polydl.ranking.equation_1 import EQUATION_1, cost
from polydl.ranking.ordering import busiest_share, idle_share, in_units, where_reused

MACHINE = Machine(
    name="test",
    cpu_id="test",
    cores=4,
    threads=4,
    isa=("avx2",),
    vector_bytes=32,
    caches=(
        CacheLevel("L1", 32 << 10, 64, 1, 1e-9, 200e9),
        CacheLevel("L2", 1 << 20, 64, 1, 4e-9, 80e9),
        CacheLevel("L3", 32 << 20, 64, 4, 20e-9, 40e9),
    ),
    memory_latency_seconds=100e-9,
    memory_bandwidth_bytes_per_second=10e9,
    memory_bytes=1 << 34,
    peak_gflops=64.0,
)


def candidate(
    name: str,
    levels: tuple[int, int, int] = (1000, 0, 0),
    memory: int = 0,
    *,
    cycles: tuple[float, ...] = (2e6,),
    traffic: tuple[tuple[int, int, int], ...] = (),
    iterations: tuple[float, ...] = (8,),
    starts: tuple[int, ...] = (),
    footprint: int = 1 << 40,
    constant_bytes: int = 0,
) -> Candidate:
    return Candidate(
        variant=Variant((Interchange(0, (name,)),)),
        working_sets=WorkingSets((), levels, memory, "closed-form"),
        cycles=cycles,
        traffic=traffic or ((0, 0, 0),) * len(cycles),
        parallel_iterations=iterations,
        starts=starts or (0,) * len(cycles),
        microkernels=(),
        calls=(0,) * len(cycles),
        flops=10**7,
        footprint=footprint,
        constant_bytes=constant_bytes,
    )


def names(ranker: Ranker, *candidates: Candidate) -> list[str]:
    ranking = ranker.rank(candidates, MACHINE)
    assert ranking.ranker == ranker.name
    scores = [entry.score for entry in ranking.entries if entry.score is not None]
    assert scores == sorted(scores)
    assert len(scores) == len(candidates)
    return [step.order[0] for e in ranking.entries for step in e.variant.steps if isinstance(step, Interchange)]


def test_built_in_rankers_are_registered() -> None:
    assert registry.load("rankers", "cost-model") is COST_MODEL
    assert registry.load("rankers", "equation-1") is EQUATION_1


def test_equation_1_is_the_sum_of_bytes_times_latency_over_bandwidth() -> None:
    sets = WorkingSets((), (1000, 20_000, 300_000), 4_000_000, "isl")
    expected = 1000 * 1e-9 / 200e9 + 20_000 * 4e-9 / 80e9 + 300_000 * 20e-9 / 40e9 + 4_000_000 * 100e-9 / 10e9
    assert cost(sets, MACHINE) == pytest.approx(expected, rel=1e-12)


def test_reuse_from_inner_caches_ranks_first() -> None:
    found = names(
        EQUATION_1,
        candidate("memory", (0, 0, 0), 50_000),
        candidate("outer", (0, 0, 50_000)),
        candidate("inner", (50_000, 0, 0)),
        candidate("middle", (0, 50_000, 0)),
    )
    assert found == ["inner", "middle", "outer", "memory"]


def test_the_order_does_not_depend_on_the_input_order() -> None:
    candidates = [
        candidate("a"),
        candidate("b"),
        candidate("balanced", iterations=(4,)),
        candidate("unbalanced", iterations=(5,)),
        candidate("far", (0, 0, 0), 10),
    ]
    for ranker in (EQUATION_1, COST_MODEL):
        orders = {tuple(names(ranker, *permuted)) for permuted in permutations(candidates)}
        assert len(orders) == 1


def test_ties_go_to_balance_then_memory_then_few_steps_then_identity() -> None:
    even, uneven = candidate("even", iterations=(8,)), candidate("uneven", iterations=(9,))
    assert names(EQUATION_1, uneven, even) == ["even", "uneven"]
    # Where memory is as fast as the last cache, equation 1 can't tell them apart.
    flat = replace(MACHINE, memory_latency_seconds=20e-9, memory_bandwidth_bytes_per_second=40e9)
    held, spilled = candidate("held", (0, 0, 20_000)), candidate("spilled", (0, 0, 0), 20_000)
    entries = EQUATION_1.rank([spilled, held], flat).entries
    assert entries[0].score == entries[1].score
    assert [entry.variant for entry in entries] == [held.variant, spilled.variant]
    # As where vectors of all lanes and of half of them are predicted to be as fast.
    short = candidate("short")
    longer = [replace(short, variant=Variant((*short.variant.steps, Interchange(1, (name,))))) for name in "abc"]
    assert EQUATION_1.rank([*longer, short], MACHINE).entries[0].variant == short.variant
    twins = [candidate(name) for name in "abc"]
    by_id = sorted(twins, key=lambda twin: twin.variant.id)
    assert [e.variant for e in EQUATION_1.rank(twins, MACHINE).entries] == [each.variant for each in by_id]


def test_arithmetic_is_that_of_the_busiest_thread() -> None:
    # 64 GFLOPS are 2 GHz with two multiply-adds of eight floats per cycle.
    for iterations, seconds in ((1, 1.0), (4, 0.25), (5, 0.4)):
        (time,) = nest_times(candidate("x", cycles=(2e9,), iterations=(iterations,)), MACHINE)
        assert time.total == pytest.approx(seconds)
    both = candidate("x", cycles=(2e9, 1e9), iterations=(4, 1))
    assert [time.arithmetic for time in nest_times(both, MACHINE)] == pytest.approx([0.25, 0.5])
    assert idle_share(both, MACHINE) == pytest.approx(1 - 3 / (4 * 1.5))
    assert [busiest_share(n, 4) for n in (1, 2, 3, 4, 5, 8, 9)] == [1, 1 / 2, 1 / 3, 1 / 4, 2 / 5, 1 / 4, 1 / 3]


def test_one_thread_runs_no_more_than_all_iterations() -> None:
    """The last of them may be shorter, and counts as part of one."""
    assert [busiest_share(2.5, threads) for threads in (1, 2, 4)] == [1, 2 / 2.5, 1 / 2.5]
    traffic = ((32 * 10**9, 8 * 10**9, 4 * 10**9),)
    whole, part = (candidate("x", cycles=(2e9,), traffic=traffic, iterations=(count,)) for count in (2, 2.5))
    assert nest_times(part, replace(MACHINE, threads=1)) == nest_times(whole, replace(MACHINE, threads=1))
    (time,) = nest_times(part, replace(MACHINE, threads=2))
    assert time.arithmetic == pytest.approx(2 / 2.5)


def test_those_that_run_alone_have_all_bandwidth_that_a_core_gets() -> None:
    shared = replace(MACHINE, total_bandwidths=(800e9, 320e9, 60e9, 12e9))
    traffic = ((0, 0, 4 * 10**9),)
    seconds = []
    for iterations in (1, 2, 3, 4, 8):
        (time,) = nest_times(candidate("x", traffic=traffic, iterations=(iterations,)), shared)
        seconds.append(time.transfers[-1])
    # One of 10 GB/s, two of 6, three of 4, four of 3.
    assert seconds == pytest.approx([4 / 10, 2 / 6, 4 / 3 / 4, 1 / 3, 1 / 3])
    of_all = nest_times(candidate("x", traffic=traffic * 2, iterations=(1, 4), cycles=(1.0, 1.0)), shared)
    assert [time.transfers[-1] for time in of_all] == pytest.approx([4 / 10, 1 / 3])


def test_threads_take_time_to_start() -> None:
    once, often = candidate("once", starts=(1,)), candidate("often", starts=(1000,))
    assert names(COST_MODEL, often, once) == ["once", "often"]
    times = [nest_times(each, MACHINE)[0] for each in (once, often)]
    assert times[1].total - times[0].total == pytest.approx(999 * MACHINE.core.thread_start_seconds)
    assert times[1].starting == pytest.approx(1000 * MACHINE.core.thread_start_seconds)
    assert nest_times(often, replace(MACHINE, threads=1))[0].starting == 0.0


def test_arithmetic_hides_transfers_into_the_first_cache_and_some_from_beyond() -> None:
    # 0.25 s of arithmetic on each of four threads; a quarter of the bytes at the rate of L2, L3 and memory.
    core = MACHINE.core
    loaded = candidate("x", cycles=(2e9,), iterations=(4,), traffic=((32 * 10**9, 8 * 10**9, 4 * 10**9),))
    (time,) = nest_times(loaded, MACHINE)
    assert time.arithmetic == pytest.approx(0.25)
    assert time.transfers == pytest.approx((0.1, 0.05, 0.1))
    assert time.total == pytest.approx(0.25 + core.exposed_share * 0.05 + core.exposed_memory_share * 0.1)
    filling = candidate("x", cycles=(2e9,), iterations=(4,), traffic=((128 * 10**9, 0, 4 * 10**9),))
    assert nest_times(filling, MACHINE)[0].total == pytest.approx(
        0.4 + max(core.exposed_memory_share * 0.1, core.exposed_beside_transfer_share * 0.35)
    )


def test_beside_the_slowest_transfer_a_part_of_all_else_shows() -> None:
    # A second from L3, of which half would show beside 0.25 s of arithmetic.
    moved = candidate("x", cycles=(2e9,), iterations=(4,), traffic=((32 * 10**9, 160 * 10**9, 0),))
    (time,) = nest_times(moved, MACHINE)
    assert time.transfers == pytest.approx((0.1, 1.0, 0.0))
    assert time.total == pytest.approx(1.0 + MACHINE.core.exposed_beside_transfer_share * 0.35)
    busier = replace(moved, cycles=(4e9,))
    assert names(COST_MODEL, busier, replace(moved, variant=candidate("less").variant)) == ["less", "x"]


def test_caches_that_hold_all_arrays_are_not_filled_again() -> None:
    times = {}
    for footprint in (30 << 10, 1 << 20, 20 << 20, 1 << 30):
        moved = candidate("x", traffic=((10**8, 10**8, 10**8),), iterations=(4,), footprint=footprint)
        times[footprint] = nest_times(moved, MACHINE)[0].transfers
    cold = times[1 << 30]
    assert all(cold)
    assert times[20 << 20] == (*cold[:2], 0.0)
    assert times[1 << 20] == (cold[0], 0.0, 0.0)
    assert times[30 << 10] == (0.0, 0.0, 0.0)


def test_the_cost_model_prefers_faster_arithmetic() -> None:
    slow = candidate("slow kernel", (1000, 0, 0), cycles=(2.2e6,))
    fast = candidate("fast kernel", (0, 0, 0), 1 << 30, cycles=(2.0e6,))
    assert names(COST_MODEL, slow, fast) == ["fast kernel", "slow kernel"]
    assert names(EQUATION_1, slow, fast) == ["slow kernel", "fast kernel"]


def test_the_cost_model_prefers_less_traffic() -> None:
    local = candidate("local", traffic=((10**8, 0, 0),))
    distant = candidate("distant", traffic=((10**8, 10**8, 10**8),))
    assert names(COST_MODEL, distant, local) == ["local", "distant"]


def test_the_cost_model_asks_equation_1_where_its_prediction_is_equal() -> None:
    near, far = candidate("near", (1000, 0, 0)), candidate("far", (0, 0, 1000))
    assert names(COST_MODEL, far, near) == ["near", "far"]


def test_the_cost_model_sees_uneven_shares() -> None:
    assert names(COST_MODEL, candidate("five", iterations=(5,)), candidate("eight")) == ["eight", "five"]


def test_nothing_to_rank() -> None:
    for ranker in (COST_MODEL, EQUATION_1):
        assert ranker.rank([], MACHINE).entries == ()


@pytest.mark.parametrize(
    ("levels", "memory", "words"),
    [
        ((0, 3_250_000, 0), 0, "3.1 MB reused from L2, nothing beyond L2"),
        ((870, 0, 41_943_040), 0, "870 B reused from L1, 40 MB reused from L3, nothing beyond L3"),
        ((0, 0, 0), 2048, "2.0 KB reused from memory"),
        ((0, 0, 0), 0, "nothing is reused"),
    ],
)
def test_reasons_say_where_data_is_reused(levels: tuple[int, ...], memory: int, words: str) -> None:
    sets = WorkingSets((), levels, memory, "isl")
    assert where_reused(sets, MACHINE) == words
    ranked = replace(candidate("x"), working_sets=sets)
    assert EQUATION_1.rank([ranked], MACHINE).entries[0].reason == words
    times = "arithmetic 0.25 ms, filling L1 0 ms, filling L2 0 ms, filling L3 0 ms, starting threads 0 ms"
    assert COST_MODEL.rank([ranked], MACHINE).entries[0].reason == f"{times}; {words}"


def test_units() -> None:
    shown = {size: in_units(size) for size in (0, 999, 1000, 1024, 10_240, 1_023_999, 1 << 30, 1 << 60)}
    assert list(shown.values()) == ["0 B", "999 B", "1.0 KB", "1.0 KB", "10 KB", "1000 KB", "1.0 GB", "1024 PB"]


def test_cold_constants_take_the_time_of_reading_them_from_memory() -> None:
    few, some, many = (
        candidate(name, cycles=(cycles,), constant_bytes=size)
        for name, cycles, size in (("few", 3e6, 1000), ("some", 2e6, 500_000), ("many", 2e6, 20_000_000))
    )
    assert names(COST_MODEL, few, some, many) == ["many", "some", "few"]
    assert names(ColdConstants(COST_MODEL), few, some, many) == ["some", "few", "many"]
    warm, cold = COST_MODEL.rank([some], MACHINE), ColdConstants(COST_MODEL).rank([some], MACHINE)
    added = [(one.score or 0.0) - (other.score or 0.0) for one, other in zip(cold.entries, warm.entries, strict=True)]
    assert added == pytest.approx([500_000 / (4 * MACHINE.memory_bandwidth_bytes_per_second)])
    assert cold.entries[0].reason.endswith("; 488 KB of constants from memory")


def test_a_ranker_without_scores_keeps_its_order_with_cold_constants() -> None:
    class Alphabet:
        name = "alphabet"

        def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
            ranking = COST_MODEL.rank(candidates, machine)
            entries = sorted(ranking.entries, key=lambda entry: str(entry.variant.steps))
            return Ranking(self.name, tuple(replace(each, score=None) for each in entries))

    given = [candidate("b", constant_bytes=1), candidate("c"), candidate("a", constant_bytes=1 << 30)]
    expected = Alphabet().rank(given, MACHINE)
    assert ColdConstants(Alphabet()).rank(given, MACHINE) == expected

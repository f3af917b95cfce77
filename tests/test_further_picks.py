"""Where the plain nest is faster than the first picks, further ones are tried, and the next run knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sized_matmul import write_matmul

from polydl.errors import IllegalVariantError
from polydl.execute.participant import Participant
from polydl.execute.rounds import RawSample
from polydl.execute.timing import Timer
from polydl.ir.kernel import KernelSource
from polydl.machine import Machine
from polydl.optimization.optimize import optimize
from polydl.optimization.optimized import Optimization, OptimizationInterrupted
from polydl.optimization.searching import Searching
from polydl.pipeline import kernel
from polydl.plan.apply import Applied
from polydl.records.record import Record
from polydl.records.store import read
from polydl.system.waiting import add_waited

pytestmark = pytest.mark.native

PICKS = 2


@dataclass
class Timings:
    """What samples take, whatever the clock says: the plain nest 1 us, variants 2 us, but those named here."""

    seconds: dict[str, float] = field(default_factory=dict)
    #: ids of variants in the order in which they were sampled first
    order: list[str] = field(default_factory=list)
    #: before which sample of which variant in that order to interrupt
    interruption: tuple[int, int] | None = None

    def sampled(self, participant: Participant) -> RawSample:
        name = participant.id
        if name.startswith(("original", "plain")):
            return RawSample(1e-6, (100.0, 100.0))
        return RawSample(self.seconds.get(name, 2e-6), (100.0, 100.0))

    def strike(self, participant: Participant) -> None:
        name = participant.id
        if name.startswith(("original", "plain")):
            return
        if name not in self.order:
            self.order.append(name)
        if self.interruption == (self.order.index(name), len(participant.raw)):
            raise KeyboardInterrupt


@pytest.fixture
def timings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Timings:
    monkeypatch.chdir(tmp_path)
    write_matmul(tmp_path)
    timings = Timings()
    sample = Timer._sample

    def instead(timer: Timer, participant: Participant) -> None:
        timings.strike(participant)
        sample(timer, participant)
        participant.raw[-1] = timings.sampled(participant)

    monkeypatch.setattr(Timer, "_sample", instead)
    return timings


def run(records: str = "kept", budget: str | None = None) -> Optimization:
    machine = Machine.detect(cache_sizes="32K,1M", threads=1)
    return optimize(
        "matmul.c",
        machine=machine,
        max_variants=12,
        top_k=PICKS,
        microkernel="c",
        records=records,
        budget=budget,
        calibrate=False,
    )


def kept(records: str = "kept") -> Sequence[Record]:
    return [record for record in read(Path(records)) if record.kind == "variant"]


@pytest.mark.slow
def test_the_next_run_knows_the_winner_of_a_further_batch(timings: Timings) -> None:
    assert run("first").plain is not None
    assert len(timings.order) > PICKS, "all batches, since no pick is faster"
    fast = timings.order[PICKS]
    timings.seconds[fast] = 0.5e-6
    found = run()
    assert found.winner is not None
    assert (found.winner.kernel.id, found.plain, found.speedup) == (fast, None, 2.0)
    before = kept()
    timings.order.clear()
    again = run()
    assert again.winner is not None
    assert (again.winner.kernel.id, again.plain, again.speedup) == (fast, None, 2.0)
    assert len(again.tried) == len(found.tried)
    assert timings.order == []
    assert kept() == before


@pytest.mark.slow
def test_an_interruption_in_a_further_batch_loses_no_sample(timings: Timings) -> None:
    timings.interruption = (PICKS, 2)
    with pytest.raises(OptimizationInterrupted):
        run()
    before = kept()
    first, begun = timings.order[:PICKS], timings.order[PICKS:]
    assert {record.id for record in before if record.complete} == set(first)
    taken = {record.id: record.samples for record in before}
    assert all(taken[name] for name in begun)
    timings.interruption = None
    run()
    after = kept()
    assert after[: len(before)] == before
    for name, samples in taken.items():
        times = [sample.seconds for sample in samples]
        last = [record for record in after if record.id == name and record.complete][-1]
        assert len(last.samples) >= len(times)
        # What the next run recorded of it goes on where the interrupted one stopped.
        assert all(len(record.samples) > len(times) for record in after[len(before) :] if record.id == name)


@pytest.mark.slow
def test_a_search_that_is_interrupted_knows_the_batch_under_way(timings: Timings) -> None:
    timings.interruption = (PICKS, 2)
    with pytest.raises(OptimizationInterrupted) as raised:
        run(budget="9runs")
    result = raised.value.result
    assert len(timings.order) > PICKS
    assert result.search is not None
    assert result.search.runs == len(result.tried) > PICKS


@pytest.mark.slow
def test_a_search_without_time_takes_what_is_recorded(timings: Timings, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(budget="9runs")
    assert len(before.tried) == 9
    timings.order.clear()
    monkeypatch.setattr(Searching, "_late", lambda _, _now, count: count > 0)
    again = run(budget="9h")
    assert {each.kernel.id for each in again.tried} == {each.kernel.id for each in before.tried}
    assert len(timings.order) == PICKS, "the first picks alone are timed again"
    assert len(run("others", budget="9h").tried) == PICKS


@pytest.mark.usefixtures("timings")
@pytest.mark.slow
def test_the_time_of_a_search_has_no_waits_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def waited_for(applied: Applied, vector_bytes: int) -> KernelSource:
        add_waited(1e6)
        return kernel(applied, vector_bytes)

    monkeypatch.setattr("polydl.optimization.measuring.kernel", waited_for)
    result = run(budget="3runs")
    assert result.search is not None
    assert result.search.seconds < 0


@pytest.mark.usefixtures("timings")
@pytest.mark.parametrize("count", [1, PICKS])
def test_a_pick_that_turns_out_illegal_is_left_out_but_never_all_of_them(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def proved(applied: Applied, vector_bytes: int) -> KernelSource:
        if len(refused) < count:
            refused.append(applied.variant.id)
            raise IllegalVariantError(f"variant {applied.variant.id} is illegal")
        return kernel(applied, vector_bytes)

    monkeypatch.setattr("polydl.optimization.measuring.kernel", proved)
    if count == PICKS:
        with pytest.raises(IllegalVariantError, match="is illegal"):
            run()
    else:
        with pytest.warns(UserWarning, match="a pick is left out: variant .* is illegal"):
            result = run()
        assert result.tried
        assert not {each.ranked.variant.id for each in result.tried} & set(refused)

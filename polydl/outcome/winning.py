"""Which of the candidates that passed is emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from polydl.execute.rounds import FEW, clearly_faster
from polydl.outcome.baselines import speedup

if TYPE_CHECKING:
    from polydl.outcome.baselines import Baseline
    from polydl.outcome.tried import Tried

#: A candidate that needs no library may take so much longer than the fastest, and is emitted in its place.
SHARE_FOR_NO_LIBRARY = 0.03
#: So much longer one may take that runs on the calling thread alone, and doesn't wait for others.
SHARE_FOR_ONE_THREAD = 0.03
# What a candidate is that gave the right answer, but was no match for the plain nest: less accurate, or stopped.
_NO_MATCH = ("inaccurate", "timeout")


def fastest(tried: Sequence[Tried], *, interrupted: bool = False) -> Tried | None:
    """The verified candidate with the smallest median time, or None if none passed.

    Of those that were measured now, if there are any: they include the best of the earlier ones, unless it was
    ``interrupted``. One that fell behind is none of them, unless all did: a baseline may have led.
    """
    comparable, cost = _comparable(tried, interrupted)
    return min(comparable, key=cost, default=None)


def winner(tried: Sequence[Tried], baselines: Sequence[Baseline] = (), *, interrupted: bool = False) -> Tried | None:
    """The candidate to emit: the fastest one, or one that is nearly as fast and needs no library, or no threads.

    Where the fastest one is as fast as all ``baselines``, so is the one to emit.
    """
    comparable, cost = _comparable(tried, interrupted)
    first = min(comparable, key=cost, default=None)
    if first is None:
        return None
    if not behind(first, baselines):
        comparable = [each for each in comparable if not behind(each, baselines)]
    fastest_cost = cost(first)

    def nearly_as_fast(candidates: Iterable[Tried], share: float, otherwise: Tried) -> Tried:
        """The fastest of some that take at most this share longer than the fastest of all; ``otherwise`` if none."""
        near = (each for each in candidates if cost(each) <= fastest_cost * (1 + share))
        return min(near, key=cost, default=otherwise)

    best = first
    alone = [each for each in comparable if not each.kernel.link_flags]
    if best.kernel.link_flags:
        best = nearly_as_fast(alone, SHARE_FOR_NO_LIBRARY, best)
    if best.ranked.variant.threaded:
        # A library that was done without is not needed again.
        allowed = comparable if best.kernel.link_flags else alone
        single = [each for each in allowed if not each.ranked.variant.threaded]
        best = nearly_as_fast(single, SHARE_FOR_ONE_THREAD, best)
    return best


def behind(candidate: Tried, baselines: Sequence[Baseline]) -> bool:
    """Whether the fastest baseline is faster; False where either has no time."""
    factor = speedup(candidate.measurement, baselines)
    return factor is not None and factor < 1


def no_match(tried: Sequence[Tried]) -> bool:
    """Whether no candidate passed, and one at least is no failure: it is less accurate, or took too long."""
    statuses = {each.measurement.status for each in tried}
    return "ok" not in statuses and not statuses.isdisjoint(_NO_MATCH)


def _comparable(tried: Sequence[Tried], interrupted: bool) -> tuple[list[Tried], Callable[[Tried], float]]:
    """Candidates whose times can be compared with each other, and these times.

    They are those with undisturbed samples, if any, unless others are clearly faster than the best of these. Records of
    one run are judged as they were in that run, so that its winner is found again.
    """
    passed = [each for each in tried if each.measurement.status == "ok"]
    if interrupted:
        return passed, _seconds
    measured = [each for each in passed if each.record is None] or passed
    certain = [each for each in measured if each.measurement.final and each.measurement.undisturbed]
    one_run = len({each.record.run if each.record is not None else "" for each in measured}) == 1
    cost = _seconds if one_run else _cost
    if certain and one_run:
        best = _samples(min(certain, key=cost))
        uncertain = (each for each in measured if each.measurement.final and not each.measurement.undisturbed)
        # Beside times of several samples, a single one of another candidate proves nothing.
        alone = all(len(_samples(each)) < FEW for each in certain)
        faster = (
            each for each in uncertain if clearly_faster(_samples(each), best, _undisturbed(each) if alone else ())
        )
        certain = list(faster) or certain
    return certain or measured, cost


def _samples(tried: Tried) -> list[float]:
    """All of them, disturbed or not."""
    return [sample.seconds for sample in tried.measurement.samples]


def _undisturbed(tried: Tried) -> list[float]:
    return [sample.seconds for sample in tried.measurement.samples if not sample.disturbed]


def _seconds(tried: Tried) -> float:
    return tried.measurement.seconds_median or 0.0


def _cost(tried: Tried) -> float:
    """Of one that earlier runs measured."""
    return tried.record.cost if tried.record is not None else 0.0

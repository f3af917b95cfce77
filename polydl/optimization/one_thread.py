"""Kernels that are short beside the time in which threads start: whether one thread does as well.

Waiting threads cost more than the work that they share once they have gone to sleep, or once another process has one of
the cores (docs/guide/threads.md). Where one thread is as fast on the quiet machine, it is the better choice on any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from polydl import registry
from polydl.contracts import Candidate
from polydl.ir.ranking import RankedVariant
from polydl.ir.variant import Variant
from polydl.machine import Machine

#: A kernel is short if its predicted time is less than so many starts of threads.
SHORT_STARTS = 20
#: Of how many picks the form on one thread is measured as well.
FORMS = 2


def forms(
    chosen: Iterable[tuple[int, RankedVariant]], analysed: Sequence[Candidate], machine: Machine
) -> tuple[Variant, ...]:
    """The first picks that are short and use threads, on one thread, if that is no pick itself."""
    picked = [entry.variant for _, entry in chosen]
    known = {variant.id for variant in picked}
    candidates = {candidate.variant.id: candidate for candidate in analysed}
    seconds = _seconds([candidates[each.id] for each in picked if each.id in candidates], machine)
    most = SHORT_STARTS * machine.core.thread_start_seconds
    short = (each.on_one_thread() for each in picked if each.threaded and seconds.get(each.id, most) < most)
    distinct = {each.id: each for each in short if each.id not in known}
    return tuple(islice(distinct.values(), FORMS)) if machine.threads > 1 else ()


def _seconds(candidates: Sequence[Candidate], machine: Machine) -> Mapping[str, float]:
    """The times that the cost model predicts, by variant."""
    entries = registry.load("rankers", "cost-model").rank(candidates, machine).entries if candidates else ()
    return {entry.variant.id: entry.score for entry in entries if entry.score is not None}

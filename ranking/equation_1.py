"""The paper's cost function alone (§4.2.1): equation 1 as printed, and by latencies alone.

The paper's published program weighs by latencies only; its text divides by the bandwidth as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polydl.contracts import Candidate
from polydl.ir.ranking import Ranking
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.ranking.ordering import ordered, where_reused


def cost(working_sets: WorkingSets, machine: Machine) -> float:
    """``sum(WS_i * latency_i / bandwidth_i)`` over the caches and memory, for one core.

    Seconds times bytes over bytes per second: square seconds. It orders, and is no time.
    """
    caches = zip(working_sets.levels, machine.caches, strict=True)
    total = sum(size * level.latency_seconds / level.bandwidth_bytes_per_second for size, level in caches)
    return total + working_sets.memory * machine.memory_latency_seconds / machine.memory_bandwidth_bytes_per_second


def latency_cost(working_sets: WorkingSets, machine: Machine) -> float:
    """``sum(WS_i * latency_i)`` over the caches and memory, in bytes times seconds."""
    caches = zip(working_sets.levels, machine.caches, strict=True)
    total = sum(size * level.latency_seconds for size, level in caches)
    return total + working_sets.memory * machine.memory_latency_seconds


@dataclass(frozen=True)
class Equation1:
    """The ``equation-1`` ranker, or with ``latency_cost`` for its function the ``latency`` ranker."""

    name: str = "equation-1"
    #: what a variant's working sets cost on a machine; less is better
    function: Callable[[WorkingSets, Machine], float] = cost

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        return ordered(
            self.name,
            candidates,
            machine,
            scores=[self.function(c.working_sets, machine) for c in candidates],
            reason=lambda place: where_reused(candidates[place].working_sets, machine),
        )


EQUATION_1 = Equation1()
LATENCY = Equation1("latency", latency_cost)

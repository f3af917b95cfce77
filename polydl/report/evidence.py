"""What the document of ``optimize`` holds beside its results, so that a page can be drawn from it alone.

Samples one by one, bytes that the model expects to move, the scores of all that was ranked, the reuses of the fastest
variant, and the two functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polydl.codegen import function_text
from polydl.ir.measurement import Measurement
from polydl.ir.ranking import Ranking
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine

if TYPE_CHECKING:
    from polydl.contracts import Candidate
    from polydl.outcome.outcome import Outcome


def machine_speeds(machine: Machine) -> dict[str, Any]:
    """Bytes per second that all threads of a kernel read at once: from each cache, by its name, and from memory."""
    names = [*(level.name for level in machine.caches), "memory"]
    rates = [rate * machine.threads for rate in machine.bandwidths()]
    return {"bandwidths": dict(zip(names, rates, strict=True)), "calibrated": bool(machine.total_bandwidths)}


def samples(measurement: Measurement | None) -> dict[str, list[float]]:
    """Seconds of one run of the kernel, sample by sample, in the order in which they were taken."""
    taken = measurement.samples if measurement is not None else ()
    return {
        "sample_seconds": [sample.seconds for sample in taken if not sample.disturbed],
        "disturbed_seconds": [sample.seconds for sample in taken if sample.disturbed],
    }


def traffic(candidate: Candidate | None, machine: Machine) -> dict[str, int] | None:
    """Bytes that the model expects to be brought into each cache, over all nests; None if it was not asked."""
    if candidate is None:
        return None
    levels = [sum(nest[place] for nest in candidate.traffic) for place in range(len(machine.caches))]
    return {level.name: moved for level, moved in zip(machine.caches, levels, strict=True)}


def ranking(order: Ranking) -> dict[str, Any]:
    """Who ranked, and the score of each place; None where the ranker has no scalar."""
    return {"ranker": order.ranker, "scores": [entry.score for entry in order.entries]}


def reuses(working_sets: WorkingSets) -> list[dict[str, Any]]:
    """The dependences of one variant with the data touched between their ends, the largest first."""
    largest = sorted(working_sets.dependences, key=lambda one: one.maximum_bytes, reverse=True)
    return [
        {
            "array": one.array,
            "loop": one.loop,
            "kinds": list(one.kinds),
            "minimum_bytes": one.minimum_bytes,
            "maximum_bytes": one.maximum_bytes,
        }
        for one in largest
    ]


def code(result: Outcome) -> dict[str, str | None]:
    """The function as it was written, and as the fastest variant has it, without what it calls."""
    scop, plain, winner = result.scop, result.plain, result.winner
    first, _, last = scop.definition
    fastest = None if winner is None else winner.kernel.excerpt
    if plain is not None:
        fastest = function_text.with_region(scop, [plain.build.region or function_text.region(scop)])
    return {"original": scop.source[first:last], "winner": fastest}


def arrays(result: Outcome) -> list[dict[str, Any]]:
    """The arrays of the nest: name, element, extents and bytes."""
    return [
        {key: value for key, value in asdict(array).items() if key in ("name", "element", "extents")}
        | {"bytes": array.bytes}
        for array in result.scop.arrays
    ]


def by_id(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    """``{id of the variant: candidate}``."""
    return {candidate.variant.id: candidate for candidate in candidates}

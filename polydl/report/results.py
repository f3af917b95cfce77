"""Results of ``polydl optimize`` as JSON: the winner, the builds of the plain nest, and each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl.execute.rounds import equal_samples, spread, times_as_fast
from polydl.ir.measurement import Exactness, Measurement
from polydl.ir.numerics import in_words
from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.outcome.baselines import Baseline, plain_rounding, speedup
from polydl.outcome.winning import fastest
from polydl.report import evidence

if TYPE_CHECKING:
    from polydl.outcome.outcome import Outcome
    from polydl.outcome.tried import Tried
    from polydl.records.record import Record

Document = dict[str, Any]
# A speed-up and the quotient of the medians that are shown beside it may differ by this part.
_EQUAL = 0.05


def gflops(scop: Scop, seconds: float | None) -> float | None:
    """Operations of the nest per nanosecond; None without a time."""
    return scop.flops / seconds / 1e9 if seconds else None


def level_sizes(working_sets: WorkingSets, machine: Machine) -> dict[str, int]:
    """Bytes that each cache level holds, by its name, and what is left to memory."""
    names = [level.name for level in machine.caches]
    return {**dict(zip(names, working_sets.levels, strict=True)), "memory": working_sets.memory}


def failure_message(measurement: Measurement) -> str:
    """What went wrong, without the temporary directory in which it did."""
    directory = f"{Path(measurement.source).parent}/" if measurement.source else ""
    return measurement.message.replace(directory, "") if len(directory) > 2 else measurement.message


def variant_document(variant: Variant) -> Document:
    """Its id and its steps."""
    return {"id": variant.id, "steps": variant.to_json()}


def baseline_document(result: Outcome, baseline: Baseline | None) -> Document | None:
    """One build of the plain nest."""
    if baseline is None:
        return None
    measurement = baseline.measurement
    return {
        "id": baseline.build.kernel.id,
        "name": baseline.name,
        "threads": baseline.build.threads,
        "status": measurement.status,
        "seconds": measurement.seconds_median,
        "gflops": gflops(result.scop, measurement.seconds_median),
        "message": failure_message(measurement),
        "recorded": None if baseline.record is None else baseline.record.date,
        **evidence.samples(measurement),
    }


def winner_document(result: Outcome) -> Document | None:
    """What is handed back: a variant, or the plain nest if no variant is as fast; None if nothing was run."""
    if result.plain is not None:
        return _plain_best(result, result.plain)
    return None if result.winner is None else _best(result, result.winner)


def _plain_best(result: Outcome, plain: Baseline) -> Document:
    """The plain nest as the winner."""
    measurement = plain.measurement
    rate = gflops(result.scop, measurement.seconds_median)
    rounding = plain_rounding(plain)
    return {
        "id": plain.build.kernel.id,
        "plain": True,
        "steps": [],
        "words": [f"the source's own loops, built by {plain.name}"],
        "microkernel": None,
        "seconds": measurement.seconds_median,
        "gflops": rate,
        "threads": plain.build.threads,
        "peak_fraction": None if rate is None else rate / (result.peak_gflops * plain.build.threads),
        "speedup": result.speedup,
        "equal_samples": None,
        "speedup_over_original": times_as_fast(measurement, result.baselines[0].measurement),
        "accuracy": _accuracy(measurement),
        "error": measurement.error,
        "preferred_to": None,
        "reuses": [],
        "rounding": {
            "rounds": result.scop.rounds,
            "method": in_words(result.numerics, rounding, rounds=result.scop.rounds),
            "error_factor": rounding.error_factor,
        },
        "exactness": None,
        "prepared": _prepared(result, 0),
    }


def _best(result: Outcome, winner: Tried) -> Document:
    from polydl.plan.step_words import variant_in_words

    measurement = winner.measurement
    seconds = measurement.seconds_median
    rate = gflops(result.scop, seconds)
    threads = _threads(result.scop, winner.ranked.variant, result.machine)
    return {
        **variant_document(winner.ranked.variant),
        "plain": False,
        "words": variant_in_words(result.scop, winner.ranked.variant),
        "microkernel": _main_microkernel(result, winner),
        "seconds": seconds,
        "gflops": rate,
        "threads": threads,
        "peak_fraction": None if rate is None else rate / (result.peak_gflops * threads),
        "speedup": speedup(measurement, result.baselines),
        "equal_samples": _equal_samples(measurement, result.baseline),
        "speedup_over_original": times_as_fast(measurement, result.baselines[0].measurement),
        "accuracy": _accuracy(measurement),
        "error": measurement.error,
        "reuses": evidence.reuses(winner.ranked.working_sets),
        "rounding": _rounding(result, winner),
        "exactness": None if result.exactness is None else _exactness(result.exactness),
        "preferred_to": _preferred_to(result, winner),
        "prepared": _prepared(result, winner.kernel.prepared_bytes),
    }


def _threads(scop: Scop, variant: Variant, machine: Machine) -> int:
    # It loads isl, which stored answers do without.
    from polydl.codegen.parallel_source import variant_threads

    return variant_threads(scop, variant, machine.threads)


def _prepared(result: Outcome, size: int) -> Document | None:
    """What is prepared once, and the time of the function that does it at every call; None without constants."""
    if not result.scop.constants:
        return None
    unprepared = result.unprepared
    return {
        "constants": list(result.scop.constants),
        "bytes": size,
        "unprepared_seconds": None if unprepared is None else unprepared.seconds_median,
    }


def _equal_samples(measurement: Measurement, baseline: Baseline | None) -> Document | None:
    """What the speed-up is made of, where the quotient of the medians is clearly another."""
    equal = None if baseline is None else equal_samples(measurement, baseline.measurement)
    if equal is None or baseline is None or not equal.count:
        return None
    quotient = (baseline.seconds or 0.0) / (measurement.seconds_median or 1.0)
    if abs(quotient - equal.speedup) <= _EQUAL * equal.speedup:
        return None
    return {"count": equal.count, "seconds": equal.seconds, "baseline_seconds": equal.other_seconds}


def _preferred_to(result: Outcome, winner: Tried) -> str | None:
    first = fastest(result.tried, interrupted=result.interrupted)
    return None if first is None or first is winner else first.kernel.id


def _exactness(exactness: Exactness) -> Document:
    return {"verdict": exactness.verdict, "ring": exactness.ring, "reason": exactness.reason}


def _rounding(result: Outcome, tried: Tried) -> Document:
    """What a candidate does to sums and products; no factor where it computes those of the source."""
    rounding = result.applied(tried.ranked.variant).rounding
    return {
        "rounds": result.scop.rounds,
        "method": in_words(
            result.numerics,
            rounding,
            tried.kernel.vector_functions,
            flushes=tried.kernel.flushes,
            rounds=result.scop.rounds,
        ),
        "error_factor": rounding.error_factor,
    }


def _accuracy(measurement: Measurement | None) -> Document | None:
    accuracy = None if measurement is None else measurement.accuracy
    return None if accuracy is None else {**asdict(accuracy), "ratio": accuracy.ratio}


def _main_microkernel(result: Outcome, winner: Tried) -> Document | None:
    """That of the nest with the most arithmetic, where several have one."""
    applied = result.applied(winner.ranked.variant)
    flops = {
        nest.index: sum(applied.scop.statement(name).flops for name in nest.statements)
        for nest in applied.rewritten.nests
    }
    use = max(winner.kernel.microkernels, key=lambda use: flops[use.nest], default=None)
    return (
        None
        if use is None
        else {"name": use.name, "m": use.m, "n": use.n, "k": use.k, "batch": use.batch, "rows": use.rows}
    )


def candidate_documents(result: Outcome) -> list[Document]:
    """What was run or, if nothing was, what would have been."""
    scop, machine = result.scop, result.machine
    if result.baselines:
        documents = [
            _candidate(each.rank, each.ranked, each.measurement, scop, machine, each.record, result.baselines)
            for each in result.tried
        ]
    else:
        documents = [_candidate(rank, entry, None, scop, machine, None, ()) for rank, entry in result.picks]
    analysed = evidence.by_id(result.analysed)
    return [{**document, "traffic": evidence.traffic(analysed.get(document["id"]), machine)} for document in documents]


def _candidate(
    rank: int,
    entry: RankedVariant,
    measurement: Measurement | None,
    scop: Scop,
    machine: Machine,
    record: Record | None,
    baselines: Sequence[Baseline],
) -> Document:
    return {
        "rank": rank,
        **variant_document(entry.variant),
        "score": entry.score,
        "working_sets": level_sizes(entry.working_sets, machine),
        "threads": _threads(scop, entry.variant, machine),
        "status": measurement.status if measurement else None,
        "seconds_min": measurement.seconds_minimum if measurement else None,
        "seconds_median": measurement.seconds_median if measurement else None,
        "samples": len(measurement.samples) if measurement else 0,
        "disturbed": sum(sample.disturbed for sample in measurement.samples) if measurement else 0,
        "spread": spread(measurement.samples) if measurement else None,
        "gflops": gflops(scop, measurement.seconds_median) if measurement else None,
        "speedup": speedup(measurement, baselines) if measurement else None,
        "error": measurement.error if measurement else None,
        "accuracy": _accuracy(measurement),
        "message": failure_message(measurement) if measurement else "",
        "recorded": record.date if record is not None else None,
        **evidence.samples(measurement),
    }

"""What polydl found, as JSON documents.

Each names its form in ``schema``. Times are in seconds, sizes in bytes, what is not known is null. Nothing in a
document but times, and the rates and the choice that follow from them, differs between two runs with the same seed.
docs/optimize.schema.json describes the document of ``optimize``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl import report_evidence
from polydl.baselines import Baseline, plain_rounding, speedup
from polydl.emitted_names import FILE_KINDS
from polydl.execute.rounds import spread, times_as_fast
from polydl.files import write_atomically
from polydl.ir.measurement import Exactness, Measurement
from polydl.ir.numerics import in_words
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Variant
from polydl.ir.working_sets import DependenceWorkingSet, WorkingSets
from polydl.machine import Machine
from polydl.winning import fastest

if TYPE_CHECKING:
    from polydl.doctor import Component
    from polydl.fusion.report import OperatorPair
    from polydl.measuring import Tried
    from polydl.optimization import Optimization
    from polydl.plan.apply import Applied
    from polydl.plan.nest_plan import Plan
    from polydl.records.record import Record
    from polydl.variants.estimate import SizeEstimate
    from polydl.variants.generate import VariantSpace
    from polydl.variants.generation import Generation

Document = dict[str, Any]

REPORT_FILE = "report.json"
FAILED_FOLDER = "failed"
STAGES = ("parse", "variants", "analysis", "ranking", "compile", "run", "total")


def to_text(document: Document) -> str:
    """The document as JSON that any reader takes (no NaN), its keys in their order."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def gflops(scop: Scop, seconds: float | None) -> float | None:
    """Operations of the nest per nanosecond; None without a time."""
    return scop.flops / seconds / 1e9 if seconds else None


def level_sizes(working_sets: WorkingSets, machine: Machine) -> dict[str, int]:
    """Bytes that each cache level holds, by its name, and what is left to memory."""
    names = [level.name for level in machine.caches]
    return {**dict(zip(names, working_sets.levels, strict=True)), "memory": working_sets.memory}


def innermost_level(size: int, machine: Machine) -> str:
    """The name of the smallest cache that is large enough for so many bytes by themselves, or ``memory``."""
    return next((level.name for level in machine.caches if size <= level.bytes), "memory")


def loop_ranges(statement: Statement) -> tuple[tuple[int, int], ...]:
    """The first and the last value of each iterator; where the domain is no box, its outermost ones."""
    if statement.box is not None:
        return statement.box
    import islpy

    from polydl.poly.boxes import bounding_box

    return bounding_box(islpy.Set(statement.domain))


def optimization_document(result: Optimization) -> Document:
    """The document of ``polydl optimize``.

    Its candidates are those that were run or, if nothing was, those that would have been.
    """
    measurements = [each.measurement for each in result.tried]
    passed = sum(measurement.status == "ok" for measurement in measurements)
    return _document(
        {
            "schema": "polydl.optimize/1",
            "input": {**_input(result.scop), "exported": result.exported},
            "machine": {
                **result.machine.to_json(),
                "peak_gflops": result.peak_gflops,
                **report_evidence.machine_speeds(result.machine),
                "lacking": list(result.lacking),
                "at_hand": result.machine.at_hand,
            },
            "arrays": report_evidence.arrays(result),
            "counts": {
                "generated": result.generation.generated,
                "legal": len(result.generation.variants),
                "ranked": len(result.ranking.entries),
                "measured": passed,
                "failed": len(measurements) - passed,
            },
            "baseline": _baseline(result, result.baseline),
            "baselines": [_baseline(result, each) for each in result.baselines],
            "numerics": result.numerics,
            "best": _winner(result),
            "candidates": _candidates(result),
            "ranking": report_evidence.ranking(result.ranking),
            "code": report_evidence.code(result),
            "records": {
                "answered": False,
                "reused": len(result.recorded),
                "measured": min((record.date for record in result.recorded), default=None),
            },
            "interrupted": result.interrupted,
            "search": None if result.search is None else asdict(result.search),
            "files": {kind: result.files.get(kind) for kind in (*FILE_KINDS, "report")},
            "seconds": {stage: result.seconds.get(stage) for stage in STAGES},
        }
    )


def fusion_document(result: Optimization, pairs: Sequence[OperatorPair]) -> Document:
    """The document of ``polydl fuse``: that of ``polydl optimize``, with the pairs of operators in ``fusions``."""
    document = optimization_document(result)
    fusions = [{key: value for key, value in asdict(pair).items() if key != "way"} for pair in pairs]
    return _document({**document, "schema": "polydl.fuse/1", "fusions": fusions})


def parse_document(scop: Scop) -> Document:
    """The document of ``polydl parse``."""
    return _document(
        {
            "schema": "polydl.parse/1",
            "input": _input(scop),
            "line": scop.line,
            "parameters": [asdict(parameter) for parameter in scop.function.parameters],
            "arrays": [{**asdict(array), "bytes": array.bytes} for array in scop.arrays],
            "statements": [
                {
                    "name": statement.name,
                    "line": statement.line,
                    "text": statement.text,
                    "loops": [
                        {"name": name, "first": first, "last": last}
                        for name, (first, last) in zip(statement.iterators, loop_ranges(statement), strict=True)
                    ],
                    "domain": statement.domain,
                    "instances": statement.instances,
                    "flops": statement.flops,
                    "accesses": [
                        {"kind": access.kind, "array": access.array, "relation": access.relation}
                        for access in statement.accesses
                    ],
                }
                for statement in scop.statements
            ],
            "annotated_calls": [asdict(call) for call in scop.annotated_calls],
            "schedule": scop.schedule,
        }
    )


def variants_document(
    space: VariantSpace, generation: Generation, machine: Machine, size: SizeEstimate | None = None
) -> Document:
    """The document of ``polydl variants``; ``size`` where not all assignments were looked at."""
    return _document(
        {
            "schema": "polydl.variants/1",
            "input": _input(space.scop),
            "machine": machine.to_json(),
            "counts": {
                "generated": generation.generated,
                "legal": len(generation.variants),
                "total": generation.total,
                "sampled": generation.sampled,
                "estimate": None if size is None else asdict(size),
            },
            "nests": [
                {
                    "nest": report.nest.index,
                    "statements": report.nest.statements,
                    "loops": report.nest.loops,
                    "flops": report.flops,
                    "microkernel": report.kernel,
                    "reason": report.reason,
                }
                for report in space.reports
            ],
            "variants": [_variant(variant) for variant in generation.variants],
        }
    )


def ranking_document(scop: Scop, ranking: Ranking, machine: Machine) -> Document:
    """The document of ``polydl rank``, with all that was ranked."""
    return _document(
        {
            "schema": "polydl.rank/1",
            "input": _input(scop),
            "machine": machine.to_json(),
            "ranker": ranking.ranker,
            "entries": [
                {
                    "rank": rank,
                    **_variant(entry.variant),
                    "score": entry.score,
                    "reason": entry.reason,
                    "working_sets": level_sizes(entry.working_sets, machine),
                }
                for rank, entry in enumerate(ranking.entries, 1)
            ],
        }
    )


def analysis_document(applied: Applied, working_sets: WorkingSets, machine: Machine) -> Document:
    """The document of ``polydl analyze``: ``level`` is the innermost cache that holds the working set by itself.

    ``one_level_up`` is null where the nearest reuse fits the innermost cache, and its ``shrink`` where no loop alone
    would have to run over fewer values for it to fit ``level``.
    """
    scop, plan = applied.executed
    return _document(
        {
            "schema": "polydl.analyze/1",
            "input": _input(scop),
            "machine": machine.to_json(),
            "variant": _variant(plan.variant),
            "dependences": [_dependence(scop, plan, dependence, machine) for dependence in working_sets.dependences],
            "working_sets": level_sizes(working_sets, machine),
            "method": working_sets.method,
        }
    )


def doctor_document(components: Sequence[Component], ready: bool) -> Document:
    """The document of ``polydl doctor``."""
    return _document(
        {"schema": "polydl.doctor/1", "ready": ready, "components": [asdict(component) for component in components]}
    )


def failure_message(measurement: Measurement) -> str:
    """What went wrong, without the temporary directory in which it did."""
    directory = f"{Path(measurement.source).parent}/" if measurement.source else ""
    return measurement.message.replace(directory, "") if len(directory) > 2 else measurement.message


def write_report(result: Optimization, directory: Path) -> Optimization:
    """Write report.json, and the C of each candidate that failed under failed/. The result with the new file in it.

    Raises ResourceError.
    """
    for each in result.tried:
        if each.measurement.status != "ok":
            write_atomically(directory / FAILED_FOLDER / f"{each.kernel.id}.c", each.kernel.c)
    path = directory / REPORT_FILE
    written = replace(result, files={**result.files, "report": path})
    write_atomically(path, to_text(optimization_document(written)))
    return written


def _baseline(result: Optimization, baseline: Baseline | None) -> Document | None:
    if baseline is None:
        return None
    measurement = baseline.measurement
    return {
        "id": baseline.build.kernel.id,
        "name": baseline.name,
        "status": measurement.status,
        "seconds": measurement.seconds_median,
        "gflops": gflops(result.scop, measurement.seconds_median),
        "message": failure_message(measurement),
        "recorded": None if baseline.record is None else baseline.record.date,
        **report_evidence.samples(measurement),
    }


def _input(scop: Scop) -> Document:
    return {
        "file": scop.file,
        "function": scop.function.name,
        "digest": scop.digest,
        "flops": scop.flops,
        "defines": dict(scop.defines),
    }


def _variant(variant: Variant) -> Document:
    return {"id": variant.id, "steps": variant.to_json()}


def _winner(result: Optimization) -> Document | None:
    if result.plain is not None:
        return _plain_best(result, result.plain)
    return None if result.winner is None else _best(result, result.winner)


def _plain_best(result: Optimization, plain: Baseline) -> Document:
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
        "peak_fraction": None if rate is None else rate / (result.peak_gflops * result.machine.threads),
        "speedup": result.speedup,
        "speedup_over_original": times_as_fast(measurement, result.baselines[0].measurement),
        "accuracy": _accuracy(measurement),
        "error": measurement.error,
        "preferred_to": None,
        "reuses": [],
        "rounding": {"method": in_words(result.numerics, rounding), "error_factor": rounding.error_factor},
        "exactness": None,
    }


def _best(result: Optimization, winner: Tried) -> Document:
    from polydl.plan.step_words import variant_in_words

    measurement = winner.measurement
    seconds = measurement.seconds_median
    rate = gflops(result.scop, seconds)
    return {
        **_variant(winner.ranked.variant),
        "plain": False,
        "words": variant_in_words(result.scop, winner.ranked.variant),
        "microkernel": _main_microkernel(result, winner),
        "seconds": seconds,
        "gflops": rate,
        "peak_fraction": None if rate is None else rate / (result.peak_gflops * result.machine.threads),
        "speedup": speedup(measurement, result.baselines),
        "speedup_over_original": times_as_fast(measurement, result.baselines[0].measurement),
        "accuracy": _accuracy(measurement),
        "error": measurement.error,
        "reuses": report_evidence.reuses(winner.ranked.working_sets),
        "rounding": _rounding(result, winner),
        "exactness": None if result.exactness is None else _exactness(result.exactness),
        "preferred_to": _preferred_to(result, winner),
    }


def _preferred_to(result: Optimization, winner: Tried) -> str | None:
    first = fastest(result.tried, interrupted=result.interrupted)
    return None if first is None or first is winner else first.kernel.id


def _exactness(exactness: Exactness) -> Document:
    return {"verdict": exactness.verdict, "ring": exactness.ring, "reason": exactness.reason}


def _rounding(result: Optimization, tried: Tried) -> Document:
    """What a candidate does to sums and products; no factor where it computes those of the source."""
    rounding = result.applied(tried.ranked.variant).rounding
    return {
        "method": in_words(result.numerics, rounding, tried.kernel.vector_functions),
        "error_factor": rounding.error_factor,
    }


def _accuracy(measurement: Measurement | None) -> Document | None:
    accuracy = None if measurement is None else measurement.accuracy
    return None if accuracy is None else {**asdict(accuracy), "ratio": accuracy.ratio}


def _main_microkernel(result: Optimization, winner: Tried) -> Document | None:
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


def _candidates(result: Optimization) -> list[Document]:
    scop, machine = result.scop, result.machine
    if result.baselines:
        documents = [
            _candidate(each.rank, each.ranked, each.measurement, scop, machine, each.record, result.baselines)
            for each in result.tried
        ]
    else:
        documents = [_candidate(rank, entry, None, scop, machine, None, ()) for rank, entry in result.picks]
    analysed = report_evidence.by_id(result.analysed)
    return [
        {**document, "traffic": report_evidence.traffic(analysed.get(document["id"]), machine)}
        for document in documents
    ]


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
        **_variant(entry.variant),
        "score": entry.score,
        "working_sets": level_sizes(entry.working_sets, machine),
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
        **report_evidence.samples(measurement),
    }


def _dependence(scop: Scop, plan: Plan, dependence: DependenceWorkingSet, machine: Machine) -> Document:
    from polydl.reuse.explain import shrink_to_fit

    smaller = [level for level in machine.caches if level.bytes < dependence.minimum_bytes]
    shrink = shrink_to_fit(scop, plan, dependence, smaller[-1].bytes) if smaller else None
    return {
        **asdict(dependence),
        "line": scop.statement(dependence.source).line,
        "minimum_level": innermost_level(dependence.minimum_bytes, machine),
        "maximum_level": innermost_level(dependence.maximum_bytes, machine),
        "one_level_up": {"level": smaller[-1].name, "shrink": asdict(shrink) if shrink else None} if smaller else None,
    }


def _document(content: Document) -> Document:
    """Only what JSON has: lists for tuples, text for paths, null for NaN and infinity."""
    return {key: _plain(value) for key, value in content.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _document(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value

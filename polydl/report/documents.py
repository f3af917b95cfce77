"""What polydl found, as JSON documents.

Each names its form in ``schema``. Times are in seconds, sizes in bytes, what is not known is null. Nothing in a
document but times, and the rates and the choice that follow from them, differs between two runs with the same seed.
docs/optimize.schema.json describes the document of ``optimize``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from polydl.emitted_names import FILE_KINDS, REPORT_FILE
from polydl.errors import printable
from polydl.ir.ranking import Ranking
from polydl.ir.scop import Scop
from polydl.ir.working_sets import DependenceWorkingSet, WorkingSets
from polydl.machine import Machine
from polydl.report import evidence
from polydl.report.results import (
    Document,
    baseline_document,
    candidate_documents,
    level_sizes,
    variant_document,
    winner_document,
)
from polydl.system.files import is_text, write_together

if TYPE_CHECKING:
    from polydl.doctor import Component
    from polydl.fusion.report import OperatorPair
    from polydl.model.times import NestTime
    from polydl.outcome.outcome import Outcome
    from polydl.plan.apply import Applied
    from polydl.plan.nest_plan import Plan
    from polydl.variants.estimate import SizeEstimate
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace

FAILED_FOLDER = "failed"
STAGES = ("parse", "variants", "analysis", "ranking", "compile", "run", "total")

AnyOutcome = TypeVar("AnyOutcome", bound="Outcome")


def to_text(document: Document) -> str:
    """The document as JSON that any reader takes, its keys in their order.

    It has null for NaN, and paths that are not UTF-8 are as messages show them.
    """
    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_printable(document))
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def _printable(value: Any) -> Any:
    """The same JSON value without what UTF-8 can't hold."""
    if isinstance(value, str):
        return value if is_text(value) else printable(value)
    if isinstance(value, Mapping):
        return {_printable(key): _printable(part) for key, part in value.items()}
    return [_printable(part) for part in value] if isinstance(value, list | tuple) else value


def innermost_level(size: int, machine: Machine) -> str:
    """The name of the smallest cache that is large enough for so many bytes by themselves, or ``memory``."""
    return next((level.name for level in machine.caches if size <= level.bytes), "memory")


def optimization_document(result: Outcome) -> Document:
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
                **evidence.machine_speeds(result.machine),
                "lacking": list(result.lacking),
                "at_hand": result.machine.at_hand,
            },
            "arrays": evidence.arrays(result),
            "counts": {
                "generated": result.generation.generated,
                "legal": len(result.generation.variants),
                "ranked": len(result.ranking.entries),
                "measured": passed,
                "failed": len(measurements) - passed,
            },
            "baseline": baseline_document(result, result.baseline),
            "baselines": [baseline_document(result, each) for each in result.baselines],
            "numerics": result.numerics,
            "cold": result.cold,
            "best": winner_document(result),
            "candidates": candidate_documents(result),
            "ranking": evidence.ranking(result.ranking),
            "code": evidence.code(result),
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


def fusion_document(result: Outcome, pairs: Sequence[OperatorPair]) -> Document:
    """The document of ``polydl fuse``: that of ``polydl optimize``, with the pairs of operators in ``fusions``."""
    document = optimization_document(result)
    fusions = [{key: value for key, value in asdict(pair).items() if key != "way"} for pair in pairs]
    return _document({**document, "schema": "polydl.fuse/1", "fusions": fusions})


def parse_document(scop: Scop) -> Document:
    """The document of ``polydl parse``."""
    # It loads isl, which no other document needs.
    from polydl.poly.boxes import loop_ranges

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
    """The document of ``polydl variants``; ``size`` where legal variants are left out.

    ``legal`` counts those that are listed, ``forms`` shapes with tiles and orders, each of which stands for a variant
    or more, and ``estimate`` all legal variants: exactly, where all assignments were looked at.
    """
    return _document(
        {
            "schema": "polydl.variants/2",
            "input": _input(space.scop),
            "machine": machine.to_json(),
            "counts": {
                "generated": generation.generated,
                "legal": len(generation.variants),
                "forms": generation.forms,
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
            "variants": [variant_document(variant) for variant in generation.variants],
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
                    **variant_document(entry.variant),
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
            "variant": variant_document(plan.variant),
            "dependences": [_dependence(scop, plan, dependence, machine) for dependence in working_sets.dependences],
            "working_sets": level_sizes(working_sets, machine),
            "method": working_sets.method,
        }
    )


def prediction_document(applied: Applied, times: Sequence[NestTime], machine: Machine) -> Document:
    """The document of ``polydl rank --variant``: seconds of each nest, in the order in which they run.

    ``transfers`` are into each cache, innermost first; some of them show beside ``arithmetic`` in ``total``.
    """
    nests = zip(applied.plan.nests, times, strict=True)
    return _document(
        {
            "schema": "polydl.predict/1",
            "input": _input(applied.source),
            "machine": machine.to_json(),
            "variant": variant_document(applied.variant),
            "nests": [
                {"nest": nest.nest.index, "statements": nest.nest.statements, **asdict(time)} for nest, time in nests
            ],
        }
    )


def doctor_document(components: Sequence[Component], ready: bool) -> Document:
    """The document of ``polydl doctor``."""
    return _document(
        {"schema": "polydl.doctor/1", "ready": ready, "components": [asdict(component) for component in components]}
    )


def write_report(result: AnyOutcome, directory: Path) -> AnyOutcome:
    """Write report.json, and the C of each candidate that failed under failed/. The result with the new file in it.

    Raises ResourceError.
    """
    for each in result.tried:
        if each.measurement.status != "ok":
            write_together({directory / FAILED_FOLDER / f"{each.kernel.id}.c": each.kernel.c})
    path = directory / REPORT_FILE
    written = replace(result, files={**result.files, "report": path})
    write_together({path: to_text(optimization_document(written))})
    return written


def _input(scop: Scop) -> Document:
    return {
        "file": scop.file,
        "function": scop.function.name,
        "digest": scop.digest,
        "flops": scop.flops,
        "defines": dict(scop.defines),
        "constants": list(scop.constants),
        "left_out": list(scop.left_out),
        "init": None if scop.initializer is None else scop.initializer.function,
        "inputs": None if scop.inputs is None else scop.inputs.path,
    }


def _dependence(scop: Scop, plan: Plan, dependence: DependenceWorkingSet, machine: Machine) -> Document:
    from polydl.reuse.explain import shrink_to_fit

    smaller = [level for level in machine.caches if level.bytes < dependence.minimum_bytes]
    shrink = shrink_to_fit(scop, plan, dependence, smaller[-1].bytes) if smaller else None
    return {
        **dependence._asdict(),
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

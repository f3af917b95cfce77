"""A run over the nests of a seed: in processes, within a budget, on from where an earlier run stopped."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from polydl.errors import OptionError, ResourceError
from polydl.frontend.child import forked_children
from polydl.fuzzing.examine import Failure, FuzzingSettings, NestOutcome, examine, processor_seconds
from polydl.fuzzing.findings import DESCRIPTION, Finding, write
from polydl.fuzzing.generator import generated
from polydl.fuzzing.pool import Lost, Pool
from polydl.fuzzing.reduction import reduced
from polydl.fuzzing.totals import Totals, added
from polydl.system.files import opened

LOG = "nests.jsonl"
# Of processor time of the process that examines a nest and reduces what it shows; and of the clock for one reduction.
_NEST_SECONDS = 400.0
_REDUCTION_SECONDS = 120.0
# Findings of one cause that are kept, and those among them that are reduced.
_KEPT, _REDUCED = 20, 3
# For the libraries that processes load: more threads than one, whatever the machine, and idle ones sleep.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "3", "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"
}  # fmt: skip
# After the budget, what is left for nests that have begun.
_GRACE_SECONDS = 20.0


@dataclass(frozen=True)
class SessionBudget:
    """When a run ends."""

    #: from the start of the session; None for any time
    seconds: float | None = None
    #: those of earlier runs included
    nests: int | None = None


@dataclass(frozen=True)
class Task:
    """A nest to examine."""

    #: of the nest in its session
    number: int
    #: ``time.monotonic`` after which nothing is reduced
    until: float
    #: signatures of which there are enough reduced findings
    known: frozenset[str]


@dataclass(frozen=True)
class Examined:
    """The outcome of a nest with what it showed."""

    #: of nest, as ``Case.kind``
    kind: str
    outcome: NestOutcome
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class SessionResult:
    """The result of a run."""

    #: with which the same nests come again
    seed: int
    totals: Totals
    #: paths of the descriptions, those of earlier runs included
    findings: tuple[Path, ...]
    #: whether Ctrl-C ended it
    interrupted: bool
    #: nests that an earlier run had examined
    earlier: int


def fuzz(
    seed: int,
    budget: SessionBudget,
    settings: FuzzingSettings,
    directory: Path,
    *,
    jobs: int,
    progress: Callable[[Totals], None] | None = None,
) -> SessionResult:
    """Examine the nests of a seed, and keep what fails in the directory.

    The directory also has a line for each nest: a run with the same seed and settings goes on behind them. Ctrl-C ends
    it with what it has. Raises OptionError for a directory of another run, ResourceError where it can't be written.
    """
    head = {
        "seed": seed, "variants": settings.variants, "optimization": settings.optimization,
        "numerics": settings.numerics, "compiler": f"{settings.toolchain.kind} {settings.toolchain.version}",
    }  # fmt: skip
    log, done, earlier = _opened(directory, head)
    totals = replace(earlier, jobs=jobs)
    started, before = time.monotonic(), processor_seconds()
    end = started + budget.seconds if budget.seconds is not None else float("inf")
    signatures = Counter(earlier.failures)
    interrupted = False

    def tasks() -> Iterator[Task]:
        numbers = (number for number in count() if number not in done)
        for given, number in enumerate(numbers, len(done)):
            if time.monotonic() >= end or (budget.nests is not None and given >= budget.nests):
                return
            known = frozenset(name for name, seen in signatures.items() if seen >= _REDUCED)
            yield Task(number, end, known)

    with log:
        try:
            with Pool(partial(_examined, seed, settings), jobs, _NEST_SECONDS, _ENVIRONMENT) as pool:
                for task, answer in pool.answers(tasks(), lambda: end + _GRACE_SECONDS):
                    examined = _of_lost(seed, settings, task, answer) if isinstance(answer, Lost) else answer
                    for finding in examined.findings:
                        signatures[finding.failure.signature] += 1
                        if signatures[finding.failure.signature] <= _KEPT:
                            write(finding, directory, head)
                    part = _totals(examined)
                    log.write(json.dumps({"nest": task.number, **part.to_json()}) + "\n")
                    log.flush()
                    totals += part
                    if progress is not None:
                        progress(totals)
        except KeyboardInterrupt:
            interrupted = True
        spent = Totals(seconds=time.monotonic() - started, processor_seconds=processor_seconds() - before)
        log.write(json.dumps({"nest": None, **spent.to_json()}) + "\n")
    findings = tuple(sorted(directory.glob(f"*/{DESCRIPTION}")))
    return SessionResult(seed, totals + spent, findings, interrupted, len(done))


def _opened(directory: Path, head: Mapping[str, Any]) -> tuple[Any, set[int], Totals]:
    """The log, open to be added to, the numbers of the nests that it holds, and what these and their runs counted."""
    path = directory / LOG
    done: set[int] = set()
    parts: list[Totals] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if path.exists():
            with opened(path) as file:
                lines = file.read().decode().splitlines(keepends=True)
            complete = [line for line in lines if line.endswith("\n")]
            if complete and json.loads(complete[0]) != head:
                raise OptionError(
                    f"{path} is of a run with another seed, compiler, level or number of variants",
                    remedy="name another directory with --out",
                )
            for line in complete[1:]:
                fields = json.loads(line)
                parts.append(Totals.from_json(fields))
                if fields["nest"] is not None:
                    done.add(int(fields["nest"]))
            # A line that was cut off is written anew.
            path.write_text("".join(complete), encoding="utf-8")
        log = path.open("a", encoding="utf-8")
        if log.tell() == 0:
            log.write(json.dumps(head) + "\n")
        return log, done, added(parts)
    except (ValueError, KeyError) as error:
        raise OptionError(f"{path} can't be read: {error}", remedy="name another directory with --out") from None
    except OSError as error:
        raise ResourceError(
            f"can't write {path}: {error.strerror}", remedy="name a directory that is writable with --out"
        ) from None


def _examined(seed: int, settings: FuzzingSettings, task: Task) -> Examined:
    """In a process of the pool: a nest, and its failures made smaller."""
    with forked_children():
        return _examined_here(seed, settings, task)


def _examined_here(seed: int, settings: FuzzingSettings, task: Task) -> Examined:
    program, case = generated(seed, task.number, settings.numerics)
    outcome = examine(case, settings)
    findings: list[Finding] = []
    told: set[str] = set()
    for failure in outcome.failures:
        if failure.signature in told:
            continue
        told.add(failure.signature)
        if failure.signature in task.known:
            findings.append(Finding(case, failure, False))
            continue
        until = min(task.until, time.monotonic() + _REDUCTION_SECONDS)
        smaller, again = reduced(program, case, failure, settings, until=until)
        # What is counted is the cause as it was seen first.
        kept = replace(again, signature=failure.signature)
        findings.append(Finding(smaller, kept, time.monotonic() < until))
    return Examined(case.kind, outcome, tuple(findings))


def _of_lost(seed: int, settings: FuzzingSettings, task: Task, lost: Lost) -> Examined:
    """A nest at which polydl itself crashed or hung."""
    _, case = generated(seed, task.number, settings.numerics)
    kind = "hang of polydl" if lost.timed_out else "crash of polydl"
    failure = Failure(kind.replace(" ", "-"), lost.message, f"{kind}: {lost.message}")
    return Examined(case.kind, NestOutcome(failures=(failure,)), (Finding(case, failure, False),))


def _totals(examined: Examined) -> Totals:
    outcome = examined.outcome
    signatures = {failure.signature for failure in outcome.failures}
    return Totals(
        nests=1,
        kinds=Counter([examined.kind]),
        variants=outcome.variants,
        refusals=outcome.refusals,
        steps=outcome.steps,
        exact=outcome.exact,
        failures=Counter(signatures),
        stages=outcome.milliseconds,
    )

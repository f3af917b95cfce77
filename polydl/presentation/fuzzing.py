"""What a run of ``polydl fuzz`` shows, for people and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from polydl.fuzzing.totals import KIND, VERSION, Totals
from polydl.presentation.notation import count, counted
from polydl.presentation.tables import rendered, table

# Statuses of variants that are no failures.
_HARMLESS = ("ok", "imprecise")
_SHOWN = 40


def totals_text(totals: Totals) -> str:
    """Tables of what was examined, what failed, and what was refused and why."""
    wrong = totals.run - sum(totals.variants[status] for status in _HARMLESS)
    parts = [
        f"Nests     {count(totals.nests)}: {_listed(totals.kinds)}",
        f"Variants  {count(totals.run)}: {_listed(totals.variants) or 'none'}",
        f"Exactly   {count(sum(totals.exact.values()))} of them over a ring: {_listed(totals.exact) or 'none'}",
        f"Steps     {_listed(totals.steps) or 'none'}",
    ]
    if totals.refusals:
        refusals = table("refused", "count", right=("count",), fold=("refused",))
        for reason, times in totals.refusals.most_common(_SHOWN):
            refusals.add_row(reason, count(times))
        parts.append(rendered(refusals))
    if totals.failures:
        failures = table("failure", "nests", right=("nests",), fold=("failure",))
        for signature, times in totals.failures.most_common():
            failures.add_row(signature, count(times))
        parts.append(rendered(failures))
    parts.append(_seconds_text(totals))
    what = counted(sum(totals.failures.values()), "failure") if totals.failures else "no failure"
    if not totals.run and not totals.failures:
        what = "none: no variant ran"
    parts.append(f"Result    {what}; {counted(wrong, 'variant')} wrong, crashed, hung or not compiled")
    return "\n\n".join(parts)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count(times)}" for name, times in counts.most_common())


def _seconds_text(totals: Totals) -> str:
    stages = ", ".join(f"{name} {spent / 1000:.0f}" for name, spent in totals.stages.most_common())
    processes = "1 process" if totals.jobs == 1 else f"{totals.jobs} processes"
    text = f"Seconds   {totals.seconds:.0f} with up to {processes}"
    if totals.processor_seconds:
        rate = totals.run / totals.processor_seconds
        text += f"; {totals.processor_seconds:.0f} of processors ({stages}), {rate:.1f} variants in each"
    return text


def totals_document(totals: Totals, seeds: Sequence[int], findings: Sequence[str]) -> dict[str, Any]:
    """A run, or several, as ``--json`` writes it and ``--merge`` reads it."""
    return {"kind": KIND, "version": VERSION, "seeds": list(seeds), **totals.to_json(), "findings": list(findings)}

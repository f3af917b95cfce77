"""Runs of ``polydl fuzz`` side by side: what they counted, as tables.

    polydl fuzz --seed 1 --budget 10000nests --json run.json
    python -m experiments.random_nests --add run.json --run gcc --commit 0123abc --command "polydl fuzz --seed 1 …"
    python -m experiments.random_nests --page docs/results/2026-11-24-random-nests.md
    python -m experiments.random_nests --table experiments/data/random_nests.jsonl

``--add`` puts a run in the place of an earlier one of that name in the data file. ``--page`` writes each table behind
the heading of its name, in the place of the one that is there.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.tables import markdown

DATA = Path(__file__).parent / "data" / "random_nests.jsonl"
# Refusals that have a row of their own.
_MOST_REASONS = 40
_STATUSES = ("ok", "imprecise", "wrong", "crash", "timeout", "compile")
_STAGES = ("parse", "compile", "run", "space", "generate", "rank", "exactness")


@dataclass(frozen=True)
class Run:
    """One run, or a part of one."""

    name: str
    commit: str
    command: str
    #: what ``polydl fuzz --json`` wrote
    document: Mapping[str, Any]

    def counts(self, kind: str) -> Counter[str]:
        return Counter(self.document[kind])

    @property
    def variants(self) -> int:
        return sum(self.document["variants"].values())


def read(path: Path) -> list[Run]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Run(each["run"], each["commit"], each["command"], each["document"]) for each in map(json.loads, lines)]


def add(path: Path, run: Run) -> None:
    """Put a run in the place of the earlier one of its name, or behind all others."""
    runs = {each.name: each for each in read(path)} | {run.name: run}
    documents = (
        {"run": each.name, "commit": each.commit, "command": each.command, "document": each.document}
        for each in runs.values()
    )
    path.write_text("".join(f"{json.dumps(each, sort_keys=True)}\n" for each in documents), encoding="utf-8")


def tables(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Lines of Markdown by the headings that they belong to."""
    return {
        "Counts": _counts(runs),
        "Failures": _summed(runs, "failures", ("failure", "nests")),
        "Nests": _summed(runs, "kinds", ("kind", "nests")),
        "Steps": _summed(runs, "steps", ("step", "variants")),
        "Refusals": _summed(runs, "refusals", ("refused", "times"), _MOST_REASONS),
        "Processor time": _seconds(runs),
    }


def _counts(runs: Sequence[Run]) -> list[str]:
    heads = ("run", "commit", "nests", "variants", *_STATUSES, "over a ring: agree", "differ", "refused")
    rows = [
        [
            run.document["nests"], run.variants, *(run.counts("variants")[status] for status in _STATUSES),
            run.counts("exact")["agrees"], run.counts("exact")["differs"], sum(run.counts("refusals").values()),
        ]
        for run in runs
    ]  # fmt: skip
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    names = [*((f"`{run.command}`", run.commit) for run in runs), ("all", "")]
    return markdown(heads, [[*name, *(f"{number:,}" for number in row)] for name, row in zip(names, rows, strict=True)])


def _summed(runs: Sequence[Run], kind: str, heads: tuple[str, str], most: int | None = None) -> list[str]:
    """What all runs counted of something by name, the most frequent first, those behind ``most`` in one row."""
    whole = sum((run.counts(kind) for run in runs), Counter[str]())
    ordered = sorted(whole.items(), key=lambda pair: (-pair[1], pair[0]))
    shown, others = ordered[:most], ordered[most:] if most is not None else []
    rows = [[name.replace("|", "\\|"), f"{count:,}"] for name, count in shown]
    if others:
        rows.append([f"{len(others)} further reasons", f"{sum(count for _, count in others):,}"])
    return markdown(heads, rows or [["none", "0"]])


def _seconds(runs: Sequence[Run]) -> list[str]:
    """Milliseconds of processor time that a nest takes on average, by stage."""
    rows = []
    for run in runs:
        nests = run.document["nests"]
        each = [run.counts("stages")[stage] / nests for stage in _STAGES]
        rows.append([run.name, *(f"{milliseconds:.0f} ms" for milliseconds in (*each, sum(each)))])
    return markdown(("run", *_STAGES, "all"), rows)


def with_tables(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """The page with other tables behind the headings. Raises ValueError for a heading without a table."""
    for heading, lines in tables.items():
        table = re.compile(rf"(^#+ {re.escape(heading)}\n(?:(?!#|\|).*\n)*)(?:\|.*\n)+", re.MULTILINE)
        text = "".join(f"{line}\n" for line in lines)
        page, replaced = table.subn(lambda match, text=text: match[1] + text, page)  # type: ignore[misc]
        if replaced != 1:
            raise ValueError(f"the page has no section {heading!r} with a table")
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="where the runs are kept")
    parser.add_argument("--add", type=Path, help="what `polydl fuzz --json` wrote")
    parser.add_argument("--run", default="", help="its name")
    parser.add_argument("--commit", default="", help="of polydl in that run")
    parser.add_argument("--command", default="", help="that made it")
    parser.add_argument("--page", type=Path, help="the page to write the tables into")
    parser.add_argument("--table", type=Path, help="runs whose tables to print")
    options = parser.parse_args()
    if options.add is not None:
        document = json.loads(options.add.read_text(encoding="utf-8"))
        kept = {name: value for name, value in document.items() if name != "findings"}
        add(options.data, Run(options.run, options.commit, options.command, kept))
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(with_tables(page, tables(read(options.data))), encoding="utf-8")
    if options.table is not None:
        for heading, lines in tables(read(options.table)).items():
            print(f"## {heading}\n", *lines, "", sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m experiments.barvinok_check``: working sets at real sizes against barvinok, an independent counter.

barvinok is licensed under the GPL and installs over islpy, so it is kept in a virtual environment of its own, which the
first run makes. polydl's numbers come from here, barvinok's from ``barvinok_cards.py`` in a process over there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import polydl
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.pipeline import analyze_variants, apply

_WIDTH = 120
_PACKAGE = "islpy-barvinok"
_EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Case:
    """One variant and what polydl says of it."""

    scop: Scop
    schedule: Schedule
    expected: WorkingSets


def environment(directory: Path) -> Path:
    """The Python of a virtual environment that has barvinok; made if it isn't there."""
    python = directory / "bin" / "python"
    if not (directory / "ready").exists():
        venv.create(directory, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", _PACKAGE], check=True)
        (directory / "ready").touch()
    return python


def time_map(statement: Statement, dimensions: Sequence[int | Loop], levels: int) -> str:
    times = []
    for d in dimensions:
        if isinstance(d, int):
            times.append(str(d))
        else:
            times.append(f"{d.direction}*floor(({statement.iterators[d.iterator]} - ({d.origin}))/{d.size})")
    times += ["0"] * (levels - len(times))
    return f"{{ {statement.name}[{', '.join(statement.iterators)}] -> [{', '.join(times)}] }}"


def job(case: Case) -> dict[str, Any]:
    """What the other side needs to know: nothing that polydl derived but the schedule."""
    dimensions = dict(case.schedule.statements)
    levels = max(len(statement_dimensions) for statement_dimensions in dimensions.values())
    return {
        "levels": levels,
        "line_bytes": case.expected.line_bytes or 0,
        "arrays": [{"name": a.name, "bytes": a.element_bytes, "strides": a.strides} for a in case.scop.arrays],
        "statements": [
            {
                "name": s.name,
                "domain": s.domain,
                "time": time_map(s, dimensions[s.name], levels),
                "levels": [
                    {"name": d.name, "parallel": d.parallel} if isinstance(d, Loop) else {"name": "", "parallel": False}
                    for d in (*dimensions[s.name], *([0] * (levels - len(dimensions[s.name]))))
                ],
            }
            for s in case.scop.statements
        ],
        "accesses": [
            {"statement": s.name, "array": a.array, "kind": a.kind, "relation": a.relation}
            for s in case.scop.statements
            for a in s.accesses
        ],
    }


def rows(working_sets: WorkingSets) -> list[list[Any]]:
    return sorted(
        [
            sorted(d.kinds),
            d.array,
            d.source,
            d.target,
            d.loop,
            d.parallel,
            d.minimum_elements,
            d.minimum_bytes,
            d.maximum_elements,
            d.maximum_bytes,
        ]
        for d in working_sets.dependences
    )


def cases(path: Path, defines: Mapping[str, str], count: int, seed: int, line_bytes: int | None) -> Iterator[Case]:
    machine = Machine.detect(cache_sizes="32K,1M,36608K")
    nest = polydl.parse(path, defines=defines)
    variants: Sequence[Variant] = polydl.generate_variants(nest, machine=machine, max_variants=count, seed=seed)
    analysed = analyze_variants(nest, variants, machine=machine, line_bytes=line_bytes)
    for number, variant in enumerate(variants):
        scop, plan = apply(nest, variant, machine=machine).executed
        yield Case(scop, plan.schedule, analysed[number])


def check(python: Path, chosen: Sequence[Case], timeout: float) -> tuple[int, int, float, list[str]]:
    """Variants and dependences that agree, barvinok's CPU seconds, and what differs in words."""
    lines = "".join(json.dumps(job(case)) + "\n" for case in chosen)
    script = Path(__file__).with_name("barvinok_cards.py")
    answer = subprocess.run([python, script], input=lines, capture_output=True, text=True, timeout=timeout, check=False)
    if answer.returncode:
        raise click.ClickException(f"barvinok's side failed:\n{answer.stderr}")
    equal = compared = 0
    seconds = 0.0
    differences = []
    for number, (case, line) in enumerate(zip(chosen, answer.stdout.splitlines(), strict=True)):
        theirs, ours = json.loads(line), rows(case.expected)
        seconds += theirs["seconds"]
        compared += len(ours)
        if theirs["working_sets"] == ours:
            equal += 1
        else:
            odd = [row for row in ours if row not in theirs["working_sets"]]
            differences.append(f"variant {number}: {odd} against {theirs['working_sets']}")
    return equal, compared, seconds, differences


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-D", "defines", multiple=True, metavar="NAME=VALUE", help="A macro of the sources.")
@click.option("--variants", "count", type=click.IntRange(min=1), default=12, show_default=True, metavar="N")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N")
@click.option("--lines", "line_bytes", type=click.IntRange(min=1), metavar="BYTES", help="Count cache lines as well.")
@click.option("--timeout", type=click.FloatRange(min=1), default=900.0, show_default=True, metavar="SECONDS")
@click.option(
    "--environment",
    "directory",
    type=click.Path(path_type=Path),
    default=Path("build/barvinok"),
    show_default=True,
    help="Where barvinok is, or will be.",
)
def main(
    sources: tuple[Path, ...],
    defines: tuple[str, ...],
    count: int,
    seed: int,
    line_bytes: int | None,
    timeout: float,
    directory: Path,
) -> None:
    """Compare polydl's working sets of SOURCES (by default conv.c and matmul.c of the examples) with barvinok's."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    python = environment(directory)
    table = Table("Nest", "Bytes", "Variants", "Dependences", "Variants equal", "barvinok, s CPU")
    wrong: list[str] = []
    for source in sources or (_EXAMPLES / "conv.c", _EXAMPLES / "matmul.c"):
        for unit in dict.fromkeys((None, line_bytes)):
            chosen = list(cases(source, dict(define.split("=", 1) for define in defines), count, seed, unit))
            equal, compared, seconds, differences = check(python, chosen, timeout)
            wrong += [f"{source.name}: {difference}" for difference in differences]
            name = "of elements" if unit is None else f"of {unit}-byte lines"
            table.add_row(source.name, name, str(len(chosen)), str(compared), str(equal), f"{seconds:.1f}")
    console.print(table)
    if wrong:
        raise click.ClickException("\n".join(wrong))


if __name__ == "__main__":
    main()

"""What constants of the performance model are worth that no probe measures: the order of recorded variants by value.

    python -m experiments.model_constants vary --data experiments/data/ranking/zen4.jsonl.xz --out constants.jsonl
    python -m experiments.model_constants table constants.jsonl

Each of these constants of ``Core`` takes other values, one constant at a time. All recorded variants of a nest are
analysed anew with each, and ordered by the cost model. A line of the output is a nest; those that the file has are not
analysed again. The table has a row for each value, and a column for each machine.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

import click

from experiments import json_lines
from experiments.tables import markdown
from polydl import pipeline, registry, workloads
from polydl.contracts import MeasuredNest
from polydl.errors import AnalysisError, IllegalVariantError
from polydl.learning.metrics import quality
from polydl.learning.samples import nests_in
from polydl.machine import CoreConstant, Machine

Document = dict[str, Any]
# A value, the first variant's performance in the order under it, relative to the best, and Kendall's tau of that order.
Order = tuple[float, float, float]

# Close to nothing, where a constant has to be positive.
_NONE = 1e-6
VALUES: Mapping[str, tuple[float, ...]] = {
    "exposed_first_share": (_NONE, 0.1, 0.25, 0.5, 1.0),
    "exposed_share": (_NONE, 0.1, 0.2, 0.4, 1.0),
    "exposed_memory_share": (_NONE, 0.15, 0.3, 0.6, 1.0),
    "exposed_ahead_share": (_NONE, 0.05, 0.1, 0.2),
    "exposed_beside_transfer_share": (_NONE, 0.05, 0.1, 0.2, 0.4),
    "exposed_page_share": (_NONE, 0.1, 0.25, 0.5, 1.0),
    "evicted_line_share": (_NONE, 0.25, 0.5, 1.0),
    "prefetch_most_in_vain": (1.0, 2.0, 4.0),
    "prefetch_turns_slowdown": (1.0, 1.5, 2.5, 4.0),
    "fewest_ways": (4, 8, 16),
    "tile_hidden_share": (_NONE, 0.15, 0.3, 0.45, 1.0),
    "tile_held_share": (_NONE, 0.15, 0.3, 0.45, 1.0),
}


def varied(nest: MeasuredNest, folder: Path) -> Document:
    """How well the cost model orders a nest's variants: an ``Order`` for each value of each constant."""
    scop = pipeline.parse(workloads.workload(nest.name).write(folder))
    variants = []
    for candidate in nest.candidates:
        with suppress(IllegalVariantError, AnalysisError):
            pipeline.apply(scop, candidate.variant, machine=nest.machine)
            variants.append(candidate.variant)
    seconds = {each.variant.id: taken for each, taken in zip(nest.candidates, nest.seconds, strict=True)}

    def order(machine: Machine) -> tuple[float, float]:
        candidates = pipeline.candidates(scop, variants, machine=machine)
        entries = registry.load("rankers", "cost-model").rank(candidates, machine).entries
        found = quality([seconds[entry.variant.id] for entry in entries])
        return round(found.top[0], 5), round(found.tau or 0.0, 5)

    shipped = {name: getattr(nest.machine.core, name) for name in VALUES}
    as_shipped = order(nest.machine)
    orders: dict[str, list[Order]] = {
        name: [
            (value, *(as_shipped if value == shipped[name] else order(having(nest.machine, name, value))))
            for value in sorted({*values, shipped[name]})
        ]
        for name, values in VALUES.items()
    }
    return {"shipped": shipped, "orders": orders}


def having(machine: Machine, name: str, value: float) -> Machine:
    """The machine with another value of one constant."""
    others = tuple(each for each in machine.constants if each.name != name)
    return replace(machine, constants=(*others, CoreConstant(name, value)))


def rows(documents: Sequence[Document], names: Sequence[str]) -> Iterator[list[str]]:
    """The cells of the table: geometric means of the first pick over the best, and means of Kendall's tau.

    What a machine's core has is in bold.
    """
    machines = dict.fromkeys(each["machine"] for each in documents)
    for name in names:
        # Files of before have fewer constants.
        varied_here = [each for each in documents if name in each["orders"]]
        for value in sorted({order[0] for each in varied_here for order in each["orders"][name]}):
            cells = [name, "0" if value == _NONE else f"{value:g}"]
            for machine in machines:
                own = [each for each in varied_here if each["machine"] == machine]
                orders = [order for each in own for order in each["orders"][name] if order[0] == value]
                text = f"{geometric_mean(o[1] for o in orders):.3f}, {mean(o[2] for o in orders):.2f}" if orders else ""
                cells.append(f"**{text}**" if own and own[0]["shipped"][name] == value else text)
            yield cells


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), multiple=True, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def vary(data: tuple[Path, ...], out: Path) -> None:
    """Analyse recorded variants anew with each value of each constant."""
    known = {(each["machine"], each["nest"]) for each in json_lines.documents(out)}
    with tempfile.TemporaryDirectory() as folder:
        for source in data:
            machine = source.name.partition(".")[0]
            for nest in nests_in([source]):
                if (machine, nest.name) in known:
                    continue
                json_lines.add({"machine": machine, "nest": nest.name, **varied(nest, Path(folder))}, out)
                print(machine, nest.name, flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--constant", "constants", type=click.Choice(list(VALUES)), multiple=True, help="Show these alone.")
def table(path: Path, constants: tuple[str, ...]) -> None:
    """Print how well variants are ordered by value, as Markdown."""
    documents = json_lines.documents(path)
    nests = Counter(each["machine"] for each in documents)
    heads = ("constant", "value", *(f"{name}, {count} nests" for name, count in nests.items()))
    print(*markdown(heads, list(rows(documents, constants or tuple(VALUES)))), sep="\n")


if __name__ == "__main__":
    main()

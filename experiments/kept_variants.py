"""Whether the variants of another version of polydl still mean what they meant: ids, predictions, scores and C.

    git worktree add ../before COMMIT && make -C ../before .venv/installed
    ../before/.venv/bin/python experiments/kept_variants.py record before.json
    .venv/bin/python experiments/kept_variants.py compare before.json --json compared.json
    .venv/bin/python experiments/kept_variants.py table compared.json

The first draws variants of twelve nests, for one thread and for two of a machine with fixed values; nothing is compiled
or timed. The second applies the same steps, and compares what comes of them one by one. The third prints these numbers
as a page of results has them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from polydl import pipeline
from polydl.machine import CacheLevel, Machine

Document = dict[str, Any]

_EXAMPLES = Path(__file__).parents[1] / "examples"
_TRIANGLE = """\
void triangle(float C[96][128], const float A[96][96], const float B[96][128])
{
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 128; ++j)
      for (int k = 0; k <= i; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
# Example, sizes, and options of the space.
NESTS: dict[str, tuple[str, dict[str, int], dict[str, bool]]] = {
    "convolution 3 x 3": ("conv.c", {"nImg": 1}, {}),
    "convolution 3 x 3, all products": ("conv.c", {"nImg": 1}, {"fewer_products": False}),
    "convolution 1 x 1": ("conv_1x1.c", {}, {}),
    "convolution, row-major": ("conv_plain.c", {}, {}),
    "product 512^3, all products": ("matmul.c", {"M": 512, "N": 512, "K": 512}, {"fewer_products": False}),
    "product 1024^3": ("matmul.c", {"M": 1024, "N": 1024, "K": 1024}, {}),
    "product, int8": ("matmul_int8.c", {}, {}),
    "product, bfloat16": ("matmul_bfloat16.c", {}, {}),
    "batch normalization, ReLU": ("bnorm_relu.c", {}, {}),
    "stencil": ("stencil.c", {}, {}),
    "triangular product": ("", {}, {}),
    "sequence gemver": ("sequences/gemver.c", {}, {}),
}
_VARIANTS, _VECTOR_BYTES = 24, 32
_RATES = (200e9, 80e9, 30e9, 10e9)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def machine(threads: int) -> Machine:
    """An x86-64 that is nobody's, with 32 KiB, 1 MiB and 32 MiB of cache."""
    caches = tuple(
        CacheLevel(f"L{number + 1}", 1 << (15 + 5 * number), 64, 1, 1e-9 * 4**number, rate)
        for number, rate in enumerate(_RATES[:-1])
    )
    return Machine(
        "example", "example", 2, threads, ("avx2", "fma"), _VECTOR_BYTES, caches, 1e-7, _RATES[-1], 1 << 34, 100.0
    )


def cases(folder: Path) -> Iterator[tuple[str, Any, Machine, dict[str, bool]]]:
    """Name, nest, machine and options."""
    triangle = folder / "triangle.c"
    triangle.write_text(_TRIANGLE, encoding="utf-8")
    for name, (source, defines, options) in NESTS.items():
        nest = pipeline.parse(_EXAMPLES / source if source else triangle, defines=defines)
        for threads in (1, 2):
            yield f"{name}, {threads} threads", nest, machine(threads), options


def emitted(nest: Any, space: Any, variant: Any, on: Machine) -> str:
    """The C of a variant. Where a version can't apply a variant by itself, its space writes the C."""
    if not hasattr(pipeline, "apply"):
        return str(pipeline.kernel(space, variant, _VECTOR_BYTES).c)
    return pipeline.kernel(pipeline.apply(nest, variant, machine=on), _VECTOR_BYTES).c


def described(nest: Any, variants: Any, on: Machine, options: dict[str, bool]) -> list[Document]:
    """What is known of each variant without running it."""
    space = pipeline.space_on(nest, on, **options)  # type: ignore[arg-type]
    candidates = pipeline.candidates(nest, variants, machine=on)
    scores = {
        name: {entry.variant.id: (place, entry.score) for place, entry in enumerate(ranking.entries)}
        for name in ("cost-model", "dnn")
        for ranking in [pipeline.ranker_named(name).rank(candidates, on)]
    }
    return [
        {
            "id": each.variant.id,
            "steps": each.variant.to_json(),
            "working sets": [*each.working_sets.levels, each.working_sets.memory],
            "traffic": [list(nest_traffic) for nest_traffic in each.traffic],
            "cycles": list(each.cycles),
            "cost": scores["cost-model"][each.variant.id][1],
            "rank": scores["dnn"][each.variant.id][0],
            "c": emitted(nest, space, each.variant, on),
        }
        for each in candidates
    ]


def lines(c: str) -> Counter[str]:
    """Lines of C without comments and indentation, and how often each occurs."""
    return Counter(line.strip() for line in _COMMENT.sub("", c).splitlines() if line.strip())


def compared(before: list[Document], after: list[Document], drawn: set[str]) -> Document:
    """How many variants agree in each respect; ``drawn`` are those that this version draws by itself."""
    pairs = list(zip(before, after, strict=True))
    shares = [(old & new).total() / old.total() for old, new in ((lines(a["c"]), lines(b["c"])) for a, b in pairs)]
    same = {key: sum(a[key] == b[key] for a, b in pairs) for key in ("id", "working sets", "traffic", "cycles", "rank")}
    return {
        "variants": len(pairs),
        "drawn again": len(drawn & {each["id"] for each in before}),
        **same,
        "cost": max(abs(b["cost"] / a["cost"] - 1) for a, b in pairs),
        "lines of C": [min(shares), median(shares)],
    }


def markdown(document: dict[str, Document]) -> Iterator[str]:
    """Lines of a table with a row for each nest; the first number of a cell is for one thread, the second for two.

    This file imports nothing of ``experiments``, as it is run with other versions of polydl, too.
    """
    counts: dict[str, tuple[str, ...]] = {
        "variants": ("variants",),
        "drawn again": ("drawn again",),
        "working sets and traffic alike": ("working sets", "traffic"),
        "cycles alike": ("cycles",),
        "place alike": ("rank",),
    }
    yield f"| nest | {' | '.join(counts)} | cost | lines of C kept, at least |"
    yield f"|{'---|' * (len(counts) + 3)}"
    for name in dict.fromkeys(case.rpartition(", ")[0] for case in document):
        rows = [row for case, row in document.items() if case.rpartition(", ")[0] == name]
        cells = [" + ".join(str(min(row[key] for key in keys)) for row in rows) for keys in counts.values()]
        cost, least = max(row["cost"] for row in rows), min(row["lines of C"][0] for row in rows)
        cells.append(f"within {cost:.0%}" if cost else "the same")
        yield f"| {name} | {' | '.join(cells)} | {least:.0%} |"


def table(document: dict[str, Document]) -> Table:
    shown = Table()
    columns = ("variants", "drawn again", "id", "working sets", "traffic", "cycles", "rank")
    for title in ("nest", *columns, "cost within", "lines of C kept"):
        shown.add_column(title, justify="left" if title == "nest" else "right")
    for name, row in document.items():
        least, middle = row["lines of C"]
        shown.add_row(name, *(str(row[key]) for key in columns), f"{row['cost']:.1%}", f"{least:.0%} to {middle:.0%}")
    return shown


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command(help="Draw variants and write down what this version knows of them.")
@click.argument("path", type=click.Path(path_type=Path))
def record(path: Path) -> None:
    document = {}
    with TemporaryDirectory() as folder:
        for name, nest, on, options in cases(Path(folder)):
            variants = pipeline.generate_variants(nest, machine=on, max_variants=_VARIANTS, **options)  # type: ignore[arg-type]
            document[name] = described(nest, variants, on, options)
    path.write_text(json.dumps(document), encoding="utf-8")


@main.command(help="Apply the variants that another version wrote down.")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "out", type=click.Path(path_type=Path), help="Write the numbers there as well.")
def compare(path: Path, out: Path | None) -> None:
    from polydl.variant_json import variant_from_json

    before, document = json.loads(path.read_text(encoding="utf-8")), {}
    with TemporaryDirectory() as folder:
        for name, nest, on, options in cases(Path(folder)):
            variants = [variant_from_json(each["steps"]) for each in before[name]]
            drawn = pipeline.generate_variants(nest, machine=on, max_variants=_VARIANTS, **options)  # type: ignore[arg-type]
            after = described(nest, variants, on, options)
            document[name] = compared(before[name], after, {each.id for each in drawn})
    Console(width=140).print(table(document))
    if out is not None:
        out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


@main.command("table", help="Print the numbers of `compare --json` in Markdown.")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table_command(path: Path) -> None:
    print(*markdown(json.loads(path.read_text(encoding="utf-8"))), sep="\n")


if __name__ == "__main__":
    main()

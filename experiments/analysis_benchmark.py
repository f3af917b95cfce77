"""``python -m experiments.analysis_benchmark``: how long reuse analysis takes, and how much memory.

Times are CPU-bound and of one process; all rounds are kept, and medians shown with the shortest. Parts can be
measured one by one: each replaces its own results in the document, and the figure shows what is there.
"""

from __future__ import annotations

import gc
import json
import math
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from experiments.analysis_nests import (
    TRIANGLE,
    UPSAMPLED,
    contraction,
    convolution,
    convolution_variants,
    machine,
    one_tiled,
    parsed,
    product,
    product_variants,
    stencil,
    tiled_orders,
)
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.pipeline import analyze_variants, candidates

Document = dict[str, Any]

_WIDTH = 110


_AMORTISED = 1000
_MOST_VARIANTS = 100_000


# --------------------------------------------------------------------------------------
# Nests and their variants


@dataclass(frozen=True)
class Case:
    name: str
    nest: Callable[..., Scop]
    variants: Callable[[Scop, int], list[Variant]]


CASES = (
    Case("3x3 convolution", convolution, convolution_variants),
    Case("two-level tiled GEMM", product, product_variants),
)


# --------------------------------------------------------------------------------------
# Measuring


def timed(call: Callable[[], Any]) -> float:
    """Seconds. What earlier calls left to be collected is collected before, as it would be in a process of its own."""
    gc.collect()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def summary(seconds: Sequence[float]) -> Document:
    """Milliseconds of each round."""
    return {"ms": [1e3 * each for each in seconds]}


def middle(result: Document) -> float:
    """The median of a summary's rounds, which older data have in place of the rounds, as the other two below."""
    return median(result["ms"]) if "ms" in result else float(result["median_ms"])


def shortest(result: Document) -> float:
    return min(result["ms"]) if "ms" in result else float(result["shortest_ms"])


def longest(result: Document) -> float:
    return max(result["ms"]) if "ms" in result else float(result["longest_ms"])


def per_variant(seconds: Sequence[float], variants: int) -> Document:
    return summary([elapsed / variants for elapsed in seconds])


def measure_rate() -> Document:
    """Working sets of 1,000 variants alone, and all that a ranker sees of them. New sizes, so that nothing is known."""
    this_machine = machine()
    document: Document = {}
    for number, case in enumerate(CASES):
        alone, whole = [], []
        for round_number in range(5):
            nest = case.nest(**({"nImg": 20 + round_number} if number == 0 else {"M": 1024 + 8 * round_number}))
            variants = case.variants(nest, _AMORTISED)
            alone.append(
                timed(lambda nest=nest, variants=variants: analyze_variants(nest, variants, machine=this_machine))
            )
            if round_number < 3:
                whole.append(
                    timed(lambda nest=nest, variants=variants: candidates(nest, variants, machine=this_machine))
                )
        document[case.name] = {
            "variants": len(variants),
            "working_sets": per_variant(alone, len(variants)),
            "candidates": per_variant(whole, len(variants)),
        }
    return document


def measure_isl() -> Document:
    """One variant by isl: of a nest that isl has not seen yet, and others of the same nest."""
    this_machine = machine()
    nests: dict[str, Callable[[int], tuple[Scop, list[Variant]]]] = {
        CASES[0].name: lambda n: _with(convolution_variants, convolution(nImg=2 + n), n),
        CASES[1].name: lambda n: _with(product_variants, product(M=512 + 8 * n), n),
        "triangular GEMM, tiled": lambda n: _with(
            lambda _, count: tiled_orders("ijk", 1, count), parsed(TRIANGLE, M=256 + 8 * n, N=512), n
        ),
        "1x1 convolution, upsampled, tiled": lambda n: _with(
            lambda _, count: tiled_orders("cdyx", 1, count), parsed(UPSAMPLED, M=64, N=64 + 8 * n), n
        ),
        "2-D stencil": lambda n: _with(convolution_variants, stencil(N=512 + 8 * n), n),
    }
    # What the first call of all loads belongs to no variant.
    analyze_variants(product(M=64, N=64, K=64), [Variant(())], machine=this_machine, method="isl")
    document: Document = {}
    for name, make in nests.items():
        first, later = [], []
        for number in range(12):
            nest, chosen = make(number)
            # Dependences and nests are found once, when the variants are generated.
            analyze_variants(nest, [], machine=this_machine)
            for place, variant in enumerate(chosen):
                took = timed(lambda n=nest, v=variant: analyze_variants(n, [v], machine=this_machine, method="isl")[0])
                (later if place else first).append(took)
        document[name] = {"first": summary(first), "later": summary(later)}
    return document


def _with(variants: Callable[[Scop, int], list[Variant]], nest: Scop, number: int) -> tuple[Scop, list[Variant]]:
    """Some variants of a nest, others each time."""
    pool = variants(nest, 40)
    return nest, [pool[(7 * number + 3 * step) % len(pool)] for step in range(4)]


def measure_loops() -> Document:
    """Time per variant by the number of loops: more iterators, and more levels of tiles over three of them."""
    this_machine = machine()
    nests = {
        "contractions, one loop tiled": [(d + 1, parsed(contraction(d)), one_tiled(d, 200)) for d in range(2, 8)],
        "GEMM, 0 to 3 levels of tiles": [
            (3 + 3 * levels, product(M=1000 + levels), tiled_orders("ijk", levels, 200 if levels else 6))
            for levels in range(4)
        ],
    }
    document: Document = {}
    for name, points in nests.items():
        series = []
        for loops, nest, variants in points:
            analyze_variants(nest, variants, machine=this_machine)
            together = [
                timed(lambda n=nest, v=variants: analyze_variants(n, v, machine=this_machine)) for _ in range(3)
            ]
            ways = {}
            for way, method, most in (("closed-form", "closed-form", 40), ("isl", "isl", 12)):
                ways[way] = summary(
                    [
                        timed(lambda n=nest, v=v, m=method: analyze_variants(n, [v], machine=this_machine, method=m)[0])  # type: ignore[arg-type]
                        for v in variants[:most]
                    ]
                )
            series.append(
                {
                    "loops": loops,
                    "variants": len(variants),
                    "together": per_variant(together, len(variants)),
                    "one_at_a_time": ways["closed-form"],
                    "isl": ways["isl"],
                }
            )
        document[name] = series
    return document


def measure_count(name: str, most: int) -> Document:
    """Seconds for 1 to ``most`` variants of one nest."""
    this_machine = machine()
    case = next(candidate for candidate in CASES if candidate.name == name)
    series = []
    counts = [10**power for power in range(round(math.log10(most)) + 1)]
    for number, count in enumerate(counts):
        nest = case.nest(**({"nImg": 40 + number} if case is CASES[0] else {"M": 2048 + 8 * number}))
        generated = time.perf_counter()
        variants = case.variants(nest, count)
        generated = time.perf_counter() - generated
        seconds = timed(lambda n=nest, v=variants: analyze_variants(n, v, machine=this_machine))
        series.append({"variants": len(variants), "seconds": seconds, "seconds_to_generate": generated})
    return {name: series}


def peak_memory(name: str, count: int) -> tuple[int, int, int, int]:
    """Variants analysed, dependences found, and bytes at most: before, and with all variants and their results."""
    case = next(candidate for candidate in CASES if candidate.name == name)
    nest = case.nest()
    analyze_variants(nest, case.variants(nest, 1), machine=machine())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    variants = case.variants(nest, count)
    analysed = analyze_variants(nest, variants, machine=machine())
    entries = sum(int(table.starts[-1]) for table in analysed.tables)
    return len(variants), entries, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_memory(name: str, count: int) -> Document:
    """In a process of its own, which has nothing else in memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
        variants, entries, before, most = child.submit(peak_memory, name, count).result()
    return {name: {"variants": variants, "dependences": entries, "bytes_before": before, "bytes": most}}


# --------------------------------------------------------------------------------------
# Showing


def tables(document: Document) -> Iterator[Table]:
    if "rate" in document:
        table = Table("1,000 variants together", "working sets, ms", "all that a ranker sees, ms", title="Per variant")
        for name, result in document["rate"].items():
            table.add_row(name, _times(result["working_sets"]), _times(result["candidates"]))
        yield table
    if "isl" in document:
        table = Table("One variant, isl", "of a new nest, ms", "of the same nest, ms", title="By isl")
        for name, result in document["isl"].items():
            table.add_row(name, _times(result["first"]), _times(result["later"]))
        yield table
    for name, series in document.get("loops", {}).items():
        table = Table("Loops", "together, ms", "one at a time, ms", "isl, ms", title=name)
        for point in series:
            table.add_row(str(point["loops"]), *(_times(point[way]) for way in ("together", "one_at_a_time", "isl")))
        yield table
    for name, series in document.get("count", {}).items():
        table = Table("Variants", "seconds", "ms per variant", title=name)
        for point in series:
            per = 1e3 * point["seconds"] / point["variants"]
            table.add_row(f"{point['variants']:,}", f"{point['seconds']:.3f}", f"{per:.3f}")
        yield table
    if "memory" in document:
        table = Table("Memory", "variants", "dependences", "before, MB", "at most, MB", title="Peak memory")
        for name, point in document["memory"].items():
            sizes = (f"{point[size] / 1e6:.0f}" for size in ("bytes_before", "bytes"))
            table.add_row(name, f"{point['variants']:,}", f"{point['dependences']:,}", *sizes)
        yield table


def markdown(document: Document) -> Iterator[str]:
    """The two tables of docs/results, line by line."""
    yield "| nest | working sets, of 1,000 together | all that a ranker sees | 100,000 | memory of that process |"
    yield "|---|---|---|---|---|"
    for name, result in document["rate"].items():
        of_one = (f"{middle(result[what]):.2f} ms" for what in ("working_sets", "candidates"))
        seconds = next(point["seconds"] for point in document["count"][name] if point["variants"] == _MOST_VARIANTS)
        yield (
            "| "
            + " | ".join([name, *of_one, f"{seconds:.0f} s", f"{document['memory'][name]['bytes'] / 1e6:.0f} MB"])
            + " |"
        )
    yield ""
    yield "| nest | first, median | longest | later, median | longest |"
    yield "|---|---|---|---|---|"
    for name, result in document["isl"].items():
        times = (of(result[which]) for which in ("first", "later") for of in (middle, longest))
        yield "| " + " | ".join([name, *(f"{time:.1f} ms" for time in times)]) + " |"


def _times(result: Document) -> str:
    return f"{middle(result):.2f} ({shortest(result):.2f} to {longest(result):.2f})"


def draw(document: Document, path: Path) -> None:
    """The growth with loops and with variants, whichever of the two was measured."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "polydl"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    styles = (("together", "200 together", "o"), ("one_at_a_time", "one at a time", "s"), ("isl", "isl", "^"))
    for (name, series), line in zip(document.get("loops", {}).items(), ("-", "--"), strict=False):
        for (way, label, marker), colour in zip(styles, ("tab:blue", "tab:orange", "tab:green"), strict=True):
            left.plot(
                [point["loops"] for point in series],
                [middle(point[way]) for point in series],
                line, marker=marker, markersize=4, color=colour, label=f"{label}: {name}",
            )  # fmt: skip
    left.set(xlabel="loops, tile loops included", ylabel="ms per variant", yscale="log", title="Number of loops")
    for name, series in document.get("count", {}).items():
        right.plot([e["variants"] for e in series], [e["seconds"] for e in series], "-o", markersize=4, label=name)
    right.set(xlabel="variants", ylabel="seconds", xscale="log", yscale="log", title="Number of variants")
    for axes in (left, right):
        axes.legend(fontsize=6.5, frameon=False)
        axes.grid(color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def store(document: Document, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


def measurements(most: int) -> dict[str, list[Callable[[], Document]]]:
    """What each part runs, one nest after the other where they take long."""

    def each_case(measure: Callable[[str, int], Document]) -> list[Callable[[], Document]]:
        return [lambda case=case: measure(case.name, most) for case in CASES]  # type: ignore[misc]

    return {
        "rate": [measure_rate],
        "isl": [measure_isl],
        "loops": [measure_loops],
        "count": each_case(measure_count),
        "memory": each_case(measure_memory),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(["rate", "isl", "loops", "count", "memory"]),
    help="Measure this part alone (again for more); all if none is given.",
)
@click.option("--variants", "most", type=click.IntRange(min=10), default=_MOST_VARIANTS, show_default=True, metavar="N")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("experiments/data/analysis.json"),
    show_default=True,
    help="The document; parts that are not measured stay.",
)
@click.option("--figure", type=click.Path(path_type=Path), help="Draw the growth as SVG.")
@click.option("--show", is_flag=True, help="Measure nothing.")
@click.option("--table", is_flag=True, help="Measure nothing, and print the tables of docs/results in Markdown.")
def main(parts: tuple[str, ...], most: int, out: Path, figure: Path | None, show: bool, table: bool) -> None:
    """Measure the reuse analysis: time per variant, its growth, and memory."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    document: Document = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    if table:
        print("\n".join(markdown(document)))
        return
    known = measurements(most)
    for part in () if show else parts or tuple(known):
        with Console(stderr=True).status(f"measuring {part}"):
            merged: Document = {}
            for measure in known[part]:
                merged |= measure()
        document[part] = merged
        document["processor"] = machine().name
        document["python"] = platform.python_version()
        store(document, out)
    for each in tables(document):
        console.print(each)
    if figure is not None:
        draw(document, figure)


if __name__ == "__main__":
    main()

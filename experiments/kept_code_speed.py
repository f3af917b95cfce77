"""Whether the C of the same variants is as fast as that of another version of polydl.

    ../before/.venv/bin/python experiments/kept_variants.py record before.json
    python -m experiments.kept_code_speed measure before.json --library LIBRARY --out speed.jsonl
    python -m experiments.kept_code_speed table speed.jsonl

The first command draws variants of twelve nests by the other version, for one thread and for two. Of each nest and
number of threads, some are compiled as both versions write them, and called in turns. Lines that are kept already are
not measured again. LIBRARY is the other version's ``libpolydl_xsmm.so``, which its C is linked with.
"""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np

from experiments import json_lines
from experiments.in_turns import at_a_line, built, in_turns
from experiments.kept_variants import cases
from experiments.tables import markdown
from polydl import bfloat16, pipeline
from polydl.variant_json import variant_from_json

Document = dict[str, Any]
# How many variants of each nest, how often each takes its turn, and how long a turn is at least.
_VARIANTS, _ROUNDS, _SECONDS = 6, 11, 4e-3
_TYPES = {"float": np.float32, "int": np.int32, "signed char": np.int8, "unsigned char": np.uint8}
_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")


def arguments(nest: Any) -> list[Any]:
    """Arrays of random contents, and scalars, in the order of the nest's function."""
    generator = np.random.default_rng(0)
    passed: list[Any] = []
    for parameter in nest.function.parameters:
        array = nest.array(parameter.array)
        if not array.extents:
            passed.append(ctypes.c_float(1.5))
            continue
        values = generator.uniform(0.5, 1.5, array.elements)
        if array.element == bfloat16.ELEMENT:
            contents = bfloat16.from_float(values)
        else:
            contents = (values if array.element == "float" else values * 4).astype(_TYPES[array.element])
        passed.append(at_a_line(contents))
    return passed


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: a row for each nest and number of threads."""
    for case in dict.fromkeys(each["case"] for each in documents):
        ratios = [median(each["after"]) / median(each["before"]) for each in documents if each["case"] == case]
        name, _, threads = case.rpartition(", ")
        figures = (geometric_mean(ratios), min(ratios), max(ratios))
        yield [name, threads.partition(" ")[0], str(len(ratios)), *(f"{ratio:.3f}" for ratio in figures)]


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.argument("before", type=click.Path(exists=True, path_type=Path))
@click.option("--library", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(before: Path, library: Path, out: Path) -> None:
    """Time the C of both versions, and add a line for each variant to OUT."""
    # OpenMP reads these when its library is loaded. Threads stay where they are.
    os.environ |= {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"}
    kept: dict[str, list[Document]] = json.loads(before.read_text(encoding="utf-8"))
    present = {(each["case"], each["id"]) for each in json_lines.documents(out)}
    number = count()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for case, nest, machine, _ in cases(folder):
            drawn = kept[case]
            passed = arguments(nest)
            for each in drawn[:: max(1, len(drawn) // _VARIANTS)][:_VARIANTS]:
                if (case, each["id"]) in present:
                    continue
                variant = variant_from_json(each["steps"])
                today = pipeline.kernel(pipeline.apply(nest, variant, machine=machine), machine.vector_bytes)
                links = [[str(library), f"-Wl,-rpath,{library.parent}", "-lpthread"], today.link_flags]
                functions = [
                    built(c, _FLAGS, flags, folder / f"v{next(number)}.so")[nest.function.name]
                    for c, flags in zip((each["c"], today.c), links, strict=True)
                ]
                taken = in_turns(functions, passed, _ROUNDS, _SECONDS)
                samples = dict(zip(("before", "after"), taken, strict=True))
                json_lines.add({"case": case, "id": each["id"], **samples}, out)
                print(case, each["id"], f"{median(samples['after']) / median(samples['before']):.3f}", flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print today's times over those before, as Markdown."""
    heads = ("nest", "threads", "variants", "after / before", "least", "most")
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()

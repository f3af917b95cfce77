"""Run variants of small nests under valgrind's cachegrind and keep their misses at three cache sizes.

python -m experiments.cachegrind.simulate experiments/data/cachegrind.json
python -m experiments.cachegrind.simulate experiments/data/cachegrind_unseen.json \\
    --seed 2 --variants 20 --caches 8K/4,24K/12,96K/12

Cachegrind knows two levels, so that each variant runs twice, with another last level each time. Arrays lie where
polydl's measurements put them, at multiples of 64 bytes and each at another place in its page. Caches are cold at the
start, and only what the nest's own functions miss counts.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Step, Tile, Variant
from polydl.machine import Machine

ROOT = Path(__file__).parents[2]
LINE_BYTES = 64
CACHES = "4K/8,32K/16,128K/16"
# Scalar code and no -O3, which would interchange loops again.
FLAGS = ("-O2", "-fno-tree-vectorize", "-no-pie")
VECTOR_BYTES = 32
JOBS = 2
_PAGE = 4096
# As in polydl.execute.arrays.
_STAGGER = 17 * LINE_BYTES


@dataclass(frozen=True)
class Subject:
    name: str
    source: str
    defines: dict[str, int]


@dataclass(frozen=True)
class Settings:
    """What is simulated of each nest."""

    #: (bytes, ways), innermost first
    caches: tuple[tuple[int, int], ...]
    #: how many, half of them such as polydl generates, and half with any order and any tiles
    variants: int
    seed: int


_CONVOLUTION = {"nImg": 1, "GEMM_BLOCK": 16}
SUBJECTS = (
    Subject("conv 3x3", "examples/conv.c", {**_CONVOLUTION, "nIfm": 32, "nOfm": 32, "ofh": 24, "ofw": 24}),
    Subject("conv 1x1", "examples/conv_1x1.c", {**_CONVOLUTION, "nIfm": 96, "nOfm": 64, "ofh": 20, "ofw": 20}),
    Subject("conv 3x3 NCHW", "examples/conv_plain.c", {"nImg": 1, "nIfm": 20, "nOfm": 24, "ofh": 32, "ofw": 32}),
    Subject("GEMM", "examples/matmul.c", {"M": 120, "N": 136, "K": 152}),
    Subject("stencil 2-D", "examples/stencil.c", {"N": 800, "T": 1}),
    Subject("stencil 2-D in time", "examples/stencil.c", {"N": 150, "T": 4}),
    Subject("stencil 3-D", "experiments/cachegrind/heat_3d.c", {}),
)


def parse(source: str, defines: dict[str, int]) -> Scop:
    return pipeline.parse(ROOT / source, defines=defines)


def _random_variant(spaces: Sequence[Any], generator: random.Random) -> Variant:
    """Tiles of any size on up to three loops per nest, one of them perhaps twice, and any order, legal or not."""
    steps: list[Step] = []
    for nest in spaces:
        tiled = [loop for loop in nest.nest.loops if nest.extents[loop] >= 4]
        order = list(nest.nest.loops)
        for loop in generator.sample(tiled, generator.randint(0, min(3, len(tiled)))):
            inner = generator.randint(2, nest.extents[loop] // 2)
            sizes = (inner,)
            if inner * 4 <= nest.extents[loop] and generator.random() < 0.3:
                sizes = (inner * generator.randint(2, nest.extents[loop] // (2 * inner)), inner)
            steps.append(Tile(nest.nest.index, loop, sizes))
            order += [f"{loop}_t{level}" for level in range(1, len(sizes) + 1)]
        generator.shuffle(order)
        for loop in nest.nest.loops:
            levels = [name for name in (f"{loop}_t2", f"{loop}_t1", loop) if name in order]
            for place, name in zip(sorted(order.index(level) for level in levels), levels, strict=True):
                order[place] = name
        steps.append(Interchange(nest.nest.index, tuple(order)))
    return Variant(tuple(steps))


def variants_of(scop: Scop, subject: Subject, settings: Settings) -> dict[str, KernelSource]:
    """Kernels by the JSON of their variant, in a fixed order."""
    machine = replace(Machine.detect(threads=1), vector_bytes=VECTOR_BYTES)
    space = pipeline.space_on(scop, machine, microkernel="none")
    variants = pipeline.generate_variants(
        scop,
        machine=machine,
        max_variants=settings.variants // 2,
        seed=settings.seed,
        microkernel="none",
    )
    generator = random.Random(subject.name * settings.seed)
    kernels = {
        json.dumps(variant.to_json()): pipeline.kernel(space.apply(variant), VECTOR_BYTES) for variant in variants
    }
    for _ in range(50 * settings.variants):
        if len(kernels) == settings.variants:
            break
        variant = _random_variant(space.spaces, generator)
        try:
            kernels.setdefault(json.dumps(variant.to_json()), pipeline.kernel(space.apply(variant), VECTOR_BYTES))
        except IllegalVariantError:
            continue
    return kernels


def program(scop: Scop, kernel: KernelSource) -> str:
    """A C program that runs the kernel once, on arrays that no cache holds."""
    pointers, size = [], 0
    for number, parameter in enumerate(scop.function.parameters):
        start = -(-size // _PAGE) * _PAGE + number * _STAGGER % _PAGE
        pointers.append(f"arena + {start}")
        size = start + scop.array(parameter.array).bytes
    return (
        f"{kernel.c}\n{kernel.harness}\n"
        f"static char arena[{size}] __attribute__((aligned({_PAGE})));\n"
        f"int main(void) {{ void *arguments[] = {{{', '.join(pointers)}}}; polydl_invoke(arguments); return 0; }}\n"
    )


def misses(report: str, functions: Sequence[str]) -> tuple[int, int, int]:
    """Accesses, first-level and last-level misses for data of some functions, from cachegrind's file."""
    events: list[str] = []
    counted = False
    totals: dict[str, int] = {}
    for line in report.splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
            totals = dict.fromkeys(events, 0)
        elif line.startswith("fn="):
            counted = re.split(r"[.@]", line.removeprefix("fn="))[0] in functions
        elif counted and re.match(r"\d", line):
            for event, count in zip(events, line.split()[1:], strict=False):
                totals[event] += int(count)
    return totals["Dr"] + totals["Dw"], totals["D1mr"] + totals["D1mw"], totals["DLmr"] + totals["DLmw"]


def simulate(scop: Scop, kernel: KernelSource, caches: Sequence[tuple[int, int]]) -> tuple[int, list[int]]:
    """Accesses, and the lines missed in each of the caches."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, binary = folder / "nest.c", folder / "nest"
        source.write_text(program(scop, kernel), encoding="utf-8")
        subprocess.run(["gcc", *FLAGS, *kernel.compile_flags, "-w", str(source), "-o", str(binary), "-lm"], check=True)
        counts: list[tuple[int, int, int]] = []
        first, *outer = (f"{size},{ways},{LINE_BYTES}" for size, ways in caches)
        for last in outer:
            out = folder / "cachegrind.out"
            command = ["valgrind", "--tool=cachegrind", f"--D1={first}", f"--LL={last}", f"--I1=32768,8,{LINE_BYTES}"]
            subprocess.run([*command, f"--cachegrind-out-file={out}", str(binary)], check=True, capture_output=True)
            counts.append(misses(out.read_text(encoding="utf-8"), (scop.function.name, "polydl_invoke", "main")))
    accesses, first_misses, _ = counts[0]
    return accesses, [first_misses, *(last_misses for _, _, last_misses in counts)]


def _version(command: str) -> str:
    answer = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    return answer.stdout.splitlines()[0]


def run(subjects: Sequence[Subject], settings: Settings) -> dict[str, Any]:
    nests = []
    for subject in subjects:
        scop = parse(subject.source, subject.defines)
        kernels = variants_of(scop, subject, settings)
        with ThreadPoolExecutor(JOBS) as pool:
            results = list(pool.map(simulate, repeat(scop), kernels.values(), repeat(settings.caches)))
        rows = [
            {"steps": json.loads(steps), "accesses": accesses, "misses": counts}
            for steps, (accesses, counts) in zip(kernels, results, strict=True)
        ]
        print(f"{subject.name}: {len(rows)} variants", flush=True)
        nests.append(
            {
                "name": subject.name,
                "source": subject.source,
                "defines": subject.defines,
                "digest": scop.digest,
                "variants": rows,
            }
        )
    return {
        "valgrind": _version("valgrind"),
        "compiler": _version("gcc"),
        "flags": FLAGS,
        "line_bytes": LINE_BYTES,
        "caches": [{"bytes": size, "ways": ways} for size, ways in settings.caches],
        "nests": nests,
    }


def _caches(text: str) -> tuple[tuple[int, int], ...]:
    """``4K/8,32K/16`` as bytes and ways."""
    parts = [part.split("/") for part in text.split(",")]
    return tuple((int(size.removesuffix("K")) << 10, int(ways)) for size, ways in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate the caches of many variants.")
    parser.add_argument("results", type=Path)
    parser.add_argument("--caches", type=_caches, default=_caches(CACHES), help=f"sizes and ways, such as {CACHES}")
    parser.add_argument("--variants", type=int, default=48, help="of each nest")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    settings = Settings(arguments.caches, arguments.variants, arguments.seed)
    document = json.dumps(run(SUBJECTS, settings), separators=(",", ":"))
    # One variant per line, for whoever reads the file or its differences.
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    arguments.results.write_text(document.replace('{"steps"', '\n{"steps"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

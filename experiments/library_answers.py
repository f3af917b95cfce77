"""Libraries at random shapes beside the loops as they were written, and what the choice of a kernel costs.

python -m experiments.library_answers check --shapes 2000
python -m experiments.library_answers dispatch fast-gemm/library.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import polydl
from polydl.libraries.answers import wrong_shapes

EXAMPLES = Path(__file__).parents[1] / "examples"
# Small, so that loops that are written plainly are done soon, and tiles have remainders.
FAMILIES = {
    "gemm.c": {"M": "1..70", "N": "1..90", "K": "1..150"},
    "sgemm.c": {"M": "1..70", "N": "1..90", "K": "1..150", "lda": "K..", "ldb": "N..", "ldc": "N.."},
    "softmax.c": {"N": "1..40", "M": "1..300"},
    "conv_any.c": {"N": "1..3", "C": "1..40", "F": "1..40", "H": "1..12", "W": "1..40"},
}
# Calls of the choice, at shapes of which each is taken in turn.
_CALLS, _SHAPES = 20_000_000, 1024


def check(arguments: argparse.Namespace) -> None:
    """Make a small library of each family and print how many shapes were wrong, as a table in Markdown."""
    print("| source | ranges | kernels | shapes | wrong |\n|---|---|---|---|---|")
    for name, ranges in FAMILIES.items():
        if arguments.family and name not in arguments.family:
            continue
        library = polydl.library(
            EXAMPLES / name, ranges, shapes=2, top_k=1, machine=polydl.Machine.detect(threads=arguments.threads)
        )
        wrong = wrong_shapes(library, arguments.shapes, arguments.seed)
        written = " ".join(f"{size}={values}" for size, values in ranges.items())
        print(f"| {name} | {written} | {len(library.candidates)} | {arguments.shapes} | {len(wrong)} |", flush=True)
        for sizes in wrong[:5]:
            print(f"wrong: {sizes}")


def choice(document: dict[str, Any]) -> str:
    """C that chooses among a library's kernels as its function does, and returns the number of one."""
    sizes = list(document["shapes"][0]["sizes"])
    kernels = [kernel["id"] for kernel in document["kernels"]]
    tests = []
    for name in sizes:
        values = document["ranges"][name]
        numbers = [int(value) for part in values.split(",") for value in part.partition(":")[0].split("..")]
        tests.append(f"{name} >= {min(numbers)} && {name} <= {max(numbers)}")

    def node(decision: Any) -> str:
        if isinstance(decision, str):
            return f"return {kernels.index(decision) + 1 if decision in kernels else 0};"
        factors = " * ".join(f"(long){name}" if not place else name for place, name in enumerate(decision["sizes"]))
        return (
            f"if ({factors} <= {decision['at_most']}) {{ {node(decision['then'])} }} "
            f"else {{ {node(decision['else'])} }}"
        )

    parameters = ", ".join(f"int {name}" for name in sizes)
    return (
        f"__attribute__((noinline)) static int chosen({parameters})\n"
        f"{{ if (!({' && '.join(tests)})) return 0; {node(document['decision'])} }}"
    )


def dispatch(arguments: argparse.Namespace) -> None:
    """Print the nanoseconds of one choice: of a call that chooses, less those of a call that returns."""
    document = json.loads(arguments.manifest.read_text(encoding="utf-8"))
    sizes = list(document["shapes"][0]["sizes"])
    draw = Random(0)
    shapes = [draw.choice(document["shapes"])["sizes"] for _ in range(_SHAPES)]
    rows = ", ".join("{" + ", ".join(str(shape[name]) for name in sizes) + "}" for shape in shapes)
    given = ", ".join(f"shapes[i % {_SHAPES}][{place}]" for place in range(len(sizes)))
    empty = ", ".join(f"int {name}" for name in sizes)
    text = f"""#include <stdio.h>
#include <time.h>
static const int shapes[][{len(sizes)}] = {{{rows}}};
{choice(document)}
__attribute__((noinline)) static int nothing({empty}) {{ __asm__ volatile(""); return {sizes[0]} & 1; }}
int main(void)
{{
  long sum = 0;
  clock_t start = clock();
  for (long i = 0; i < {_CALLS}; ++i) sum += nothing({given});
  clock_t middle = clock();
  for (long i = 0; i < {_CALLS}; ++i) sum += chosen({given});
  clock_t end = clock();
  printf("%g %ld\\n", ((double)(end - middle) - (double)(middle - start)) / CLOCKS_PER_SEC / {_CALLS} * 1e9, sum);
  return 0;
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "dispatch")
        program.with_suffix(".c").write_text(text, encoding="utf-8")
        subprocess.run(["gcc", "-O2", "-Wno-unused", "-o", program, program.with_suffix(".c")], check=True)
        nanoseconds = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()[0]
    kernels = len(document["kernels"])
    print(f"{document['function']}: {float(nanoseconds):.1f} ns for the choice among {kernels} kernels")


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers and dispatch of libraries.")
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    checking.add_argument("--family", action="append", choices=FAMILIES)
    checking.add_argument("--shapes", type=int, default=2000)
    checking.add_argument("--seed", type=int, default=0)
    checking.add_argument("--threads", type=int)
    choosing = commands.add_parser("dispatch")
    choosing.add_argument("manifest", type=Path)
    arguments = parser.parse_args()
    {"check": check, "dispatch": dispatch}[arguments.command](arguments)


if __name__ == "__main__":
    main()

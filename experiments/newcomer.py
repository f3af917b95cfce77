"""C as people write it, optimized: times over the fastest plain build, on one thread and on two.

    python -m experiments.newcomer --out experiments/data/newcomer.json
    python -m experiments.newcomer --table experiments/data/newcomer.json

The problems are those of ``tests/newcomer``, with sizes that take some milliseconds in place of those there, which are
for tests (``--small`` keeps them). Each goes through ``polydl optimize`` as a person would run it. The first command
writes the raw numbers and prints the table, the second prints it again. ``--only NAME`` runs one problem.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PROBLEMS = Path(__file__).parents[1] / "tests" / "newcomer"
POLYDL = Path(sys.executable).with_name("polydl")
FUNCTIONS = {"program.c": "multiply"}
# A ratio is marked where the quotient of the times beside it differs from it by more than this part.
_EQUAL = 0.05
_MARKED = "\\* of equally many samples of both; the quotient of the medians of all, which stand beside it, is another"
#: Of networks; the ratio of all is mostly that of products.
LAYERS = ("attention.c", "depthwise.c", "layer_norm.c", "linear_int8.c", "softmax.c")
#: Sizes of the text, ``#define`` or ``enum``, by problem.
TEXT_SIZES: Mapping[str, Mapping[str, int]] = {
    "attention.c": {"T": 512, "D": 64},
    "blur.c": {"H": 1080, "W": 1920},
    "dense_swish.c": {"B": 128, "K": 768, "N": 3072},
    "depthwise.c": {"C": 128, "H": 56, "W": 56},
    "dgemm_transposed.c": {"N": 512},
    "jacobi.c": {"N": 1000, "STEPS": 10},
    "linear_int8.c": {"M": 256, "N": 512, "K": 512},
    "lstm.c": {"H": 1024, "X": 512},
    "maxpool.c": {"C": 64, "H": 112, "W": 112},
    "program.c": {"N": 512},
}
#: Parameters of the function: for tests, and here.
PARAMETERS: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = {
    "conv_sizes.c": (
        {"ch": 8, "filters": 8, "h": 14, "w": 14, "kh": 3, "kw": 3},
        {"ch": 64, "filters": 64, "h": 58, "w": 58, "kh": 3, "kw": 3},
    ),
    "csr.c": ({"rows": 32}, {"rows": 32}),
    "layer_norm.c": ({"rows": 16, "cols": 64}, {"rows": 512, "cols": 768}),
    "matmul_vla.c": ({"n": 32, "m": 48, "k": 24}, {"n": 512, "m": 512, "k": 512}),
    "softmax.c": ({"rows": 16, "cols": 64}, {"rows": 512, "cols": 1024}),
    "sgemm_lda.c": (
        {"m": 32, "n": 48, "k": 24, "lda": 24, "ldb": 48, "ldc": 48},
        {"m": 512, "n": 512, "k": 512, "lda": 512, "ldb": 512, "ldc": 512},
    ),
}


def with_sizes(text: str, sizes: Mapping[str, int]) -> str:
    """The source with other numbers for its macros and enumerators. Raises ValueError if it lacks one."""
    for name, value in sizes.items():
        text, found = re.subn(rf"(#define {name} |\b{name} = )\d+", rf"\g<1>{value}", text, count=1)
        if not found:
            raise ValueError(f"there is no size {name}")
    return text


def run(name: str, threads: int, *, small: bool, more: Sequence[str]) -> dict[str, Any]:
    """One problem through the command: what it ended with, and its document if it has one."""
    sizes = PARAMETERS.get(name, ({}, {}))[0 if small else 1]
    with tempfile.TemporaryDirectory() as folder:
        source, document = Path(folder, name), Path(folder, "document.json")
        text = (PROBLEMS / name).read_text(encoding="utf-8")
        source.write_text(text if small else with_sizes(text, TEXT_SIZES.get(name, {})), encoding="utf-8")
        command = [str(POLYDL), "optimize", str(source), "--threads", str(threads), "--json", str(document)]
        command += ["--out", str(Path(folder, "out")), "--records", str(Path(folder, "records")), *more]
        command += [word for size, value in sizes.items() for word in ("-D", f"{size}={value}")]
        command += ["--function", FUNCTIONS[name]] if name in FUNCTIONS else []
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        made = json.loads(document.read_text(encoding="utf-8")) if document.exists() else {}
    kept = {key: made[key] for key in ("machine", "baselines", "best", "candidates", "seconds") if key in made}
    sizes = {**({} if small else TEXT_SIZES.get(name, {})), **sizes}
    return {"problem": name, "threads": threads, "sizes": sizes, "status": ended.returncode,
            "error": ended.stderr.strip(), **kept}  # fmt: skip


def table(document: Mapping[str, Any]) -> Iterator[str]:
    """A row for each problem and number of threads, and the geometric means of the ratios, of ``LAYERS`` apart."""
    heads = ("problem", "threads", "fastest plain build", "its time", "emitted", "ratio", "what was emitted")
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    ratios: dict[int, dict[str, float]] = {}
    for each in document["runs"]:
        best = each.get("best")
        if each["status"] or best is None:
            # The first line of an error says what, a later one what to write instead.
            said = (each["error"].splitlines() or ["no answer"])[0]
            said = re.sub(r"^polydl: error: [^ ]*: ", "refused: ", said)
            yield f"| {each['problem']} | {each['threads']} | | | | | {said} |"
            continue
        right = [plain for plain in each["baselines"] if plain["seconds"] is not None]
        plain = min(right, key=lambda build: build["seconds"])
        ratios.setdefault(each["threads"], {})[each["problem"]] = best["speedup"]
        row = [each["problem"], str(each["threads"]), plain["name"], _milliseconds(plain["seconds"]),
               _milliseconds(best["seconds"]), _ratio(best, plain), _kind(best)]  # fmt: skip
        yield f"| {' | '.join(row)} |"
    yield ""
    yield _MARKED
    yield ""
    for threads, numbers in sorted(ratios.items()):
        yield f"{threads} threads: {_mean(numbers)}"
    for threads, numbers in sorted(ratios.items()):
        if some := {name: ratio for name, ratio in numbers.items() if name in LAYERS}:
            yield f"{threads} threads, layers of networks that are no plain product ({', '.join(some)}): {_mean(some)}"


def _mean(ratios: Mapping[str, float]) -> str:
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    return f"geometric mean {mean:.2f} of {len(ratios)} problems, least {min(ratios.values()):.2f}"


def _ratio(best: Mapping[str, Any], plain: Mapping[str, Any]) -> str:
    """The speed-up, marked where the quotient of the times beside it is another."""
    quotient = plain["seconds"] / best["seconds"]
    return f"{best['speedup']:.2f}{'*' if abs(quotient - best['speedup']) > _EQUAL * best['speedup'] else ''}"


def _kind(best: Mapping[str, Any]) -> str:
    """What the winner is, in a few words."""
    if best["plain"]:
        return "the plain nest"
    steps = {step["step"] for step in best["steps"]}
    rewrites = sorted(steps - {"tile", "interchange", "parallel", "use_microkernel", "unroll", "vectors", "stream"})
    kernels = sorted({step["name"] for step in best["steps"] if step["step"] == "use_microkernel"})
    said = [f"microkernel {', '.join(kernels)}"] if kernels else ["loops"]
    shared = any(step.get("parallel") or step.get("wavefront") for step in best["steps"])
    threads = [] if "parallel" in steps or shared else ["one thread"]
    return "; ".join([*said, *rewrites, *threads])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the raw numbers go, after each problem")
    parser.add_argument("--table", type=Path, help="raw numbers to print in place of measuring")
    parser.add_argument("--only", action="append", metavar="NAME", help="a problem; may be repeated")
    parser.add_argument("--threads", type=int, action="append", metavar="N", help="1 and 2 unless given")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("more", nargs="*", help="further options of polydl optimize, after --")
    options = parser.parse_args(arguments)
    if options.table:
        print(*table(json.loads(options.table.read_text(encoding="utf-8"))), sep="\n")
        return
    names = options.only or sorted(path.name for path in PROBLEMS.iterdir() if path.is_file())
    document: dict[str, Any] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "runs": []}
    for name in names:
        for threads in options.threads or [1, 2]:
            document["runs"].append(run(name, threads, small=options.small, more=options.more))
            if options.out:
                options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(*table(document), sep="\n")


if __name__ == "__main__":
    main()

"""A library of products of any size beside OpenBLAS and oneDNN, at shapes that it was not made from.

    python -m experiments.library_peers measure --out library-peers.json.xz
    python -m experiments.library_peers table library-peers.json.xz

The first makes the library of ``examples/gemm.c`` in the folder of --library, and measures all of them at the products
of ``experiments/sgemm_shapes.py``, sample by sample in turns, in one process on one thread. oneDNN is asked in three
ways: a matmul primitive that is known, the same with its primitive made in each call, as a new shape needs it, and its
function ``dnnl_sgemm``. All compute C += A * B on matrices by rows, and nothing is packed beforehand. The second prints
tables.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import click

from experiments.layers import keep, raw
from experiments.sgemm_shapes import held_out
from experiments.tables import markdown
from polydl.bench.ratios import geometric_mean

Document = dict[str, Any]

_HERE = Path(__file__).parent
_NEST = _HERE.parent / "examples" / "gemm.c"
_SOURCE = _HERE / "library_peers.cpp"
_RANGES = {"M": "1..8448", "N": "1..6000", "K": "1..60000"}
_OWN = "polydl"
# What is asked where a shape is new, and where it is known.
_NEW, _KNOWN = ("OpenBLAS", "oneDNN, primitive made", "oneDNN, sgemm"), ("OpenBLAS", "oneDNN, primitive known")


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--shapes", default=500, show_default=True, help="at which all are measured")
@click.option("--sampled", default=40, show_default=True, help="shapes that the library is made from")
@click.option("--max-kernels", default=10, show_default=True)
@click.option("--library", "folder", type=click.Path(path_type=Path), default=Path("polydl-out/gemm-library"))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(shapes: int, sampled: int, max_kernels: int, folder: Path, out: Path) -> None:
    """Make the library, and measure it."""
    import polydl

    begin, before = time.perf_counter(), os.times()
    library = polydl.library(
        _NEST, _RANGES, shapes=sampled, max_kernels=max_kernels, machine=polydl.Machine.detect(threads=1), out=folder
    )
    seconds, after = time.perf_counter() - begin, os.times()
    made_from = {tuple(shape.values()) for shape in library.shapes}
    wanted = [(kind, sizes) for kind, sizes in held_out(shapes + len(made_from)) if sizes not in made_from][:shapes]
    document: Document = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": library.machine.name,
        "ranges": _RANGES,
        "kernels": len(library.kernels),
        "bytes": library.files["library"].stat().st_size,
        "made_in_seconds": round(seconds, 1),
        "made_in_processor_seconds": round(sum(after[:4]) - sum(before[:4]), 1),
        "sampled": [list(sizes) for sizes in sorted(made_from)],
        "shapes": [],
    }
    program = _program(library.files["library"], folder)
    for (kind, sizes), line in zip(wanted, _lines(program, [sizes for _, sizes in wanted]), strict=True):
        document["shapes"].append({"kind": kind, **json.loads(line)})
        m, n, k = sizes
        document["shapes"][-1]["chosen"] = library.chosen(M=m, N=n, K=k)
    keep(document, out)
    print(*tables(document), sep="\n")


def _program(library: Path, folder: Path) -> Path:
    """The program that measures. Raises CalledProcessError if it can't be compiled."""
    program = folder / "library_peers"
    peers = _HERE.parent / "polydl" / "bench" / "peers"
    command = ["g++", "-O2", f"-I{peers}", str(_SOURCE), "-o", str(program), str(library.resolve())]
    command += [f"-Wl,-rpath,{library.resolve().parent}", "-ldnnl", "-lopenblas"]
    subprocess.run(command, check=True)
    return program


def _lines(program: Path, shapes: Sequence[tuple[int, int, int]]) -> list[str]:
    """What the program prints for each shape, on one thread. Raises CalledProcessError if it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words = "\n".join(" ".join(map(str, sizes)) for sizes in shapes)
    done = subprocess.run(
        [str(program.resolve())], input=words, stdout=subprocess.PIPE, text=True, check=True, env=environment
    )
    return done.stdout.splitlines()


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
def table(file: Path) -> None:
    """What was measured, as tables in Markdown."""
    print(*tables(raw(file)), sep="\n")


def tables(document: Document) -> list[str]:
    """Ratios of medians by the kind of shape, and the shapes at which the library is furthest behind."""
    right = [shape for shape in document["shapes"] if "wrong" not in shape]
    wrong = [shape for shape in document["shapes"] if "wrong" in shape]
    kinds = list(dict.fromkeys(shape["kind"] for shape in right))
    peers = [name for name in right[0]["seconds"] if name != _OWN]
    columns = [*((peer, (peer,)) for peer in peers), ("best, new shape", _NEW), ("best, known shape", _KNOWN)]
    rows = []
    for kind in [*kinds, "all"]:
        some = [_medians(shape) for shape in right if kind in (shape["kind"], "all")]
        rows.append([kind, str(len(some)), *(_cell([_ratio(one, asked) for one in some]) for _, asked in columns)])
    worst = sorted(right, key=lambda shape: _ratio(_medians(shape), _KNOWN))[:10]
    behind = [
        [
            " x ".join(map(str, shape["sizes"])), shape["kind"], f"{_rate(shape, _OWN):.1f}",
            *(f"{_rate(shape, peer):.1f}" for peer in peers), str(shape["chosen"]),
        ]
        for shape in worst
    ]  # fmt: skip
    return [
        f"{document['kernels']} kernels in {document['bytes'] // 1024} KB, made from {len(document['sampled'])} shapes "
        f"in {document['made_in_seconds']:.0f} s ({document['made_in_processor_seconds']:.0f} s of processors); "
        f"{len(wrong)} of {len(document['shapes'])} shapes wrong.",
        "",
        *markdown(["shapes", "number", *(name for name, _ in columns)], rows),
        "",
        "GFLOPS where the library is furthest behind the best for a known shape:",
        "",
        *markdown(["m x n x k", "from", _OWN, *peers, "kernel"], behind),
        "",
        "By form, over the best for a new shape and for a known one:",
        "",
        *markdown(["product", "number", "new shape", "known shape"], _by_form(right)),
    ]


def _by_form(shapes: Sequence[Document]) -> list[list[str]]:
    """Ratios to the fastest peers of the shapes of each form; the first form that fits counts."""
    members: dict[str, list[Mapping[str, float]]] = {}
    for shape in shapes:
        m, n, k = shape["sizes"]
        forms = {
            "n = 1": n == 1, "m = 1": m == 1, "n of 2 to 8": n <= 8, "n of 9 to 32": n <= 32, "m of 2 to 32": m <= 32,
            "k of up to 8": k <= 8, "k of 9 to 32": k <= 32, "all above 32": m * n * k <= 10**8,
            "all above 32, more than 10⁸ products": True,
        }  # fmt: skip
        for form in forms:
            members.setdefault(form, [])
        members[next(form for form, fits in forms.items() if fits)].append(_medians(shape))
    return [
        [form, str(len(some)), *(_cell([_ratio(one, asked) for one in some]) for asked in (_NEW, _KNOWN))]
        for form, some in members.items()
        if some
    ]


def _medians(shape: Mapping[str, Any]) -> dict[str, float]:
    return {name: median(samples) for name, samples in shape["seconds"].items()}


def _ratio(medians: Mapping[str, float], peers: Sequence[str]) -> float:
    return min(medians[peer] for peer in peers) / medians[_OWN]


def _cell(ratios: Sequence[float]) -> str:
    """The geometric mean, the worst, and the share at which the library is ahead."""
    ahead = sum(ratio >= 1 for ratio in ratios) / len(ratios)
    return f"{geometric_mean(ratios):.2f}, {min(ratios):.2f}, {100 * ahead:.0f} %"


def _rate(shape: Mapping[str, Any], name: str) -> float:
    m, n, k = shape["sizes"]
    return 2e-9 * m * n * k / _medians(shape)[name]


if __name__ == "__main__":
    main()

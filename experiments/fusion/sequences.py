"""Eleven sequences of BLAS calls as polydl fuses them, beside the same calls to OpenBLAS, MKL and PyTorch.

    python -m experiments.fusion.sequences --out results.json [gemver:l2 ...] [--mkl LIBRARY]
    python -m experiments.fusion.sequences --out results.json --table

One thread, float. ``l2`` problems fit into a second cache of 2 MiB, those named ``memory`` take some 1 GB. OpenBLAS is
the system's (libopenblas0), MKL's libmkl_rt comes with ``pip install mkl``; PyTorch, if it is installed, calls its
operators one by one or compiled, whichever is faster (``pytorch.py``). Beside the times: how many implementations there
are, which place the fastest of those that were run has in the ranking, and how close the first one and the last one
come.
"""

from __future__ import annotations

import site
import sys
from collections.abc import Mapping
from pathlib import Path

import polydl
from experiments.fusion.comparison import Row, compared, drive, driver, means_text, options, ratio, run_all, with_torch
from experiments.tables import markdown

_AMD = "MKL takes its AVX2 path on processors of AMD."
_EXAMPLES = Path(__file__).parents[2] / "examples" / "sequences"
# By the number of matrices (0: vectors alone, -1: a single one): N inside a second cache of 2 MiB, and beyond the last.
_SIZES = {"atax": 1, "bicgk": 1, "sgemv": 1, "sgemvt": 1, "gemver": 2, "gesummv": 2, "madd": 3, "sscal": -1}
_INSIDE = {-1: 98_304, 0: 98_304, 1: 640, 2: 480, 3: 384}
_BEYOND = {-1: 268_435_456, 0: 83_886_080, 1: 15_872, 2: 11_264, 3: 9_216}


def size(problem: str) -> int:
    name, place = problem.split(":")
    return (_INSIDE if place == "l2" else _BEYOND)[_SIZES.get(name, 0)]


def libraries(mkl: str | None) -> dict[str, str]:
    """The BLAS libraries that are there."""
    paths = {"openblas": "libopenblas.so.0"}
    places = [Path(sys.prefix, "lib"), Path(site.getuserbase(), "lib")]
    installed = [str(path) for place in places for path in place.glob("libmkl_rt.so.*")]
    if mkl or installed:
        paths["mkl"] = mkl or installed[0]
    return paths


def prepare(problem: str, folder: Path) -> Row:
    name = problem.split(":")[0]
    machine = polydl.Machine.detect(threads=1)
    top = 12 if problem.endswith("l2") else 6
    optimized = polydl.fuse(
        _EXAMPLES / f"{name}.c", machine=machine, defines={"N": size(problem)}, max_variants=300, top_k=top,
        out=folder / "fused", records=False,
    )  # fmt: skip
    optimization = optimized.optimization
    assert optimization.winner is not None
    seconds = {
        ranked.rank: ranked.measurement.seconds_median
        for ranked in optimization.tried
        if ranked.measurement.seconds_median
    }
    best = min(seconds.values())
    return {
        "n": size(problem),
        "cpu": machine.cpu_id,
        "threads": 1,
        "libraries": [str(optimization.files["library"])],
        "variant": optimization.winner.ranked.variant.to_json(),
        "implementations": optimization.generation.forms,
        "looked_at": len(optimization.ranking.entries),
        "run": len(seconds),
        "rank_of_best": min(seconds, key=lambda rank: seconds[rank]),
        "first_of_best": best / seconds[1] if 1 in seconds else None,
        "worst_of_best": best / max(seconds.values()),
        "speedup_over_unfused": optimized.speedup,
    }


def measure(problem: str, prepared: Row, seconds: float, mkl: str | None) -> Row:
    peers = libraries(mkl)
    asked = (problem.split(":")[0], prepared["n"])
    arguments = [*asked, *prepared["libraries"], "-", *(f"{name}={library}" for name, library in peers.items())]
    environment = {"OPENBLAS_NUM_THREADS": "1", "MKL_THREADING_LAYER": "SEQUENTIAL"}
    row = drive(driver("sequences_blas", []), arguments, ("sequence", *asked), 1, seconds, environment)
    return with_torch(row, [[name, "fused"] for name in (*peers, "torch")])


def table(rows: Mapping[str, Row]) -> list[str]:
    """Lines of a table in Markdown; in the last rows, geometric means by place and the worst sequence's ratio."""
    peers = {"openblas": "OpenBLAS", "mkl": "MKL"} | ({"torch": "PyTorch"} if compared(rows, "torch") else {})
    heads = ["sequence", "N", *(f"{name} / polydl" for name in peers.values()), "unfused / fused",
             "implementations", "run", "rank of the best", "first / best", "worst / best"]  # fmt: skip
    cells = []
    for problem, row in rows.items():
        gain, first = row["speedup_over_unfused"], row["first_of_best"]
        cells.append([
            problem,
            f"{row['n']:,}",
            *("{:.2f} ({:.2f}-{:.2f})".format(*ratio(row, peer, "fused")) if [peer, "fused"] in row["compared"] else ""
              for peer in peers),
            f"{gain:.2f}" if gain else "",
            f"{row['implementations']:,}",
            str(row["run"]),
            str(row["rank_of_best"]),
            f"{first:.2f}" if first else "",
            f"{row['worst_of_best']:.2f}",
        ])  # fmt: skip
    for place in ("l2", "memory"):
        chosen = {name: row for name, row in rows.items() if name.endswith(place)}
        if chosen:
            means = [means_text(chosen, peer, "fused") for peer in peers]
            cells.append([f"all {place}", "", *means, *[""] * 6])
    notes = [f"\n{_AMD}" for row in rows.values() if row["cpu"].startswith("AuthenticAMD")][:1]
    return [*markdown(heads, cells), *notes]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of timing per sequence")
    parser.add_argument("--mkl", help="MKL's libmkl_rt, if it isn't in this environment")
    given = parser.parse_args()
    names = sorted(path.stem for path in _EXAMPLES.glob("*.c"))
    problems = [f"{name}:{place}" for place in ("l2", "memory") for name in names]
    rows = run_all(given, problems, prepare, lambda problem, row: measure(problem, row, given.seconds, given.mkl))
    print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()

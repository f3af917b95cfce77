"""Search strategies compared on nests whose variants were all measured: nothing is compiled or run.

    polydl collect --workload gemm_48x64x64 --variants 2000 --nest-budget 20m --records measured
    python -m experiments.replay measured --out replay.csv

Each strategy searches each nest with many seeds: half of the variants, drawn with the seed, are ranked beforehand, the
others must be found. Scored is the share of the best: its time divided by the best time after so many measurements, in
the median and in the worst case over all seeds and nests. ``--out`` has a row for each nest, strategy, seed and number.
A ranker that was trained on the same records knows too much; the default is the cost model.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments.tables import markdown
from polydl import registry
from polydl.learning.recorded_space import Row, RowsNode, recorded_rows, searched

COUNTS = (5, 10, 20, 40, 80)


def shares(
    nests: Mapping[str, Sequence[Row]], strategies: Sequence[str], seeds: int
) -> Iterator[tuple[str, str, int, int, float]]:
    """For each nest, strategy, seed and number of measurements the share of the best."""
    for nest, rows in nests.items():
        best = min(row.seconds for row in rows if row.seconds is not None)
        counts = [count for count in COUNTS if count < len(rows)]
        root = RowsNode(tuple(rows))
        for name in strategies:
            for seed in range(seeds):
                times = searched(root, registry.load("strategies", name), seed=seed, runs=max(counts))
                for count in counts:
                    yield nest, name, seed, count, best / times[min(count, len(times)) - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="a directory or a file of records")
    parser.add_argument("--strategies", default=",".join(registry.names("strategies")))
    parser.add_argument("--ranker", default="cost-model")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--fewest", type=int, default=40, help="variants that a nest must have")
    parser.add_argument("--nests", type=int, help="so many of the nests, evenly spread")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    nests = recorded_rows(options.records, registry.load("rankers", options.ranker), options.fewest, options.nests)
    names = options.strategies.split(",")
    scores = list(shares(nests, names, options.seeds))
    if options.out is not None:
        with options.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["nest", "strategy", "seed", "measurements", "share"])
            writer.writerows([*score[:4], f"{score[4]:.4f}"] for score in scores)
    counts = sorted({score[3] for score in scores})
    lines = []
    for name in names:
        row = [name]
        for count in counts:
            values = [score[4] for score in scores if score[1] == name and score[3] == count]
            row.append(f"{statistics.median(values):.3f} ({min(values):.3f})")
        lines.append(row)
    sizes = [len(rows) for rows in nests.values()]
    print(f"{len(nests)} nests of {min(sizes)} to {max(sizes)} variants, {options.seeds} seeds: median (worst)")
    print("\n".join(markdown(["strategy", *map(str, counts)], lines)))


if __name__ == "__main__":
    main()

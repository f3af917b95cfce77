"""Which programs of PolyBench are accepted and verified, on their own data.

``make polybench`` fetches them. Each is optimized on one thread with few variants. The file that is written has, for
each program, how many candidates were verified, how many were not and why, and the seconds to the answer:

    python -m experiments.polybench --dataset SMALL --out small.json

What ``polydl bench`` measured beside compilers becomes tables:

    polydl bench --suite polybench --dataset LARGE --out large.json
    python -m experiments.polybench table large.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import polydl
from experiments.layers import raw
from experiments.tables import markdown
from polydl.bench.polybench import DATASETS, FOLDER, SuiteProgram, names, program
from polydl.bench.ratios import Ratio, fastest_leader, geometric_mean, own_seconds, ratio
from polydl.errors import PolydlError

#: The peers by whose best one a program is judged.
PEERS = ("gcc", "clang", "polly", "pluto-like", "pluto")
# A ratio without a bracket, of one sample, has to be as far from 1 as this to say which of both is faster.
LEVEL = 0.97


def outcome(wanted: SuiteProgram, top_k: int, max_variants: int) -> dict[str, Any]:
    """What came of a program: ``verified`` if a candidate or the plain nest was emitted, else ``failed`` and why."""
    start = time.perf_counter()
    found: dict[str, Any] = {"status": "failed", "message": "", "candidates": {}, "wrong": ""}
    try:
        result = polydl.optimize(
            wanted.path,
            function=wanted.function,
            defines=wanted.defines,
            include_directories=wanted.include_directories,
            init=wanted.init,
            machine=polydl.Machine.detect(threads=1),
            top_k=top_k,
            max_variants=max_variants,
            records=False,
        )
    except PolydlError as error:
        found["message"] = str(error)
    else:
        for each in result.tried:
            status = each.measurement.status
            found["candidates"][status] = found["candidates"].get(status, 0) + 1
            if status != "ok" and not found["wrong"]:
                found["wrong"] = each.measurement.message
        found["status"] = "failed" if result.winner is None and result.plain is None else "verified"
        found["speedup"] = result.speedup
        found["seconds_original"] = None if result.baseline is None else result.baseline.seconds
    return {**found, "seconds_spent": round(time.perf_counter() - start, 1)}


def tables(document: Mapping[str, Any]) -> Iterator[str]:
    """A row for each program of a document of ``polydl bench``, then what all of them come to.

    The ratio to the best peer has its bracket, others say where they are of one sample.
    """
    results: Mapping[str, Mapping[str, Any]] = document["results"]
    peers = [peer for peer in PEERS if peer in document["settings"]["peers"] and peer not in document["missing"]]
    rows = [_row(Path(name).stem.removeprefix("polybench_"), result, peers) for name, result in results.items()]
    heads = ("program", "polydl", *peers, "best of them", "what won", "first pick", "answer")
    yield from markdown(heads, rows)
    yield ""
    best = [found for result in results.values() if (found := _best(result, peers)) is not None]
    verified = sum(fastest_leader(result) is not None for result in results.values())
    summary = [("verified", f"{verified} of {len(results)}")]
    for peer in peers:
        values = [found.value for result in results.values() if (found := ratio(result, peer)) is not None]
        if values:
            summary.append((f"over {peer}, geometric mean", f"{geometric_mean(values):.2f} (of {len(values)})"))
    if best:
        mean = geometric_mean([found.value for found in best])
        ahead, behind = sum(map(_is_ahead, best)), sum(map(_is_behind, best))
        summary.append(("over the best of them, geometric mean", f"{mean:.2f}"))
        summary.append(("ahead of the best of them", f"{ahead} of {len(best)}"))
        summary.append(("behind the best of them", str(behind)))
        summary.append(("neither, within the spread", str(len(best) - ahead - behind)))
    firsts = [value for result in results.values() if (value := _first_pick(result)) is not None]
    if firsts:
        mean = geometric_mean(firsts)
        summary.append(("speed of the first pick that ran, of the fastest pick", f"{100 * mean:.0f} %"))
    spent = [float(result["optimize_seconds"]) for result in results.values() if "optimize_seconds" in result]
    if spent:
        summary.append(("seconds to an answer, median and most", f"{median(spent):.0f}, {max(spent):.0f}"))
    yield from markdown(("over all programs", ""), summary)


def _row(name: str, result: Mapping[str, Any], peers: Sequence[str]) -> list[str]:
    ours, seconds = fastest_leader(result), own_seconds(result)
    if ours is None or seconds is None:
        return [name, str(result["status"]), *[""] * (len(peers) + 4)]
    cells = [name, f"{seconds * 1e3:.4g} ms"]
    for peer in peers:
        found, timing = ratio(result, peer), result["peers"].get(peer)
        if found is not None:
            cells.append(f"{found.value:.2f}" + ("" if found.bracketed else f" {found.bracket}"))
        else:
            cells.append("" if timing is None else timing["status"])
    best, first = _best(result, peers), _first_pick(result)
    cells += ["" if best is None else f"{best.value:.2f} {best.bracket}", _kind(ours)]
    cells += ["" if first is None else f"{100 * first:.0f} %", f"{result['optimize_seconds']:.0f} s"]
    return cells


def _best(result: Mapping[str, Any], peers: Sequence[str]) -> Ratio | None:
    """The ratio to the fastest of the peers; None without any."""
    ratios = [found for peer in peers if (found := ratio(result, peer)) is not None]
    return min(ratios, key=lambda one: one.value, default=None)


def _is_ahead(over_best: Ratio) -> bool:
    """Whether polydl is faster beyond the spread of the samples."""
    return over_best.low > 1 if over_best.bracketed else over_best.value > 1 / LEVEL


def _is_behind(over_best: Ratio) -> bool:
    """Whether the peer is faster beyond the spread of the samples."""
    return over_best.high < 1 if over_best.bracketed else over_best.value < LEVEL


def _first_pick(result: Mapping[str, Any]) -> float | None:
    """The time of the fastest pick divided by that of the first of the ranking that is right; None without any."""
    right = [pick for pick in result.get("picks", ()) if pick["status"] == "ok" and pick["seconds"]]
    if not right:
        return None
    first = min(right, key=lambda pick: float(pick["rank"]))
    return float(min(pick["seconds"] for pick in right) / first["seconds"])


def _kind(leader: Mapping[str, Any]) -> str:
    """What is fastest, in a few words."""
    if leader["rank"] is None:
        return "the plain nest"
    steps = {step["step"] for step in leader["steps"]}
    rewrites = sorted(steps - {"tile", "interchange", "parallel", "use_microkernel", "unroll", "vectors", "stream"})
    kernels = sorted({use["name"] for use in leader["microkernels"]})
    return "; ".join([*(f"microkernel {kernel}" for kernel in kernels), *rewrites]) or "loops"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=("table",), help="prints tables of a file of polydl bench")
    parser.add_argument("data", nargs="?", type=Path, help="of `table`: the file")
    parser.add_argument("--polybench", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--dataset", choices=DATASETS, default="SMALL")
    parser.add_argument("--program", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--top-k", type=int, default=3)
    parser.add_argument("--max-variants", type=int, default=40)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "table":
        print(*tables(raw(options.data)), sep="\n")
        return
    if options.out is None:
        parser.error("--out is missing")
    results: dict[str, Any] = {}
    for name in options.program or names(options.polybench):
        wanted = program(name, options.polybench, options.dataset)
        results[name] = outcome(wanted, options.top_k, options.max_variants)
        document = {"dataset": options.dataset, "polydl": polydl.__version__, "results": results}
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        found = results[name]
        print(
            f"{name}: {found['status']} {found['candidates']} {found['seconds_spent']:.0f} s {found['message'][:200]}"
        )


if __name__ == "__main__":
    main()

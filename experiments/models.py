"""Whole models, one native call each, beside PyTorch, ONNX Runtime and OpenVINO.

    python -m experiments.models measure resnet50 --threads 1 --images 1 --rounds 20 --out experiments/data/models.jsonl
    python -m experiments.models table experiments/data/models.jsonl
    python -m experiments.models operators experiments/data/models.jsonl resnet50

With ``--element bfloat16``, polydl rounds what its kernels pass on, and PyTorch is measured within autocast, too.

The first command prints the time to optimize, then the least and the median milliseconds of each, interleaved, the
errors against the model in double, and what each adds to the memory of a process; it adds a line with all samples to
the file. The second prints these lines as a table, the third where the time of a call goes; ``memory`` is
a table of sizes and errors. Beneath times of PyTorch on a processor of AMD stands which path MKL takes there.
Peers that are not installed are left out. Run it where nothing else runs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import click
import numpy as np

from experiments.json_lines import add, documents
from experiments.model_memory import DATA, resident_bytes
from experiments.model_peers import Run, exported, in_float, peers

_WARM_UPS = 3
_PAUSE_SECONDS = 0.3
_MILLION = 2**20
_AMD = "PyTorch's linear layers and products of matrices are MKL's, which takes its AVX2 path on processors of AMD."
#: the models of ``experiments.networks``, which imports PyTorch
NAMES = ("resnet50", "vgg16", "mobilenet_v2", "googlenet", "yolo", "unet_block", "bert_layer")


@click.group()
def main() -> None:
    """Whole models beside other libraries."""


@main.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("--threads", default=1, show_default=True)
@click.option("--images", default=1, show_default=True, help="images, or sequences, at once")
@click.option("--rounds", default=20, show_default=True)
@click.option("--budget", help="how long each distinct nest is searched")
@click.option("--records", type=click.Path(path_type=Path), help="records of polydl's to use, in place of the user's")
@click.option("--element", type=click.Choice(("float", "bfloat16")), default="float", show_default=True)
@click.option("--peers/--no-peers", "beside", default=True, help="whether others are measured")
@click.option("--out", type=click.Path(path_type=Path), help="add a line of JSON with all samples")
def measure(
    name: str, threads: int, images: int, rounds: int, budget: str | None, records: Path | None,
    element: str, beside: bool, out: Path | None,
) -> None:  # fmt: skip
    """One model end to end."""
    # Tables are printed without PyTorch.
    import torch

    import polydl
    import polydl.torch
    from experiments.networks import model
    from polydl.machine import Machine

    torch.set_num_threads(threads)
    network, data = model(name, images)
    begin, before = time.perf_counter(), os.times()
    with click.progressbar(length=1000, label=f"{name}", show_percent=False, show_pos=False) as bar:

        def show(done: int, total: int) -> None:
            bar.update(1000 * done // total - bar.pos)

        fast = polydl.torch.optimize(
            network, data, threads=threads, budget=budget, element=element, records=records or True, progress=show
        )
    after = os.times()
    elapsed, cpu = time.perf_counter() - begin, sum(after[:4]) - sum(before[:4])
    click.echo(f"{name}: optimized in {elapsed:.1f} s, {cpu:.1f} CPU s; {fast!r}")
    click.echo(str(fast.report()))
    runs: dict[str, Run] = {"polydl": lambda: fast(data)}
    operators: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place, torch.no_grad():
        folder = Path(place)
        if fast.foreign_operators == 0:
            fast.save(folder)
            operators = _operators(polydl.load(folder), fast.report(), data.numpy(), rounds)
        if beside:
            exported(network, data, folder / "model.onnx")
            runs |= peers(network, data, folder / "model.onnx", threads, rounded=element != "float")
        samples = _interleaved(runs, rounds)
        np.save(folder / DATA, data.numpy())
        memory = resident_bytes(name, images, threads, folder) if beside and operators else {}
    for each, times in samples.items():
        click.echo(f"{each:28} least {min(times) * 1e3:8.3f} ms, median {median(times) * 1e3:8.3f} ms")
    for each, size in memory.items():
        click.echo(f"{each:28} adds {size / _MILLION:.0f} MB")
    accuracy = fast.report().accuracy
    machine = Machine.detect(threads=threads)
    row = {
        "model": name,
        "images": images,
        "threads": threads,
        "element": element,
        "budget": budget,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.name,
        "cpu": machine.cpu_id,
        "optimize_seconds": round(elapsed, 1),
        "optimize_processor_seconds": round(cpu, 1),
        "foreign_operators": fast.foreign_operators,
        "errors": None if accuracy is None else [accuracy.error, accuracy.library_error],
        "seconds": samples,
        "memory_bytes": memory,
        "operators": operators,
    }
    _print_operators(row)
    if out is not None:
        add(row, out)


def _interleaved(runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
    """Seconds of a call in each round. The order is another one in each, and untimed calls come before each.

    Before that, threads of what ran last get time to fall asleep: most libraries let theirs spin for a while.
    """
    for run in runs.values():
        for _ in range(_WARM_UPS):
            run()
    samples: dict[str, list[float]] = {each: [] for each in runs}
    order, draw = list(runs), Random(0)
    for _ in range(rounds):
        draw.shuffle(order)
        for each in order:
            time.sleep(_PAUSE_SECONDS)
            for _ in range(_WARM_UPS):
                runs[each]()
            begin = time.perf_counter()
            runs[each]()
            samples[each].append(time.perf_counter() - begin)
    return samples


def _operators(loaded: Any, report: Any, data: Any, rounds: int) -> list[dict[str, Any]]:
    """Each operator: the time of its kernel alone and within a call, and PyTorch's."""
    within = loaded.operator_seconds(data, calls=_WARM_UPS + rounds)
    return [
        {"operator": each.operator, "kernel": each.kernel, "alone": each.seconds, "within": seconds,
         "torch": each.library_seconds}
        for each, seconds in zip(report.operators, within, strict=True)
    ]  # fmt: skip


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--least", is_flag=True, help="least times in place of medians")
@click.option("--float", "float_alone", is_flag=True, help="ratios to peers that compute in float on every processor")
def table(file: Path, least: bool, float_alone: bool) -> None:
    """Lines of Markdown: median or least milliseconds of each, and the best peer's over polydl's."""
    typical: Callable[[list[float]], float] = min if least else median
    rows = documents(file)
    names = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
    typed = any("element" in row for row in rows)
    heads = ["model", "images", "threads", *(["polydl's values"] if typed else []), *names]
    heads += ["best peer / polydl", "optimized in, s"]
    _print_row(heads)
    _print_row(["---"] * len(heads))
    for row in rows:
        taken = {name: typical(times) for name, times in row["seconds"].items()}
        others = [
            seconds for name, seconds in taken.items() if name != "polydl" and (not float_alone or in_float(name))
        ]
        ratio = f"{min(others) / taken['polydl']:.2f}" if others else ""
        times = [f"{taken[name] * 1e3:.2f}" if name in taken else "" for name in names]
        element = [row.get("element", "float")] if typed else []
        _print_row(
            [row["model"], row["images"], row["threads"], *element, *times, ratio, round(row["optimize_seconds"])]
        )
    if any(_of_amd(row) and any(name.startswith("torch") for name in row["seconds"]) for row in rows):
        click.echo(f"\n{_AMD}")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
def memory(file: Path) -> None:
    """Lines of Markdown: what each adds to the memory of a process, in MB, and the errors against double."""
    rows = [row for row in documents(file) if row.get("memory_bytes")]
    names = list(dict.fromkeys(name for row in rows for name in row["memory_bytes"]))
    heads = ["model", "images", "threads", *(f"{name}, MB" for name in names), "error", "PyTorch's error"]
    _print_row(heads)
    _print_row(["---"] * len(heads))
    for row in rows:
        sizes = [f"{row['memory_bytes'][name] / _MILLION:.0f}" if name in row["memory_bytes"] else "" for name in names]
        errors = [f"{error:.1e}" for error in row["errors"]]
        _print_row([row["model"], row["images"], row["threads"], *sizes, *errors])


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.argument("name")
@click.option("--threads", default=1, show_default=True)
@click.option("--images", default=1, show_default=True)
def operators(file: Path, name: str, threads: int, images: int) -> None:
    """Lines of Markdown: where the time of a call goes, operator by operator, against the kernels alone."""
    wanted = name, threads, images
    rows = [row for row in documents(file) if (row["model"], row["threads"], row["images"]) == wanted]
    if not rows or not rows[-1].get("operators"):
        raise click.ClickException(f"{file} has no times of operators of {name}")
    _print_operators(rows[-1])


def _print_operators(row: Mapping[str, Any]) -> None:
    """Operators with the same kernel in one line, those that take longest first."""
    if not row["operators"]:
        return
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for each in row["operators"]:
        groups[each["operator"], each["kernel"]].append(each)
    _print_row(["operator", "times", "in the call, ms", "kernels alone, ms", "PyTorch, ms"])
    _print_row(["---"] * 5)
    for (operator, _), several in sorted(groups.items(), key=lambda item: -_sum(item[1], "within")):
        _print_row([operator, len(several), *_sums(several)])
    _print_row(["all", len(row["operators"]), *_sums(row["operators"])])
    click.echo(f"a call: {median(row['seconds']['polydl']) * 1e3:.2f} ms")
    products = (each for each in row["operators"] if each["operator"].startswith(("linear", "product")))
    if _of_amd(row) and any(each["torch"] is not None for each in products):
        click.echo(f"\n{_AMD}")


def _sums(several: list[dict[str, Any]]) -> list[str]:
    timed = [key for key in ("within", "alone", "torch") if any(each[key] is not None for each in several)]
    return [f"{_sum(several, key) * 1e3:.3f}" if key in timed else "" for key in ("within", "alone", "torch")]


def _sum(several: list[dict[str, Any]], key: str) -> float:
    """Without those that were not timed."""
    return float(sum(each[key] or 0.0 for each in several))


def _of_amd(row: Mapping[str, Any]) -> bool:
    """Up to 2026-11-25, lines have the name of the processor alone."""
    return str(row.get("cpu", row["machine"])).startswith(("AuthenticAMD", "AMD "))


def _print_row(cells: list[Any]) -> None:
    click.echo(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()

"""Whole models, one native call each, beside PyTorch, ONNX Runtime and OpenVINO.

    python -m experiments.models measure resnet50 --threads 1 --images 1 --rounds 20 --out experiments/data/models.jsonl
    python -m experiments.models table experiments/data/models.jsonl

The first command prints the time to optimize, then the least and the median milliseconds of each, interleaved, and the
errors against the model in double, and adds a line with all samples to the file. The second prints these lines as a
table. Peers that are not installed are left out. Run it where nothing else runs.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import click
import torch

import polydl.torch
from experiments.networks import MODELS, model
from polydl.machine import Machine

Run = Callable[[], Any]


def peers(network: torch.nn.Module, data: torch.Tensor, threads: int) -> dict[str, Run]:
    """What is measured beside polydl, each ready to run."""
    runs: dict[str, Run] = {}
    last = data.contiguous(memory_format=torch.channels_last) if data.dim() == 4 else data
    ordered = network.to(memory_format=torch.channels_last) if data.dim() == 4 else network
    runs["torch eager"] = lambda: ordered(last)
    from torch._inductor import config

    config.freezing = True
    frozen, tuned = torch.compile(ordered), torch.compile(ordered, mode="max-autotune")
    runs["torch.compile, freezing"] = lambda: frozen(last)
    runs["torch.compile, max-autotune"] = lambda: tuned(last)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        try:
            torch.onnx.export(network, (data,), str(path), dynamo=False)
        except Exception as error:
            click.echo(f"no ONNX: {error}", err=True)
            return runs
        for name, make in (("ONNX Runtime", _onnx_runtime), ("OpenVINO", _openvino)):
            try:
                runs[name] = make(path, data, threads)
            except ImportError:
                click.echo(f"{name} is not installed", err=True)
    return runs


def _onnx_runtime(path: Path, data: torch.Tensor, threads: int) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: data.numpy()}
    return lambda: session.run(None, given)


def _openvino(path: Path, data: torch.Tensor, threads: int) -> Run:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(str(path), "CPU", settings).create_infer_request()
    given = data.numpy()
    return lambda: request.infer([given])


@click.group()
def main() -> None:
    """Whole models beside other libraries."""


@main.command()
@click.argument("name", type=click.Choice(list(MODELS)))
@click.option("--threads", default=1, show_default=True)
@click.option("--images", default=1, show_default=True, help="images, or sequences, at once")
@click.option("--rounds", default=20, show_default=True)
@click.option("--budget", help="how long each distinct nest is searched")
@click.option("--out", type=click.Path(path_type=Path), help="add a line of JSON with all samples")
def measure(name: str, threads: int, images: int, rounds: int, budget: str | None, out: Path | None) -> None:
    """One model end to end."""
    torch.set_num_threads(threads)
    network, data = model(name, images)
    begin, before = time.perf_counter(), os.times()
    fast = polydl.torch.optimize(network, data, threads=threads, budget=budget)
    after = os.times()
    elapsed, cpu = time.perf_counter() - begin, sum(after[:4]) - sum(before[:4])
    click.echo(f"{name}: optimized in {elapsed:.1f} s, {cpu:.1f} CPU s; {fast!r}")
    click.echo(str(fast.report()))
    runs: dict[str, Run] = {"polydl": lambda: fast(data)}
    with torch.no_grad():
        runs |= peers(network, data, threads)
        for run in runs.values():
            for _ in range(3):
                run()
        samples: dict[str, list[float]] = {each: [] for each in runs}
        for _ in range(rounds):
            for each, run in runs.items():
                begin = time.perf_counter()
                run()
                samples[each].append(time.perf_counter() - begin)
    for each, times in samples.items():
        click.echo(f"{each:26} least {min(times) * 1e3:8.3f} ms, median {median(times) * 1e3:8.3f} ms")
    if out is not None:
        row = {
            "model": name,
            "images": images,
            "threads": threads,
            "budget": budget,
            "date": datetime.now(UTC).date().isoformat(),
            "machine": Machine.detect(threads=threads).name,
            "optimize_seconds": round(elapsed, 1),
            "optimize_processor_seconds": round(cpu, 1),
            "seconds": samples,
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
def table(file: Path) -> None:
    """Lines of Markdown: median milliseconds of each, and the best peer's over polydl's."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    names = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
    heads = ["model", "images", "threads", *names, "best peer / polydl", "optimized in, s"]
    click.echo(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for row in rows:
        medians = {name: median(times) for name, times in row["seconds"].items()}
        ratio = min(seconds for name, seconds in medians.items() if name != "polydl") / medians["polydl"]
        times = [f"{medians[name] * 1e3:.2f}" if name in medians else "" for name in names]
        first, last = [row[key] for key in ("model", "images", "threads")], round(row["optimize_seconds"])
        click.echo(f"| {' | '.join(map(str, [*first, *times, f'{ratio:.2f}', last]))} |")


if __name__ == "__main__":
    main()

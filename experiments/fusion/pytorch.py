"""PyTorch in the fusion experiments: a process that times its fastest way to compute a problem (``rounds.py``).

    python -m experiments.fusion.pytorch THREADS NAME ARGUMENTS...

Ways are operators called one by one, and what ``torch.compile`` makes of them, weights frozen; images in NCHW and in
channels_last; with a result of its own, as PyTorch does by default, or written into a tensor that is given. Every way
is compared with the first one before, by its result, or the last of them. The line that this prints when it is ready
says which one was fastest.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._inductor import config

from experiments.autotuners.timing import seconds_of
from experiments.fusion.sequences_pytorch import SEQUENCES, operands

Compute = Callable[[], Tensor]
Ways = dict[str, Compute]
_MOST_ERROR = 1e-4
_TRIALS = 9


def ways(network: nn.Module, data: Tensor) -> Ways:
    """To apply a network of one output to images."""
    found: Ways = {}
    for order, form in (("NCHW", torch.contiguous_format), ("channels_last", torch.channels_last)):
        own, image = copy.deepcopy(network).to(memory_format=form), data.contiguous(memory_format=form)
        target = own(image)
        compiled = torch.compile(own)
        written = torch.compile(_written(own))
        found[f"eager, {order}"] = partial(own, image)
        found[f"compiled, {order}"] = partial(compiled, image)
        found[f"compiled, {order}, into a given tensor"] = partial(written, image, target)
    return found


def _written(network: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda image, target: target.copy_(network(image))


def batch_normalization(*sizes: str) -> dict[str, Ways]:
    """And ReLU: with statistics that are given, and with those of the images, which are left to the caller as well."""
    images, channels, height, width = map(int, sizes)
    data = torch.randn(images, channels, height, width) + 0.3
    found = {}
    for job, tracked in (("torch_infer", True), ("torch_train", False)):
        layer = nn.BatchNorm2d(channels, track_running_stats=tracked)
        nn.init.uniform_(layer.weight, 0.5, 1.5)
        nn.init.normal_(layer.bias)
        if layer.running_mean is not None and layer.running_var is not None:
            nn.init.normal_(layer.running_mean)
            nn.init.uniform_(layer.running_var, 0.5, 1.5)
        found[job] = ways(nn.Sequential(layer, nn.ReLU()).eval(), data)
    return found


def convolution(operations: str, *sizes: str) -> dict[str, Ways]:
    """With ReLU6, or with bias and ReLU: images, channels, filters, height, width, filter size, padding, stride."""
    images, channels, filters, height, width, taps, padding, stride = map(int, sizes)
    with_bias = operations == "bias_relu"
    layer = nn.Conv2d(channels, filters, taps, stride, padding, bias=with_bias)
    network = nn.Sequential(layer, nn.ReLU() if with_bias else nn.ReLU6()).eval()
    return {"torch": ways(network, torch.rand(images, channels, height, width) * 2 - 1)}


def sequence(name: str, n: str) -> dict[str, Ways]:
    """Of BLAS calls, results written into tensors that are given."""
    calls, given = SEQUENCES[name], operands(name, int(n))
    compiled = torch.compile(calls)
    return {"torch": {"eager": lambda: calls(*given), "compiled": lambda: compiled(*given)}}


PROBLEMS = {"bnorm": batch_normalization, "conv": convolution, "sequence": sequence}


def fastest(computed: Ways) -> str:
    """The name of the fastest way. Raises ValueError if one is wrong."""
    (_, first), *others = computed.items()
    expected = first().clone()
    for name, compute in others:
        # Twice, since what is scaled in place by -1 has its sign again then.
        compute()
        error = torch.linalg.vector_norm(compute() - expected) / torch.linalg.vector_norm(expected)
        # A NaN is no number below.
        if not error < _MOST_ERROR:
            raise ValueError(f"PyTorch, {name}, is off by {float(error):.2g}")
    return min(computed, key=lambda name: min(seconds_of(computed[name]) for _ in range(_TRIALS)))


def answer(jobs: Mapping[str, Compute], described: Mapping[str, Any]) -> None:
    """Say what there is, and time it whenever a line asks, until there are no more."""
    print(json.dumps({**described, "jobs": list(jobs)}), flush=True)
    computes = list(jobs.values())
    for line in sys.stdin:
        job, repeats = map(int, line.split())
        compute = computes[job]
        compute()
        start = time.perf_counter()
        for _ in range(repeats):
            compute()
        print((time.perf_counter() - start) / repeats, flush=True)


def main(threads: str, name: str, *arguments: str) -> None:
    torch.set_num_threads(int(threads))
    torch.set_grad_enabled(False)
    torch.manual_seed(7)
    config.freezing = True
    problems = PROBLEMS[name](*arguments)
    chosen = {job: fastest(own) for job, own in problems.items()}
    answer({job: problems[job][way] for job, way in chosen.items()}, {"torch": torch.__version__, "ways": chosen})


if __name__ == "__main__":
    main(*sys.argv[1:])

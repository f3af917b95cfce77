"""PyTorch's time for what a kernel computes, taken when a model is optimized."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node

from polydl.machine import Machine
from polydl.models.kernels import Kernel, Nest
from polydl.models.program import lower
from polydl.torch.export import Exported
from polydl.torch.running import ForeignStep, seconds_of_a_call
from polydl.torch.segments import Kept, Segment

_WARM_UPS = 2
_ROUNDS = 7


def kept_for_speed(
    steps: Sequence[Segment | Kept], program: Exported, kernels: Mapping[Nest, Kernel], machine: Machine
) -> tuple[dict[str, str], dict[str, float]]:
    """Nodes that are faster in PyTorch, with the reason, and PyTorch's times by kernel and by node.

    A kernel's time must exceed PyTorch's by that of leaving the native call: a call more, and its data read and written
    once more before and behind it, in another layout.
    """
    nodes = {node.name: node for node in program.nodes}
    times: dict[str, float] = {}
    kept: dict[str, str] = {}
    for step in steps:
        if isinstance(step, Kept):
            continue
        lowered = lower(step.graph)
        for operator, nest in zip(lowered.graph.operators, lowered.nests, strict=True):
            kernel = kernels[nest]
            group = [nodes[name] for name in operator.sources if name in nodes]
            if not group:
                continue
            if kernel.function not in times:
                times[kernel.function] = _seconds(group, program.parameters, machine.threads)
            library = times[kernel.function]
            moved = 4 * sum(lowered.layouts[value].elements for value in (operator.output, *operator.inputs))
            leaving = seconds_of_a_call() + 2 * moved / machine.memory_bandwidth_bytes_per_second
            if kernel.seconds is not None and library + leaving < kernel.seconds:
                reason = f"{library * 1e3:.3g} ms, the kernel {kernel.seconds * 1e3:.3g} ms"
                for node in group:
                    kept[node.name], times[node.name] = reason, library
    return kept, times


def _seconds(group: Sequence[Node], parameters: Mapping[str, torch.Tensor], threads: int) -> float:
    """The least time of several runs, on data in the order that PyTorch is fastest with."""
    values: dict[str, Any] = {}
    names = {node.name for node in group}
    for node in (each for member in group for each in member.all_input_nodes):
        if node.name in names or node.name in values:
            continue
        values[node.name] = _channels_last(parameters.get(node.name, _like(node)))
    run = [ForeignStep(node) for node in group]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        least = float("inf")
        with torch.no_grad():
            for number in range(_WARM_UPS + _ROUNDS):
                begin = time.perf_counter()
                for step in run:
                    step.run(values)
                if number >= _WARM_UPS:
                    least = min(least, time.perf_counter() - begin)
        return least
    finally:
        torch.set_num_threads(before)


def _like(node: Node) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    value = node.meta.get("val")
    value = value[0] if isinstance(value, list | tuple) else value
    assert isinstance(value, torch.Tensor)
    return torch.rand(tuple(int(extent) for extent in value.shape), generator=generator)


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

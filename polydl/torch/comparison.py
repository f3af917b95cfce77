"""PyTorch's time for what a kernel computes, taken when a model is optimized."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch.fx import Node

from polydl.machine import Machine
from polydl.models.kernels import OperatorKernel, OperatorNest
from polydl.models.program import Lowered, lower
from polydl.native import runtime
from polydl.torch.export import Exported
from polydl.torch.running import ForeignStep, seconds_of_a_call
from polydl.torch.segments import Kept, Segment

_WARM_UPS = 2
_ROUNDS = 7
_ROUNDS_OF_MODELS = 5


def kept_for_speed(
    steps: Sequence[Segment | Kept],
    program: Exported,
    kernels: Mapping[OperatorNest, OperatorKernel],
    machine: Machine,
    cold: bool,
) -> tuple[dict[str, str], dict[str, float]]:
    """Nodes that are faster in PyTorch, with the reason, and PyTorch's times by kernel and by node.

    A kernel's time must exceed PyTorch's by that of leaving the native call: a call more, and its data read and written
    once more before and behind it, in another layout. Where parameters were ``cold`` for kernels, they are for PyTorch.
    """
    nodes = {node.name: node for node in program.nodes if node.op == "call_function"}
    times: dict[str, float] = {}
    kept: dict[str, str] = {}
    # By the kernels, and by PyTorch's operators, of which one kernel may compute more in one place than in another.
    measured: dict[tuple[tuple[str, ...], tuple[str, ...]], float] = {}
    for step in steps:
        if isinstance(step, Kept):
            continue
        lowered = lower(step.graph)
        for unit in _units(lowered, nodes):
            group = [nodes[name] for name in unit.sources if name in nodes]
            chosen = [kernels[nest] for nest in unit.nests]
            functions = tuple(kernel.function for kernel in chosen)
            same = functions, tuple(str(node.target) for node in group)
            if same not in measured:
                measured[same] = _seconds(group, program.parameters, machine.threads, _channels_last, cold)
            library = times[functions[-1]] = measured[same]
            moved = sum(lowered.layouts[value].bytes for value in unit.values)
            leaving = seconds_of_a_call() + 2 * moved / machine.memory_bandwidth_bytes_per_second
            seconds = [kernel.seconds for kernel in chosen if kernel.seconds is not None]
            if len(seconds) < len(chosen) or library + leaving >= sum(seconds):
                continue
            # Between native calls it gets its images row by row.
            library = max(library, _seconds(group, program.parameters, machine.threads, torch.Tensor.contiguous, cold))
            if library + leaving < sum(seconds):
                reason = f"{library * 1e3:.3g} ms, the kernel{'s' * (len(chosen) > 1)} {sum(seconds) * 1e3:.3g} ms"
                for node in group:
                    kept[node.name], times[node.name] = reason, library
    return kept, times


@dataclass(frozen=True)
class _Unit:
    """Kernels that compute the same operators of PyTorch's together, in their order."""

    #: names of PyTorch's nodes that they compute
    sources: tuple[str, ...]
    #: in the order in which they run
    nests: tuple[OperatorNest, ...]
    #: what they read and write
    values: tuple[str, ...]

    def joined(self, other: _Unit) -> _Unit:
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))
        return _Unit(sources, (*self.nests, *other.nests), (*self.values, *other.values))


def _units(lowered: Lowered, nodes: Mapping[str, Node]) -> list[_Unit]:
    """The kernels of a graph, but those that only change a layout."""
    units: list[_Unit] = []
    for operator, nest in zip(lowered.graph.operators, lowered.nests, strict=True):
        if not any(name in nodes for name in operator.sources):
            continue
        unit = _Unit(operator.sources, (nest,), (operator.output, *operator.inputs))
        for other in [each for each in units if {*each.sources} & {*operator.sources}]:
            units.remove(other)
            unit = other.joined(unit)
        units.append(unit)
    return units


def whole_seconds(run: Callable[[], object], threads: int) -> float:
    """The least time of several calls of a whole model, with PyTorch on so many threads."""
    with torch.no_grad(), _torch_threads(threads):
        return min(_times(run, _ROUNDS_OF_MODELS))


def _times(run: Callable[[], object], rounds: int, before_each: Callable[[], object] = lambda: None) -> list[float]:
    for _ in range(_WARM_UPS):
        run()
    times = []
    for _ in range(rounds):
        before_each()
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _seconds(
    group: Sequence[Node],
    parameters: Mapping[str, torch.Tensor],
    threads: int,
    ordered: Callable[[torch.Tensor], torch.Tensor],
    cold: bool,
) -> float:
    """The median time of several runs, on data in an order: that of a kernel is a median as well.

    If ``cold``, parameters are flushed from the caches before each.
    """
    values: dict[str, Any] = {}
    names = {node.name for node in group}
    for node in (each for member in group for each in member.all_input_nodes):
        if node.name in names or node.name in values:
            continue
        values[node.name] = ordered(parameters.get(node.name, _like(node)))
    steps = [ForeignStep(node) for node in group]

    def run() -> None:
        for step in steps:
            step.run(values)

    constants = [values[name] for name in parameters if name in values] if cold else []
    flush = runtime().flush

    def flushed() -> None:
        for each in constants:
            flush(each.data_ptr(), each.nbytes)

    with torch.no_grad(), _torch_threads(threads):
        return median(_times(run, _ROUNDS, flushed))


def _like(node: Node) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    value = node.meta.get("val")
    value = value[0] if isinstance(value, list | tuple) else value
    assert isinstance(value, torch.Tensor)
    extents = tuple(int(extent) for extent in value.shape)
    return torch.rand(extents, generator=generator, dtype=torch.float32, device="cpu")


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """The order of images that PyTorch is fastest with."""
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

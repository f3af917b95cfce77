"""Steps that run a graph: compiled programs, and PyTorch's operators between them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from polydl.models.manifest import Manifest, Tensor

_CALLS = 200


class CompiledProgram(Protocol):
    """What is called: a compiled model."""

    manifest: Manifest

    def run(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Call it on addresses of arrays."""


_PROGRAMS: dict[int, CompiledProgram] = {}


def _run(inputs: list[torch.Tensor], program: int) -> list[torch.Tensor]:
    return run_program(_PROGRAMS[program], inputs)


def _shapes(inputs: list[torch.Tensor], program: int) -> list[torch.Tensor]:
    del inputs
    return [torch.empty(each.shape) for each in _PROGRAMS[program].manifest.outputs]


#: The outputs of a compiled program on inputs; the program's number is what ``register`` returned.
run = torch.library.custom_op("polydl::run", _run, mutates_args=())
run.register_fake(_shapes)


def register(program: CompiledProgram) -> int:
    """The number by which ``torch.ops.polydl.run`` knows a program, for as long as the process lives."""
    number = len(_PROGRAMS)
    _PROGRAMS[number] = program
    return number


def run_program(program: CompiledProgram, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """One native call on tensors of the program's shapes."""
    given = [each.contiguous() for each in inputs]
    results = [torch.empty(each.shape) for each in program.manifest.outputs]
    program.run([each.data_ptr() for each in given], [each.data_ptr() for each in results])
    return results


class _Empty:
    """A program without operators."""

    manifest = Manifest(
        form=3, name="empty", inputs=(), outputs=(Tensor("x", (1,)),), weights_bytes=0, prepared_bytes=0,
        memory_bytes=0, threads=1, operators=(),
    )  # fmt: skip

    def run(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Nothing is computed."""


@cache
def seconds_of_a_call() -> float:
    """What one native call more costs, beside what it computes: PyTorch's way to it and back, measured once."""
    number, given = register(_Empty()), [torch.zeros(1)]
    least = float("inf")
    for _ in range(_CALLS):
        begin = time.perf_counter()
        torch.ops.polydl.run(given, number)
        least = min(least, time.perf_counter() - begin)
    return least


@dataclass(frozen=True)
class NativeStep:
    """A program that runs as one operator of PyTorch's."""

    #: Of the program, which the operator is given.
    number: int
    #: Names of the values that it reads.
    inputs: tuple[str, ...]
    #: Names of the values that it computes.
    outputs: tuple[str, ...]

    def run(self, values: dict[str, Any]) -> None:
        """Takes its inputs from ``values``, tensors by name, and adds its outputs to them."""
        results = torch.ops.polydl.run([values[name] for name in self.inputs], self.number)
        values.update(zip(self.outputs, results, strict=True))


@dataclass(frozen=True)
class ForeignStep:
    """An operator of PyTorch's."""

    node: Node

    def run(self, values: dict[str, Any]) -> None:
        """Takes its arguments from ``values``, by the names of nodes, and adds what it returns to them."""
        arguments = map_arg(self.node.args, lambda node: values[node.name])
        keywords = map_arg(self.node.kwargs, lambda node: values[node.name])
        assert callable(self.node.target)
        values[self.node.name] = self.node.target(*arguments, **keywords)

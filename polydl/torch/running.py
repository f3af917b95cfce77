"""Steps that run a graph: compiled programs, and PyTorch's operators between them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from weakref import WeakValueDictionary

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from polydl.errors import ArgumentError
from polydl.models.manifest import FORM, Manifest, Tensor

_CALLS = 200


class CompiledProgram(Protocol):
    """What is called: a compiled model."""

    manifest: Manifest

    def run(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Call it on addresses of arrays."""


_PROGRAMS: WeakValueDictionary[int, CompiledProgram] = WeakValueDictionary()
_numbers = itertools.count()


def _run(inputs: list[torch.Tensor], program: int) -> list[torch.Tensor]:
    known = _known(program)
    expected = known.manifest.inputs
    if len(inputs) != len(expected):
        raise ArgumentError(f"{len(inputs)} inputs of a compiled program", remedy=f"pass {len(expected)}")
    for value, wanted in zip(inputs, expected, strict=True):
        if value.shape != wanted.shape or not is_plain(value, torch.float32):
            raise ArgumentError(
                f"input {wanted.name!r} of a compiled program is {in_words(value)}",
                remedy=f"pass torch.float32 of shape {wanted.shape} on cpu",
            )
    return run_program(known, inputs)


def _shapes(inputs: list[torch.Tensor], program: int) -> list[torch.Tensor]:
    del inputs
    return _results(_known(program))


def _known(number: int) -> CompiledProgram:
    program = _PROGRAMS.get(number)
    if program is None:
        raise ArgumentError(f"there is no compiled program {number}", remedy="keep the model that it is part of")
    return program


def _results(program: CompiledProgram) -> list[torch.Tensor]:
    """Tensors for the results, whatever PyTorch's default type and device are."""
    return [torch.empty(each.shape, dtype=torch.float32, device="cpu") for each in program.manifest.outputs]


def is_plain(value: object, dtype: torch.dtype) -> bool:
    """Whether a value is a tensor of a type whose elements lie in memory that a kernel can read.

    Those of other layouts don't, nor those that stand for others while PyTorch traces a function.
    """
    return (
        isinstance(value, torch.Tensor)
        and value.dtype == dtype
        and value.device.type == "cpu"
        and value.layout == torch.strided
        and type(value).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    )


def in_order_of(value: Any, example: Any) -> Any:
    """A value with its elements in memory as the example has them, if both are tensors.

    PyTorch's own views of a value are those that this order allows. A step of 0 in the example says that the value is
    the same along that dimension.
    """
    if not isinstance(value, torch.Tensor) or example is None:
        return value
    steps = example.stride()
    if all(size < 2 or one == other for size, one, other in zip(value.shape, value.stride(), steps, strict=True)):
        return value
    # What was repeated without a copy is in one place.
    places = value[tuple(slice(None) if step else slice(1) for step in steps)]
    ordered = torch.empty_strided(places.shape, steps, dtype=value.dtype, device="cpu").copy_(places)
    return ordered.expand(value.shape)


def in_words(value: object) -> str:
    """What a value is, for messages."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    words = f"{value.dtype} of shape {tuple(value.shape)} on {value.device}"
    if value.layout != torch.strided:
        return f"{words}, stored as {value.layout}"
    return words if type(value) is torch.Tensor else f"{words}, a {type(value).__name__}"


#: The outputs of a compiled program on inputs; the program's number is what ``register`` returned.
run = torch.library.custom_op("polydl::run", _run, mutates_args=())
run.register_fake(_shapes)


def register(program: CompiledProgram) -> int:
    """The number by which ``torch.ops.polydl.run`` knows a program for as long as the caller keeps it."""
    number = next(_numbers)
    _PROGRAMS[number] = program
    return number


def run_program(program: CompiledProgram, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """One native call on tensors of the program's shapes. Raises ArgumentError for what ``torch.func`` transforms."""
    given = [each.contiguous().resolve_neg() for each in inputs]
    results = _results(program)
    try:
        addresses = [each.data_ptr() for each in given]
    except RuntimeError as error:
        remedy = "call it outside of torch.func's transforms, or transform the original model"
        raise ArgumentError(f"an input has no memory: {error}", remedy=remedy) from None
    program.run(addresses, [each.data_ptr() for each in results])
    return results


class _Empty:
    """A program without operators."""

    manifest = Manifest(
        form=FORM, name="empty", inputs=(Tensor("x", (1,)),), outputs=(Tensor("x", (1,)),), library_bytes=0,
        library_sha256="", weights_bytes=0, weights_sha256="", prepared_bytes=0, memory_bytes=0, threads=1,
        operators=(),
    )  # fmt: skip

    def run(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Nothing is computed."""


@cache
def seconds_of_a_call() -> float:
    """What one native call more costs, beside what it computes: PyTorch's way to it and back, measured once."""
    program = _Empty()
    number, given = register(program), [torch.zeros(1, dtype=torch.float32, device="cpu")]
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
    #: By output: a tensor with the order in memory that it needs; None where any will do.
    examples: tuple[torch.Tensor | None, ...]

    def run(self, values: dict[str, Any]) -> None:
        """Takes its inputs from ``values``, tensors by name, and adds its outputs to them."""
        results = torch.ops.polydl.run([values[name] for name in self.inputs], self.number)
        values.update(zip(self.outputs, map(in_order_of, results, self.examples), strict=True))


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

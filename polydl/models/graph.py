"""A model as a graph of operators, from wherever it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import numpy as np

from polydl import bfloat16
from polydl.models.epilogue import Step
from polydl.models.layout import Image, Layout, Scratch, ValueType

Array = np.ndarray[Any, Any]


def stored_as(values: Array, value_type: ValueType) -> Array:
    """Floats as C has them in an array of that type; bfloat16s are rounded, and held as ``uint16``."""
    return np.ascontiguousarray(values) if value_type == "float" else bfloat16.from_float(values)


class Kind(Protocol):
    """What an operator computes. Kinds are frozen dataclasses of sizes alone."""

    @property
    def label(self) -> str:
        """What it is, for people."""

    @property
    def borders(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of zeros that each input needs around its images; those of further inputs are (0, 0)."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Parameters of the C that hold the same at every call, in their order."""

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        """The output's channels in a block, if it is an image.

        They are ``channels`` in all; ``usual`` is the block where nothing speaks for another one.
        """

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        """The C of the nest with its steps: parameters are the output, the inputs, then the constants."""

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        """Further arrays that the nest computes and no other operator needs."""

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        """The constants as the nest reads them. Those that come in are laid out as the model has them."""


class WithoutScratch:
    """What is the same for kinds whose nests compute nothing but the output."""

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del output, inputs
        return ()


class PlainKind(WithoutScratch):
    """What is the same for kinds whose inputs need no borders, and that read constants as the model has them.

    Images that they make are in the blocks of their first input.
    """

    @property
    def borders(self) -> tuple[tuple[int, int], ...]:
        return ((0, 0),)

    @property
    def constants(self) -> tuple[str, ...]:
        return ()

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        del channels, usual
        assert isinstance(inputs[0], Image)
        return inputs[0].block

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        del output, inputs
        return list(constants)


@dataclass(frozen=True)
class Operator:
    """One kernel of a model."""

    kind: Kind
    #: values: those of the kind, then one for each step that combines
    inputs: tuple[str, ...]
    #: the value that it computes
    output: str
    #: names of arrays in ``Graph.constants``, in the order that the kind takes them
    constants: tuple[str, ...] = ()
    #: what is done to each element of the result, one after the other
    steps: tuple[Step, ...] = ()
    #: names that the operators have in the model it comes from
    sources: tuple[str, ...] = ()

    def sources_with(self, *others: str) -> tuple[str, ...]:
        """Its sources and those of what it takes over, each once."""
        return tuple(dict.fromkeys((*self.sources, *others)))


@dataclass(frozen=True)
class Graph:
    """Operators in an order in which they can run. Inputs, outputs and constants are of type ``float``."""

    #: names of the values that callers give, in the order of the arguments
    inputs: tuple[str, ...]
    #: names of the values that callers get, in their order
    outputs: tuple[str, ...]
    #: of all values, by name
    shapes: Mapping[str, tuple[int, ...]]
    operators: tuple[Operator, ...]
    #: arrays by name
    constants: Mapping[str, Array] = field(repr=False)
    #: values of the graph that are images in blocks of channels; the others are row-major
    images: frozenset[str] = frozenset()
    #: values that are others with another shape, each with the one that it is; both are row-major
    views: Mapping[str, str] = field(default_factory=dict)
    #: of the values that operators pass on to others
    value_type: ValueType = "float"
    #: of these values, images that are floats all the same
    floats: frozenset[str] = frozenset()

    def type_of(self, value: str) -> ValueType:
        """The type of a value that operators pass on to others."""
        return "float" if value in self.floats else self.value_type

    def elements(self, value: str) -> int:
        """Elements of a value, without any border around its images."""
        return prod(self.shapes[value])

    def stored(self, value: str) -> str:
        """The value in whose memory a value lies."""
        return stored_in(self.views, value)


def stored_in(views: Mapping[str, str], value: str) -> str:
    """The value in whose memory a value lies; ``views`` are as those of a graph."""
    while value in views:
        value = views[value]
    return value

"""A graph in the making: values get the layout that an operator takes when it is added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polydl.models.elementwise import ElementWise, Reorder
from polydl.models.epilogue import Step
from polydl.models.graph import Array, Graph, Kind, Operator
from polydl.models.matrices import Order, Transposition

_ROWS = ".rows"
_IMAGE = ".image"
_STORED = ".stored"


class GraphBuilder:
    """``add`` operators in an order in which they can run, then ``graph``.

    A value of rank 4 may be there as images in blocks of channels, row-major, or both; a change of layout is added
    where the first operator needs the form that is not there. So is a transposition where a value is needed row-major,
    and is there as an array with its dimensions in another order. ``names`` are those that further values will have.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._taken = set(names)
        self._operators: list[Operator] = []
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._constants: dict[str, Array] = {}
        self._images: set[str] = set()
        self._views: dict[str, str] = {}
        self._inputs: list[str] = []
        #: the name of a value in a form, by the value's own
        self._rows: dict[str, str] = {}
        self._image: dict[str, str] = {}
        self._ordered: dict[str, tuple[str, Order]] = {}

    def __contains__(self, value: str) -> bool:
        return value in self._rows or value in self._image or value in self._ordered

    @property
    def operators(self) -> Sequence[Operator]:
        return self._operators

    def shape(self, value: str) -> tuple[int, ...]:
        if value in self._rows or value in self._image:
            return self._shapes[self._rows.get(value) or self._image[value]]
        stored, order = self._ordered[value]
        return _in_order(self._shapes[stored], order)

    def new_name(self, wanted: str) -> str:
        """A name like the wanted one that no value has."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    def input(self, name: str, shape: tuple[int, ...]) -> None:
        """A row-major value that the caller provides."""
        self._inputs.append(name)
        self._shapes[name] = shape
        self._rows[name] = name

    def constant(self, name: str, value: Array) -> str:
        self._constants[name] = value
        return name

    def constant_value(self, name: str) -> Array:
        return self._constants[name]

    def image(self, value: str) -> str:
        """The value as images."""
        if value not in self._image:
            name, rows = self.new_name(value + _IMAGE), self.rows(value)
            self._operators.append(Operator(Reorder(), (rows,), name))
            self._shapes[name] = self._shapes[rows]
            self._images.add(name)
            self._image[value] = name
        return self._image[value]

    def rows(self, value: str) -> str:
        """The value as a row-major array."""
        if value not in self._rows:
            name, shape = self.new_name(value + _ROWS), self.shape(value)
            if value in self._image:
                self._operators.append(Operator(Reorder(), (self._image[value],), name))
            else:
                stored, order = self._ordered[value]
                self._operators.append(Operator(Transposition(order), (stored,), name))
            self._shapes[name] = shape
            self._rows[value] = name
        return self._rows[value]

    def ordered(self, value: str) -> tuple[str, Order]:
        """A row-major array that holds the value, and the order of the value's dimensions in it."""
        if value in self._ordered:
            return self._ordered[value]
        return self.rows(value), tuple(range(len(self.shape(value))))

    def add_transposed(self, name: str, value: str, dimensions: Sequence[int]) -> None:
        """The value whose dimensions are these of another one. No element moves until it is needed row-major."""
        stored, order = self.ordered(value)
        self._ordered[name] = stored, tuple(dimensions.index(each) for each in order)

    def add_image(
        self, name: str, shape: tuple[int, ...], kind: Kind, inputs: Sequence[str], constants: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> None:  # fmt: skip
        """An operator from images to images."""
        names = tuple(self.image(each) for each in inputs)
        self._operators.append(Operator(kind, names, name, tuple(constants), tuple(steps), (name,)))
        self._shapes[name] = shape
        self._images.add(name)
        self._image[name] = name

    def add_rows(
        self, name: str, shape: tuple[int, ...], kind: Kind, inputs: Sequence[str], constants: Sequence[str] = (),
        steps: Sequence[Step] = (), source: str = "",
    ) -> None:  # fmt: skip
        """An operator from row-major arrays to one. ``source`` is the model's own name of it, where that is another."""
        names = tuple(self.rows(each) for each in inputs)
        self._operators.append(Operator(kind, names, name, tuple(constants), tuple(steps), (source or name,)))
        self._shapes[name] = shape
        self._rows[name] = name

    def add_element_wise(self, name: str, inputs: Sequence[str], steps: Sequence[Step]) -> None:
        """Steps on values, the first of which has the result's shape.

        They are images if any of the values is there so, or if a further one has one pixel for each channel, unless one
        has another shape.
        """
        first, *others = inputs
        if first in self._ordered and not others:
            stored, order = self._ordered[first]
            result = self.new_name(name + _STORED)
            self._operators.append(Operator(ElementWise(), (stored,), result, (), tuple(steps), (name,)))
            self._shapes[result] = self._shapes[stored]
            self._rows[result] = result
            self._ordered[name] = result, order
            return
        shape = self.shape(first)
        pixels = [each for each in others if self.shape(each) != shape]
        images = pixels or any(each in self._image for each in inputs)
        fit = len(shape) == 4 and all(self.shape(each) == (*shape[:2], 1, 1) for each in pixels)
        add = self.add_image if images and fit else self.add_rows
        add(name, shape, ElementWise(), inputs, (), steps)

    def add_view(self, name: str, shape: tuple[int, ...], value: str) -> None:
        """The elements of a row-major value in another shape."""
        self._views[name] = self.rows(value)
        self._shapes[name] = shape
        self._rows[name] = name

    def alias(self, name: str, value: str) -> None:
        """Another name of a value."""
        if value in self._rows:
            self._rows[name] = self._rows[value]
        if value in self._image:
            self._image[name] = self._image[value]
        if value in self._ordered:
            self._ordered[name] = self._ordered[value]

    def producer(self, value: str) -> Operator | None:
        """The operator that computes a value as such, not as a view or in another layout."""
        return next((each for each in self._operators if each.output == value), None)

    def replace_constants(self, value: str, constants: Sequence[str], name: str) -> None:
        """Let the value's producer have other constants, and compute ``name`` instead. Nothing else needs the value."""
        producer = self.producer(value)
        assert producer is not None
        self._operators[self._operators.index(producer)] = Operator(
            producer.kind, producer.inputs, name, tuple(constants), producer.steps, (*producer.sources, name)
        )
        self._shapes[name] = self._shapes.pop(value)
        forms = self._image if value in self._image else self._rows
        del forms[value]
        forms[name] = name
        if value in self._images:
            self._images.remove(value)
            self._images.add(name)

    def graph(self, outputs: Sequence[str]) -> Graph:
        """The graph with these values as outputs, each of which an operator computes."""
        names = []
        # Values whose memory is the caller's.
        provided = set(self._inputs)
        for value in outputs:
            rows = self.rows(value)
            stored = rows
            while stored in self._views:
                stored = self._views[stored]
            if stored in provided:
                copy = self.new_name(f"{value}.copy")
                self._operators.append(Operator(ElementWise("copy"), (rows,), copy))
                self._shapes[copy] = self._shapes[rows]
                rows = stored = copy
            provided.add(stored)
            names.append(rows)
        return Graph(
            tuple(self._inputs),
            tuple(names),
            dict(self._shapes),
            tuple(self._operators),
            dict(self._constants),
            frozenset(self._images),
            dict(self._views),
        )


def _in_order(extents: Sequence[int], order: Order) -> tuple[int, ...]:
    """The extents of a value that is held in that order by an array of ``extents``."""
    return tuple(extents[order.index(dimension)] for dimension in range(len(order)))

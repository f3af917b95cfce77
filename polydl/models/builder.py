"""A graph in the making: values get the layout that an operator takes when it is added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polydl.models.elementwise import ElementWise, Reorder
from polydl.models.epilogue import Step
from polydl.models.graph import Array, Graph, Kind, Operator, stored_in
from polydl.models.matrices import Order, Transposition
from polydl.models.moving import Extend

_ROWS = ".rows"
_IMAGE = ".image"
_STORED = ".stored"
_LINE = ".line"


class GraphBuilder:
    """``add`` operators in an order in which they can run, then ``graph``.

    A value of rank 4 may be there as images in blocks of channels, row-major, or both; a change of layout is added
    where the first operator needs the form that is not there. So is a transposition where a value is needed row-major,
    and is there as an array with its dimensions in another order, and so is a frame around a value that has none yet. A
    value of rank 3 may be there as images of one row. ``names`` are those that further values will have.
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
        #: by a value of rank 3: the value of rank 4 that it is with one row
        self._lines: dict[str, str] = {}
        #: by a value: the one that it is with a frame of zeros, and the frame
        self._framed: dict[str, tuple[str, Extend]] = {}

    def __contains__(self, value: str) -> bool:
        return any(value in form for form in (self._rows, self._image, self._ordered, self._lines, self._framed))

    @property
    def moves_nothing(self) -> bool:
        """Whether all values are inputs in other shapes, or with their dimensions in another order."""
        return not self._operators and not self._framed

    def shape(self, value: str) -> tuple[int, ...]:
        """A value's shape as the model has it, whatever forms it is there in. Raises KeyError for an unknown value."""
        if value in self._rows or value in self._image:
            return self._shapes[self._rows.get(value) or self._image[value]]
        if value in self._lines:
            images, channels, _, length = self.shape(self._lines[value])
            return images, channels, length
        if value in self._framed:
            inner, frame = self._framed[value]
            sizes = zip(frame.before, self.shape(inner), frame.behind, strict=True)
            return tuple(before + extent + behind for before, extent, behind in sizes)
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
        """Keeps a constant under a name, in place of one that has it already, and returns the name."""
        self._constants[name] = value
        return name

    def constant_value(self, name: str) -> Array:
        """The constant of that name, as it was added."""
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
            if value in self._lines:
                self._views[name] = self.rows(self._lines[value])
            elif value in self._image:
                self._operators.append(Operator(Reorder(), (self._image[value],), name))
            elif value in self._framed:
                inner, frame = self._framed[value]
                self._operators.append(Operator(frame, (self.rows(inner),), name, (), (), (value,)))
            else:
                stored, order = self._ordered[value]
                self._operators.append(Operator(Transposition(order), (stored,), name))
            self._shapes[name] = shape
            # Of that name as well: what ``ordered`` gives is a value like any other.
            self._rows[value] = self._rows[name] = name
        return self._rows[value]

    def ordered(self, value: str) -> tuple[str, Order]:
        """A row-major array that holds the value, and the order of the value's dimensions in it."""
        if value in self._ordered:
            return self._ordered[value]
        return self.rows(value), tuple(range(len(self.shape(value))))

    def is_image(self, value: str) -> bool:
        """Whether the value is there as images."""
        return value in self._image

    def is_line(self, value: str) -> bool:
        """Whether the value is there as images of one row."""
        return value in self._lines

    def line(self, value: str) -> str:
        """The value of rank 4 that one of rank 3 is with one row."""
        if value not in self._lines:
            images, channels, length = self.shape(value)
            name = self.new_name(value + _LINE)
            self.add_view(name, (images, channels, 1, length), value)
            self._lines[value] = name
        return self._lines[value]

    def add_line(self, name: str, value: str) -> None:
        """Images of one row as a value of rank 3. No element moves until it is needed row-major."""
        self._lines[name] = value

    def unframed(self, value: str) -> tuple[str, Extend | None]:
        """The value that another is with a frame of zeros, and the frame; itself, and None, if it has none."""
        return self._framed.get(value, (value, None))

    def add_framed(self, name: str, value: str, frame: Extend) -> None:
        """A value with a frame of zeros. No element moves until it is needed as such."""
        assert frame.value == 0
        self._framed[name] = value, frame

    def add_transposed(self, name: str, value: str, dimensions: Sequence[int]) -> None:
        """The value whose dimensions are these of another one. No element moves until it is needed row-major."""
        assert sorted(dimensions) == list(range(len(dimensions)))
        if sorted(dimensions) == list(dimensions):
            # The transpose of a scalar, for one, whose element no loop has a subscript for.
            self.alias(name, value)
            return
        stored, order = self.ordered(value)
        self._ordered[name] = stored, tuple(dimensions.index(each) for each in order)

    def add_image(
        self, name: str, shape: tuple[int, ...], kind: Kind, inputs: Sequence[str], constants: Sequence[str] = (),
        steps: Sequence[Step] = (), source: str = "",
    ) -> None:  # fmt: skip
        """An operator from images to images. ``source`` is the model's own name of it, where that is another."""
        names = tuple(self.image(each) for each in inputs)
        self._operators.append(Operator(kind, names, name, tuple(constants), tuple(steps), (source or name,)))
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

    def add_element_wise(self, name: str, inputs: Sequence[str], steps: Sequence[Step], source: str = "") -> None:
        """Steps on values, the first of which has the result's shape. ``source`` is as in ``add_rows``.

        They are images if any of the values is there so, or if a further one has one pixel for each channel, unless one
        has another shape.
        """
        first, *others = inputs
        source = source or name
        if any(each in self._lines for each in inputs) and all(self.shape(e) == self.shape(first) for e in others):
            result = self.new_name(name + _LINE)
            self.add_element_wise(result, [self.line(each) for each in inputs], steps, source)
            self.add_line(name, result)
            return
        if first in self._ordered and not others:
            stored, order = self._ordered[first]
            result = self.new_name(name + _STORED)
            self._operators.append(Operator(ElementWise(), (stored,), result, (), tuple(steps), (source,)))
            self._shapes[result] = self._shapes[stored]
            self._rows[result] = result
            self._ordered[name] = result, order
            return
        shape = self.shape(first)
        pixels = [each for each in others if self.shape(each) != shape]
        images = pixels or any(each in self._image for each in inputs)
        fit = len(shape) == 4 and all(self.shape(each) == (*shape[:2], 1, 1) for each in pixels)
        add = self.add_image if images and fit else self.add_rows
        add(name, shape, ElementWise(), inputs, (), steps, source)

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
        if value in self._lines:
            # Under another name as well: what folds constants into the producer of a line takes that from its value.
            self._lines[name] = self.new_name(name + _LINE)
            self.alias(self._lines[name], self._lines[value])
        if value in self._framed:
            self._framed[name] = self._framed[value]

    def producer(self, value: str) -> Operator | None:
        """The operator that computes a value as such, not as a view or in another layout."""
        return next((each for each in self._operators if each.output == value), None)

    def replace_constants(self, value: str, constants: Sequence[str], name: str, source: str = "") -> None:
        """Let the value's producer have other constants, and compute ``name`` instead. Nothing else needs the value.

        ``source`` is as in ``add_rows``.
        """
        producer = self.producer(value)
        assert producer is not None
        self._operators[self._operators.index(producer)] = Operator(
            producer.kind,
            producer.inputs,
            name,
            tuple(constants),
            producer.steps,
            producer.sources_with(source or name),
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
            stored = stored_in(self._views, rows)
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
            self._needed(names),
            dict(self._constants),
            frozenset(self._images),
            dict(self._views),
        )

    def _needed(self, outputs: Sequence[str]) -> tuple[Operator, ...]:
        """The operators that the outputs depend on."""
        wanted, kept = {stored_in(self._views, each) for each in outputs}, []
        for operator in reversed(self._operators):
            if operator.output in wanted:
                kept.append(operator)
                wanted.update(stored_in(self._views, each) for each in operator.inputs)
        return tuple(reversed(kept))


def _in_order(extents: Sequence[int], order: Order) -> tuple[int, ...]:
    """The extents of a value that is held in that order by an array of ``extents``."""
    return tuple(extents[order.index(dimension)] for dimension in range(len(order)))

"""Transforms of tiles as C: straight lines of vector operations, one tile of so many channels at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

from polydl.codegen.callees import FunctionCallee
from polydl.codegen.linear_maps import factors, linear
from polydl.codegen.loop_ir import Block, Body, Call, For, Node, Pragma
from polydl.codegen.lowering import affine, assignment, element
from polydl.codegen.shuffled import SHUFFLED
from polydl.codegen.values import AddressOf, Binary, Expr, Integer, Linear, Name
from polydl.ir.calls import AxisLimit, TileTransform, TransformCall
from polydl.ir.ingredients import Fragment, Ingredients, VectorType
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.machine.core import Core

# Bytes of a strip of tiles whose lanes are brought together at a time.
_STRIP_BYTES = 12 << 10


def invocation(scop: Scop, statement: Statement, call: TransformCall, iterators: Sequence[Expr]) -> Node:
    """The call for the tile at these values of the statement's iterators, and what follows on the tile."""
    transform = call.transform
    arguments: dict[str, Expr] = {
        name: AddressOf(element(scop, access, iterators))
        for name, access in (("from", statement.reads[0]), ("to", statement.writes[0]))
    }
    for axis, inside in enumerate(transform.inside):
        if inside is not None:
            arguments[f"left{axis}"] = _left(inside, iterators)
    made = Call(FunctionCallee(call.call), statement.name, tuple(arguments.items()))
    return Block((made, *_after(scop, statement, transform, iterators))) if transform.after else made


def _after(scop: Scop, statement: Statement, transform: TileTransform, iterators: Sequence[Expr]) -> Body:
    """Loops over what the call has written, which is in a near cache then, with the statements that follow."""
    assert statement.box is not None
    extents = [high + 1 for _, high in statement.box]
    values = list(iterators)
    values[transform.lanes] = Name("polydl_lane")
    loops: list[tuple[str, Expr]] = []
    walked = False
    for axis, (loop, inside) in enumerate(zip(transform.results, transform.inside, strict=True)):
        counter = Name(f"polydl_pixel{axis}")
        values[loop] = counter
        condition: Expr = Binary("<", counter, Integer(extents[loop]))
        if transform.walk is not None and _walks(statement, loop, transform.walk, extents[loop]):
            walked = True
            length = extents[loop] * extents[transform.walk] if inside is None else inside.limit
            condition = Binary("<", counter, Integer(length))
        elif inside is not None:
            condition = Binary("&&", condition, Binary("<", counter, _left(inside, iterators)))
        loops.append((counter.name, condition))
    if transform.walk is not None and not walked:
        values[transform.walk] = Name("polydl_tile")
        loops.append(("polydl_tile", Binary("<", Name("polydl_tile"), Integer(extents[transform.walk]))))
    lanes = ("polydl_lane", Binary("<", Name("polydl_lane"), Integer(extents[transform.lanes])))
    *outer, (inner, ends) = [*loops, lanes] if transform.walk is None else [lanes, *loops]
    body: Body = tuple(
        replace(assignment(scop, light, [affine(form, values) for form in forms]), statement="")
        for light, forms in transform.after
    )
    body = (For(inner, Integer(0), ends, body, pragma=Pragma("simd")),)
    for counter_name, condition in reversed(outer):
        body = (For(counter_name, Integer(0), condition, body),)
    return body


def _walks(statement: Statement, pixel: int, walk: int, size: int) -> bool:
    """Whether the loop that the call goes through is that over the tiles, of so many pixels, of the pixels' axis.

    A single subscript may have the pixels of all axes.
    """
    steps = [(form.coefficients[pixel], form.coefficients[walk]) for form in statement.writes[0].subscripts or ()]
    return any(of_pixel for of_pixel, _ in steps) and all(of_tile == size * of_pixel for of_pixel, of_tile in steps)


def _left(inside: AxisLimit, iterators: Sequence[Expr]) -> Expr:
    """How much of an axis is there, from the tile's first element on."""
    first = iterators[inside.loop]
    if isinstance(first, Integer):
        return Integer(inside.limit - inside.step * first.number)
    return Linear(((1, Integer(inside.limit)), (-inside.step, first)))


def definition(scop: Scop, statement: Statement, call: TransformCall, vector_bytes: int, core: Core) -> Fragment:
    """The function that transforms one tile of all lanes, or all tiles of a loop."""
    writer = _Writer(scop, statement, call.call, call.transform, core)
    return writer.fragment(max(1, vector_bytes // writer.element_bytes))


def _widths(lanes: int, width: int) -> list[tuple[int, int, int]]:
    """Vectors of lanes: their width, the first of their lanes, and how many there are of them; the longest first."""
    found, left = [], lanes
    while left:
        if left >= width:
            found.append((width, lanes - left, left // width))
            left %= width
        width //= 2
    return found


class _Writer:
    def __init__(self, scop: Scop, statement: Statement, name: str, transform: TileTransform, core: Core) -> None:
        self.name, self.transform, self.core = name, transform, core
        source, target = statement.reads[0], statement.writes[0]
        self.element = scop.array(target.array).element
        self.element_bytes = scop.array(target.array).element_bytes
        self.suffix = "f" if self.element == "float" else ""
        self.from_strides = [scop.stride(source, loop) for loop in transform.sources]
        self.to_strides = [scop.stride(target, loop) for loop in transform.results]
        assert statement.box is not None
        self.sources = [statement.box[loop][1] + 1 for loop in transform.sources]
        self.results = [statement.box[loop][1] + 1 for loop in transform.results]
        self.lanes = statement.box[transform.lanes][1] + 1
        self.clipped = [axis for axis, inside in enumerate(transform.inside) if inside is not None]
        self.writes_outside = transform.clipped == "result"
        outside, own = (target, source) if self.writes_outside else (source, target)
        self.outside = self.results if self.writes_outside else self.sources
        self.outside_strides = self.to_strides if self.writes_outside else self.from_strides
        inner = {*transform.results, *transform.sources, transform.lanes}
        rows = [loop for loop in range(statement.depth) if loop not in inner]
        self.row_step = scop.stride(outside, rows[-1]) if rows else 0
        if transform.walk is not None:
            self.tiles = statement.box[transform.walk][1] + 1
            self.lane_step = scop.stride(outside, transform.lanes)
            self.walk_step, self.own_step = (scop.stride(each, transform.walk) for each in (outside, own))

    def fragment(self, vector_elements: int) -> Fragment:
        widths = _widths(self.lanes, vector_elements)
        constants = dict.fromkeys(factor for matrix in self.transform.matrices for factor in factors(matrix))
        vector_types = tuple(self._vector(width) for width, _, _ in widths)
        return Fragment(self._text(widths), Ingredients(vector_types=vector_types, factors=tuple(constants)))

    def _text(self, widths: Sequence[tuple[int, int, int]]) -> str:
        made = [line for width, _, _ in widths for line in self._core(width)]
        if self.transform.walk is not None:
            made += [SHUFFLED, *(line for width, _, _ in widths for line in self._turning(width))]
        left = "".join(f", int left{axis}" for axis in self.clipped)
        made += [
            f"static void {self.name}(const {self.element} *restrict from, {self.element} *restrict to{left})",
            "{",
        ]
        made += [f"  {line}" for line in self._fetched()]
        body = self._tile if self.transform.walk is None else self._strips
        for width, first, count in widths:
            made.append(f"  for (int lane = {first}; lane < {first + width * count}; lane += {width}) {{")
            made += [f"    {line}" for line in body(width)]
            made.append("  }")
        return "\n".join([*made, "}"])

    def _fetched(self) -> list[str]:
        """Lines of quarters that a later call reads, or adds to, each a row of a matrix further on."""
        step = self.row_step
        # Rows that lie further apart are no pattern that hardware follows.
        if not self.transform.together or step * self.element_bytes < self.core.prefetch_step_bytes:
            return []
        if self.writes_outside and not self.transform.adds:
            return []
        side = "to" if self.writes_outside else "from"
        line = self.core.line_bytes // self.element_bytes
        quarters = product(*map(range, self.outside))
        places = [sum(a * b for a, b in zip(at, self.outside_strides, strict=True)) for at in quarters]
        return [
            f"for (int lane = 0; lane < {self.lanes}; lane += {line}) {{",
            *(
                f"  __builtin_prefetch({side} + lane + {step * self.core.transform_ahead_rows + place}L);"
                for place in places
            ),
            "}",
        ]

    # ----------------------------------------------------------------------------------
    # One vector of lanes of one tile

    def _kind(self, width: int) -> str:
        return f"{self.name}_vector_{width}"

    def _vector(self, width: int) -> VectorType:
        size, kind = width * self.element_bytes, self._kind(width)
        declaration = (
            f"typedef {self.element} {kind}\n"
            f"  __attribute__((vector_size({size}), aligned({self.element_bytes}), may_alias));"
        )
        return VectorType(kind, self.element, width, declaration)

    def _call(self, width: int, source: str, target: str, steps: Sequence[int], left: Sequence[str] = ()) -> str:
        arguments = [source, target, *map(str, steps), *left]
        return f"{self.name}_by_{width}({', '.join(arguments)});"

    def _core(self, width: int) -> list[str]:
        """The function for a tile of one vector of lanes; its steps are constants once it is inlined."""
        kind = self._kind(width)
        guards = self.clipped if self.writes_outside and self.transform.walk is None else []
        parameters = [f"const {self.element} *from", f"{self.element} *to"]
        parameters += [f"long from{axis}" for axis in range(len(self.sources))]
        parameters += [f"long to{axis}" for axis in range(len(self.results))]
        parameters += [f"int left{axis}" for axis in guards]
        lines = [
            self._vector(width).declaration,
            f"static inline __attribute__((always_inline)) void {self.name}_by_{width}(",
            f"    {', '.join(parameters)})",
            "{",
        ]
        lines += self._together(kind) if self.transform.together else self._by_axes(kind, guards)
        return [*lines, "}"]

    def _together(self, kind: str) -> list[str]:
        """All elements along all axes by one matrix."""
        places = [list(product(*map(range, counts))) for counts in (self.sources, self.results)]
        names, made = (
            [f"{letter}{'_'.join(map(str, at))}" for at in own] for letter, own in zip("xy", places, strict=True)
        )
        lines = [
            f"  const {kind} {name} = *(const {kind} *)({_place('from', at)});"
            for name, at in zip(names, places[0], strict=True)
        ]
        matrix = self.transform.matrices[0]
        lines += [f"  {line}" for line in linear(matrix, names, made, "a", kind, self.suffix)]
        sign = "+=" if self.transform.adds else "="
        return [
            *lines,
            *(f"  *({kind} *)({_place('to', at)}) {sign} {name};" for name, at in zip(made, places[1], strict=True)),
        ]

    def _by_axes(self, kind: str, guards: Sequence[int]) -> list[str]:
        """One axis after the other, each by its matrix."""
        lines: list[str] = []
        axes = range(len(self.sources))
        matrices = self.transform.matrices
        columns = self.sources[1] if len(axes) > 1 else 1
        for column in range(columns):
            names = [f"x{row}_{column}" for row in range(self.sources[0])]
            for row, name in enumerate(names):
                place = _place("from", (row, column)[: len(axes)])
                lines.append(f"  const {kind} {name} = *(const {kind} *)({place});")
            made = [f"{'t' if len(axes) > 1 else 'y'}{row}_{column}" for row in range(self.results[0])]
            lines += [f"  {line}" for line in linear(matrices[0], names, made, f"a{column}_", kind, self.suffix)]
        for row in range(self.results[0]):
            made = [f"y{row}_{column}" for column in range(self.results[1] if len(axes) > 1 else 1)]
            if len(axes) > 1:
                names = [f"t{row}_{column}" for column in range(columns)]
                lines += [f"  {line}" for line in linear(matrices[1], names, made, f"b{row}_", kind, self.suffix)]
            for column, name in enumerate(made):
                guard = " && ".join(f"{(row, column)[axis]} < left{axis}" for axis in guards)
                sign = "+=" if self.transform.adds and self.transform.walk is None else "="
                place = _place("to", (row, column)[: len(axes)])
                lines.append(f"  {f'if ({guard}) ' if guard else ''}*({kind} *)({place}) {sign} {name};")
        return lines

    # ----------------------------------------------------------------------------------
    # Lanes side by side: tile by tile

    def _tile(self, width: int) -> list[str]:
        steps = [*self.from_strides, *self.to_strides]
        if not self.clipped:
            return [self._call(width, "from + lane", "to + lane", steps)]
        whole = " && ".join(f"left{axis} >= {self.outside[axis]}" for axis in self.clipped)
        if self.writes_outside:
            full = [str(self.results[axis]) for axis in self.clipped]
            part = [f"left{axis}" for axis in self.clipped]
            return [
                f"if ({whole})",
                f"  {self._call(width, 'from + lane', 'to + lane', steps, full)}",
                "else",
                f"  {self._call(width, 'from + lane', 'to + lane', steps, part)}",
            ]
        inner = [width * prod(self.sources[axis + 1 :]) for axis in range(len(self.sources))]
        lines = [
            f"if ({whole})",
            f"  {self._call(width, 'from + lane', 'to + lane', steps)}",
            "else {",
            f"  {self.element} edge[{width * prod(self.sources)}] = {{0}};",
        ]
        for axis, count in enumerate(self.sources):
            there = f" && at{axis} < left{axis}" if axis in self.clipped else ""
            lines.append(f"  for (int at{axis} = 0; at{axis} < {count}{there}; ++at{axis})")
        place = " + ".join(f"{step} * at{axis}" for axis, step in enumerate(inner))
        source = " + ".join(f"{step}L * at{axis}" for axis, step in enumerate(self.from_strides))
        return [
            *lines,
            f"    for (int i = 0; i < {width}; ++i)",
            f"      edge[{place} + i] = from[lane + {source} + i];",
            f"  {self._call(width, 'edge', 'to + lane', [*inner, *self.to_strides])}",
            "}",
        ]

    # ----------------------------------------------------------------------------------
    # Lanes apart: strips of tiles, whose lanes are brought together first, or put in their places afterwards

    def _strips(self, width: int) -> list[str]:
        """Rows of a strip are elements side by side; an axis lies in a row, or each of its elements has a row.

        Where tiles reach beyond the array, no more than one axis lies in a row, so that what is there is its beginning.
        """
        counts, strides = self.outside, self.outside_strides
        contiguous = strides.index(min(strides))
        rows = [
            axis for axis, step in enumerate(strides) if step > self.walk_step or (self.clipped and axis != contiguous)
        ]
        span = 1 + sum((counts[axis] - 1) * step for axis, step in enumerate(strides) if axis not in rows)
        number = prod(counts[axis] for axis in rows)
        room = _STRIP_BYTES // (number * width * self.element_bytes)
        tiles = min(self.tiles, max(1, (room - span) // self.walk_step + 1))
        length = (tiles - 1) * self.walk_step + span
        inner = [
            width * (length * prod(counts[each] for each in rows if each > axis) if axis in rows else step)
            for axis, step in enumerate(strides)
        ]
        row = " + ".join(f"{inner[axis] // width // length} * at{axis}" for axis in rows) or "0"
        place = " + ".join([f"lane * {self.lane_step}L", f"tile * {self.walk_step}L"])
        place += "".join(f" + at{axis} * {strides[axis]}L" for axis in rows)
        inside = [axis for axis in self.clipped if axis not in rows]
        limit = self._limit(inside[0]) if inside else "length"
        there = [f"at{axis} < left{axis}" for axis in rows if axis in self.clipped]
        loops = [f"  for (int at{axis} = 0; at{axis} < {counts[axis]}; ++at{axis})" for axis in rows]
        strip = f"strip + ({row}) * {length * width}"
        own = f"(tile + at) * {self.own_step}L"
        mine = f"strip + at * {self.walk_step * width}"
        if self.writes_outside:
            condition = f"if ({' && '.join(there)}) " if there else ""
            turned = [*loops, f"    {condition}{self.name}_put_{width}({strip}, to + {place}, {limit});"]
            call = self._call(width, f"from + lane + {own}", mine, [*self.from_strides, *inner])
        else:
            all_there = f"{' && '.join(there)} ? {limit} : 0" if there else limit
            turned = [*loops, f"    {self.name}_take_{width}(from + {place}, {strip}, length, {all_there});"]
            call = self._call(width, mine, f"to + lane + {own}", [*inner, *self.to_strides])
        computed = ["  for (int at = 0; at < count; ++at)", f"    {call}"]
        return [
            f"{self.element} strip[{number * length * width}] __attribute__((aligned(64)));",
            f"for (int tile = 0; tile < {self.tiles}; tile += {tiles}) {{",
            f"  const int count = {self.tiles} - tile < {tiles} ? {self.tiles} - tile : {tiles};",
            f"  const int length = (count - 1) * {self.walk_step} + {span};",
            *(computed + turned if self.writes_outside else turned + computed),
            "}",
        ]

    def _limit(self, axis: int) -> str:
        """How many elements of a row of the strip are there."""
        left = f"left{axis} - tile * {self.walk_step}"
        return f"({left} < length ? {left} : length)"

    def _turning(self, width: int) -> list[str]:
        """The function that reads a row into the strip, or writes it: squares of ``width``, then element by element."""
        kind, element = self._kind(width), self.element
        if self.writes_outside:
            sign = "+=" if self.transform.adds else "="
            head = f"{self.name}_put_{width}(const {element} *strip, {element} *to, int there)"
            load, store = f"strip + (x + {{0}}) * {width}", f"to + x + {{0}} * {self.lane_step}L"
            single = f"to[x + i * {self.lane_step}L] {sign} strip[x * {width} + i];"
        else:
            sign = "="
            head = f"{self.name}_take_{width}(const {element} *from, {element} *strip, int length, int there)"
            load, store = f"from + x + {{0}} * {self.lane_step}L", f"strip + (x + {{0}}) * {width}"
            single = f"strip[x * {width} + i] = from[x + i * {self.lane_step}L];"
        lines = [f"static inline void {head}", "{", "  int x = 0;"]
        if width > 1:
            integer, size = "long" if self.element_bytes == 8 else "int", width * self.element_bytes
            lines.append(f"  typedef {integer} numbers __attribute__((vector_size({size}), unused));")
            lines.append(f"  for (; x + {width} <= there; x += {width}) {{")
            lines += [f"    {kind} r{lane} = *(const {kind} *)({load.format(lane)});" for lane in range(width)]
            lines += [f"    {line}" for line in transposed(width, kind)]
            lines += [f"    *({kind} *)({store.format(lane)}) {sign} r{lane};" for lane in range(width)]
            lines.append("  }")
        lines += ["  for (; x < there; ++x)", f"    for (int i = 0; i < {width}; ++i)", f"      {single}"]
        if not self.writes_outside:
            lines += ["  for (; x < length; ++x)", f"    for (int i = 0; i < {width}; ++i)"]
            lines.append(f"      strip[x * {width} + i] = 0;")
        return [*lines, "}"]


def _place(side: str, at: Sequence[int]) -> str:
    """The address of an element of a tile."""
    return " + ".join([side, *(f"{number} * {side}{axis}" for axis, number in enumerate(at))])


def transposed(width: int, kind: str) -> list[str]:
    """Rows ``r0``, ``r1``, ... of a square become its columns: blocks of half the size change places, and so on."""
    lines = []
    block = width // 2
    while block:
        first = [lane if not lane & block else width + lane - block for lane in range(width)]
        second = [lane + block if not lane & block else width + lane for lane in range(width)]
        for row in range(width):
            if row & block:
                continue
            one, two = f"r{row}", f"r{row + block}"
            masks = [", ".join(map(str, mask)) for mask in (first, second)]
            lines.append(f"{{ const {kind} a = {one}, b = {two};")
            lines += [
                f"  {name} = polydl_shuffled(numbers, a, b, {mask});"
                for name, mask in zip((one, two), masks, strict=True)
            ]
            lines[-1] += " }"
        block //= 2
    return lines

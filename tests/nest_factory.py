"""Scops made by hand from a short description, and every instance of them in plain Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Array, Scop, SourceFunction
from polydl.ir.statement import Access, AccessKind, Expression, Statement


@dataclass(frozen=True)
class Work:
    """One statement. ``loops`` are (name, first, last); ``accesses`` (kind, array, subscripts).

    Subscripts and ``condition`` are Python expressions of the iterators, divisions written ``i // 2``.
    """

    name: str
    loops: tuple[tuple[str, int, int], ...]
    accesses: tuple[tuple[AccessKind, str, tuple[str, ...]], ...]
    condition: str = ""
    betas: tuple[int, ...] | None = None

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.loops)

    def instances(self) -> Iterator[tuple[int, ...]]:
        for point in product(*(range(first, last + 1) for _, first, last in self.loops)):
            if not self.condition or eval(self.condition, {}, dict(zip(self.iterators, point, strict=True))):
                yield point

    def elements(self, point: tuple[int, ...]) -> Iterator[tuple[AccessKind, str, tuple[int, ...]]]:
        names = dict(zip(self.iterators, point, strict=True))
        for kind, array, subscripts in self.accesses:
            yield kind, array, tuple(eval(subscript, {}, names) for subscript in subscripts)


def make_scop(works: Sequence[Work], element_bytes: dict[str, int] | None = None, local: Sequence[str] = ()) -> Scop:
    """Arrays get the smallest extents that hold what is accessed; ``element_bytes`` are 4 unless given."""
    extents: dict[str, list[int]] = {}
    for work in works:
        for _, array, subscripts in work.accesses:
            known = extents.setdefault(array, [1] * len(subscripts))
            for dimension, subscript in enumerate(subscripts):
                known[dimension] = max(known[dimension], _highest(subscript, work) + 1)
    sizes = element_bytes or {}
    arrays = tuple(
        Array(
            name,
            {1: "signed char", 4: "float", 8: "double"}[sizes.get(name, 4)],
            sizes.get(name, 4),
            tuple(extent),
            "local" if name in local else "parameter",
        )
        for name, extent in extents.items()
    )
    return Scop(
        file="nest.c",
        function=SourceFunction("nest", "void", (), 1),
        statements=tuple(_statement(number, work) for number, work in enumerate(works)),
        arrays=arrays,
        schedule="",
        source="",
        region=(0, 0),
        definition=(0, 0, 0),
        line=1,
    )


def _statement(number: int, work: Work) -> Statement:
    bounds = [f"{first} <= {name} <= {last}" for name, first, last in work.loops]
    conditions = " and ".join([*bounds, *([work.condition] if work.condition else [])])
    where = f" : {conditions}" if conditions else ""
    head = f"{work.name}[{', '.join(work.iterators)}]"
    accesses = tuple(
        Access(
            reference=f"{work.name}_{position}",
            array=array,
            kind=kind,
            relation=f"{{ {head} -> {array}[{', '.join(map(_isl, subscripts))}]{where} }}",
            index=f"{{ {head} -> {array}[{', '.join(map(_isl, subscripts))}] }}",
            subscripts=_affine(subscripts, work.iterators),
        )
        for position, (kind, array, subscripts) in enumerate(work.accesses)
    )
    box = tuple((first, last) for _, first, last in work.loops)
    instances = 1
    for first, last in box:
        instances *= last - first + 1
    return Statement(
        name=work.name,
        iterators=work.iterators,
        domain=f"{{ {head}{where} }}",
        box=None if work.condition else box,
        instances=sum(1 for _ in work.instances()) if work.condition else instances,
        betas=work.betas if work.betas is not None else (number, *(0 for _ in work.loops)),
        directions=(1,) * len(work.loops),
        body=Expression("literal", "0"),
        accesses=accesses,
        line=number + 1,
        text="",
    )


def _isl(expression: str) -> str:
    return re.sub(r"(\w+|\([^()]*\)) // (\d+)", r"floor((\1)/\2)", expression)


def _affine(subscripts: tuple[str, ...], iterators: tuple[str, ...]) -> tuple[Affine, ...] | None:
    if any("//" in subscript for subscript in subscripts):
        return None
    made = []
    for subscript in subscripts:
        origin = dict.fromkeys(iterators, 0)
        constant = eval(subscript, {}, origin)
        made.append(Affine(tuple(eval(subscript, {}, origin | {i: 1}) - constant for i in iterators), constant))
    return tuple(made)


def _highest(subscript: str, work: Work) -> int:
    """The greatest value of a monotone expression over the corners of a box."""
    corners = product(*((first, last) for _, first, last in work.loops))
    expression = compile(subscript, "subscript", "eval")
    return max(int(eval(expression, {}, dict(zip(work.iterators, corner, strict=True)))) for corner in corners)


def in_order(work: Work, order: str, parallel: str = "", prefix: tuple[int, ...] = ()) -> tuple[int | Loop, ...]:
    """Time dimensions from words: ``"i/4 j i -k"`` is tiles of 4 along i, then j, i and k backwards."""
    dimensions: list[int | Loop] = list(prefix)
    for word in order.split():
        direction: Literal[1, -1] = -1 if word.startswith("-") else 1
        name, _, size = word.lstrip("-").partition("/")
        dimensions.append(
            Loop(
                name=f"{name}_t{size}" if size else name,
                iterator=work.iterators.index(name),
                size=int(size or 1),
                direction=direction,
                parallel=word.lstrip("-") == parallel,
            )
        )
    return tuple(dimensions)


def schedule_of(*orders: tuple[str, tuple[int | Loop, ...]]) -> Schedule:
    return Schedule(orders)


def matmul(m: int, n: int, k: int) -> Work:
    """The paper's Figure 4."""
    return Work(
        "S",
        (("i", 0, m - 1), ("j", 0, n - 1), ("k", 0, k - 1)),
        (
            ("read", "C", ("i", "j")),
            ("write", "C", ("i", "j")),
            ("read", "A", ("i", "k")),
            ("read", "B", ("k", "j")),
        ),
    )


def convolution(
    output_tiles: int, input_tiles: int, size: int, kernel: int, *, images: int = 1, stride: int = 1, block: int = 16
) -> Work:
    """A blocked forward convolution: ``size`` is the output's height and width, the input comes padded."""
    return Work(
        "S",
        (
            ("img", 0, images - 1),
            ("ofm_tile", 0, output_tiles - 1),
            ("ifm_tile", 0, input_tiles - 1),
            ("oj", 0, size - 1),
            ("kj", 0, kernel - 1),
            ("ki", 0, kernel - 1),
            ("oi", 0, size - 1),
            ("ofm", 0, block - 1),
            ("ifm", 0, block - 1),
        ),
        (
            ("read", "output", ("img", "ofm_tile", "oj", "oi", "ofm")),
            ("write", "output", ("img", "ofm_tile", "oj", "oi", "ofm")),
            ("read", "filter", ("ofm_tile", "ifm_tile", "kj", "ki", "ifm", "ofm")),
            ("read", "input", ("img", "ifm_tile", f"oj * {stride} + kj", f"oi * {stride} + ki", "ifm")),
        ),
    )

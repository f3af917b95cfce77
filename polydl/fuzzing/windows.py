"""Sums, averages and maxima of windows, and depthwise convolutions, with layouts, types and sizes drawn at random."""

from __future__ import annotations

from random import Random

from polydl.fuzzing.operators import Access, after, box, iterator, shuffled, zero
from polydl.fuzzing.program import (
    BFLOAT16,
    Binary,
    Call,
    If,
    Loop,
    Node,
    Number,
    Program,
    Select,
    Sum,
    Variable,
    fitted,
)

# Elements of the result, of the image and of the filter.
_ELEMENTS = (
    ("float", "float", "float"), ("float", "float", "float"), ("float", "float", "float"),
    ("double", "double", "double"), ("float", BFLOAT16, BFLOAT16), (BFLOAT16, BFLOAT16, BFLOAT16),
    ("int", "signed char", "signed char"), ("int", "unsigned char", "signed char"), ("int", "int", "int"),
)  # fmt: skip
_TAPS = ((3, 3), (3, 3), (2, 2), (5, 5), (3, 1), (1, 3), (1, 7), (4, 2))
# Iterations of all loops together, about.
_INSTANCES = 1 << 17


def windows(draw: Random) -> Program:
    """A window for each pixel and channel: a product with a filter, a sum, an average or a maximum."""
    operation = draw.choice(("filter", "filter", "filter", "sum", "average", "maximum"))
    element, image_element, filter_element = draw.choice(_ELEMENTS)
    taps = draw.choice(_TAPS)
    stride, dilation = draw.choices((1, 2, 3), (5, 3, 1))[0], draw.choices((1, 2), (6, 1))[0]
    channels, images = draw.choice((3, 8, 16, 16, 20, 32)), draw.choice((1, 1, 2))
    most = max(2, int((_INSTANCES / (images * channels * taps[0] * taps[1])) ** 0.5))
    height, width = (draw.randint(2, max(2, min(21, most))) for _ in range(2))
    loops = {"n": images, "c": channels, "y": height, "x": width, "r": taps[0], "s": taps[1]}
    n, c, y, x, r, s = (iterator(name) for name in "ncyxrs")
    before = draw.choice((0, 0, 1)) if taps[0] > 1 and taps[1] > 1 else 0
    row = Sum(((stride, "y"), (dilation, "r")), -before)
    column = Sum(((stride, "x"), (dilation, "s")), -before)
    layout = draw.choice(("nchw", "nhwc", "blocked"))
    at: tuple[Sum, ...]
    read: tuple[Sum, ...]
    weights: tuple[Sum, ...]
    if layout == "nchw":
        at, read, weights, order = (n, c, y, x), (n, c, row, column), (c, r, s), "ncyxrs"
    elif layout == "nhwc":
        at, read, weights, order = (n, y, x, c), (n, row, column, c), (r, s, c), "nyxrsc"
    else:
        block = draw.choice((4, 8, 16))
        loops |= {"c": block, "t": draw.choice((1, 2, 3))}
        t = iterator("t")
        at, read, weights, order = (n, t, y, x, c), (n, t, row, column, c), (t, r, s, c), "ntyxrsc"
    if draw.random() < 0.1:
        weights = shuffled(draw, weights)
    target, image = Access("out", element, at), Access("inp", image_element, read)
    flt = Access("flt", filter_element, weights)
    names = list(order) if draw.random() < 0.8 else draw.sample(order, len(order))
    moved = [(name, loops[name]) for name in names if name not in "rs"]
    body: list[Node] = list(box(moved, (target.set_to(_first(operation, element)),)))
    statement: Node = _step(draw, operation, target, image, flt)
    if before:
        # The border is skipped, not stored.
        rows, columns = (height - 1) * stride + 1, (width - 1) * stride + 1
        inside = ((row, ">="), (Sum(row.terms, -before - rows + 1), "<="),
                  (column, ">="), (Sum(column.terms, -before - columns + 1), "<="))  # fmt: skip
        statement = If(inside, (statement,))
    body += box([(name, loops[name]) for name in names], (statement,))
    if operation == "average":
        share = Number(f"{1 / (taps[0] * taps[1]):.6f}" + ("" if element == "double" else "f"))
        whole = element == "int"
        value = Binary("/", target.value, Number("3")) if whole else Binary("*", target.value, share)
        body += box(moved, (target.set_to(value),))
    variables = [Variable("out", element), Variable("inp", image_element), Variable("flt", filter_element)]
    if draw.random() < 0.4:
        extra, more = after(draw, target, moved)
        body += extra
        variables += more
    return fitted(Program(tuple(variables), tuple(body)))


def _first(operation: str, element: str) -> Number:
    """What an element of the result is before its window."""
    if operation != "maximum":
        return zero(element)
    return Number("-1000" if element == "int" else "-1e30" + ("" if element == "double" else "f"))


def _step(draw: Random, operation: str, target: Access, image: Access, flt: Access) -> Node:
    """The statement that takes one pixel of the window."""
    if operation == "filter":
        factors = (image.value, flt.value) if draw.random() < 0.7 else (flt.value, image.value)
        return target.add(Binary("*", *factors))
    if operation != "maximum":
        return target.add(image.value)
    if target.element in ("float", "double") and draw.random() < 0.4:
        name = "fmaxf" if target.element == "float" else "fmax"
        return target.set_to(Call(name, (target.value, image.value)))
    return target.set_to(Select(">", target.value, image.value, target.value, image.value))


def triangle(draw: Random) -> Program:
    """A product in the triangle of a matrix (SYRK, SYR2K, a covariance), or with a triangular matrix, in place."""
    element = draw.choices(("float", "double", "int"), (5, 3, 1))[0]
    size, terms = draw.choice((32, 32, 48, 64, 64, 96, 30, 17)), draw.choice((4, 8, 12, 16, 24))
    rows, columns = ("i", "j") if draw.random() < 0.7 else ("j", "i")
    i, j, k = (iterator(name) for name in "ijk")
    across = draw.random() < 0.5

    def read(array: str, line: Sum) -> Access:
        return Access(array, element, (k, line) if across else (line, k))

    target = Access("C", element, (i, j))
    factor = Number({"float": "1.5f", "double": "0.5", "int": "3"}[element])
    kind = draw.choice(("syrk", "syrk", "syr2k", "product", "scaled"))
    other = "A" if kind in ("syrk", "scaled") else "B"
    term = Binary("*", read("A", i).value, read(other, j).value)
    if kind == "scaled":
        term = Binary("*", Binary("*", factor, read("A", i).value), read("A", j).value)
    elif kind == "syr2k":
        term = Binary("+", term, Binary("*", read("B", i).value, read("A", j).value))
    strict = draw.random() < 0.25
    body: list[Node] = []
    if draw.random() < 0.7:
        start = target.set_to(Binary("*", target.value, factor) if draw.random() < 0.5 else zero(element))
        body.append(_triangular(rows, columns, size, strict, None, (start,)))
    depth = draw.choice((0, 1, 2))
    body.append(_triangular(rows, columns, size, strict, (depth, terms), (target.add(term),)))
    if draw.random() < 0.3:
        mirrored = Access("D", element, (j, i)).set_to(target.value)
        body.append(_triangular(rows, columns, size, strict, None, (mirrored,)))
    variables = [Variable(name, element) for name in "CABD"]
    return fitted(Program(tuple(variables), tuple(body)))


def _triangular(
    rows: str, columns: str, size: int, strict: bool, terms: tuple[int, int] | None, body: tuple[Node, ...]
) -> Loop:
    """Loops over ``columns <= rows``, with a loop over terms outside of these, between them or inside."""
    last = Sum(((1, rows),), -1 if strict else 0)
    inside = body
    if terms is not None and terms[0] == 2:
        inside = (Loop("k", Sum(), Sum((), terms[1] - 1), 1, inside),)
    inside = (Loop(columns, Sum(), last, 1, inside),)
    if terms is not None and terms[0] == 1:
        inside = (Loop("k", Sum(), Sum((), terms[1] - 1), 1, inside),)
    whole = Loop(rows, Sum((), 1 if strict else 0), Sum((), size - 1), 1, inside)
    if terms is not None and terms[0] == 0:
        whole = Loop("k", Sum(), Sum((), terms[1] - 1), 1, (whole,))
    return whole

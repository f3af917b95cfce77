"""Products, convolutions, stencils and rows of operators, with layouts, types, sizes and orders drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from polydl.fuzzing.program import (
    BFLOAT16,
    MATH,
    Assign,
    Binary,
    Call,
    Declare,
    Element,
    Expression,
    If,
    Loop,
    Node,
    Number,
    Program,
    Select,
    Sum,
    Variable,
    fitted,
    flattened,
)

# Elements of the result, of A and of B.
_PRODUCTS = (
    ("float", "float", "float"), ("float", "float", "float"), ("float", "float", "float"),
    ("double", "double", "double"), ("float", BFLOAT16, BFLOAT16), (BFLOAT16, BFLOAT16, BFLOAT16),
    ("int", "signed char", "signed char"), ("int", "unsigned char", "signed char"), ("int", "short", "short"),
    ("int", "int", "int"), ("unsigned int", "unsigned char", "unsigned char"), ("long", "int", "int"),
    ("double", "float", "float"), ("float", "signed char", "float"),
)  # fmt: skip
_LENGTHS = (1, 3, 4, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48)
_BLOCKS = (4, 8, 16, 32)


def iterator(name: str, coefficient: int = 1, constant: int = 0) -> Sum:
    """The subscript ``coefficient * name + constant``."""
    return Sum(((coefficient, name),), constant)


def box(loops: Sequence[tuple[str, int]], body: Sequence[Node]) -> tuple[Node, ...]:
    """Loops from zero around the body, the outermost first."""
    inside = tuple(body)
    for name, extent in reversed(loops):
        inside = (Loop(name, Sum(), Sum((), extent - 1), 1, inside),)
    return inside


@dataclass(frozen=True)
class Access:
    """How an array is read or written: by which loops, in which order of dimensions."""

    array: str
    #: type of its elements
    element: str
    #: its subscripts, the outermost dimension first
    forms: tuple[Sum, ...]

    @property
    def place(self) -> Element:
        """The element as what is assigned to."""
        return Element(self.array, self.forms)

    @property
    def value(self) -> Expression:
        """The element as an operand: bfloat16 converted to float."""
        return Call("bfloat16_to_float", (self.place,)) if self.element == BFLOAT16 else self.place

    def set_to(self, value: Expression) -> Assign:
        """An assignment of a value to the element, converted where that is bfloat16."""
        return Assign(self.place, "=", Call("float_to_bfloat16", (value,)) if self.element == BFLOAT16 else value)

    def add(self, value: Expression) -> Assign:
        """An assignment that adds a value to the element. A sum in bfloat16 is rounded to it each time."""
        return self.set_to(Binary("+", self.value, value)) if self.element == BFLOAT16 else Assign(
            self.place, "+=", value
        )  # fmt: skip


def zero(element: str) -> Number:
    """Zero as C writes it for an element of this type, which for bfloat16 is a float."""
    return Number("0.0f" if element in ("float", BFLOAT16) else "0")


def shuffled(draw: Random, values: Sequence[Sum]) -> tuple[Sum, ...]:
    """The values, in the given order as a rule, else in any."""
    return tuple(draw.sample(list(values), len(values))) if draw.random() < 0.4 else tuple(values)


def _order(draw: Random, loops: Mapping[str, int]) -> list[tuple[str, int]]:
    return draw.sample(list(loops.items()), len(loops)) if draw.random() < 0.6 else list(loops.items())


def product(draw: Random) -> Program:
    """A matrix product: layouts, blocks, batches, triangles, zeros before it and element-wise statements after it."""
    if draw.random() < 0.25:
        return _plain_product(draw)
    elements = draw.choice(_PRODUCTS)
    loops = {name: draw.choice(_LENGTHS) for name in "ijk"}
    i, j, k = (iterator(name) for name in "ijk")
    c_forms, a_forms, b_forms = [i, j], [i, k], [k, j]
    if draw.random() < 0.25:
        # In blocks, as a layout of its own has them.
        name = draw.choice("ijk")
        block = draw.choice(_BLOCKS)
        loops[f"{name}b"] = draw.choice((1, 2, 3))
        loops[name] = block
        outer = iterator(f"{name}b")
        if draw.random() < 0.7:
            for forms in (c_forms, a_forms, b_forms):
                if iterator(name) in forms:
                    forms.insert(0, outer)
        else:
            whole = Sum(((block, f"{name}b"), (1, name)))
            for forms in (c_forms, a_forms, b_forms):
                forms[:] = [whole if form == iterator(name) else form for form in forms]
    if elements[1].endswith("char") and elements[2].endswith("char") and draw.random() < 0.6:
        # Four terms side by side, as dot-product instructions read them.
        loops["q"] = 4
        a_forms.append(iterator("q"))
        b_forms.append(iterator("q"))
    elif elements[1] == BFLOAT16 and draw.random() < 0.4:
        loops["q"] = 2
        b_forms.append(iterator("q"))
        a_forms = [Sum(((2, "k"), (1, "q"))) if form == k else form for form in a_forms]
    if draw.random() < 0.25:
        loops = {"n": draw.choice((2, 3)), **loops}
        c_forms.insert(0, iterator("n"))
        for forms in (a_forms, b_forms):
            if draw.random() < 0.6:
                forms.insert(0, iterator("n"))
    c = Access("C", elements[0], shuffled(draw, c_forms))
    a = Access("A", elements[1], shuffled(draw, a_forms))
    b = Access("B", elements[2], shuffled(draw, b_forms) if "q" not in loops else tuple(b_forms))
    values: tuple[Expression, Expression] = (a.value, b.value)
    if elements[0] in ("int", "long", "unsigned int") and draw.random() < 0.5:
        values = tuple(Call(f"({elements[0]})", (value,)) for value in values)  # type: ignore[assignment]
    term = Binary("*", *(values if draw.random() < 0.7 else values[::-1]))
    scaled = draw.random() < 0.25
    added = _scaled(draw, c, term, loops) if scaled else c.add(term)
    nested = box(_order(draw, loops), (added,))
    if draw.random() < 0.15:
        nested = _triangular(draw, nested)
    indices = {name for form in c.forms for _, name in form.terms}
    moved = {name: extent for name, extent in loops.items() if name in indices}
    body: list[Node] = []
    if draw.random() < 0.6:
        body += box(list(moved.items()), (c.set_to(zero(c.element)),))
    body += nested
    variables = [Variable("C", elements[0]), Variable("A", elements[1]), Variable("B", elements[2])]
    if scaled:
        variables.append(Variable("F", _computing(c.element)))
    if draw.random() < 0.45:
        extra, more = after(draw, c, list(moved.items()))
        body += extra
        variables += more
    return fitted(Program(tuple(variables), tuple(body)))


def _computing(element: str) -> str:
    """The type in which an element is computed with."""
    return "float" if element == BFLOAT16 else element


def _scaled(draw: Random, c: Access, term: Binary, loops: Mapping[str, int]) -> Assign:
    """A product added or subtracted with factors: numbers, an element of F, a difference from one, in any place."""
    left, right = term.left, term.right
    factor: Expression = Element("F", (Sum(),))
    if draw.random() < 0.4:
        factor = Element("F", (iterator(draw.choice(list(loops))),))
    if draw.random() < 0.3:
        factor = Number({"float": "0.5f", "double": "0.25"}.get(_computing(c.element), "3"))
    place = draw.choice(("left", "right", "around", "behind", "difference"))
    if place == "left":
        term = Binary("*", Binary("*", factor, left), right)
    elif place == "right":
        term = Binary("*", left, Binary("*", right, factor))
    elif place == "around":
        term = Binary("*", factor, term)
    elif place == "behind":
        term = Binary("*", term, factor)
    else:
        term = Binary("*", Binary("-", left, factor), right)
    if draw.random() < 0.3:
        return c.set_to(Binary("-", c.value, term))
    return c.add(term)


def _plain_product(draw: Random) -> Program:
    """Row-major, with lengths that can be halved twice."""
    element = draw.choice(("float", "float", "double"))
    loops = {name: draw.choice((8, 16, 24, 32, 64)) for name in "ijk"}
    i, j, k = (iterator(name) for name in "ijk")
    c, a, b = Access("C", element, (i, j)), Access("A", element, (i, k)), Access("B", element, (k, j))
    moved = [(name, loops[name]) for name in "ij"]
    body: list[Node] = [*box(moved, (c.set_to(zero(element)),))] if draw.random() < 0.6 else []
    body += box(_order(draw, loops), (c.add(Binary("*", a.value, b.value)),))
    variables = [Variable(name, element) for name in "CAB"]
    if draw.random() < 0.5:
        extra, more = after(draw, c, moved)
        body += extra
        variables += more
    return fitted(Program(tuple(variables), tuple(body)))


def _triangular(draw: Random, body: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nest with the second loop bounded by the first."""
    outer = body[0]
    if not isinstance(outer, Loop) or not isinstance(outer.body[0], Loop):
        return body
    inner = outer.body[0]
    if draw.random() < 0.5:
        bounded = Loop(inner.name, inner.first, iterator(outer.name), 1, inner.body)
    else:
        last = Sum((), max(inner.last.constant, outer.last.constant))
        bounded = Loop(inner.name, iterator(outer.name), last, 1, inner.body)
    return (Loop(outer.name, outer.first, outer.last, outer.step, (bounded, *outer.body[1:])),)


def after(draw: Random, c: Access, loops: list[tuple[str, int]]) -> tuple[list[Node], list[Variable]]:
    """Element-wise statements on what was computed: bias, scale, activation, residual, another array."""
    nodes: list[Node] = []
    variables: list[Variable] = []
    floating = c.element in ("float", "double", BFLOAT16)
    suffix = MATH.get("double" if c.element == "double" else "float", "")
    element = "float" if c.element == BFLOAT16 else c.element
    for number in range(draw.choice((1, 1, 2))):
        kinds = ("bias", "relu", "residual", "scale", "copy", *(("requantize",) if c.element == "int" else ()))
        kind = draw.choice(kinds)
        order = loops if draw.random() < 0.8 else draw.sample(loops, len(loops))
        name = f"E{number}"
        if kind == "bias":
            access = Access(name, element, (c.forms[draw.randrange(len(c.forms))],))
            nodes += box(order, (c.add(access.value),))
            variables.append(Variable(name, element))
        elif kind == "relu":
            zero = Number(f"0.0{suffix}") if floating else Number("0")
            relu: Expression = Call(f"fmax{suffix}", (c.value, zero)) if floating and draw.random() < 0.5 else Select(
                ">", c.value, zero, c.value, zero
            )  # fmt: skip
            nodes += box(order, (c.set_to(relu),))
        elif kind == "residual":
            access = Access(name, c.element, c.forms if draw.random() < 0.7 else shuffled(draw, c.forms))
            nodes += box(order, (c.add(access.value),))
            variables.append(Variable(name, c.element))
        elif kind == "scale":
            factor = Number(f"0.5{suffix}") if floating else Number("3")
            nodes += box(order, (c.set_to(Binary("*", c.value, factor)),))
        elif kind == "requantize":
            target = Access(name, draw.choice(("signed char", "unsigned char", "short")), shuffled(draw, c.forms))
            nodes += box(order, (target.set_to(_requantized(draw, c.value, target.element)),))
            variables.append(Variable(name, target.element))
        else:
            target = Access(name, c.element, shuffled(draw, c.forms))
            nodes += box(order, (target.set_to(c.value),))
            variables.append(Variable(name, c.element))
    return nodes, variables


def _requantized(draw: Random, value: Expression, element: str) -> Expression:
    """A sum as a narrower integer: scaled, and limited to what that holds."""
    low, high = {"signed char": (-128, 127), "unsigned char": (0, 255), "short": (-32768, 32767)}[element]
    if draw.random() < 0.5:
        # A power of two, so that nothing is rounded but by the conversion.
        scaled = Binary("*", Call("(float)", (value,)), Number(draw.choice(("0.5f", "0.03125f"))))
        limited = Call("fminf", (Call("fmaxf", (scaled, Number(f"{low}.0f"))), Number(f"{high}.0f")))
        return Call(f"({element})", (limited,))
    scaled = Binary("/", value, Number(draw.choice(("4", "64", "100"))))
    above = Select(">", scaled, Number(str(high)), Number(str(high)), scaled)
    return Call(f"({element})", (Select("<", scaled, Number(str(low)), Number(str(low)), above),))


def convolution(draw: Random) -> Program:
    """A convolution: layouts, filter sizes, strides, borders that are skipped, bias and activation."""
    element = draw.choices(("float", "double"), (8, 1))[0]
    taps, taps_across = draw.choices(((3, 3), (1, 1), (5, 5), (3, 1), (1, 3), (2, 2)), (12, 3, 2, 1, 1, 1))[0]
    stride = draw.choices((1, 2), (5, 1))[0]
    images = draw.choice((1, 1, 1, 2))
    filters = draw.choice((3, 4, 8, 16, 17, 24, 32))
    channels = draw.choice((2, 3, 8, 16, 16, 20, 32))
    # Some 2^18 products at most.
    most = max(2, int((1 << 18) / (filters * channels * taps * taps_across * images)))
    height = draw.randint(2, max(2, min(13, int(most**0.5) + 1)))
    width = draw.randint(2, max(2, min(14, most // height)))
    loops = {"n": images, "f": filters, "c": channels, "y": height, "x": width, "r": taps, "s": taps_across}
    f, c, y, x, r, s = (iterator(name) for name in "fcyxrs")
    row, column = Sum(((stride, "y"), (1, "r"))), Sum(((stride, "x"), (1, "s")))
    n = iterator("n")
    conditions: tuple[tuple[Sum, str], ...] = ()
    if stride == 1 and taps == taps_across == 3 and draw.random() < 0.35:
        # The border is skipped, not stored.
        row, column = Sum(row.terms, -1), Sum(column.terms, -1)
        conditions = ((row, ">="), (Sum(row.terms, -height), "<="), (column, ">="), (Sum(column.terms, -width), "<="))
    image, result, weights = {
        "nchw": ((n, c, row, column), (n, f, y, x), (f, c, r, s)),
        "nhwc": ((n, row, column, c), (n, y, x, f), (r, s, c, f)),
        "chwn": ((c, row, column, n), (f, y, x, n), (c, r, s, f)),
        "mixed": ((n, c, row, column), (n, y, x, f), (f, r, s, c)),
    }[draw.choices(("nchw", "nhwc", "chwn", "mixed"), (5, 6, 1, 1))[0]]
    taken = shuffled(draw, weights) if draw.random() < 0.15 else weights
    out, flt, inp = (Access(name, element, forms) for name, forms in (("out", result), ("flt", taken), ("inp", image)))
    term = Binary("*", inp.value, flt.value)
    statement: Node = out.add(term)
    if conditions:
        statement = If(conditions, (statement,))
    orders = ("nfcyxrs", "nyxrscf", "nfyrscx")
    order = list(draw.choice(orders)) if draw.random() < 0.8 else draw.sample(list(loops), len(loops))
    body: list[Node] = []
    moved = [(name, loops[name]) for name in order if name in "nfyx"]
    if draw.random() < 0.6:
        body += box(moved, (out.set_to(zero(element)),))
    body += box([(name, loops[name]) for name in order], (statement,))
    variables = [Variable("out", element), Variable("flt", element), Variable("inp", element)]
    if draw.random() < 0.4:
        extra, more = after(draw, out, moved)
        body += extra
        variables += more
    program = fitted(Program(tuple(variables), tuple(body)))
    if draw.random() < 0.12:
        for name in ("out", "flt", "inp"):
            program = flattened(program, name)
    return program


def stencil(draw: Random) -> Program:
    """Neighbours in one or two dimensions, in place or to another array, in a loop over time as a rule."""
    element = draw.choices(("float", "double", "int"), (4, 3, 1))[0]
    rank = draw.choice((1, 2, 2))
    extents = [draw.randint(5, 40 if rank == 2 else 300) for _ in range(rank)]
    names = ["x", "y"][:rank]
    in_place = draw.random() < 0.35
    steps = draw.choice((1, 2, 3, 5, 9, 12))
    offsets = draw.sample([(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)], draw.randint(2, 5))

    def at(array: str, offset: tuple[int, int]) -> Element:
        return Element(array, tuple(iterator(name, 1, offset[place] + 1) for place, name in enumerate(names)))

    factor = Number({"float": "0.2f", "double": "0.2", "int": "1"}[element])
    total: Expression = at("A", offsets[0])
    for offset in offsets[1:]:
        total = Binary("+", total, at("A", offset))
    value: Expression = Binary("*", factor, total)
    if draw.random() < 0.3:
        value = Binary("+", value, at("F", (0, 0)))
    loops = list(zip(names, extents, strict=True))
    target = "A" if in_place else "B"
    inner = [*box(loops, (Assign(at(target, (0, 0)), "=", value),))]
    if not in_place and draw.random() < 0.8:
        inner += box(loops, (Assign(at("A", (0, 0)), "=", at("B", (0, 0))),))
    body = box([("t", steps)], inner) if draw.random() < 0.85 else tuple(inner)
    return fitted(Program(tuple(Variable(name, element) for name in "ABF"), body))


def operators(draw: Random) -> Program:
    """Rows of element-wise operators, sums along an axis, transposes and normalisations over the same arrays."""
    element = draw.choices(("float", "double"), (3, 1))[0]
    suffix = MATH[element]
    loops = [("i", draw.randint(3, 24)), ("j", draw.choice((5, 8, 16, 31, 40)))]
    if draw.random() < 0.3:
        loops.append(("l", draw.choice((3, 8, 16))))
    forms = tuple(iterator(name) for name, _ in loops)
    body: list[Node] = []
    current = Element("X", forms)
    names = ["X"]
    for number in range(draw.choice((2, 2, 3, 4))):
        kind = draw.choice(("map", "map", "sum", "transpose", "update", "scale", "scalar"))
        name = f"Y{number}"
        if kind == "map":
            parts = (
                Binary("*", current, Number(f"0.5{suffix}")),
                Call(f"fmax{suffix}", (current, Number(f"0.0{suffix}"))),
                Binary("+", current, Element(draw.choice(names), forms)),
                Call(f"exp{suffix}", (Binary("*", current, Number(f"0.1{suffix}")),)),
            )
            body += box(_order(draw, dict(loops)), (Assign(Element(name, forms), "=", draw.choice(parts)),))
            current = Element(name, forms)
            names.append(name)
        elif kind == "sum":
            kept = draw.sample(loops, draw.randint(0, len(loops) - 1))
            kept = [loop for loop in loops if loop in kept]
            reduced = Element(f"S{number}", tuple(iterator(loop) for loop, _ in kept) or (Sum(),))
            body += box(kept, (Assign(reduced, "=", Number(f"0.0{suffix}")),))
            term = current if draw.random() < 0.6 else Binary("*", current, current)
            body += box(_order(draw, dict(loops)), (Assign(reduced, "+=", term),))
            scaled = Binary("*", reduced, Number(f"0.01{suffix}"))
            operator = draw.choice("+-")
            body += box(loops, (Assign(Element(name, forms), "=", Binary(operator, current, scaled)),))
            current = Element(name, forms)
            names.append(name)
        elif kind == "transpose":
            turned = Element(f"T{number}", tuple(reversed(forms)))
            body += box(_order(draw, dict(loops)), (Assign(turned, "=", current),))
            if draw.random() < 0.5:
                current = turned
        elif kind == "update":
            body += box(_order(draw, dict(loops)), (Assign(current, "+=", Element(draw.choice(names), forms)),))
        elif kind == "scale":
            row = Element(f"W{number}", (draw.choice(forms),))
            body += box(loops, (Assign(Element(name, forms), "=", Binary("*", current, row)),))
            current = Element(name, forms)
            names.append(name)
        else:
            local = f"t{number}"
            inside = (Declare(element, local, Binary("+", current, Number(f"1.0{suffix}"))),
                      Assign(Element(name, forms), "=", Binary("*", Element(local), current)))  # fmt: skip
            body += box(loops, inside)
            current = Element(name, forms)
            names.append(name)
    used = dict.fromkeys([*names, *(f"{letter}{number}" for letter in "STW" for number in range(4))])
    return fitted(Program(tuple(Variable(name, element) for name in used), tuple(body)))

"""Loop nests of any affine shape, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from polydl.fuzzing.program import (
    BFLOAT16,
    FLOATING,
    MATH,
    Assign,
    Binary,
    Call,
    Declare,
    Element,
    Expression,
    If,
    Index,
    Loop,
    Node,
    Number,
    Program,
    Range,
    Select,
    Sum,
    Variable,
    fitted,
)

INTEGERS = (
    "signed char", "char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long",
    "long long", "unsigned long long",
)  # fmt: skip
# Iterations of all loops around a statement together.
_INSTANCES = 3000


@dataclass
class Drawing:
    """The state of one drawing: what was declared so far."""

    draw: Random
    #: arrays and scalars of the function, by name
    variables: dict[str, Variable] = field(default_factory=dict)
    #: dimensions of each array, by name
    ranks: dict[str, int] = field(default_factory=dict)
    #: element types of the scalars that are declared inside of loops, by name
    locals: dict[str, str] = field(default_factory=dict)
    #: how many there are so far
    loops: int = 0

    def new_loop(self) -> str:
        """A name for a loop that no other loop of the drawing has."""
        self.loops += 1
        return f"i{self.loops - 1}"


def general_nest(draw: Random) -> Program:
    """One to three nests in a row over shared arrays: triangles, strides, conditions, several statements."""
    drawing = Drawing(draw)
    family = draw.choices((FLOATING, INTEGERS), (3, 1))[0]
    elements = draw.choices(family, k=draw.choice((1, 1, 2)))
    for name in "ABCD"[: draw.randint(2, 4)]:
        drawing.ranks[name] = draw.choices((0, 1, 2, 3), (1, 5, 8, 2))[0]
        element = draw.choice(elements)
        drawing.variables[name] = Variable(name, element, (), draw.random() < 0.06 or not drawing.ranks[name])
    body = tuple(
        node for _ in range(draw.choices((1, 2, 3), (8, 3, 1))[0]) for node in (_loop(drawing, {}, _INSTANCES, 0),)
    )
    return fitted(Program(tuple(drawing.variables.values()), body))


def _loop(drawing: Drawing, around: dict[str, Range], room: int, depth: int) -> Loop:
    draw = drawing.draw
    name = drawing.new_loop()
    most = max(1, min(room, draw.choice((4, 7, 9, 16, 20, 33)) if depth else draw.choice((5, 12, 20, 40, 67))))
    first, last = draw.choice((0, 0, 0, 1, 2, -1)), 0
    last = first + draw.randint(max(0, most // 3), most) - 1
    last = max(first, last)
    low, high = Sum((), first), Sum((), last)
    if around and draw.random() < 0.25:
        other = draw.choice(tuple(around))
        if draw.random() < 0.5:
            low = Sum(((1, other),), draw.choice((0, 0, 1, -1)))
            high = Sum((), max(last, around[other][1] + 1))
        else:
            high = Sum(((1, other),), draw.choice((0, 0, -1, 1, 2)))
    step = draw.choices((1, 2, 3, -1, -2), (14, 2, 1, 2, 0.5))[0]
    own = {**around, name: (min(low.range(around, {})[0], high.range(around, {})[1]), high.range(around, {})[1])}
    left = max(1, room // max(1, own[name][1] - own[name][0] + 1))
    return Loop(name, low, high, step, _body(drawing, own, left, depth + 1))


def _body(drawing: Drawing, around: dict[str, Range], room: int, depth: int) -> tuple[Node, ...]:
    draw = drawing.draw
    body: list[Node] = []
    for _ in range(draw.choices((1, 2, 3), (12, 3, 0.5))[0]):
        deeper = depth < 4 and room > 3 and draw.random() < (0.85, 0.8, 0.45, 0.15)[depth]
        if deeper:
            body.append(_loop(drawing, around, room, depth))
        elif draw.random() < 0.15:
            statements = _statements(drawing, around)
            otherwise = _statements(drawing, around) if draw.random() < 0.3 else ()
            body.append(If(_conditions(draw, around), statements, otherwise))
        else:
            body += _statements(drawing, around)
    return tuple(body)


def _conditions(draw: Random, around: dict[str, Range]) -> tuple[tuple[Sum, str], ...]:
    conditions = []
    for _ in range(draw.choice((1, 1, 2))):
        names = draw.sample(tuple(around), min(len(around), draw.choice((1, 2))))
        terms = tuple((draw.choice((1, 1, -1, 2)), name) for name in names)
        low, high = Sum(terms).range(around, {})
        conditions.append((Sum(terms, -draw.randint(low, high)), draw.choice((">=", "<=", ">=", "<=", "=="))))
    return tuple(conditions)


def _statements(drawing: Drawing, around: dict[str, Range]) -> tuple[Node, ...]:
    draw = drawing.draw
    target_name = draw.choice(tuple(drawing.variables))
    target = _element(drawing, target_name, around)
    element = drawing.variables[target_name].element
    floating = element in FLOATING
    before: tuple[Node, ...] = ()
    value = _value(drawing, around, element, draw.choice((0, 1, 1, 2)))
    if draw.random() < 0.1:
        name = f"t{len(drawing.locals)}"
        drawing.locals[name] = element
        before = (Declare(element, name, value),)
        value = Binary(draw.choice("+-"), Element(name), _leaf(drawing, around, element))
    operator = draw.choices(("=", "+=", "-=", "*="), (8, 9, 1, 0.5))[0]
    if operator == "=" and draw.random() < 0.35:
        # In place, from neighbours: scaled, so that values stay of ordinary size.
        neighbour = _near(draw, target)
        value = Binary("+", _scaled(draw, neighbour, element), _scaled(draw, value, element))
    elif operator == "*=" and floating:
        value = Number("0.5f" if element == "float" else "0.75")
    return (*before, Assign(target, operator, value))


def _scaled(draw: Random, value: Expression, element: str) -> Expression:
    if element in FLOATING:
        return Binary("*", Number(draw.choice(("0.5", "0.25", "0.3")) + MATH[element]), value)
    return value


def _near(draw: Random, element: Element) -> Element:
    forms = tuple(
        Sum(form.terms, form.constant + draw.choice((0, 0, 1, -1)), form.divisor) for form in element.subscripts
    )
    return Element(element.array, forms)


def _element(drawing: Drawing, name: str, around: dict[str, Range]) -> Element:
    draw = drawing.draw
    forms = []
    names = list(around)
    draw.shuffle(names)
    for position in range(drawing.ranks[name]):
        kind = draw.random()
        if kind < 0.75 and names:
            iterator = names[position % len(names)]
            form = Sum(((draw.choices((1, -1, 2), (14, 1, 1))[0], iterator),), draw.choice((0, 0, 0, 0, 1, -1, 2)))
        elif kind < 0.9 and len(names) > 1:
            one, other = draw.sample(names, 2)
            form = Sum(((draw.choice((1, 2)), one), (draw.choice((1, 1, -1)), other)), draw.choice((0, 1)))
        elif kind < 0.94 and names:
            form = Sum(((1, draw.choice(names)),), draw.choice((0, 1)), draw.choice((2, 3)))
        else:
            form = Sum((), draw.randint(0, 3))
        forms.append(form)
    return Element(name, tuple(forms))


def _leaf(drawing: Drawing, around: dict[str, Range], element: str) -> Expression:
    draw = drawing.draw
    kind = draw.random()
    if kind < 0.06:
        form = Sum(tuple((1, name) for name in draw.sample(tuple(around), 1)), draw.choice((0, 1)))
        return Call(f"({element})", (Index(form),)) if element in FLOATING else Index(form)
    if kind < 0.16:
        if element in FLOATING:
            return Number(draw.choice(("0.5", "2.0", "-1.5", "0.1")) + MATH[element])
        return Number(draw.choice(("1", "2", "3", "-5", "7")))
    readable = [
        each.name
        for each in drawing.variables.values()
        if element in FLOATING or each.element not in (*FLOATING, BFLOAT16)
    ]
    return _element(drawing, draw.choice(readable), around)


def _value(drawing: Drawing, around: dict[str, Range], element: str, size: int) -> Expression:
    draw = drawing.draw
    if not size:
        return _leaf(drawing, around, element)
    left = _value(drawing, around, element, size - 1)
    right = _leaf(drawing, around, element)
    kind = draw.random()
    if element in FLOATING and kind < 0.08:
        name = draw.choice(("fmax", "fabs", "sqrt"))
        if name == "fmax":
            return Call(f"fmax{MATH[element]}", (left, right))
        inside: Expression = Call(f"fabs{MATH[element]}", (left,))
        return inside if name == "fabs" else Call(f"sqrt{MATH[element]}", (inside,))
    if kind < 0.14:
        return Select(draw.choice(("<", ">", "<=", ">=")), left, right, right, left)
    if element in FLOATING and kind < 0.18:
        return Binary("/", left, Number(draw.choice(("2.0", "3.0", "-4.0")) + MATH[element]))
    if element not in FLOATING and kind < 0.22:
        operator, number = draw.choice((("/", "3"), ("%", "5"), ("&", "12"), ("^", "6"), ("|", "1")))
        return Binary(operator, left, Number(number))
    return Binary(draw.choices(("+", "-", "*"), (5, 2, 6))[0], left, right)

"""Scalar replacement: array elements that stay in a variable while one iteration of a vector loop touches them.

Several rows of a matrix that are added to one vector touch each of its elements several times, and so do statements
that were fused. What C knows of pointers forbids compilers to keep such an element in a register; what the analysis
knows of the arrays allows it. What is read alone, and doesn't change, is read before the loop: compilers move loads
like these out of a loop, too, but with many of them into its latch, and then leave the loop without vectors; and where
a store of the loop might change it, they don't.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from polydl.codegen.context import Context
from polydl.codegen.entered import where_entered
from polydl.codegen.loop_ir import (
    Assign,
    Body,
    Declare,
    For,
    Node,
    Variable,
    assignments,
    is_straight,
    mapped,
    statements,
    with_elements_of,
)
from polydl.codegen.passes.factors import varying
from polydl.codegen.values import Element, Expr, Integer, Linear, Name, always, as_sum, elements, mentions


@dataclass(frozen=True)
class Replaced:
    """An element that a variable stands for inside a loop."""

    #: Name of the variable.
    variable: str
    #: What it stands for.
    element: Element
    #: Whether the variable begins with the element's value.
    read: bool
    #: Whether the element gets the variable's last value.
    written: bool


def streamed_arrays(loop: For, context: Context) -> frozenset[str]:
    """The arrays that a loop is to write past the caches, if it can: if it walks along them, element by element."""
    if not is_straight(loop.body) or loop.last is None or loop.step != Integer(1):
        return frozenset()
    wanted = frozenset().union(*(each.streamed for each in context.of(loop.body)))
    if not wanted:
        return wanted
    touched = [element for assign in assignments(loop.body) for element in _touched(assign)]
    return wanted - {element.array for element in touched if not is_walked_along(element, loop.iterator)}


def is_walked_along(element: Element, counter: str) -> bool:
    """Whether each step of a loop goes to the next element in memory."""
    *outer, last = element.subscripts or (Integer(0),)
    if any(mentions(subscript, counter) for subscript in outer):
        return False
    match last:
        case Name(name):
            return name == counter
        case Linear(terms=terms):
            return [term for term in terms if mentions(term[1], counter)] == [(1, Name(counter))]
    return False


def _touched(assign: Assign) -> list[Element]:
    return [*elements(assign.target), *elements(assign.value)]


def replaceable(loop: For, streamed: Collection[str], context: Context) -> tuple[Replaced, ...]:
    """What the statements of a body may keep in variables: elements of arrays of which they touch no other ones twice.

    That is one element of an array, or several that are not the same for certain. An element that is touched by one
    statement is kept only to be ``streamed``.
    """
    users: dict[str, dict[Element, list[Assign]]] = {}
    written: set[str] = set()
    for assign in assignments(loop.body):
        for element in dict.fromkeys(_touched(assign)):
            if context.has_extents(element):
                users.setdefault(element.array, {}).setdefault(element, []).append(assign)
        if isinstance(assign.target, Element):
            written.add(assign.target.array)
    found = []
    for number, (array, elements_of) in enumerate(users.items()):
        if array not in written or not _are_apart(list(elements_of)):
            continue
        for place, (element, using) in enumerate(elements_of.items()):
            if len(using) == 1 and array not in streamed:
                continue
            # Of one that is only touched under a condition, the subscripts may be outside of the array else.
            if not any(element == each.target or element in always(each.value) for each in using):
                continue
            first = using[0]
            read = (first.target == element and first.operator != "=") or element in elements(first.value)
            variable = f"polydl_scalar{number}" + (f"_{place}" if len(elements_of) > 1 else "")
            found.append(Replaced(variable, element, read, any(each.target == element for each in using)))
    return tuple(found)


def _are_apart(touched: Sequence[Element]) -> bool:
    """Whether no two of these elements of an array are the same: each two differ by a number in some subscript."""
    places = [tuple(map(as_sum, element.subscripts)) for element in touched]
    return all(
        any(
            one.terms == other.terms and one.constant != other.constant
            for one, other in zip(first, second, strict=True)
        )
        for first, second in combinations(places, 2)
    )


def run(ir: Body, context: Context) -> Body:
    """Elements stay in variables in vector loops of several statements or copies, or with stores past the caches.

    So do, in all vector loops, those of temporary arrays that no other loop accesses.
    """
    users: dict[str, set[str]] = {name: set() for name in context.temporary}
    for assign in assignments(ir):
        for element in _touched(assign):
            if element.array in users:
                users[element.array].add(assign.statement)

    def changed(node: Node) -> Node:
        if not isinstance(node, For) or not node.vector:
            return node
        here = statements(node.body)
        made = _with_variables(node, context, frozenset(array for array, names in users.items() if names <= here))
        # Where the loop sums up as well, ``lane_accumulators`` asks whether it has an iteration.
        return where_entered((made,), made) if made.before and not made.reductions else made

    return mapped(ir, changed)


def _with_variables(loop: For, context: Context, temporary: Collection[str]) -> For:
    """Several statements, or copies of one, share elements, and what is to be streamed is collected before.

    Elements of ``temporary`` arrays, which no other statements access, stay in variables in any case: then the array
    may not be needed.
    """
    several = len({(assign.statement, assign.copy) for assign in assignments(loop.body)}) > 1
    streamed = streamed_arrays(loop, context)
    alone = not several and not streamed
    if not is_straight(loop.body) or (alone and not temporary):
        return loop
    found = {
        each.element: each
        for each in replaceable(loop, streamed, context)
        if not alone or each.element.array in temporary
    }
    if not found and alone:
        return loop
    if several:
        loop = _with_loads_before(loop, context)

    def place(element: Element) -> Expr:
        return Name(found[element].variable) if element in found else element

    declared = [
        Declare(
            context.arrays[each.element.array].element,
            (Variable(each.variable, initial=each.element if each.read else None),),
        )
        for each in found.values()
    ]
    stored = [Assign(each.element, "=", Name(each.variable)) for each in found.values() if each.written]
    return replace(loop, body=(*declared, *with_elements_of(loop.body, place), *stored))


def _with_loads_before(loop: For, context: Context) -> For:
    """The loop with what it leaves alone in variables, each of them once."""
    varies = varying(loop)
    # Statements that were one have references in common.
    numbers: dict[tuple[str, str], int] = {}
    names: dict[Element, str] = {}
    loads: dict[Element, tuple[int, Declare]] = {}

    def loaded(node: Node) -> Node:
        if not isinstance(node, Assign):
            return node

        computed = frozenset(always(node.value))

        def place(element: Element) -> Expr:
            if not context.has_extents(element) or varies(element) or element not in computed:
                return element
            number = numbers.setdefault((node.statement, element.reference), len(numbers))
            name = names.setdefault(element, f"polydl_once{number}{node.copy}")
            kind = context.arrays[element.array].element
            loads.setdefault(element, (number, Declare(kind, (Variable(name, initial=element),), constant=True)))
            return Name(name)

        (changed,) = with_elements_of((node,), place)
        return changed

    body = mapped(loop.body, loaded)
    declared = (load for _, load in sorted(loads.values(), key=lambda numbered: numbered[0]))
    return replace(loop, body=body, before=(*loop.before, *declared))

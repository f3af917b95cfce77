"""Removal of local scalars: undoes a programmer's scalar replacement, so that loops can be reordered.

A scalar orders all iterations of the loops around it. In ``float s = 0; for (k ...) s += a * b; c[i][j] = s;`` it
accumulates a sum, which is promoted to the array element that receives it. In ``float t = x[i]; y[i] = t * t;`` it
names a value, which is forwarded to its uses, as is each of several that it has in turn. Any other scalar is expanded
to an array with an element for each iteration of the loops around it. One that several loops use, each for values of
its own, is a scalar for each of them first. The C compiler puts values into registers again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

import islpy as isl

from polydl.ir.affine import iterator_form
from polydl.ir.construct import fresh_name
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.poly.boxes import loop_ranges
from polydl.poly.counting import limited
from polydl.poly.substitution import value_in
from polydl.vector_functions import is_instruction

# Most bytes of an expanded scalar; one that needs more is left as it is.
_LARGEST_EXPANSION = 1 << 26
# Most nodes of all copies of an expression that is forwarded to several uses.
_MOST_NODES = 64
# Most nodes of all statements that use a scalar whose values in turn are forwarded.
_MOST_NODES_IN_TURN = 128
_COMPOUND = ("+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")


@limited
def without_local_scalars(scop: Scop) -> Scop:
    """The same computation with fewer local scalars. A scalar that can't be removed safely stays."""
    changed = True
    while changed:
        changed = False
        for array in scop.arrays:
            if array.storage != "local" or array.extents or _is_marked(scop, array):
                continue
            for rewrite in (_forwarded, _promoted, _in_turn, _expanded, _separated):
                rewritten = rewrite(scop, array)
                if rewritten is not None:
                    scop, changed = rewritten, True
                    break
            if changed:
                break
    return scop


def _is_marked(scop: Scop, array: Array) -> bool:
    """Whether a call that a pragma marks uses the scalar, which must then keep its name."""
    marked = {name for call in scop.annotated_calls for name in call.statements}
    return any(a.array == array.name for s in scop.statements if s.name in marked for a in s.accesses)


def _uses(scop: Scop, array: Array, kind: str) -> list[Statement]:
    return [s for s in scop.statements if any(a.array == array.name and a.kind == kind for a in s.accesses)]


def _users(scop: Scop, array: Array) -> list[Statement]:
    return [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]


def _same_block(left: Statement, right: Statement) -> bool:
    return left.depth == right.depth and left.betas[:-1] == right.betas[:-1] and left.directions == right.directions


def _inside(statement: Statement, outer: Statement) -> bool:
    """Whether ``statement`` runs inside all the loops around ``outer``."""
    depth = outer.depth
    return (
        statement.depth >= depth
        and statement.betas[:depth] == outer.betas[:depth]
        and statement.directions[:depth] == outer.directions[:depth]
    )


def _between(scop: Scop, first: Statement, last: Statement) -> list[Statement]:
    depth = first.depth
    return [
        s for s in scop.statements if _inside(s, first) and first.betas[depth] <= s.betas[depth] <= last.betas[depth]
    ]


def _is_plain_assignment(statement: Statement, array: Array | None = None) -> bool:
    body = statement.body
    if body.kind != "op" or body.text != "=" or body.arguments[0].kind != "access":
        return False
    return array is None or statement.access(body.arguments[0].text, "write").array == array.name


def _starts_anew(statement: Statement, array: Array) -> bool:
    """Whether a plain assignment gives the scalar a value that doesn't depend on the one before."""
    return _is_plain_assignment(statement, array) and all(access.array != array.name for access in statement.reads)


def _same_instances(left: Statement, right: Statement) -> bool:
    domain = isl.Set(left.domain).set_tuple_name(right.name)
    return bool(isl.Set(right.domain).is_equal(domain))


def _moved(access: Access, to: Statement) -> Access:
    """The same access in the statement ``to``, which has the same outer iterators."""
    extra = to.depth - isl.Map(access.relation).dim(isl.dim_type.in_)
    relation = isl.Map(access.relation).add_dims(isl.dim_type.in_, extra).set_tuple_name(isl.dim_type.in_, to.name)
    index = isl.MultiPwAff(access.index)
    if extra:
        index = index.add_dims(isl.dim_type.in_, extra)
    index = index.set_tuple_id(isl.dim_type.in_, isl.Id(to.name))
    subscripts = access.subscripts
    if subscripts is not None:
        subscripts = tuple(replace(form, coefficients=(*form.coefficients, *[0] * extra)) for form in subscripts)
    return replace(
        access,
        relation=str(relation.intersect_domain(isl.Set(to.domain))),
        index=str(index),
        subscripts=subscripts,
    )


def _replaced(expression: Expression, references: set[str], value: Expression) -> Expression:
    if expression.kind == "access" and expression.text in references:
        return value
    return replace(expression, arguments=tuple(_replaced(a, references, value) for a in expression.arguments))


def _without(scop: Scop, dropped: set[str], changed: dict[str, Statement], array: Array) -> Scop:
    statements = tuple(changed.get(s.name, s) for s in scop.statements if s.name not in dropped)
    return replace(scop, statements=statements, arrays=tuple(a for a in scop.arrays if a.name != array.name))


def _forwarded(scop: Scop, array: Array) -> Scop | None:
    """Forward the single definition of the scalar to its uses, if no array that it reads changes in between."""
    writers, readers = _uses(scop, array, "write"), _uses(scop, array, "read")
    if len(writers) != 1 or not readers or writers[0] in readers or not _is_plain_assignment(writers[0], array):
        return None
    definition = writers[0]
    value = definition.body.arguments[1]
    operands = {access.array for access in definition.reads}
    uses = sum(1 for reader in readers for access in reader.reads if access.array == array.name)
    nodes = list(value.walk())
    dear = any(node.kind == "call" and not is_instruction(scop, node.text) for node in nodes)
    if uses > 1 and (dear or uses * len(nodes) > _MOST_NODES):
        return None
    changed: dict[str, Statement] = {}
    for reader in readers:
        if (
            not _same_block(definition, reader)
            or reader.betas <= definition.betas
            or not _same_instances(definition, reader)
        ):
            return None
        for other in _between(scop, definition, reader):
            if other.betas < reader.betas and any(access.array in operands for access in other.writes):
                return None
        references = {access.reference for access in reader.reads if access.array == array.name}
        # The assignment converted to the scalar's type, whatever the expression's own type is.
        same = (
            value.kind == "access" and scop.array(definition.access(value.text, "read").array).element == array.element
        )
        there = value_in(value, reader.name)
        typed = there if same else Expression("cast", array.element, (there,))
        kept = tuple(access for access in reader.accesses if access.array != array.name)
        added = tuple(_moved(access, reader) for access in definition.reads)
        names = {access.reference for access in kept}
        changed[reader.name] = replace(
            reader,
            body=_replaced(reader.body, references, typed),
            accesses=(*kept, *(access for access in added if access.reference not in names)),
        )
    return _without(scop, {definition.name}, changed, array)


def _in_turn(scop: Scop, array: Array) -> Scop | None:
    """Forward each of the values that the statements of one block assign to the scalar in turn, if all of them can be.

    For that each value gets a scalar of its own, which the statements up to the next assignment read.
    """
    users = _users(scop, array)
    if sum(1 for user in users for _ in user.body.walk()) > _MOST_NODES_IN_TURN:
        return None
    if not _starts_anew(users[0], array) or len(_uses(scop, array, "write")) < 2:
        return None
    values: list[Array] = []
    changed: dict[str, Statement] = {}
    for each in users:
        user = _written_out(each)
        assigns = any(access.array == array.name for access in user.writes)
        if not _same_block(users[0], user) or not _same_instances(users[0], user):
            return None
        if assigns and not _is_plain_assignment(user, array):
            return None
        # The first user reads none.
        before = values[-1] if values else array
        if assigns:
            values.append(replace(array, name=fresh_name(scop, f"{array.name}_{len(values)}")))
        changed[user.name] = _with_element(user, array, read=before, written=values[-1])
    without = _without(scop, set(), changed, array)
    made: Scop | None = replace(without, arrays=(*without.arrays, *values))
    for value in values:
        if made is not None:
            made = _forwarded(made, value)
    return made


def _written_out(statement: Statement) -> Statement:
    """``x = x + value`` for ``x += value``, and so on; any other statement as it is."""
    body = statement.body
    if body.kind != "op" or body.text not in _COMPOUND:
        return statement
    target, value = body.arguments
    before = f"{target.text}_before"
    operation = Expression("op", body.text[:-1], (Expression("access", before), value))
    accesses = tuple(
        replace(access, reference=before) if access.reference == target.text and access.kind == "read" else access
        for access in statement.accesses
    )
    return replace(statement, body=Expression("op", "=", (target, operation)), accesses=accesses)


def _promoted(scop: Scop, array: Array) -> Scop | None:
    """Accumulate in the array element that the scalar is copied to after the loop."""
    writers, readers = _uses(scop, array, "write"), _uses(scop, array, "read")
    outlets = [s for s in readers if s not in writers]
    inlets = [s for s in writers if s not in readers]
    if len(outlets) != 1 or len(inlets) != 1 or not _is_plain_assignment(inlets[0], array):
        return None
    inlet, outlet = inlets[0], outlets[0]
    body = outlet.body
    if not _is_plain_assignment(outlet):
        return None
    target = outlet.access(body.arguments[0].text, "write")
    copied = body.arguments[1].kind == "access"
    if not _elsewhere(target, outlet, outlet.reads):
        return None
    if scop.array(target.array).element != array.element or not _same_block(inlet, outlet):
        return None
    if inlet.betas >= outlet.betas or not _same_instances(inlet, outlet):
        return None
    updates = [s for s in writers if s in readers]
    within = _between(scop, inlet, outlet)
    for update in updates:
        if update not in within or not inlet.betas[inlet.depth] < update.betas[inlet.depth] < outlet.betas[inlet.depth]:
            return None
    # Between the first value and the last, nothing else may see the element.
    own = _moved(target, inlet).index
    start = [access for access in inlet.reads if access.array == target.array and access.index == own]
    others = [s for s in within if s not in (inlet, outlet)]
    if not all(_elsewhere(target, s, s.accesses) for s in others):
        return None
    # Two iterations must not share the element, or their sums would mix.
    if not isl.Map(target.relation).is_injective():
        return None
    changed = {}
    for statement in (inlet, *updates, outlet):
        changed[statement.name] = _retargeted(statement, array, target)
    dropped = {outlet.name} if copied else set()
    if inlet.body.arguments[1].kind == "access" and start:
        dropped.add(inlet.name)
    return _without(scop, dropped, changed, array)


def _elsewhere(target: Access, statement: Statement, accesses: Iterable[Access]) -> bool:
    """Whether accesses of a statement stay away from the element ``target`` of the iterations in which it runs."""
    element = isl.Map(_moved(target, statement).relation)
    others = (access for access in accesses if access.array == target.array)
    return all(isl.Map(access.relation).intersect(element).is_empty() for access in others)


def _retargeted(statement: Statement, array: Array, target: Access) -> Statement:
    """The statement with the array element in place of the scalar; reference ids stay the same."""
    moved = _moved(target, statement)
    accesses = tuple(
        replace(moved, reference=access.reference, kind=access.kind) if access.array == array.name else access
        for access in statement.accesses
    )
    return replace(statement, accesses=accesses)


def _expanded(scop: Scop, array: Array) -> Scop | None:
    """Expand the scalar to one element per iteration of the loops around it, if each iteration assigns it first."""
    users = _users(scop, array)
    first = users[0]
    depth = first.depth
    if depth == 0 or not _starts_anew(first, array):
        return None
    box = loop_ranges(first)
    if any(low < 0 for low, _ in box) or any(way != 1 for way in first.directions):
        return None
    if any(not _sees(user, first) for user in users[1:]):
        return None
    extents = tuple(high + 1 for _, high in box)
    if prod(extents) * array.element_bytes > _LARGEST_EXPANSION:
        return None
    expanded = replace(array, name=fresh_name(scop, f"{array.name}_of"), extents=extents)
    changed = {user.name: _with_element(user, array, read=expanded, written=expanded) for user in users}
    without = _without(scop, set(), changed, array)
    return replace(without, arrays=(*without.arrays, expanded))


def _sees(user: Statement, first: Statement) -> bool:
    """Whether ``first`` runs before ``user`` in each iteration, of the loops around it, in which that runs."""
    if not _inside(user, first) or user.betas <= first.betas:
        return False
    outer = isl.Set(user.domain).project_out(isl.dim_type.set, first.depth, user.depth - first.depth)
    return bool(outer.set_tuple_name("").is_subset(isl.Set(first.domain).set_tuple_name("")))


def _separated(scop: Scop, array: Array) -> Scop | None:
    """A scalar for each of the loops that use the scalar for values of their own, where there are several."""
    lives: list[list[Statement]] = []
    for user in _users(scop, array):
        if lives and _sees(user, lives[-1][0]):
            lives[-1].append(user)
        elif _starts_anew(user, array):
            lives.append([user])
        else:
            return None
    if len(lives) < 2:
        return None
    changed: dict[str, Statement] = {}
    added: list[Array] = []
    for number, users in enumerate(lives):
        own = replace(array, name=fresh_name(scop, f"{array.name}_{number}"))
        added.append(own)
        changed.update((user.name, _with_element(user, array, read=own, written=own)) for user in users)
    without = _without(scop, set(), changed, array)
    return replace(without, arrays=(*without.arrays, *added))


def _with_element(statement: Statement, array: Array, *, read: Array, written: Array) -> Statement:
    """The statement with elements of other arrays in place of the scalar ``array``, where it reads and writes that.

    They are those of the iteration of as many loops as the arrays have dimensions.
    """
    accesses = tuple(
        _at_iteration(access, statement, read if access.kind == "read" else written)
        if access.array == array.name
        else access
        for access in statement.accesses
    )
    return replace(statement, accesses=accesses)


def _at_iteration(access: Access, statement: Statement, array: Array) -> Access:
    depth = len(array.extents)
    head = f"{statement.name}[{', '.join(statement.iterators)}]"
    element = f"{array.name}[{', '.join(statement.iterators[:depth])}]"
    index = f"{array.name}[{', '.join(f'({name})' for name in statement.iterators[:depth])}]"
    return replace(
        access,
        array=array.name,
        relation=str(isl.Map(f"{{ {head} -> {element} }}").intersect_domain(isl.Set(statement.domain))),
        index=f"{{ {head} -> {index} }}",
        subscripts=tuple(iterator_form(d, statement.depth) for d in range(depth)),
    )

"""The order of the source: pet's schedule tree as betas and directions (2d+1 form), and back as a schedule tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polydl.errors import AnalysisError


@dataclass(frozen=True)
class Order:
    """The order of one statement; the fields are those of ``Statement``."""

    #: position among its siblings at each depth
    betas: tuple[int, ...]
    #: 1 or -1 for each loop that counts up or down
    directions: tuple[int, ...]


@dataclass(frozen=True)
class _Leaf:
    #: pet's name of it
    statement: str


@dataclass(frozen=True)
class _Loop:
    #: 1 or -1 by pet's name of a statement inside: whether its iterator counts up or down
    directions: Mapping[str, int]
    #: in the order in which they run in each iteration
    children: tuple[_Node, ...]


_Node = _Leaf | _Loop


def original_order(schedule: isl.Schedule, kept: Mapping[str, int]) -> dict[str, Order]:
    """The order of the statements in ``kept``, which maps pet's names to depths. Raises AnalysisError."""
    orders: dict[str, Order] = {}
    _number(_sequence(schedule.get_root().child(0), frozenset(kept), 0), (), (), orders)
    for name, depth in kept.items():
        if name not in orders or len(orders[name].directions) != depth:
            raise AnalysisError(f"the place of statement {name} in the schedule isn't known")
    return orders


def _sequence(node: isl.ScheduleNode, statements: frozenset[str], depth: int) -> tuple[_Node, ...]:
    """The sequence of loops and ``statements`` below ``node``; ``depth`` is the number of loops around it."""
    if not statements:
        return ()
    # islpy's stubs call enumerators plain integers.
    kind = str(node.get_type().name)  # type: ignore[attr-defined]
    if kind == "leaf":
        return tuple(_Leaf(name) for name in sorted(statements))
    if kind in ("sequence", "set"):
        # The children of a set are branches of one condition, so that any order is the original one.
        nodes: list[_Node] = []
        for position in range(node.n_children()):
            nodes += _sequence(node.child(position), statements, depth)
        return tuple(nodes)
    if kind == "filter":
        return _sequence(node.child(0), statements & _names(node.filter_get_filter()), depth)
    if kind == "band":
        if node.band_n_member() != 1:
            raise AnalysisError("a band of several loops, which pet doesn't make")
        directions = _directions(node.band_get_partial_schedule().get_union_pw_aff(0), statements, depth)
        return (_Loop(directions, _sequence(node.child(0), statements, depth + 1)),)
    return _sequence(node.child(0), statements, depth)


def _names(instances: isl.UnionSet) -> set[str]:
    sets = instances.get_set_list()
    return {str(sets.get_at(position).get_tuple_name()) for position in range(sets.n_set())}


def _directions(schedule: isl.UnionPwAff, statements: frozenset[str], depth: int) -> dict[str, int]:
    """1 where the loop at ``depth`` counts up, -1 where it counts down, for each statement."""
    directions: dict[str, int] = {}
    parts = schedule.get_pw_aff_list()
    for number in range(parts.n_pw_aff()):
        part = parts.get_at(number)
        name = part.get_tuple_id(isl.dim_type.in_).get_name()
        if name not in statements:
            continue
        # A loop that runs once may have a constant in place of its counter.
        directions[name] = 1
        for _, piece in part.get_pieces():
            for position in range(piece.dim(isl.dim_type.in_)):
                coefficient = piece.get_coefficient_val(isl.dim_type.in_, position)
                if coefficient.is_zero():
                    continue
                if position != depth or not coefficient.abs().is_one():
                    raise AnalysisError(f"a loop runs in the order of {piece}, not of its counter")
                directions[name] = coefficient.sgn()
    return directions


def _number(
    nodes: Sequence[_Node], betas: tuple[int, ...], directions: tuple[tuple[str, int], ...], orders: dict[str, Order]
) -> None:
    for position, node in enumerate(nodes):
        if isinstance(node, _Leaf):
            loop_directions = tuple(direction for name, direction in directions if name == node.statement)
            orders[node.statement] = Order((*betas, position), loop_directions)
        else:
            inner = (*directions, *node.directions.items())
            _number(node.children, (*betas, position), inner, orders)


def schedule_tree(statements: Sequence[tuple[isl.Set, Order]]) -> isl.Schedule:
    """The schedule tree of ``statements`` (domains with their final names) in their original order."""
    return _tree([(domain, order, order.betas) for domain, order in statements], 0)


def _tree(statements: Sequence[tuple[isl.Set, Order, tuple[int, ...]]], depth: int) -> isl.Schedule:
    groups: dict[int, list[tuple[isl.Set, Order, tuple[int, ...]]]] = {}
    for domain, order, betas in statements:
        groups.setdefault(betas[0], []).append((domain, order, betas[1:]))
    tree: isl.Schedule | None = None
    for position in sorted(groups):
        group = groups[position]
        if group[0][2]:
            part = _tree(group, depth + 1).insert_partial_schedule(_band(group, depth))
        else:
            part = isl.Schedule.from_domain(isl.UnionSet.from_set(group[0][0]))
        tree = part if tree is None else tree.sequence(part)
    assert tree is not None
    return tree


def _band(group: Sequence[tuple[isl.Set, Order, tuple[int, ...]]], depth: int) -> isl.MultiUnionPwAff:
    union = isl.UnionPwAff.read_from_str(group[0][0].get_ctx(), "{ }")
    for domain, order, _ in group:
        space = isl.LocalSpace.from_space(domain.get_space())
        counter = isl.Aff.zero_on_domain(space).set_coefficient_val(
            isl.dim_type.in_, depth, isl.Val.int_from_si(domain.get_ctx(), order.directions[depth])
        )
        union = union.union_add(isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(counter)))
    return isl.MultiUnionPwAff.from_union_pw_aff(union)

"""Which element-wise operators may join a heavy one (paper, §5, Algorithm 3).

The algorithm asks for equal write sets, as many iterations of the element-wise operator as elements written, and no
access to these elements in between. That alone would let in an operator that reads a neighbour, or one whose other
operands are computed in between; so the dependences are asked besides, and each must relate instances that write
the same element. Then the element-wise statements may follow the last iteration of the reduction loops for each
element (or precede the first one, the symmetric case), in whatever order the heavy operator runs.

An operator that reads each result of a reduction once and writes another array, such as one that rounds sums to a
narrower type, has another write set. It may follow each element all the same, for what it reads of the reduction is
that element alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import islpy as isl

from polydl.fusion.operators import Operator, operators, touches
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.poly.dependences import Dependence
from polydl.poly.nests import Nest

Condition = Literal["", "write sets", "element-wise", "in between", "dependences", "shared loops"]
Place = Literal["last", "first"]


@dataclass(frozen=True)
class FusionVerdict:
    """Whether two nests may be fused."""

    #: index of the nest that runs earlier
    first: int
    #: index of the other
    second: int
    #: where the element-wise statements go: in the ``last`` iteration of the other's reduction loops, or in the
    #: ``first``
    place: Place
    legal: bool
    #: the one that failed; "" if it is legal
    condition: Condition
    #: why, with the lines
    reason: str

    @property
    def heavy(self) -> int:
        """The index of the nest that the element-wise statements join."""
        return self.first if self.place == "last" else self.second


@dataclass(frozen=True)
class FusionGroup:
    """Nests that become one: element-wise ones before and after the heavy one, in the order in which they run."""

    #: index of the nest that they run around
    heavy: int
    #: indices of those that run first
    before: tuple[int, ...] = ()
    #: indices of those that run last
    after: tuple[int, ...] = ()

    @property
    def nests(self) -> tuple[int, ...]:
        """The indices of all its nests, in the order in which they run."""
        return (*self.before, self.heavy, *self.after)


def decide(
    scop: Scop,
    nests: Sequence[Nest],
    dependences: Sequence[Dependence],
    first: int,
    second: int,
    groups: Mapping[int, FusionGroup],
) -> FusionVerdict:
    """Algorithm 3 for two nests by their indices; ``groups`` has the one that each nest is part of already.

    What has joined ``first`` moves with it, and what has joined a nest in between runs in between as well.
    """
    known = operators(scop, nests)
    absorbed = groups[first].nests
    early, late = known[first], known[second]
    place: Place = "first" if late.excess is not None and early.excess is None else "last"
    heavy, light = (early, late) if place == "last" else (late, early)
    moved = [light] if place == "last" else [known[index] for index in absorbed]
    between = [
        each
        for each in known
        if each.index not in absorbed
        and any(first < index < second for index in (each.index, groups[each.index].heavy))
    ]

    def refused(condition: Condition, reason: str) -> FusionVerdict:
        return FusionVerdict(first, second, place, False, condition, reason)

    alone = next((each for each in (early, late) if each.nest.depth or not each.nest.loops), None)
    if alone is not None:
        return refused("shared loops", f"{alone.place} has no loops of its own")
    difference = _difference(early, late)
    if difference and not (place == "last" and early.excess is not None and _reads_each_once(late, early.write_set)):
        return refused("write sets", difference)
    if light.excess is not None:
        statement, elements = light.excess
        return refused(
            "element-wise",
            f"line {statement.line} runs {statement.instances} times for {elements} elements: not element-wise",
        )
    for other in between:
        met = touches(other, heavy.write_set)
        if met is not None:
            return refused("in between", f"line {met[0].line}, in between, {met[1]}s `{met[2]}`")
    # With the other one's tiles its instances run in another order, which those of a recurrence don't admit.
    members = [heavy, light, *(known[index] for index in absorbed if index not in (first, second))]
    entangled = (_entangled(scop, dependences, member, light, heavy.write_set) for member in members)
    reason = next(filter(None, entangled), "") or _stranded(dependences, moved, between, place)
    if reason:
        return refused("dependences", reason)
    return FusionVerdict(first, second, place, True, "", _legal_reason(heavy, light, place))


def _legal_reason(heavy: Operator, light: Operator, place: Place) -> str:
    arrays = " and ".join(f"`{name}`" for name in heavy.write_set)
    where = "after the last" if place == "last" else "before the first"
    if heavy.excess is None:
        return f"both write each element of {arrays} once"
    verb = "writes" if light.write_set.keys() == heavy.write_set.keys() else "reads"
    return f"{light.place} {verb} each element of {arrays} once, {where} iteration of the reduction at {heavy.place}"


def _difference(early: Operator, late: Operator) -> str:
    """How the write sets differ; "" if they are equal."""
    if early.write_set.keys() != late.write_set.keys():
        names = [" and ".join(f"`{name}`" for name in each.write_set) for each in (early, late)]
        return f"{early.place} writes {names[0]}, {late.place} writes {names[1]}: not the same elements"
    for name, elements in early.write_set.items():
        other = late.write_set[name]
        if not elements.is_equal(other):
            return (
                f"{early.place} writes {count_text(elements)} of `{name}`, {late.place} writes {count_text(other)}: "
                "not the same elements"
            )
    return ""


def _reads_each_once(operator: Operator, elements: Mapping[str, isl.Set]) -> bool:
    """Whether each instance of an operator reads one of ``elements``, all of them are read, and none is written."""
    if len(elements) != 1 or elements.keys() & operator.write_set.keys():
        return False
    ((array, written),) = elements.items()
    first = operator.statements[0]
    for statement in operator.statements:
        reads = [isl.Map(access.relation) for access in statement.reads if access.array == array]
        if any(not read.is_equal(reads[0]) for read in reads[1:]) or (statement is first and not reads):
            return False
        if reads and not (reads[0].is_injective() and reads[0].range().is_equal(written)):
            return False
    return True


def count_text(elements: isl.Set) -> str:
    """The elements as bounds, such as ``[0..9][0..4]``."""
    ranges = [
        f"[{elements.dim_min_val(d).to_python()}..{elements.dim_max_val(d).to_python()}]"
        for d in range(elements.dim(isl.dim_type.set))
    ]
    return "".join(ranges) or "the value"


def _same_element(source: Statement, target: Statement, arrays: Collection[str]) -> isl.Map:
    """Pairs of instances at the same element of ``arrays``: that each writes, or reads if it writes none of them."""
    space = f"{{ {source.name}[{', '.join(source.iterators)}] -> {target.name}[{', '.join(_primed(target))}] : false }}"
    found = isl.Map(space)
    for one in _touching(source, arrays):
        for other in _touching(target, arrays):
            if one.array == other.array:
                found = found.union(isl.Map(one.relation).apply_range(isl.Map(other.relation).reverse()))
    return found


def _touching(statement: Statement, arrays: Collection[str]) -> list[Access]:
    """The writes of a statement to ``arrays``; what it reads of them where it has none."""
    writes = [access for access in statement.writes if access.array in arrays]
    return writes or [access for access in statement.reads if access.array in arrays]


def _primed(statement: Statement) -> tuple[str, ...]:
    return tuple(f"{name}_p" for name in statement.iterators)


def _entangled(
    scop: Scop, dependences: Sequence[Dependence], member: Operator, light: Operator, arrays: Collection[str]
) -> str:
    """The first dependence between the two that relates instances which are at different elements of ``arrays``."""
    for dependence in dependences:
        pair = (dependence.source, dependence.target)
        for one, other in ((member, light), (light, member)):
            if pair[0] not in one.nest.statements or pair[1] not in other.nest.statements:
                continue
            source, target = scop.statement(pair[0]), scop.statement(pair[1])
            if isl.Map(dependence.relation).is_subset(_same_element(source, target, arrays)):
                continue
            reader = source if dependence.kind == "WAR" else target
            return f"line {reader.line} reads elements of `{dependence.array}` other than its own"
    return ""


def _stranded(
    dependences: Sequence[Dependence], moved: Sequence[Operator], between: Sequence[Operator], place: Place
) -> str:
    """A dependence that the element-wise operators would jump over when they move to the heavy one."""
    names = {statement.name: statement for other in between for statement in other.statements}
    movers = {statement.name: statement for operator in moved for statement in operator.statements}
    for dependence in dependences:
        source, target = dependence.source, dependence.target
        if place == "last" and source in names and target in movers:
            verb = "reads" if dependence.kind == "WAR" else "writes"
            use = "reads" if dependence.kind == "RAW" else "writes"
            line, other = movers[target].line, names[source].line
        elif place == "first" and target in names and source in movers:
            use = "reads" if dependence.kind == "WAR" else "writes"
            verb = "reads" if dependence.kind == "RAW" else "writes"
            line, other = movers[source].line, names[target].line
        else:
            continue
        return f"line {other}, in between, {verb} `{dependence.array}`, which line {line} {use}"
    return ""


def decisions(
    scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]
) -> tuple[tuple[FusionVerdict, ...], tuple[FusionGroup, ...]]:
    """Algorithm 3 for all nests that have an array in common which one of them writes, and the groups that it makes.

    A chain of element-wise operators joins the heavy one link by link.
    """
    known = operators(scop, nests)
    group_of: dict[int, FusionGroup] = {each.index: FusionGroup(each.index) for each in known}
    made: list[FusionVerdict] = []
    for late in known:
        tried: set[int] = set()
        for early in reversed(known[: late.index]):
            root = group_of[early.index]
            if root.heavy in tried or not _related(known, root, late):
                continue
            tried.add(root.heavy)
            decision = decide(scop, nests, dependences, root.heavy, late.index, group_of)
            if decision.place == "first" and decision.legal and any(known[n].excess for n in root.nests):
                continue
            made.append(decision)
            if decision.legal:
                group = (
                    replace(root, after=(*root.after, late.index))
                    if decision.place == "last"
                    else FusionGroup(late.index, before=root.nests)
                )
                group_of.update(dict.fromkeys(group.nests, group))
                break
    groups = {group.heavy: group for group in group_of.values() if len(group.nests) > 1}
    return tuple(made), tuple(groups[heavy] for heavy in sorted(groups))


def _related(known: Sequence[Operator], group: FusionGroup, late: Operator) -> bool:
    members = [known[index] for index in group.nests]
    written = {name for member in members for name in member.write_set}
    arrays = {name for member in members for name in member.arrays}
    return bool(written & late.arrays or arrays & set(late.write_set))

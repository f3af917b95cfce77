"""Fusions of whole sequences: maps, reductions and their nests, in every combination that the dependences allow.

A loop of one nest and a loop of another belong together where both walk through the same dimension of an array that
the two access. Nests that have such loops in common may share them: all of them, so that one body does the work of
both, or only the outermost, so that what one leaves in a cache the other finds there (``A x`` and then ``A' (A x)``
row by row). All partitions of the nests into fused groups are enumerated, those that share no data or break a
dependence left out, and the best kept by the time that transfers or arithmetic should take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.machine import Machine
from polydl.model.groups import LoopGroup, Prediction, predict
from polydl.poly.dependences import Dependence
from polydl.poly.legality import Decided
from polydl.poly.nests import Nest
from polydl.poly.reductions import combinable
from polydl.variants.rewrites.fuse import Fuse, fuse

# Nests whose subsets are all looked at, and fusions per subset that are kept.
_MOST_NESTS = 9
_KEPT_PER_GROUP = 4

Subscripts = tuple[Affine, ...] | None
Loops = Mapping[str, tuple[int, ...]]
"""By statement, the class of each of its loops."""


@dataclass(frozen=True)
class Combination:
    """Fusions that go together, and what they should cost."""

    #: one for each fusion, in the order in which they are applied
    steps: tuple[Fuse, ...]
    #: the nests of each fusion, by index
    groups: tuple[tuple[int, ...], ...]
    prediction: Prediction


def loop_classes(scop: Scop) -> Loops:
    """Loops that walk through the same dimension of some array, as numbers that they share.

    Loops in one class have the same bounds, and no statement has two of them.
    """
    keys = [(s.name, place) for s in scop.statements for place in range(s.depth)]
    parent = {key: key for key in keys}
    members = {key: {key} for key in keys}

    def root(key: tuple[str, int]) -> tuple[str, int]:
        while parent[key] != key:
            key = parent[key]
        return key

    def join(one: tuple[str, int], other: tuple[str, int]) -> None:
        a, b = root(one), root(other)
        if a == b or {name for name, _ in members[a]} & {name for name, _ in members[b]}:
            return
        parent[b] = a
        members[a] |= members.pop(b)

    uses = [(s, access, kind) for s in scop.statements for access in s.accesses for kind in [access.kind]]
    # What flows from one to another binds more than what both read.
    for wanted in (True, False):
        for number, (one, left, kind) in enumerate(uses):
            for other, right, other_kind in uses[number + 1 :]:
                if left.array != right.array or one.name == other.name or ("write" in (kind, other_kind)) != wanted:
                    continue
                for ours, theirs in _paired(left.subscripts, right.subscripts):
                    if one.box and other.box and one.box[ours] == other.box[theirs]:
                        join((one.name, ours), (other.name, theirs))
    # Subscripts don't show a loop with one iteration: there the name decides.
    single: dict[tuple[str, tuple[int, int]], tuple[str, int]] = {}
    for statement in scop.statements:
        for place, (low, high) in enumerate(statement.box or ()):
            if low == high:
                join(
                    single.setdefault((statement.iterators[place], (low, high)), (statement.name, place)),
                    (statement.name, place),
                )
    number_of: dict[tuple[str, int], int] = {}
    for key in keys:
        number_of.setdefault(root(key), len(number_of))
    return {s.name: tuple(number_of[root((s.name, place))] for place in range(s.depth)) for s in scop.statements}


def _paired(left: Subscripts, right: Subscripts) -> Iterator[tuple[int, int]]:
    """Pairs of iterators that are the whole of the same subscript."""
    if left is None or right is None:
        return
    for one, other in zip(left, right, strict=True):
        ours = [place for place, coefficient in enumerate(one.coefficients) if coefficient]
        theirs = [place for place, coefficient in enumerate(other.coefficients) if coefficient]
        same = one.constant == other.constant
        if same and len(ours) == len(theirs) == 1 and one.coefficients[ours[0]] == other.coefficients[theirs[0]] == 1:
            yield ours[0], theirs[0]


class FusionSearch:
    """Which nests of one scop may be fused, and how."""

    def __init__(
        self, scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence], threads: int, reassociate: bool
    ) -> None:
        self.scop = scop
        self.nests = nests
        self.dependences = dependences
        self.threads = threads
        self.reassociate = reassociate
        self.classes = loop_classes(scop)
        self.tried = 0
        self._decided: Decided = {}

    def statements(self, group: Sequence[int]) -> list[Statement]:
        """The statements of some nests, given by their places, in the order of these."""
        return [self.scop.statement(name) for index in group for name in self.nests[index].statements]

    def related(self, group: Sequence[int]) -> bool:
        """Whether each nest of the group shares an array with another one, all of them together."""
        arrays = [{access.array for s in self.statements([index]) for access in s.accesses} for index in group]
        reached, rest = arrays[0], arrays[1:]
        while rest:
            touching = [names for names in rest if names & reached]
            if not touching:
                return False
            reached = reached.union(*touching)
            rest = [names for names in rest if not names & reached]
        return True

    def common_loops(self, group: Sequence[int]) -> list[int]:
        """The classes of loops that all nests of the group have, in the order of the first one."""
        members = self.statements(group)
        common = set(self.classes[members[0].name])
        for statement in members[1:]:
            common &= set(self.classes[statement.name])
        return [number for number in self.classes[members[0].name] if number in common]

    def fusions(self, group: Sequence[int]) -> list[Fuse]:
        """Ways to fuse the group, legal by themselves, those with more common loops first."""
        members = self.statements(group)
        made: list[Fuse] = []
        ordered = self.common_loops(group)
        for size in range(len(ordered), 0, -1):
            for shared in combinations(ordered, size):
                for step in self._with_bodies(members, shared):
                    if step not in made:
                        made.append(step)
                    if len(made) == _KEPT_PER_GROUP:
                        return made
        return made

    def _with_bodies(self, members: Sequence[Statement], shared: Sequence[int]) -> Iterator[Fuse]:
        """Fusions with these common loops: as few bodies as the dependences allow, the outermost loop on threads."""
        bodies = [0]
        joined: list[bool] = []
        for one, other in pairwise(members):
            together = self._nest_of(one) == self._nest_of(other)
            alike = set(self.classes[one.name]) == set(self.classes[other.name])
            joined.append(together or alike)
        for flag in joined:
            bodies.append(bodies[-1] if flag else bodies[-1] + 1)
        step = self._step(members, shared, bodies)
        if self._legal(step):
            yield from self._threaded(step, members)
            return
        # Then bodies apart wherever they are not one nest anyway.
        separate = [0]
        for one, other in pairwise(members):
            separate.append(separate[-1] + (self._nest_of(one) != self._nest_of(other)))
        step = self._step(members, shared, separate)
        if len(shared) < max(s.depth for s in members) and self._legal(step):
            # As many neighbours together again as are legal, from the first on.
            for place in range(1, len(separate)):
                if joined[place - 1] and separate[place] != separate[place - 1]:
                    closer = [*separate[:place], *(number - 1 for number in separate[place:])]
                    attempt = self._step(members, shared, closer)
                    if self._legal(attempt):
                        separate, step = closer, attempt
            yield from self._threaded(step, members)

    def _nest_of(self, statement: Statement) -> int:
        return next(nest.index for nest in self.nests if statement.name in nest.statements)

    def _step(self, members: Sequence[Statement], shared: Sequence[int], bodies: Sequence[int]) -> Fuse:
        orders = []
        inner: dict[int, list[int]] = {}
        for statement, body in zip(members, bodies, strict=True):
            classes = self.classes[statement.name]
            rest = inner.setdefault(body, [number for number in classes if number not in shared])
            own = [*shared, *(number for number in rest if number in classes)]
            own += [number for number in classes if number not in own]
            orders.append(tuple(statement.iterators[classes.index(number)] for number in own))
        names = tuple(statement.name for statement in members)
        return Fuse(names, tuple(orders), tuple(bodies), len(shared))

    def _threaded(self, step: Fuse, members: Sequence[Statement]) -> Iterator[Fuse]:
        """With the outermost common loop on threads, where there are loops inside and that is legal."""
        if self.threads == 1 or all(statement.depth == step.shared for statement in members):
            yield step
            return
        parallel = replace(step, parallel=True)
        if self._legal(parallel):
            yield parallel
            return
        outer = {s.name: s.iterators.index(order[0]) for s, order in zip(members, step.orders, strict=True)}
        sums = combinable(self.scop, members, outer) if self.reassociate else ()
        parallel = replace(parallel, combined=sums)
        yield parallel if sums and self._legal(parallel) else step

    def _legal(self, step: Fuse) -> bool:
        self.tried += 1
        try:
            fuse(self.scop, step, self.dependences, reassociate=self.reassociate, decided=self._decided)
        except IllegalVariantError:
            return False
        return True


def _partitions(indices: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All partitions into groups, each group and the groups in ascending order."""
    if not indices:
        yield ()
        return
    first, rest = indices[0], indices[1:]
    for size in range(len(rest) + 1):
        for chosen in combinations(rest, size):
            others = [index for index in rest if index not in chosen]
            for partition in _partitions(others):
                yield ((first, *chosen), *partition)


def _groups(scop: Scop, steps: Sequence[Fuse], nests: Sequence[Sequence[str]]) -> tuple[LoopGroup, ...]:
    """The fused groups, and each nest that is in none as a group of its own."""
    made = []
    taken: set[str] = set()
    for step in steps:
        members = tuple(scop.statement(name) for name in step.statements)
        whole = all(statement.depth == step.shared for statement in members)
        made.append(LoopGroup(members, step.bodies, step.shared, step.orders, whole or step.parallel))
        taken |= set(step.statements)
    for names in nests:
        if names[0] not in taken:
            members = tuple(scop.statement(name) for name in names)
            orders = tuple(statement.iterators for statement in members)
            made.append(LoopGroup(members, (0,) * len(members), members[0].depth, orders, True))
    return tuple(made)


def fused_combinations(
    scop: Scop,
    nests: Sequence[Nest],
    dependences: Sequence[Dependence],
    machine: Machine,
    *,
    reassociate: bool = True,
) -> tuple[Combination, ...]:
    """Every legal combination of fusions that spares transfers, the fastest by prediction first.

    ``scop`` is distributed, its nests one after the other. The combination without any fusion is among them.
    """
    search = FusionSearch(scop, nests, dependences, machine.threads, reassociate)
    indices = [nest.index for nest in nests]
    if len(indices) > _MOST_NESTS or any(nest.depth or not nest.loops or nest.call for nest in nests):
        return ()
    ways: dict[tuple[int, ...], list[Fuse]] = {}
    for size in range(2, len(indices) + 1):
        for group in combinations(indices, size):
            ways[group] = search.fusions(group) if search.related(group) else []
    made: list[Combination] = []
    for partition in _partitions(indices):
        groups = tuple(group for group in partition if len(group) > 1)
        if any(not ways[group] for group in groups):
            continue
        if not _in_order(nests, dependences, partition):
            continue
        for steps in _product([ways[group] for group in groups]):
            members = _groups(scop, steps, [nest.statements for nest in nests])
            made.append(Combination(steps, groups, predict(scop, members, machine)))
    return tuple(sorted(made, key=_order))


def _order(combination: Combination) -> tuple[int, int, int]:
    """By picoseconds: the same terms, added in another order, are the same time."""
    predicted = combination.prediction
    return round(predicted.seconds * 1e12), predicted.bytes, len(combination.steps)


def _product(choices: Sequence[Sequence[Fuse]]) -> Iterator[tuple[Fuse, ...]]:
    if not choices:
        yield ()
        return
    for first in choices[0]:
        for rest in _product(choices[1:]):
            yield (first, *rest)


def _in_order(nests: Sequence[Nest], dependences: Sequence[Dependence], partition: Sequence[Sequence[int]]) -> bool:
    """Whether the groups can run one after the other."""
    nest_of = {name: nest.index for nest in nests for name in nest.statements}
    group_of = {index: number for number, group in enumerate(partition) for index in group}
    edges = {(group_of[nest_of[d.source]], group_of[nest_of[d.target]]) for d in dependences}
    waiting = set(range(len(partition)))
    while waiting:
        ready = [n for n in waiting if not any((o, n) in edges for o in waiting if o != n)]
        if not ready:
            return False
        waiting -= set(ready)
    return True

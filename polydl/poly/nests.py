"""Loop nests that can be transformed on their own.

Loop distribution splits the source into *nests*: groups of statements that share all their loops, so that
every loop of a nest can be tiled and interchanged. Statements that already share an innermost body stay
together. Distribution is Allen and Kennedy's: strongly connected components of the dependence graph, in
topological order; a component of several groups keeps its outermost loop in common and is split again
inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.ir.calls import AnnotatedCall, TransformCall
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.statement import Statement
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.texts import map_of


@dataclass(frozen=True)
class Nest:
    """Statements with the same loops around them."""

    #: position among the scop's nests
    index: int
    #: their names, in the order of the source
    statements: tuple[str, ...]
    #: time prefix: sequence positions, and the loops that are shared with other nests and therefore stay as they are
    prefix: tuple[int | Loop, ...]
    #: number of shared loops, all of them in ``prefix``
    depth: int
    #: loops that no other nest shares, outermost first, by the names of the first statement's iterators
    loops: tuple[str, ...]
    #: the call that the source marks and that the innermost of ``loops`` describe
    annotated: AnnotatedCall | None = None
    #: the tile transform that a rewrite put in place of the innermost of ``loops``
    transform: TransformCall | None = None

    @property
    def call(self) -> AnnotatedCall | TransformCall | None:
        """What the innermost of ``loops`` stand for, if anything; these stay together, in their order."""
        return self.annotated or self.transform

    @property
    def call_loops(self) -> tuple[str, ...]:
        """The innermost loops that the call stands for; empty without a call."""
        return self.loops[len(self.loops) - self.call.inner_loops :] if self.call is not None else ()


@dataclass(frozen=True)
class _Block:
    """Statements of one innermost body: equal depths, and equal betas but for the last."""

    statements: tuple[Statement, ...]

    @property
    def first(self) -> Statement:
        return self.statements[0]


def _blocks(statements: Sequence[Statement]) -> list[_Block]:
    grouped: dict[tuple[tuple[int, ...], int], list[Statement]] = {}
    for statement in statements:
        grouped.setdefault((statement.betas[:-1], statement.depth), []).append(statement)
    blocks: list[_Block] = []
    for members in grouped.values():
        run: list[Statement] = []
        for member in members:
            # A loop between two statements of one body separates them.
            if run and (run[-1].depth == 0 or _separated(run[-1], member, statements)):
                blocks.append(_Block(tuple(run)))
                run = []
            run.append(member)
        blocks.append(_Block(tuple(run)))
    return sorted(blocks, key=lambda block: block.first.betas)


def _separated(left: Statement, right: Statement, statements: Sequence[Statement]) -> bool:
    """Whether a deeper loop stands between two statements of one body."""
    depth = left.depth
    return any(
        other.depth > depth
        and other.betas[:depth] == left.betas[:depth]
        and left.betas[depth] < other.betas[depth] < right.betas[depth]
        for other in statements
    )


def _edges(
    blocks: Sequence[_Block], shared: int, dependences: Sequence[Dependence], kept: Sequence[SharedLoops]
) -> list[set[int]]:
    """The successors of each block by the dependences that the ``shared`` outer loops don't carry.

    Blocks whose next loop must stay common (``kept``) get edges both ways.
    """
    owner = {statement.name: number for number, block in enumerate(blocks) for statement in block.statements}
    successors: list[set[int]] = [set() for _ in blocks]
    for group in kept:
        members = {owner[name] for name in group.statements if name in owner}
        if group.loops > shared:
            for member in members:
                successors[member] |= members - {member}
    for dependence in dependences:
        source, target = owner.get(dependence.source), owner.get(dependence.target)
        if source is None or target is None or source == target or target in successors[source]:
            continue
        if not in_one_iteration(map_of(dependence.relation), range(shared)).is_empty():
            successors[source].add(target)
    return successors


def _components(successors: Sequence[set[int]]) -> list[list[int]]:
    """Strongly connected components in topological order; of several that could come next, the earliest block's."""
    count = len(successors)
    reach = [set(s) for s in successors]
    for middle in range(count):
        for node in range(count):
            if middle in reach[node]:
                reach[node] |= reach[middle]
    component_of: dict[int, tuple[int, ...]] = {}
    for node in range(count):
        members = tuple(sorted({node} | {other for other in reach[node] if node in reach[other]}))
        component_of[node] = members
    waiting = sorted(set(component_of.values()))
    ordered: list[list[int]] = []
    while waiting:
        for candidate in waiting:
            inputs = {n for n in range(count) if n not in candidate and successors[n] & set(candidate)}
            if not any(component_of[n] in waiting for n in inputs):
                ordered.append(list(candidate))
                waiting.remove(candidate)
                break
    return ordered


class _Distribution:
    """Allen and Kennedy's loop distribution; ``nests`` collects the result."""

    def __init__(self, scop: Scop, dependences: Sequence[Dependence]) -> None:
        self.dependences = dependences
        self.kept = scop.shared
        # Loops of several statements can't be told apart from the nest; they replace their call for good.
        self.annotated = {call.statements[0]: call for call in scop.annotated_calls if len(call.statements) == 1}
        self.transforms = {call.statement: call for call in scop.transform_calls}
        self.nests: list[Nest] = []

    def add(self, block: _Block, prefix: tuple[int | Loop, ...], shared: int) -> None:
        loops = block.first.iterators[shared:]
        names = tuple(statement.name for statement in block.statements)
        annotated, transform = None, None
        if len(names) == 1:
            annotated, transform = self.annotated.get(names[0]), self.transforms.get(names[0])
        if annotated is not None and annotated.inner_loops > len(loops):
            annotated = None
        self.nests.append(Nest(len(self.nests), names, prefix, shared, loops, annotated, transform))

    def stays(self, block: _Block, shared: int) -> bool:
        """Whether the next loop around a block stays outside of its nest."""
        return any(group.fixed and group.loops > shared and block.first.name in group.statements for group in self.kept)

    def split(self, statements: Sequence[Statement], prefix: tuple[int | Loop, ...], shared: int) -> None:
        """Add the nests of ``statements``, which have ``shared`` outer loops and the time ``prefix`` in common."""
        blocks = _blocks(statements)
        components = _components(_edges(blocks, shared, self.dependences, self.kept))
        for position, component in enumerate(components):
            here = (*prefix, position)
            if len(component) == 1 and not self.stays(blocks[component[0]], shared):
                self.add(blocks[component[0]], here, shared)
                continue
            members = [statement for number in component for statement in blocks[number].statements]
            first = members[0]
            # Blocks of one component share this loop: different loops in sequence have edges one way only.
            loop = Loop(first.iterators[shared], shared, direction=first.directions[shared])
            for group in self.kept:
                if shared == group.parallel_loop and group.parallel and first.name in group.statements:
                    loop = replace(loop, parallel=True, combined=group.combined)
            self.split(members, (*here, loop), shared + 1)


@limited
def distribute(scop: Scop, dependences: Sequence[Dependence]) -> tuple[Nest, ...]:
    """Split the scop into nests by loop distribution, in an order that keeps all ``dependences``.

    Raises AnalysisError when isl's quota is used up.
    """
    distribution = _Distribution(scop, dependences)
    distribution.split(scop.statements, (), 0)
    return tuple(distribution.nests)


def distributed(scop: Scop, nests: Sequence[Nest]) -> Scop | None:
    """The scop with betas that run its nests one after the other; None if two of them share a loop."""
    betas: dict[str, tuple[int, ...]] = {}
    for nest in nests:
        if nest.depth:
            return None
        for position, name in enumerate(nest.statements):
            # A statement without loops is a nest of its own.
            betas[name] = (nest.index, *(0,) * (len(nest.loops) - 1), position)[: len(nest.loops) + 1]
    statements = sorted((replace(s, betas=betas[s.name]) for s in scop.statements), key=lambda s: s.betas)
    return replace(scop, statements=tuple(statements))

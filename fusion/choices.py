"""Which fusions of a scop to try, as rewrites that a variant begins with."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.fusion.algorithm_3 import decisions
from polydl.fusion.operators import Operator, operators
from polydl.fusion.prediction import Rates
from polydl.fusion.sequences import fused_combinations
from polydl.poly.dependences import Dependence
from polydl.poly.dependences import dependences as found_dependences
from polydl.poly.nests import Nest, distribute
from polydl.poly.plans import aligned_loops
from polydl.poly.rewrites import distributed
from polydl.types import Attach, Fuse, Rewrite, Scop, Statement

# Combinations of fusions that get a space of their own.
_COMBINATIONS = 4
# Iterations per element of the largest array from which on arithmetic hides the transfers.
_HEAVY = 16


def choices(
    scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence], *, threads: int, reassociate: bool = True
) -> tuple[tuple[Rewrite, ...], ...]:
    """Rewrites to try: what Algorithm 3 allows, and for sequences bound by memory their best combinations."""
    found = list(elementwise_fusions(scop, nests, dependences))
    base = distributed(scop, nests)
    if base is not None and len(nests) > 1 and not any(_is_heavy(scop, nest) for nest in nests):
        own = found_dependences(base)
        made = fused_combinations(base, distribute(base, own), own, Rates(threads), reassociate=reassociate)
        found += [each.steps for each in made[:_COMBINATIONS] if each.steps]
    return tuple(dict.fromkeys(found))


def _is_heavy(scop: Scop, nest: Nest) -> bool:
    statements = [scop.statement(name) for name in nest.statements]
    largest = max(scop.array(access.array).elements for s in statements for access in s.accesses)
    return max(statement.instances for statement in statements) >= _HEAVY * largest


def elementwise_fusions(
    scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]
) -> tuple[tuple[Rewrite, ...], ...]:
    """One tuple of rewrites that makes all fusions which Algorithm 3 allows; none if it allows none."""
    _, groups = decisions(scop, nests, dependences)
    known = operators(scop, nests)
    steps: list[Rewrite] = []
    attached: list[Rewrite] = []
    for group in groups:
        if known[group.heavy].excess is None:
            merged = _one_body([known[index] for index in group.nests])
            steps += [merged] if merged is not None else []
            continue
        for place, chain in (("first", group.before), ("last", group.after)):
            if not chain:
                continue
            merged = _one_body([known[index] for index in chain]) if len(chain) > 1 else None
            if merged is not None:
                steps.append(merged)
                chain = chain[:1]
            to = known[group.heavy].statements[0].name
            attached += [Attach(known[index].statements[0].name, to, place) for index in chain]  # type: ignore[arg-type]
    return ((*steps, *attached),) if steps or attached else ()


def _one_body(chain: Sequence[Operator]) -> Fuse | None:
    """All statements of the nests in the loops of the first; None if their loops can't be paired."""
    statements = [statement for operator in chain for statement in operator.statements]
    leader = statements[0]
    orders: list[tuple[str, ...]] = []
    for statement in statements:
        order = _paired_order(leader, statement)
        if order is None:
            return None
        orders.append(order)
    return Fuse(tuple(s.name for s in statements), tuple(orders), (0,) * len(statements), leader.depth)


def _paired_order(leader: Statement, statement: Statement) -> tuple[str, ...] | None:
    found = aligned_loops(leader, statement)
    if found is None or leader.depth != statement.depth or any(ahead for _, ahead in found.values()):
        return None
    pairs = {ours: theirs for ours, (theirs, _) in found.items()}
    # What subscripts don't show has one iteration, and goes with another one of that kind.
    free = [place for place in range(statement.depth) if place not in pairs.values()]
    for place in range(leader.depth):
        if place not in pairs:
            theirs = next((each for each in free if _range(statement, each) == _range(leader, place)), None)
            if theirs is None:
                return None
            free.remove(theirs)
            pairs[place] = theirs
    return tuple(statement.iterators[pairs[place]] for place in range(leader.depth))


def _range(statement: Statement, place: int) -> tuple[int, int] | None:
    return statement.box[place] if statement.box is not None else None

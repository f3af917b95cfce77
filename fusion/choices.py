"""Which fusions of a scop to try."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from polydl.errors import IllegalVariantError
from polydl.fusion.algorithm_3 import FusionGroup, decisions
from polydl.fusion.operators import Operator, operators
from polydl.fusion.sequences import fused_combinations
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Attach, RewriteStep
from polydl.machine import Machine
from polydl.match.alignment import aligned_loops
from polydl.match.zero import sets_to_zero
from polydl.plan.prepared import preparable
from polydl.poly.dependences import Dependence
from polydl.poly.dependences import dependences as found_dependences
from polydl.poly.nests import Nest, distribute, distributed
from polydl.rewrite_contract import Proposal
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.rewrites.split import Blocked, Split

# Combinations of fusions that get a space of their own.
_COMBINATIONS = 4
# Iterations per element of the largest array from which on arithmetic hides the transfers.
_HEAVY = 16
# Iterations of a shared loop that each nest runs at once: so many sums hide each other's latency.
_BLOCKS = (8, 4)


def choices(
    scop: Scop,
    nests: Sequence[Nest],
    dependences: Sequence[Dependence],
    *,
    machine: Machine,
    reassociate: bool = True,
) -> tuple[Proposal, ...]:
    """Rewrites to try: what Algorithm 3 allows, and for sequences bound by memory their best combinations.

    Combinations are compared by what the ``machine`` should take for them.
    """
    found = list(elementwise_fusions(scop, nests, dependences))
    base = distributed(scop, nests)
    if base is not None and len(nests) > 1 and not any(_is_heavy(scop, nest) for nest in nests):
        own = found_dependences(base)
        made = fused_combinations(base, distribute(base, own), own, machine, reassociate=reassociate)
        for each in made[:_COMBINATIONS]:
            found += [Proposal(steps) for steps in (each.steps, in_blocks(base, each.steps)) if steps]
    return tuple(dict.fromkeys(found))


def in_blocks(scop: Scop, steps: Sequence[Fuse]) -> tuple[RewriteStep, ...]:
    """The fusions with a few iterations of the shared loop in each nest; none if no nest gains by it.

    A nest that is left with one loop of its own sums up one row at a time. With some iterations of the shared loop it
    sums up as many side by side, and what it has read is still in the first cache for the next nest.
    """
    blocked = Blocked(scop)
    fused: list[Fuse] = []
    for step in steps:
        rows = [len(order) - step.shared for order in step.orders]
        if step.shared > 1 or max(rows) != 1:
            fused.append(step)
            continue
        for size in _BLOCKS:
            try:
                blocked, orders = _split(blocked, step, size)
            except IllegalVariantError:
                continue
            fused.append(replace(step, orders=orders))
            break
        else:
            return ()
    return (*blocked.steps, *fused) if blocked.steps else ()


def _split(blocked: Blocked, step: Fuse, size: int) -> tuple[Blocked, tuple[tuple[str, ...], ...]]:
    """Each statement's outermost loop in blocks, and the orders that begin with the loops over these."""
    orders = []
    for name, order in zip(step.statements, step.orders, strict=True):
        # A statement whose loop is another one's, too, has been split with that.
        if blocked.scop.statement(name).depth == len(order):
            blocked = blocked.after([Split(name, order[0], size)])
        orders.append((blocked.outside(name, order[0]), *order))
    return blocked, tuple(orders)


def _is_heavy(scop: Scop, nest: Nest) -> bool:
    statements = [scop.statement(name) for name in nest.statements]
    largest = max(scop.array(access.array).elements for s in statements for access in s.accesses)
    return max(statement.instances for statement in statements) >= _HEAVY * largest


def elementwise_fusions(scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]) -> tuple[Proposal, ...]:
    """Proposals that make all fusions which Algorithm 3 allows; none if it allows none.

    The first has the statements of each chain in one body. Where that merges any that are attached to another nest, a
    second one leaves them apart: rewrites that split loops need those of each statement for themselves.
    """
    _, groups = decisions(scop, nests, dependences)
    known = operators(scop, nests)
    once = preparable(scop)
    groups = tuple(_at_one_time(known, group, once) for group in groups)
    proposals = [_all_fusions(known, groups, merge=merge) for merge in (True, False)]
    return tuple(dict.fromkeys(each for each in proposals if each.steps or each.attached))


def _at_one_time(known: Sequence[Operator], group: FusionGroup, once: Collection[str]) -> FusionGroup:
    """The nests of the group that run when the heavy one does: ``once``, ahead of all calls, or in each call."""

    def alike(index: int) -> bool:
        ours, theirs = (known[each].statements[0].name in once for each in (group.heavy, index))
        return ours == theirs

    before = tuple(takewhile(alike, group.before[::-1]))[::-1]
    return replace(group, before=before, after=tuple(takewhile(alike, group.after)))


def _all_fusions(known: Sequence[Operator], groups: Sequence[FusionGroup], *, merge: bool) -> Proposal:
    """All fusions of the groups; with ``merge``, the chains that are attached are one body each."""
    steps: list[Fuse] = []
    attached: list[Attach] = []
    for group in groups:
        if known[group.heavy].excess is None:
            merged = _one_body([known[index] for index in group.nests])
            steps += [merged] if merged is not None else []
            continue
        for place, chain in (("first", group.before), ("last", group.after)):
            if not chain:
                continue
            merged = _one_body([known[index] for index in chain]) if merge and len(chain) > 1 else None
            if merged is not None:
                steps.append(merged)
                chain = chain[:1]
            to = known[group.heavy].statements[0].name
            attached += [Attach(known[index].statements[0].name, to, place) for index in chain]  # type: ignore[arg-type]
    return Proposal(tuple(steps), tuple(attached))


def zeros_attached(scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]) -> tuple[Proposal, ...]:
    """One proposal that has reductions begin with zeros in place of a pass before them."""
    _, groups = decisions(scop, nests, dependences)
    known = operators(scop, nests)
    steps = []
    for group in groups:
        before = [statement for index in group.before for statement in known[index].statements]
        if known[group.heavy].excess is not None and len(before) == 1 and sets_to_zero(before[0]):
            steps.append(Attach(before[0].name, known[group.heavy].statements[0].name, "first"))
    return (Proposal((), tuple(steps)),) if steps else ()


def _one_body(chain: Sequence[Operator]) -> Fuse | None:
    """All statements of the nests in the loops of the first; None if these are a call's, or can't be paired."""
    if any(operator.scop.has_call(statement.name) for operator in chain for statement in operator.statements):
        return None
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

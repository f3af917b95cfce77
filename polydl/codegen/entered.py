"""What belongs to a loop touches memory before its first iteration and after its last one: not where there is none.

A loop of a triangle may have no iteration, and a statement may stand under a condition. Its element may then lie
outside of its array, or belong to another thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from polydl.codegen.loop_ir import Assign, Block, Body, For, If, Let, Node, assignments
from polydl.codegen.values import Binary, Expr, mentions, substituted


def where_entered(loops: Sequence[For], whole: Node) -> Node:
    """``whole``, which is nested ``loops`` with what belongs to them, for where each of them has an iteration.

    The numbers of their iterations must not depend on each other (``independent``).
    """
    conditions = _conditions(loops)
    return If(reduce(partial(Binary, "&&"), conditions), (whole,)) if conditions else whole


def independent(loops: Sequence[For]) -> bool:
    """Whether it does not depend on the counter of one of the loops whether another has an iteration."""
    return not any(mentions(condition, loop.iterator) for condition in _conditions(loops) for loop in loops)


def _conditions(loops: Sequence[For]) -> list[Expr]:
    """For each loop of which it is not known, that it has an iteration."""
    unknown = (loop for loop in loops if not _has_iterations(loop))
    return [substituted(loop.condition, {loop.iterator: loop.first}) for loop in unknown]


def runs_always(body: Body, statement: str) -> bool:
    """Whether each run of a body runs all that it has of a statement."""
    for node in body:
        if not any(assign.statement == statement for assign in assignments((node,))):
            continue
        match node:
            case Assign():
                continue
            case Block(inside) | Let(body=inside):
                certain = True
            case For(body=inside):
                certain = _has_iterations(node)
            case _:
                return False
        if not certain or not runs_always(inside, statement):
            return False
    return True


def _has_iterations(loop: For) -> bool:
    """Whether it is known to have one."""
    return bool(loop.trips)

"""Between loops that run on threads, a call may find that it has waited too long, and run the rest on one thread."""

from __future__ import annotations

from functools import partial

from polydl.codegen import team
from polydl.codegen.loop_ir import Body, Evaluate, For, Node, ParallelRegion, While, nodes, with_bodies
from polydl.codegen.values import Apply

_BETWEEN = Evaluate(Apply(team.BETWEEN, ()))


def with_choice(ir: Body, repeated: bool = False) -> Body:
    """The loops of a call that is timed (``team.judged``), with a call of ``polydl_between`` before parallel ones.

    It stands before each but the first, and before each that a loop around it repeats. ``repeated`` says that some
    parallel loop may have run before ``ir``.
    """
    changed: list[Node] = []
    for node in ir:
        if _starts_threads(node):
            changed += [_BETWEEN, node] if repeated else [node]
            repeated = True
        else:
            again = repeated or isinstance(node, For | While)
            changed.append(with_bodies(node, partial(with_choice, repeated=again)))
            repeated = repeated or has_threads((node,))
    return tuple(changed)


def has_threads(body: Body) -> bool:
    """Whether a loop is dealt to threads."""
    return any(map(_starts_threads, nodes(body)))


def _starts_threads(node: Node) -> bool:
    """Whether a node itself starts threads, whatever is inside of it."""
    pragma = node.pragma if isinstance(node, For) else None
    return isinstance(node, ParallelRegion) or (pragma is not None and "parallel" in pragma.directive)

"""Between loops that run on threads, a call may find that it has waited too long, and run the rest on one thread."""

from __future__ import annotations

from functools import partial

from polydl.codegen.loop_ir import Body, Evaluate, For, Node, ParallelRegion, While, nodes, with_bodies
from polydl.codegen.values import Apply

# A function of team.c.
BETWEEN = Evaluate(Apply("polydl_between", ()))


def with_choice(ir: Body, repeated: bool = False) -> Body:
    """The code with that question before each parallel loop but the first, and before each that an outer loop repeats.

    ``repeated`` says that some parallel loop may have run before.
    """
    changed: list[Node] = []
    for node in ir:
        if _has_threads(node):
            changed += [BETWEEN, node] if repeated else [node]
            repeated = True
        else:
            again = repeated or isinstance(node, For | While)
            changed.append(with_bodies(node, partial(with_choice, repeated=again)))
            repeated = repeated or any(map(_has_threads, nodes((node,))))
    return tuple(changed)


def _has_threads(node: Node) -> bool:
    """Whether threads start for a node."""
    pragma = node.pragma if isinstance(node, For) else None
    return isinstance(node, ParallelRegion) or (pragma is not None and "parallel" in pragma.directive)

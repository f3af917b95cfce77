"""Sums and extrema that a vector loop takes in variables: elements that all of its iterations accumulate."""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.entered import runs_always
from polydl.codegen.loop_ir import (
    Assign,
    Body,
    For,
    LoopReduction,
    Node,
    assignments,
    mapped,
    statements,
    with_values,
)
from polydl.codegen.values import Element, Expr, Name, with_elements


def run(ir: Body, context: Context) -> Body:
    """Vector loops get a ``LoopReduction`` for each of their sums and extrema.

    A loop with a sum under a condition gets none, and no vectors.
    """

    def reduced(node: Node) -> Node:
        return _with_reductions(node, context) if isinstance(node, For) and node.vector else node

    return mapped(ir, reduced)


def _with_reductions(loop: For, context: Context) -> For:
    """The loop with a variable for each of its sums and extrema: for each statement, and for each of its copies.

    Those that look for an extremum in the same element share one: each would replace what the others have found. A
    loop with a sum under a condition gets none, and no vectors.
    """
    summed_here = [name for name in statements(loop.body) if loop.place in context.facts[name].sums]
    if not all(runs_always(loop.body, name) for name in summed_here):
        return replace(loop, vector=False)
    extrema: dict[Element, LoopReduction] = {}
    found: dict[tuple[str, str], LoopReduction] = {}
    for number, statement in enumerate(sorted(statements(loop.body))):
        facts = context.facts[statement]
        if loop.place not in facts.sums:
            continue
        for assign in assignments(loop.body):
            if assign.statement == statement and (statement, assign.copy) not in found:
                assert isinstance(assign.target, Element)
                kind = context.sum_type(assign, facts.sums[loop.place], facts.counts[loop.place])
                name = f"polydl_sum{number}{assign.copy}"
                reduction = LoopReduction(name, kind, assign.target, statement, facts.operation)
                if facts.operation != "+":
                    reduction = extrema.setdefault(assign.target, reduction)
                found[statement, assign.copy] = reduction

    def summed(node: Node) -> Node:
        if not isinstance(node, Assign) or (node.statement, node.copy) not in found:
            return node
        reduction = found[node.statement, node.copy]

        def place(element: Element) -> Expr:
            return Name(reduction.variable) if element.array == reduction.target.array else element

        return with_values(node, lambda value: with_elements(value, place))

    return replace(loop, body=mapped(loop.body, summed), reductions=tuple(dict.fromkeys(found.values())))

"""Values that a statement needs several times, in a variable each (common-subexpression elimination).

A local scalar that the source sets and then reads is forwarded to each of its uses, so that a value with a bound,
``t < 0 ? 0 : t``, has all of what ``t`` is twice. Compilers find that again, but make masks of masks of the
conditionals around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Block, Body, Declare, Node, Variable, rewritten
from polydl.codegen.values import Cast, Element, Expr, Name, always, walk, with_parts


def run(ir: Body, context: Context) -> Body:  # noqa: ARG001
    """Conversions that an assignment has several times are declared as constants before it.

    Those outside of all loops get a scope: nests without loops have one in common, and each counts its constants anew.
    """
    changed = with_common_values(ir)
    return changed if len(changed) == len(ir) else (Block(changed),)


def with_common_values(body: Body) -> Body:
    """The body with variables for what its statements convert to a type several times."""
    numbers = count()
    return rewritten(body, lambda node: _taken_apart(node, numbers) if isinstance(node, Assign) else (node,))


def _taken_apart(statement: Assign, numbers: Iterator[int]) -> tuple[Node, ...]:
    declared: list[Declare] = []

    def variables_of(value: Expr) -> Expr:
        while (common := _common(value)) is not None:
            # What is common to the parts of a value comes before it.
            initial = variables_of(common.operand)
            name = f"polydl_value{next(numbers)}"
            variable = Variable(name, initial=Cast(common.type, initial))
            declared.append(Declare(common.type, (variable,), constant=True))
            value = _with(value, common, Name(name))
        return value

    value = variables_of(statement.value)
    return (*declared, replace(statement, value=value)) if declared else (statement,)


def _common(value: Expr) -> Cast | None:
    """The first of the largest conversions that an expression has several times, once of them in any case."""
    casts = [part for part in walk(value) if isinstance(part, Cast) and not isinstance(part.operand, Name | Element)]
    counts = Counter(casts)
    if all(times == 1 for times in counts.values()):
        return None
    computed = set(always(value))
    return next((cast for cast in casts if counts[cast] > 1 and cast in computed), None)


def _with(value: Expr, one: Expr, other: Expr) -> Expr:
    return other if value == one else with_parts(value, lambda part: _with(part, one, other))

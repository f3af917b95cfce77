"""Nests that add terms up, in an array of floats or in a number of each element, as the type of the result asks.

A float is added up where it lies. A bfloat16 can't be: its terms are added up as floats, and their sum is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from textwrap import indent

from polydl.models.epilogue import Step
from polydl.models.kernel_text import channels_together, element_wise, written
from polydl.models.layout import Image, Layout, Loops, Scratch, nest

_SUMS, _NUMBER = "sums", "result"


def sums_of(output: Layout) -> Layout:
    """The array that terms are added up in: the output, or floats in its shape, without a border."""
    if output.value_type == "float":
        return output
    if isinstance(output, Image):
        return replace(output, border=(0, 0), value_type="float", padding=0)
    return replace(output, value_type="float")


def name_of_sums(output: Layout) -> str:
    """What the array of ``sums_of`` is called in C."""
    return "output" if output.value_type == "float" else _SUMS


def scratch_of_sums(output: Layout) -> tuple[Scratch, ...]:
    """The same array as one that no other operator needs, if it is not the output."""
    return () if output.value_type == "float" else (Scratch(_SUMS, sums_of(output).extents),)


def in_a_number(output: Layout, operands: Sequence[Layout]) -> bool:
    """Whether each element can be added up in a number of its own, with the operands' elements in the same loops."""
    if output.value_type == "float":
        return False
    return not isinstance(output, Image) or channels_together(output, operands) == output.block


def started(output: Layout, operands: Sequence[Layout], summand: str) -> tuple[str, Callable[[str], str] | None]:
    """What ``accumulated`` begins with, and what it does behind the terms, for a summand of each element.

    Numbers begin with 0, which asks for no memory to be read, and get the summand at the end; elements of arrays begin
    with it.
    """
    if in_a_number(output, operands):
        return "0.0f", lambda result: f"{result} + {summand}"
    return summand, None


def accumulated(
    output: Layout, steps: Sequence[Step], operands: Sequence[Layout], loops: Loops, start: str,
    update: Callable[[str], str], *, condition: str = "", finish: Callable[[str], str] | None = None, block: int = 0,
) -> list[str]:  # fmt: skip
    """Nests that compute each element from ``start`` by updates in ``loops``, some of which are the output's own.

    ``update`` is the statement that changes a variable, where ``condition`` holds, and ``finish`` the expression of the
    element before the steps. ``block`` is that of a row-major output's last dimension in the loops. Terms are added up
    in numbers where that is possible.
    """
    if in_a_number(output, operands):
        return [_numbers(output, steps, operands, loops, start, update, condition, finish, block)]
    target = sums_of(output).element(name_of_sums(output), block)
    updates = [(loops, update(target.place))]
    return accumulated_in_array(
        output, steps, operands, updates, start, condition=condition, finish=finish, block=block
    )


def accumulated_in_array(
    output: Layout, steps: Sequence[Step], operands: Sequence[Layout], updates: Sequence[tuple[Loops, str]], start: str,
    *, condition: str = "", finish: Callable[[str], str] | None = None, block: int = 0,
) -> list[str]:  # fmt: skip
    """Like ``accumulated``, by several statements in loops of their own, in the output or ``scratch_of_sums``."""
    sums, name = sums_of(output), name_of_sums(output)
    return [
        nest(sums.loops(block), sums.element(name, block).assigned(start)),
        *(nest(loops, statement, condition) for loops, statement in updates),
        *finished(output, steps, operands, finish, block),
    ]


def finished(
    output: Layout, steps: Sequence[Step], operands: Sequence[Layout], finish: Callable[[str], str] | None = None,
    block: int = 0,
) -> list[str]:  # fmt: skip
    """The nest that makes the output of its sums, if it does anything."""
    block = channels_together(output, operands) or block
    target = sums_of(output).element(name_of_sums(output), block)
    source = "" if target.place == output.element("output", block).place else target
    text = element_wise(output, finish(target.place) if finish else source, steps, operands, block)
    return [text] if text else []


def _numbers(
    output: Layout, steps: Sequence[Step], operands: Sequence[Layout], loops: Loops, start: str,
    update: Callable[[str], str], condition: str, finish: Callable[[str], str] | None,
    block: int,
) -> str:  # fmt: skip
    places = output.loops(block)
    terms = tuple(loop for loop in loops if loop not in places)
    result = finish(_NUMBER) if finish else _NUMBER
    body = [
        f"  float {_NUMBER} = {start};",
        nest(terms, update(_NUMBER), condition),
        "  " + written(output, result, steps, operands, output.block if isinstance(output, Image) else block),
    ]
    margin = "  " * (len(places) + 1)
    return nest(places, "\n".join(["{", *(indent(each, margin) for each in body), f"{margin}}}"]))

"""Extents and numbers of iterations as sums of sizes: ``H``, ``2 * H + 3``, in a form that C, isl and polydl read."""

from __future__ import annotations

import ast
from collections.abc import Mapping

#: The coefficient of each size; that of "" is the constant.
Sum = dict[str, int]


def parsed(text: str, sizes: Mapping[str, int | None]) -> Sum | None:
    """C of an integer as a sum of sizes; None for anything else.

    ``sizes`` has the integers that may be named: those with a value stand for it.
    """
    try:
        return _sum(ast.parse(text.strip(), mode="eval").body, sizes)
    except (SyntaxError, ValueError):
        return None


def _sum(node: ast.expr, sizes: Mapping[str, int | None]) -> Sum | None:
    match node:
        case ast.Constant(value=int(number)):
            return {"": number}
        case ast.Name(id=name) if name in sizes:
            value = sizes[name]
            return {name: 1} if value is None else {"": value}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_sum(operand, sizes), -1)
        case ast.BinOp(left=left, op=operator, right=right):
            one, other = _sum(left, sizes), _sum(right, sizes)
            if one is None or other is None:
                return None
            match operator:
                case ast.Add():
                    return _added(one, other)
                case ast.Sub():
                    negative = _scaled(other, -1)
                    return None if negative is None else _added(one, negative)
                case ast.Mult() if not other.keys() - {""}:
                    return _scaled(one, other.get("", 0))
                case ast.Mult() if not one.keys() - {""}:
                    return _scaled(other, one.get("", 0))
    return None


def _scaled(terms: Sum | None, factor: int) -> Sum | None:
    return None if terms is None else {name: factor * number for name, number in terms.items()}


def _added(one: Sum, other: Sum) -> Sum:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def written(terms: Sum) -> str:
    """The sum as text. The same for equal sums over the same sizes."""
    parts = [
        f"{'-' if number < 0 else '+'} {name if abs(number) == 1 else f'{abs(number)} * {name}'}"
        for name, number in sorted(terms.items())
        if name and number
    ]
    constant = terms.get("", 0)
    if constant or not parts:
        parts.append(f"{'-' if constant < 0 else '+'} {abs(constant)}")
    return " ".join(parts).removeprefix("+ ")


def value(text: str, sizes: Mapping[str, int]) -> int:
    """The number that a written sum is at some sizes. Raises KeyError for one that isn't known."""
    if text in sizes:
        return sizes[text]
    terms = parsed(text, sizes)
    if terms is None or terms.keys() - {""}:
        raise KeyError(text)
    return terms.get("", 0)


def only_size(text: str, number: int, sizes: Mapping[str, int | None]) -> tuple[str, int] | None:
    """The one size in a written sum that has no value, and the value with which the sum is ``number``."""
    terms = parsed(text, sizes) or {}
    unknown = [name for name, factor in terms.items() if name and factor]
    if len(unknown) != 1:
        return None
    left, factor = number - terms.get("", 0), terms[unknown[0]]
    return (unknown[0], left // factor) if left % factor == 0 else None


def long(text: str) -> str:
    """C of a written sum as a ``long``."""
    if text.isdigit():
        return text
    return f"(long){text}" if text.isidentifier() else f"((long)({text}))"

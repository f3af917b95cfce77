"""Products of a small constant matrix with a vector of C variables, as declarations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from polydl.ir.calls import Matrix


def linear(
    matrix: Matrix, inputs: Sequence[str], outputs: Sequence[str], temporary: str, kind: str, suffix: str
) -> list[str]:
    """Declarations of ``outputs`` as the matrix times ``inputs``; names of sums in between begin with ``temporary``.

    Two neighbouring columns or rows that differ in signs alone share the sum and the difference of what they have in
    common: the points of such transforms come in pairs, one the negative of the other.
    """
    lines: list[str] = []
    columns: list[tuple[str, list[Fraction]]] = []
    place = 0
    while place < len(inputs):
        one = [row[place] for row in matrix]
        two = [row[place + 1] for row in matrix] if place + 1 < len(inputs) else []
        if _signs_alone(one, two) and sum(1 for each in one if each) > 2:
            names = inputs[place], inputs[place + 1]
            equal = [a if a == b else Fraction(0) for a, b in zip(one, two, strict=True)]
            opposite = [a if a != b else Fraction(0) for a, b in zip(one, two, strict=True)]
            for sign, letter, column in (("+", "s", equal), ("-", "d", opposite)):
                lines.append(f"const {kind} {temporary}{letter}{place} = {names[0]} {sign} {names[1]};")
                columns.append((f"{temporary}{letter}{place}", column))
            place += 2
        else:
            columns.append((inputs[place], one))
            place += 1
    number = 0
    while number < len(outputs):
        row = _terms(columns, number)
        other = _terms(columns, number + 1) if number + 1 < len(outputs) else {}
        same = {name: c for name, c in row.items() if other.get(name) == c}
        turned = {name: c for name, c in row.items() if other.get(name) == -c}
        if len(same) + len(turned) == len(row) == len(other) and same and turned and len(row) > 2:
            for letter, part in (("e", same), ("o", turned)):
                lines.append(f"const {kind} {temporary}{letter}{number} = {_sum(part, suffix)};")
            lines.append(f"const {kind} {outputs[number]} = {temporary}e{number} + {temporary}o{number};")
            lines.append(f"const {kind} {outputs[number + 1]} = {temporary}e{number} - {temporary}o{number};")
            number += 2
        else:
            lines.append(f"const {kind} {outputs[number]} = {_sum(row, suffix)};")
            number += 1
    return lines


def _signs_alone(one: Sequence[Fraction], two: Sequence[Fraction]) -> bool:
    """Whether two columns have the same sizes, with equal signs in some rows and opposite ones in others."""
    if len(one) != len(two) or any(abs(a) != abs(b) for a, b in zip(one, two, strict=True)):
        return False
    pairs = list(zip(one, two, strict=True))
    return any(a and a == b for a, b in pairs) and any(a != b for a, b in pairs)


def _terms(columns: Sequence[tuple[str, Sequence[Fraction]]], row: int) -> dict[str, Fraction]:
    return {name: column[row] for name, column in columns if column[row]}


def _sum(terms: dict[str, Fraction], suffix: str) -> str:
    """Terms with a positive factor first, so that no line begins with a sign if there is a choice."""
    text = ""
    for name, factor in sorted(terms.items(), key=lambda term: term[1] < 0):
        size = abs(factor)
        own = name if size == 1 else f"{float(size)!r}{suffix} * {name}"
        text += (f" {'-' if factor < 0 else '+'} " if text else "-" if factor < 0 else "") + own
    return text


@lru_cache(maxsize=64)
def operations(matrix: Matrix) -> int:
    """Additions and multiply-adds that ``linear`` writes for one product with a vector."""
    inputs, outputs = (
        [f"{name}{place}" for place in range(n)] for name, n in (("x", len(matrix[0])), ("y", len(matrix)))
    )
    lines = linear(matrix, inputs, outputs, "t", "V", "")
    return sum(max(1, line.count(" + ") + line.count(" - ")) for line in lines)

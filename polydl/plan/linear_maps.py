"""Products of a small constant matrix with a vector, as sums that share what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from polydl.ir.calls import Matrix


@dataclass(frozen=True)
class Sum:
    """A value that is a sum of others, each with a factor that is not zero."""

    name: str
    #: the other values by name, with their factors
    terms: tuple[tuple[str, Fraction], ...]

    @property
    def operations(self) -> int:
        """Additions and multiply-adds; a single term takes one as well."""
        return max(1, len(self.terms) - 1)


def linear_sums(matrix: Matrix, inputs: Sequence[str], outputs: Sequence[str], temporary: str) -> tuple[Sum, ...]:
    """The sums, in order, that make ``outputs`` the matrix times ``inputs``.

    Names of sums in between begin with ``temporary``. Two neighbouring columns or rows that differ in signs alone share
    the sum and the difference of what they have in common: the points of such transforms come in pairs, one the
    negative of the other.
    """
    sums: list[Sum] = []
    columns: list[tuple[str, list[Fraction]]] = []
    plus, minus = Fraction(1), Fraction(-1)
    place = 0
    while place < len(inputs):
        one = [row[place] for row in matrix]
        two = [row[place + 1] for row in matrix] if place + 1 < len(inputs) else []
        if _signs_alone(one, two) and sum(1 for factor in one if factor) > 2:
            names = inputs[place], inputs[place + 1]
            equal = [a if a == b else Fraction(0) for a, b in zip(one, two, strict=True)]
            opposite = [a if a != b else Fraction(0) for a, b in zip(one, two, strict=True)]
            for sign, letter, column in ((plus, "s", equal), (minus, "d", opposite)):
                sums.append(Sum(f"{temporary}{letter}{place}", ((names[0], plus), (names[1], sign))))
                columns.append((f"{temporary}{letter}{place}", column))
            place += 2
        else:
            columns.append((inputs[place], one))
            place += 1
    number = 0
    while number < len(outputs):
        row = _terms(columns, number)
        other = _terms(columns, number + 1) if number + 1 < len(outputs) else {}
        same = {name: factor for name, factor in row.items() if other.get(name) == factor}
        turned = {name: factor for name, factor in row.items() if other.get(name) == -factor}
        if len(same) + len(turned) == len(row) == len(other) and same and turned and len(row) > 2:
            even, odd = f"{temporary}e{number}", f"{temporary}o{number}"
            sums += [Sum(even, tuple(same.items())), Sum(odd, tuple(turned.items()))]
            sums.append(Sum(outputs[number], ((even, plus), (odd, plus))))
            sums.append(Sum(outputs[number + 1], ((even, plus), (odd, minus))))
            number += 2
        else:
            sums.append(Sum(outputs[number], tuple(row.items())))
            number += 1
    return tuple(sums)


@lru_cache(maxsize=64)
def operations(matrix: Matrix) -> int:
    """Additions and multiply-adds of one product with a vector, as ``linear_sums`` shares them."""
    inputs = [f"x{place}" for place in range(len(matrix[0]))]
    outputs = [f"y{place}" for place in range(len(matrix))]
    return sum(each.operations for each in linear_sums(matrix, inputs, outputs, "t"))


def _signs_alone(one: Sequence[Fraction], two: Sequence[Fraction]) -> bool:
    """Whether two columns have the same sizes, with equal signs in some rows and opposite ones in others."""
    if len(one) != len(two) or any(abs(a) != abs(b) for a, b in zip(one, two, strict=True)):
        return False
    pairs = list(zip(one, two, strict=True))
    return any(a and a == b for a, b in pairs) and any(a != b for a, b in pairs)


def _terms(columns: Sequence[tuple[str, Sequence[Fraction]]], row: int) -> dict[str, Fraction]:
    return {name: column[row] for name, column in columns if column[row]}

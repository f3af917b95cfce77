"""Affine forms of a statement's iterators, and boxes of integers that these run over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Inclusive ranges of every dimension.
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Affine:
    """``sum(coefficient * iterator) + constant`` over the iterators of one statement."""

    coefficients: tuple[int, ...]
    constant: int = 0

    def at(self, point: tuple[int, ...]) -> int:
        return self.constant + sum(c * x for c, x in zip(self.coefficients, point, strict=True))


def iterator_form(place: int, depth: int, constant: int = 0) -> Affine:
    """The iterator at one of ``depth`` places, and a constant."""
    return Affine(tuple(int(other == place) for other in range(depth)), constant)


def composed(form: Affine, loops: Sequence[Affine], depth: int) -> Affine:
    """A form of iterators that are themselves forms of ``depth`` others."""
    made = combined(loops, form.coefficients) if loops else Affine((0,) * depth)
    return Affine(made.coefficients, made.constant + form.constant)


def combined(forms: Sequence[Affine], factors: Sequence[int]) -> Affine:
    """The sum of the forms, each multiplied."""
    rows = zip(*(form.coefficients for form in forms), strict=True)
    coefficients = tuple(sum(f * c for f, c in zip(factors, row, strict=True)) for row in rows)
    return Affine(coefficients, sum(f * form.constant for f, form in zip(factors, forms, strict=True)))


def value_range(form: Affine, box: Box) -> tuple[int, int]:
    """The least and the greatest value of a form over a box."""
    ends = [(c * low, c * high) for c, (low, high) in zip(form.coefficients, box, strict=True)]
    return form.constant + sum(map(min, ends)), form.constant + sum(map(max, ends))

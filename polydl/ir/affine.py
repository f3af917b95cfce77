"""Affine forms of a statement's iterators, and the boxes of integers that iterators run over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Inclusive (low, high) bounds of each dimension.
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Affine:
    """``sum(coefficient * iterator) + constant`` over the iterators of one statement."""

    #: one for each iterator of the statement, outermost first
    coefficients: tuple[int, ...]
    #: what is added to the terms
    constant: int = 0

    def at(self, point: tuple[int, ...]) -> int:
        """The value for one value of each iterator."""
        return self.constant + sum(c * x for c, x in zip(self.coefficients, point, strict=True))

    def text(self, iterators: Sequence[str]) -> str:
        """The form as isl reads it, ``2i + -1j + 3``, with these names of the iterators."""
        terms = [f"{c}{name}" for c, name in zip(self.coefficients, iterators, strict=True) if c]
        return " + ".join([*terms, str(self.constant)])

    @property
    def single_iterator(self) -> int | None:
        """``p`` where the form is ``iterator[p] + constant`` with any constant; None for every other form."""
        used = [position for position, coefficient in enumerate(self.coefficients) if coefficient]
        return used[0] if len(used) == 1 and self.coefficients[used[0]] == 1 else None


def iterator_form(position: int, depth: int, constant: int = 0) -> Affine:
    """``iterator[position] + constant`` over ``depth`` iterators."""
    return Affine(tuple(int(other == position) for other in range(depth)), constant)


def composed(form: Affine, loops: Sequence[Affine], depth: int) -> Affine:
    """``form`` with each of its iterators replaced by the form in ``loops``, which is over ``depth`` new iterators."""
    linear = combined(loops, form.coefficients) if loops else Affine((0,) * depth)
    return Affine(linear.coefficients, linear.constant + form.constant)


def combined(forms: Sequence[Affine], factors: Sequence[int]) -> Affine:
    """The linear combination ``sum(factor * form)``. The forms, at least one, are over the same iterators."""
    rows = zip(*(form.coefficients for form in forms), strict=True)
    coefficients = tuple(sum(f * c for f, c in zip(factors, row, strict=True)) for row in rows)
    return Affine(coefficients, sum(f * form.constant for f, form in zip(factors, forms, strict=True)))


def value_range(form: Affine, box: Box) -> tuple[int, int]:
    """The least and the greatest value of a form whose iterators run over ``box``."""
    ends = [(c * low, c * high) for c, (low, high) in zip(form.coefficients, box, strict=True)]
    return form.constant + sum(map(min, ends)), form.constant + sum(map(max, ends))


def box_extents(box: Box) -> tuple[int, ...]:
    """The number of integers in each dimension of a box."""
    return tuple([high - low + 1 for low, high in box])

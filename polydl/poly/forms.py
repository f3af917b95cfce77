"""Affine forms of a statement's iterators, made of others."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.types import Affine


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

"""Products of a small constant matrix with a vector of C variables, as declarations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polydl.ir.calls import Matrix
from polydl.plan.linear_maps import Sum, linear_sums


def linear(
    matrix: Matrix, inputs: Sequence[str], outputs: Sequence[str], temporary: str, kind: str, suffix: str
) -> list[str]:
    """Declarations of ``outputs`` as the matrix times ``inputs``; names of sums in between begin with ``temporary``.

    All are of the C type ``kind``, and constants end in ``suffix``.
    """
    sums = linear_sums(matrix, inputs, outputs, temporary)
    return [f"const {kind} {each.name} = {_text(each, suffix)};" for each in sums]


def factors(matrix: Matrix) -> tuple[Fraction, ...]:
    """The constants in the declarations that ``linear`` makes of a matrix, whatever its variables are called."""
    inputs = [f"x{place}" for place in range(len(matrix[0]))]
    outputs = [f"y{place}" for place in range(len(matrix))]
    sums = linear_sums(matrix, inputs, outputs, "t")
    return tuple(dict.fromkeys(abs(factor) for each in sums for _, factor in each.terms if abs(factor) != 1))


def _text(value: Sum, suffix: str) -> str:
    """Terms with a positive factor first, so that no line begins with a sign if there is a choice."""
    text = ""
    for name, factor in sorted(value.terms, key=lambda term: term[1] < 0):
        size = abs(factor)
        term = name if size == 1 else f"{float(size)!r}{suffix} * {name}"
        text += (f" {'-' if factor < 0 else '+'} " if text else "-" if factor < 0 else "") + term
    return text

"""How products by a bilinear algorithm round, beside sums of the same products one by one.

Roundings are taken to be independent and of mean zero, as in Higham and Mary (SIAM J. Sci. Comput. 41(5), 2019), and
so are the operands' elements: errors are then root mean squares, and those of ``K`` successive additions grow as K
(of a sum that itself grows as its square root), not as in the worst case. ``experiments/accuracy.py`` measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod, sqrt

from polydl.ir.calls import Matrix


@dataclass(frozen=True)
class Bilinear:
    """Matrices of ``y = result ((left a) * (right b))``; several of these together have their Kronecker product."""

    #: a row per output
    result: Matrix
    #: a row per product
    left: Matrix
    #: a row per product
    right: Matrix


@dataclass(frozen=True)
class _Row:
    """A row of a matrix, applied to values of variance 1 with one rounding per addition."""

    #: variance of the sum
    variance: float
    #: variance of its error, in units of its own variance times that of a rounding
    error: float


def _row(coefficients: Sequence[Fraction]) -> _Row:
    squares = [float(each) ** 2 for each in coefficients if each]
    total, sums, error = sum(squares), 0.0, 0.0
    for place, square in enumerate(squares):
        sums += square
        error += sums if place else 0.0
    return _Row(total, error / total)


def error_factor(axes: Sequence[Bilinear], sums: int, source_sums: int) -> float:
    """The error of a product by the axes' algorithms together, over that of the source's sums.

    Each product of the algorithm is one of sums of ``sums`` terms, and each element of the source's result a sum of
    ``source_sums``. Both errors are those of all of the result, norm-wise.
    """
    points = list(product(*(range(len(axis.left)) for axis in axes)))
    variances, errors = [], []
    for point in points:
        rows = [_row(side[place]) for axis, place in zip(axes, point, strict=True) for side in (axis.left, axis.right)]
        variances.append(prod(row.variance for row in rows))
        errors.append(sum(row.error for row in rows) + (sums + 1) / 2)
    total, outputs = 0.0, list(product(*(range(len(axis.result)) for axis in axes)))
    for output in outputs:
        ways = [axis.result[place] for axis, place in zip(axes, output, strict=True)]
        last = sum(_row(way).error for way in ways)
        for point, variance, error in zip(points, variances, errors, strict=True):
            share = prod(float(way[place]) ** 2 for way, place in zip(ways, point, strict=True))
            total += share * variance * sums * (error + last)
    return sqrt(total / len(outputs) / (source_sums * (source_sums + 1) / 2))

"""The tolerance of results: the largest error of a correct variant relative to the original."""

from __future__ import annotations

import math
from collections import defaultdict

import islpy as isl
import numpy as np

from polydl import bfloat16
from polydl.element_types import element_dtype
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access

#: Missing one term of a sum of 10,000 is an error of some 2^-9 of the largest result.
LARGEST = 2.0**-9
_MARGIN = 16.0
# Twice the distance from one bfloat16 to the next.
_NEXT_BFLOAT16 = 2.0**-6


def tolerance(scop: Scop) -> float:
    """The largest norm-wise error of a correct result: 16 eps sqrt(K), for K roundings on the way to an element.

    ``eps`` is that of the coarsest floating-point type among the arrays; without one the tolerance is 0, since integers
    must be equal. Products of bfloat16 are exact in float, so that bfloat16 arrays count only if they are written; a
    value rounded to bfloat16 may become a neighbouring one.
    """
    dtypes = [element_dtype(array.element) for array in scop.arrays]
    precisions = [float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind == "f"]
    written = {access.array for statement in scop.statements for access in statement.writes}
    least = _NEXT_BFLOAT16 if any(scop.array(name).element == bfloat16.ELEMENT for name in written) else 0.0
    if not precisions:
        return least
    one_rounding = _MARGIN * max(precisions)
    return max(least, min(one_rounding * math.sqrt(roundings(scop)), max(one_rounding, LARGEST)))


def with_source_error(least: float, source_error: float) -> float:
    """The tolerance of a nest that magnifies roundings, as factorizations do: 16 times the error of the source's own.

    ``least`` is ``tolerance``, ``source_error`` the norm-wise error of the source's arithmetic against a wider type.
    """
    return max(least, min(_MARGIN * source_error, LARGEST))


def roundings(scop: Scop) -> float:
    """The approximate number of successive roundings that lead to one element of the result; at least 1.

    For each array it is the number of instances that update it (that read the array they write), divided by the number
    of accumulations: the instances that assign it, or its elements if they are more. Instances that assign an element
    of an array that outlives the nest count as one rounding each.
    """
    updates: dict[str, int] = defaultdict(int)
    assignments: dict[str, int] = defaultdict(int)
    elements: dict[str, int] = defaultdict(int)
    for statement in scop.statements:
        for access in statement.writes:
            read_arrays = {read.array for read in statement.reads}
            (updates if access.array in read_arrays else assignments)[access.array] += statement.instances
            reached = _elements_reached(access, scop.array(access.array))
            elements[access.array] = max(elements[access.array], reached)
    total = 0.0
    for name, reached in elements.items():
        total += updates[name] / max(reached, assignments[name])
        total += assignments[name] / reached if scop.array(name).storage != "local" else 1.0
    return max(total, 1.0)


def _elements_reached(access: Access, array: Array) -> int:
    """The size of the bounding box of the elements, which is their number where they are dense."""
    reached = isl.Map(access.relation).range()
    size = 1
    for dimension in range(len(array.extents)):
        low, high = reached.dim_min_val(dimension), reached.dim_max_val(dimension)
        if not (low.is_int() and high.is_int()):
            return array.elements
        size *= high.to_python() - low.to_python() + 1
    return max(min(size, array.elements), 1)

"""The exact number of integer points of a set, and quotas on isl's work.

isl's ``count_val`` enumerates the points of all dimensions but the innermost, which takes most of a minute for a box of
4096³. Here each disjoint piece is split into groups of dimensions that constraints couple. A group of one dimension is
counted from its bounds. A larger group is counted in rows along one dimension, with the bounds of all rows in arrays.
isl enumerates only groups that have no such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import islpy as isl
import numpy as np
import numpy.typing as npt

from polydl.errors import AnalysisError, QuotaError
from polydl.ir.scop import Scop
from polydl.poly.boxes import bounding_box

_SET, _DIV, _PARAMETER, _CONSTANT = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst
# Some seconds for one question about a nest.
_NEST_OPERATIONS = 200_000_000
# Two to three seconds of isl's walking, or of rows.
_OPERATIONS = 20_000_000
# What a row costs, roughly, in isl's operations.
_ROW_OPERATIONS = 10
# Rows whose bounds are computed together.
_ROWS = 1 << 16
_REMEDY = "make the sizes smaller, or write the subscripts without divisions and conditions"
_REMEDY_FOR_MANY = (
    "put fewer statements into the region: join those that write the same element, or move some to another function"
)
# Statements of a region whose number is a likelier reason than what each of them is.
_MANY = 20

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class _Quota:
    """The limit on work in one isl context."""

    context: isl.Context
    #: operations that counting in rows may still spend
    left: int


# isl's contexts can be compared, but those that are equal have different hashes.
_quotas: list[_Quota] = []


def _quota_of(context: isl.Context) -> _Quota | None:
    return next((granted for granted in _quotas if granted.context == context), None)  # type: ignore[misc]


@contextmanager
def quota(context: isl.Context, operations: int) -> Iterator[None]:
    """A context in which isl may spend at most ``operations`` (at least 1), and counting in rows as many again.

    Inside of another quota of the same isl context, only the outer one counts. Raises AnalysisError when the quota is
    used up, and when isl fails.
    """
    if _quota_of(context) is not None:
        yield
        check_quota(context)
        return
    context.reset_operations()
    context.set_max_operations(operations)
    granted = _Quota(context, operations)
    _quotas.append(granted)
    try:
        yield
        check_quota(context)
    except (isl.Error, TypeError) as error:
        # What a parser says when the quota ends in it is that there is something wrong with the text. And where islpy
        # makes a Python value of what isl has not computed, that is a TypeError.
        if "operations" in str(error) or _has_ended(context):
            raise QuotaError(f"isl gave up after {operations} operations", remedy=_REMEDY) from error
        if isinstance(error, TypeError):
            raise
        raise AnalysisError(f"isl failed: {error}", remedy=_REMEDY) from error
    finally:
        _quotas.remove(granted)
        context.set_max_operations(0)
        context.reset_operations()


def limited(function: Callable[Concatenate[Scop, P], T]) -> Callable[Concatenate[Scop, P], T]:
    """Decorator: gives each call of ``function``, which uses isl's default context, a quota of some seconds.

    A call raises AnalysisError, with the file and the line of the scop, when its quota is used up.
    """

    @wraps(function)
    def asked(scop: Scop, /, *arguments: P.args, **options: P.kwargs) -> T:
        try:
            with quota(isl.DEFAULT_CONTEXT, _NEST_OPERATIONS):
                return function(scop, *arguments, **options)
        except AnalysisError as error:
            if error.remedy == _REMEDY and len(scop.statements) > _MANY:
                error.remedy = _REMEDY_FOR_MANY
            raise placed(error, scop) from error

    return asked


def placed(error: AnalysisError, scop: Scop) -> AnalysisError:
    """The same error with the scop's file and line, unless it has a file already."""
    if error.file is not None:
        return error
    return AnalysisError(error.message, file=scop.file, line=scop.line, construct=error.construct, remedy=error.remedy)


def check_quota(context: isl.Context) -> None:
    """Raises isl.Error if the quota has ended. It is needed after ``count_val``, which then returns a partial count."""
    isl.Set.read_from_str(context, "{ [] }").is_empty()


def _has_ended(context: isl.Context) -> bool:
    try:
        check_quota(context)
    except isl.Error:
        return True
    return False


def count(points: str | isl.BasicSet | isl.Set | isl.UnionSet, *, operations: int = _OPERATIONS) -> int:
    """The number of integer points of a set or a union of sets.

    ``operations`` limits the work on one group of coupled dimensions: its rows, or the operations of isl. Raises
    AnalysisError beyond that limit, for an unbounded set, and for a set with parameters.
    """
    union = isl.UnionSet(points) if isinstance(points, str) else points
    if isinstance(union, isl.BasicSet):
        union = isl.Set.from_basic_set(union)
    sets = _sets(union) if isinstance(union, isl.UnionSet) else [union]
    return sum(_count_set(piece, operations) for piece in sets)


def spend(
    rows: int,
    counted: isl.Set | isl.BasicSet | isl.Map,
    *,
    most: int = _OPERATIONS,
    cost: int = _ROW_OPERATIONS,
) -> None:
    """Takes the work on so many rows from the quota of isl's context, at ``cost`` operations of isl's for a row.

    ``counted`` is what they are counted for. Raises AnalysisError for more than ``most`` rows, and for more than the
    quota has left.
    """
    around = _quota_of(counted.get_ctx())
    if around is not None:
        most = min(most, around.left // cost)
        around.left -= rows * cost
    if rows > most:
        raise AnalysisError(
            f"counting {rows} rows takes more than the {most} operations that are left",
            construct=_shortened(counted),
            remedy=_REMEDY,
        )


def components(coupled: Iterable[Sequence[int]], members: int) -> list[list[int]]:
    """The connected components of the numbers from 0 to ``members - 1``, each in ascending order.

    All numbers of one sequence in ``coupled`` are connected.
    """
    label = list(range(members))
    for group in coupled:
        for other in group[1:]:
            old, new = label[other], label[group[0]]
            if old != new:
                label = [new if current == old else current for current in label]
    groups: dict[int, list[int]] = {}
    for member, component in enumerate(label):
        groups.setdefault(component, []).append(member)
    return list(groups.values())


def matrix_rows(matrix: isl.Mat) -> list[list[int]]:
    """The rows of an isl matrix as Python integers."""
    columns = range(matrix.cols())
    return [[matrix.get_element_val(row, column).to_python() for column in columns] for row in range(matrix.rows())]


def _sets(union: isl.UnionSet) -> list[isl.Set]:
    sets = union.get_set_list()
    return [sets.get_at(index) for index in range(sets.n_set())]


def _count_set(points: isl.Set, operations: int) -> int:
    if points.dim(_PARAMETER) > 0 and points.involves_dims(_PARAMETER, 0, points.dim(_PARAMETER)):
        raise AnalysisError(f"a set with parameters can't be counted: {points}")
    disjoint = points.project_out(_PARAMETER, 0, points.dim(_PARAMETER)).compute_divs()
    if disjoint.n_basic_set() > 1:
        disjoint = disjoint.make_disjoint()
    return sum(_count_basic(piece, operations) for piece in disjoint.get_basic_sets())


def coupled_dimensions(points: isl.BasicSet) -> list[list[int]]:
    """Groups of dimensions that constraints couple. Members are also integer divisions, numbered after dimensions."""
    members = range(points.dim(_SET) + points.dim(_DIV))
    equalities, inequalities = constraint_rows(points)
    rows = [*equalities, *inequalities, *(row for row in division_rows(points) if row is not None)]
    return components(([m for m in members if row[m]] for row in rows), len(members))


def _count_basic(points: isl.BasicSet, operations: int) -> int:
    if points.is_empty():
        return 0
    if None in division_rows(points):
        return _count_set(isl.Set.from_basic_set(points), operations)
    dimensions = points.dim(_SET)
    total = 1
    for group in coupled_dimensions(points):
        coupled = [member for member in group if member < dimensions]
        if not coupled:
            continue
        if len(group) == 1:
            total *= _bounded_width(points, coupled[0])
        else:
            alone = points
            for other in reversed(range(dimensions)):
                if other not in coupled:
                    alone = alone.project_out(_SET, other, 1)
            total *= _count_coupled(alone, operations)
    return total


def constraint_rows(points: isl.BasicSet) -> tuple[list[list[int]], list[list[int]]]:
    """Equalities (``row = 0``) and inequalities (``row >= 0``).

    A row has the coefficients of the dimensions, then those of the divisions, then the constant.
    """
    order = _SET, _DIV, _PARAMETER, _CONSTANT
    return matrix_rows(points.equalities_matrix(*order)), matrix_rows(points.inequalities_matrix(*order))


def division_rows(points: isl.BasicSet) -> list[list[int] | None]:
    """Each integer division as a row like those of ``constraint_rows``.

    It has the numerator, and -denominator as the division's own entry. None for a division that only the constraints
    determine.
    """
    dimensions, divisions = points.dim(_SET), points.dim(_DIV)
    if not divisions:
        return []
    space = points.get_local_space()
    return [_division(space.get_div(number), dimensions, divisions, number) for number in range(divisions)]


def _division(rounded: isl.Aff, dimensions: int, divisions: int, number: int) -> list[int] | None:
    if rounded.is_nan():
        return None
    values = [rounded.get_coefficient_val(isl.dim_type.in_, position) for position in range(dimensions)]
    values += [rounded.get_coefficient_val(_DIV, position) for position in range(divisions)]
    values.append(rounded.get_constant_val())
    denominator = rounded.get_denominator_val()
    row = [int((value * denominator).to_python()) for value in values]
    row[dimensions + number] = -int(denominator.to_python())
    return row


def _bounded_width(points: isl.BasicSet, dimension: int) -> int:
    """The number of values of a dimension whose constraints involve no other one, in a set that isn't empty."""
    equalities, inequalities = constraint_rows(points)
    if any(row[dimension] for row in equalities):
        return 1
    lowest = [-(row[-1] // row[dimension]) for row in inequalities if row[dimension] > 0]
    highest = [row[-1] // -row[dimension] for row in inequalities if row[dimension] < 0]
    if not lowest or not highest:
        raise AnalysisError(f"an unbounded set can't be counted: {points}")
    return min(highest) - max(lowest) + 1


def _count_coupled(points: isl.BasicSet, operations: int) -> int:
    """The number of points of a set whose dimensions are coupled with each other or with divisions."""
    if not points.is_bounded():
        raise AnalysisError(f"an unbounded set can't be counted: {points}")
    determined = _determined_dimension(points)
    if determined is not None:
        return _count_basic(points.project_out(_SET, determined, 1), operations)
    whole = isl.Set.from_basic_set(points)
    if points.dim(_SET) == 1:
        progression = _arithmetic_progression(whole)
        if progression is not None:
            return progression
    in_rows = _count_rows(points, operations)
    return _walk(_widest_last(whole), operations) if in_rows is None else in_rows


def _determined_dimension(points: isl.BasicSet) -> int | None:
    """A dimension that an equality makes an integer combination of the others, so that it adds no points; or None."""
    dimensions, divisions = points.dim(_SET), points.dim(_DIV)
    for row in constraint_rows(points)[0]:
        if any(row[dimensions : dimensions + divisions]):
            continue
        for dimension in range(dimensions):
            if abs(row[dimension]) == 1:
                return dimension
    return None


def _arithmetic_progression(points: isl.Set) -> int | None:
    """The number of points of a one-dimensional set whose values are evenly spaced; None where they are not."""
    stride = points.get_stride(0).to_python()
    low, high = points.dim_min_val(0).to_python(), points.dim_max_val(0).to_python()
    text = f"{{ [x] : {low} <= x <= {high} and (x - ({low})) mod {stride} = 0 }}"
    even = isl.Set.read_from_str(points.get_ctx(), text)
    return (high - low) // stride + 1 if points.reset_tuple_id().is_equal(even) else None


def _count_rows(points: isl.BasicSet, operations: int) -> int | None:
    """The number of points, counted in rows along the widest dimension that is in no division.

    The values of the other dimensions are arrays, ``_ROWS`` rows at a time. None where every dimension is in a
    division, and where coefficients could overflow 64 bits.
    """
    dimensions = points.dim(_SET)
    divisions = [row for row in division_rows(points) if row is not None]
    if len(divisions) < points.dim(_DIV):
        return None
    free = [d for d in range(dimensions) if not any(row[d] for row in divisions)]
    if not free:
        return None
    ranges = bounding_box(isl.Set.from_basic_set(points))
    along = max(free, key=lambda d: ranges[d][1] - ranges[d][0])
    others = [d for d in range(dimensions) if d != along]
    lengths = [ranges[d][1] - ranges[d][0] + 1 for d in others]
    rows = 1
    for length in lengths:
        rows *= length
    equalities, inequalities = constraint_rows(points)
    constraints = [*inequalities, *equalities, *([-c for c in row] for row in equalities)]
    largest = max(abs(c) for row in (*constraints, *divisions) for c in row)
    if max((max(-low, high) for low, high in ranges), default=0) * largest * largest >= 1 << 56:
        return None
    spend(rows, points, most=operations)
    total = 0
    for start in range(0, rows, _ROWS):
        remainder = np.arange(start, min(start + _ROWS, rows))
        values: dict[int, npt.NDArray[np.int64]] = {}
        for dimension, length in zip(reversed(others), reversed(lengths), strict=True):
            remainder, value = np.divmod(remainder, length)
            values[dimension] = value + ranges[dimension][0]
        total += _row_lengths(values, along, ranges[along], divisions, constraints, dimensions)
    return total


def _row_lengths(
    values: dict[int, npt.NDArray[np.int64]],
    along: int,
    limits: tuple[int, int],
    divisions: list[list[int]],
    constraints: list[list[int]],
    dimensions: int,
) -> int:
    """The number of points in all rows.

    ``values[d]`` has the value of dimension ``d`` in each row, for all dimensions other than ``along``; ``limits`` are
    the inclusive bounds of ``along`` over all rows.
    """
    count = len(next(iter(values.values()))) if values else 1

    def at(row: list[int]) -> npt.NDArray[np.int64]:
        total = np.full(count, row[-1])
        for member, value in values.items():
            if row[member]:
                total += row[member] * value
        return total

    for number, row in enumerate(divisions):
        denominator = -row[dimensions + number]
        known = [*row]
        known[dimensions + number] = 0
        values = {**values, dimensions + number: at(known) // denominator}
    low, high = np.full(count, limits[0]), np.full(count, limits[1])
    for row in constraints:
        rest, coefficient = at(row), row[along]
        if coefficient > 0:
            np.maximum(low, -(rest // coefficient), out=low)
        elif coefficient < 0:
            np.minimum(high, rest // -coefficient, out=high)
        else:
            high = np.where(rest >= 0, high, low - 1)
    return int(np.maximum(high - low + 1, 0).sum())


def _widest_last(points: isl.Set) -> isl.Set:
    """The same points with the widest dimension innermost, which isl counts without enumerating it."""
    box = bounding_box(points)
    widest = max(range(len(box)), key=lambda d: (box[d][1] - box[d][0], d))
    names = [f"x{d}" for d in range(len(box))]
    swapped = [name for name in names if name != f"x{widest}"] + [f"x{widest}"]
    text = f"{{ [{', '.join(names)}] -> [{', '.join(swapped)}] }}"
    return points.reset_tuple_id().apply(isl.Map.read_from_str(points.get_ctx(), text))


def _walk(points: isl.Set, operations: int) -> int:
    context = points.get_ctx()
    try:
        with quota(context, operations):
            counted = points.count_val()
            check_quota(context)
    except AnalysisError as error:
        raise AnalysisError(error.message, construct=_shortened(points), remedy=error.remedy) from None
    return int(counted.to_python())


def _shortened(points: isl.Set | isl.BasicSet | isl.Map) -> str:
    text = str(points)
    return text if len(text) <= 200 else f"{text[:200]} ..."

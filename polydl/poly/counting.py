"""How many integer points a set holds, exactly.

isl's own ``count_val`` walks the points but for those of the innermost dimension, which takes most of a minute for a
box of 4096³. Here each disjoint piece is split into groups of dimensions that no constraint couples; a lone dimension
is counted from its bounds, and only what is left, small as a rule, is walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import islpy as isl

from polydl.errors import AnalysisError

_SET, _DIV, _PARAMETER, _CONSTANT = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst
# Two to three seconds of walking.
_OPERATIONS = 20_000_000


@contextmanager
def quota(context: isl.Context, operations: int) -> Iterator[None]:
    """Lets isl spend at most ``operations`` in its body; raises AnalysisError when they are used up."""
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
        # count_val hands back what it had counted when its quota ended; any further operation then fails.
        isl.Set.read_from_str(context, "{ [] }").is_empty()
    except isl.Error as error:
        if "operations" not in str(error):
            raise
        raise AnalysisError(f"isl gave up after {operations} operations") from error
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def count(points: str | isl.BasicSet | isl.Set | isl.UnionSet, *, operations: int = _OPERATIONS) -> int:
    """The number of points of a bounded set, or union of sets, without parameters.

    ``operations`` bounds what isl may spend on walking one coupled group of dimensions. Raises AnalysisError beyond
    it, for an unbounded set, and for one with parameters.
    """
    union = isl.UnionSet(points) if isinstance(points, str) else points
    if isinstance(union, isl.BasicSet):
        union = isl.Set.from_basic_set(union)
    sets = _sets(union) if isinstance(union, isl.UnionSet) else [union]
    return sum(_count_set(each, operations) for each in sets)


def _sets(union: isl.UnionSet) -> list[isl.Set]:
    found = union.get_set_list()
    return [found.get_at(index) for index in range(found.n_set())]


def _count_set(points: isl.Set, operations: int) -> int:
    if points.dim(_PARAMETER) > 0 and points.involves_dims(_PARAMETER, 0, points.dim(_PARAMETER)):
        raise AnalysisError(f"a set with parameters can't be counted: {points}")
    disjoint = points.project_out(_PARAMETER, 0, points.dim(_PARAMETER)).compute_divs().make_disjoint()
    return sum(_count_basic(piece, operations) for piece in disjoint.get_basic_sets())


def _count_basic(points: isl.BasicSet, operations: int) -> int:
    if points.is_empty():
        return 0
    dimensions, divisions = points.dim(_SET), points.dim(_DIV)
    equalities = _rows(points.equalities_matrix(_SET, _DIV, _PARAMETER, _CONSTANT))
    inequalities = _rows(points.inequalities_matrix(_SET, _DIV, _PARAMETER, _CONSTANT))
    total = 1
    for group in _groups(points, [*equalities, *inequalities], dimensions, divisions):
        members = [member for member in group if member < dimensions]
        if not members:
            continue
        if len(group) == 1:
            total *= _bounded_width(points, members[0], equalities, inequalities)
        else:
            alone = points
            for other in reversed(range(dimensions)):
                if other not in members:
                    alone = alone.project_out(_SET, other, 1)
            total *= _count_coupled(alone, operations)
    return total


def _rows(matrix: isl.Mat) -> list[list[int]]:
    columns = range(matrix.cols())
    return [[matrix.get_element_val(row, column).to_python() for column in columns] for row in range(matrix.rows())]


def _groups(points: isl.BasicSet, rows: list[list[int]], dimensions: int, divisions: int) -> list[list[int]]:
    """Connected components of the set's dimensions and, numbered after them, its integer divisions."""
    parent = list(range(dimensions + divisions))

    def root(member: int) -> int:
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    def join(coefficients: Sequence[int]) -> None:
        involved = [member for member in range(dimensions + divisions) if coefficients[member]]
        for left, right in pairwise(involved):
            parent[root(left)] = root(right)

    for row in rows:
        join(row)
    if divisions:
        space = points.get_local_space()
        for number in range(divisions):
            division = space.get_div(number)
            used = [int(division.involves_dims(isl.dim_type.in_, position, 1)) for position in range(dimensions)]
            used += [int(division.involves_dims(_DIV, position, 1)) for position in range(divisions)]
            used[dimensions + number] = 1
            join(used)
    components: dict[int, list[int]] = {}
    for member in range(dimensions + divisions):
        components.setdefault(root(member), []).append(member)
    return list(components.values())


def _bounded_width(
    points: isl.BasicSet, dimension: int, equalities: list[list[int]], inequalities: list[list[int]]
) -> int:
    """The number of values of a dimension whose constraints involve no other; the set is not empty."""
    if any(row[dimension] for row in equalities):
        return 1
    lowest = [-(row[-1] // row[dimension]) for row in inequalities if row[dimension] > 0]
    highest = [row[-1] // -row[dimension] for row in inequalities if row[dimension] < 0]
    if not lowest or not highest:
        raise AnalysisError(f"an unbounded set can't be counted: {points}")
    return min(highest) - max(lowest) + 1


def _count_coupled(points: isl.BasicSet, operations: int) -> int:
    """Points of a set whose dimensions depend on each other, or on divisions."""
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
    return _walk(_widest_last(whole), operations)


def _determined_dimension(points: isl.BasicSet) -> int | None:
    """A dimension that an equality makes an integer combination of the others, which thus adds no points."""
    dimensions, divisions = points.dim(_SET), points.dim(_DIV)
    for row in _rows(points.equalities_matrix(_SET, _DIV, _PARAMETER, _CONSTANT)):
        if any(row[dimensions : dimensions + divisions]):
            continue
        for dimension in range(dimensions):
            if abs(row[dimension]) == 1:
                return dimension
    return None


def _arithmetic_progression(points: isl.Set) -> int | None:
    """The number of points of a one-dimensional set of evenly spaced values, None where they are not."""
    stride = points.get_stride(0).to_python()
    low, high = points.dim_min_val(0).to_python(), points.dim_max_val(0).to_python()
    text = f"{{ [x] : {low} <= x <= {high} and (x - ({low})) mod {stride} = 0 }}"
    even = isl.Set.read_from_str(points.get_ctx(), text)
    return (high - low) // stride + 1 if points.reset_tuple_id().is_equal(even) else None


def _widest_last(points: isl.Set) -> isl.Set:
    """The same points, the dimension with the largest range innermost, since isl counts that one at once."""
    dimensions = points.dim(_SET)
    width = [(points.dim_max_val(d).to_python() - points.dim_min_val(d).to_python(), d) for d in range(dimensions)]
    widest = max(width)[1]
    names = [f"x{d}" for d in range(dimensions)]
    swapped = [name for name in names if name != f"x{widest}"] + [f"x{widest}"]
    text = f"{{ [{', '.join(names)}] -> [{', '.join(swapped)}] }}"
    return points.reset_tuple_id().apply(isl.Map.read_from_str(points.get_ctx(), text))


def _walk(points: isl.Set, operations: int) -> int:
    try:
        with quota(points.get_ctx(), operations):
            counted = points.count_val()
    except AnalysisError as error:
        text = str(points)
        raise AnalysisError(error.message, construct=text if len(text) <= 200 else f"{text[:200]} ...") from None
    return int(counted.to_python())

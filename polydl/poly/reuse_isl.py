"""Reuse in any nest whose domains, schedule and subscripts are quasi-affine, by isl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from polydl.poly.counting import count, quota
from polydl.poly.reuse_intervals import Intervals
from polydl.poly.reuse_references import (
    Dimensions,
    Reference,
    Representative,
    Time,
    carrying_levels,
    pair_kinds,
    references,
)
from polydl.types import Schedule, Scop

_SET = isl.dim_type.set
# Some seconds for one pair of references.
_OPERATIONS = 100_000_000


@dataclass(frozen=True)
class _TimeRegion:
    """Instances of a statement by the times at which they run."""

    times: isl.Set

    @property
    def levels(self) -> int:
        return int(self.times.dim(_SET))

    def within(self, level: int, earliest: int, latest: int) -> _TimeRegion | None:
        times = self.times.lower_bound_val(_SET, level, earliest).upper_bound_val(_SET, level, latest)
        return None if times.is_empty() else _TimeRegion(times)

    def time_range(self, level: int) -> tuple[int, int]:
        return self.times.dim_min_val(level).to_python(), self.times.dim_max_val(level).to_python()


class IslReuse:
    """Answers for one nest and one schedule. Raises AnalysisError when isl's quota ends."""

    method: Literal["isl"] = "isl"

    def __init__(self, scop: Scop, schedule: Schedule) -> None:
        self._context = isl.Context()
        self._scop = scop
        self._references = references(scop)
        self._dimensions = dict(schedule.statements)
        self._elements: dict[Reference, isl.Map] = {}
        self._intervals: dict[str, Intervals[_TimeRegion]] = {}
        for statement in scop.statements:
            domain = self._set(statement.domain)
            time = self._map(_time_text(statement.name, statement.depth, self._dimensions[statement.name]))
            time = time.intersect_domain(domain)
            if not domain.is_empty():
                self._intervals[statement.name] = Intervals(_TimeRegion(time.range()))
            for reference in self._references:
                if reference.statement == statement.name:
                    # From points in time to elements.
                    self._elements[reference] = self._map(reference.relation).apply_domain(time).coalesce()
        self._footprints: dict[tuple[Time, Time], tuple[int, int]] = {}

    def representatives(self) -> Iterator[Representative]:
        """Every dependence, split by the time dimension that carries it."""
        for source in self._references:
            for target in self._references:
                if source.array == target.array:
                    with quota(self._context, _OPERATIONS):
                        found = list(self._of_pair(source, target))
                    yield from found

    def footprint(self, first: Time, last: Time) -> tuple[int, int]:
        """Distinct elements, and their bytes, that instances from ``first`` to ``last`` access, both included.

        A point that is cut short stands for all points that begin so.
        """
        key = (first, last)
        if key not in self._footprints:
            self._footprints[key] = self._footprint(first, last)
        return self._footprints[key]

    def _footprint(self, first: Time, last: Time) -> tuple[int, int]:
        touched: dict[str, isl.Set] = {}
        for name, intervals in self._intervals.items():
            pieces = intervals.between(first, last)
            for reference in self._references:
                if reference.statement == name:
                    for piece in pieces:
                        elements = self._elements[reference].intersect_domain(piece.times).range()
                        known = touched.get(reference.array)
                        touched[reference.array] = elements if known is None else known.union(elements)
        counts = {array: count(elements.coalesce()) for array, elements in touched.items()}
        return sum(counts.values()), sum(n * self._scop.array(array).element_bytes for array, n in counts.items())

    def _of_pair(self, source: Reference, target: Reference) -> Iterator[Representative]:
        own, other = self._dimensions[source.statement], self._dimensions[target.statement]
        levels = carrying_levels(own, other)
        if not levels:
            return
        relation = self._elements[source].apply_range(self._elements[target].reverse())
        if relation.is_empty():
            return
        for level in levels:
            carried = relation.intersect(self._map(_carried_text(len(own), len(other), level)))
            if carried.is_empty():
                continue
            # The earliest source comes first, and with it its earliest target.
            both = _coordinates(carried.wrap().lexmin())
            first, nearest = both[: len(own)], both[len(own) :]
            point = self._set(f"{{ [{', '.join(map(str, first))}] }}")
            farthest = _coordinates(carried.intersect_domain(point).range().lexmax())
            yield Representative(
                source.array,
                source.statement,
                target.statement,
                pair_kinds(source.kinds, target.kinds),
                level,
                first,
                nearest,
                farthest,
            )

    def _set(self, text: str) -> isl.Set:
        return isl.Set.read_from_str(self._context, text)

    def _map(self, text: str) -> isl.Map:
        return isl.Map.read_from_str(self._context, text)


def _time_text(name: str, depth: int, dimensions: Dimensions) -> str:
    times = [
        str(d) if isinstance(d, int) else f"{d.direction}*floor((x{d.iterator} - ({d.origin}))/{d.size})"
        for d in dimensions
    ]
    return f"{{ {name}[{', '.join(f'x{i}' for i in range(depth))}] -> [{', '.join(times)}] }}"


def _carried_text(own: int, other: int, level: int) -> str:
    """Pairs of times that first differ in dimension ``level``, the source's being the earlier."""
    same = "".join(f"t{d} = u{d} and " for d in range(level))
    left, right = ", ".join(f"t{d}" for d in range(own)), ", ".join(f"u{d}" for d in range(other))
    return f"{{ [{left}] -> [{right}] : {same}t{level} < u{level} }}"


def _coordinates(point: isl.Set) -> Time:
    sample = point.sample_point()
    return tuple(sample.get_coordinate_val(_SET, d).to_python() for d in range(point.dim(_SET)))

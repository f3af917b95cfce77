"""Algorithm 1 of the paper by isl and barvinok, straight from its definition, with none of polydl's code.

Runs in an environment of its own: reads nests and their schedules as JSON from standard input, and writes the working
sets of each, one JSON line per schedule, to standard output. ``experiments.barvinok_check`` is the other side.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import islpy as isl

SET = isl.dim_type.set
KINDS = {("write", "read"): "RAW", ("read", "write"): "WAR", ("write", "write"): "WAW", ("read", "read"): "RAR"}
Times = tuple[int, ...]
Counts = tuple[int, int]


class Nest:
    """One nest in the order of one schedule; every access as a relation from points in time to elements."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.arrays = {array["name"]: array for array in job["arrays"]}
        self.levels = job["levels"]
        self.line_bytes = job["line_bytes"]
        self.names = {statement["name"]: statement["levels"] for statement in job["statements"]}
        times = {s["name"]: isl.Map(s["time"]).intersect_domain(isl.Set(s["domain"])) for s in job["statements"]}
        self.accesses = []
        for access in job["accesses"]:
            touched = isl.Map(access["relation"]).apply_domain(times[access["statement"]])
            self.accesses.append((access["statement"], access["array"], access["kind"], touched))
        self.order = list(self.arrays)
        self.counted: dict[tuple[Times, Times], Counts] = {}

    def working_sets(self) -> list[list[Any]]:
        kinds_by_reuse: dict[tuple[str, int, Times, Times, Times, str, str], set[str]] = {}
        for source, array, first_kind, one in self.accesses:
            for target, other_array, second_kind, other in self.accesses:
                if array == other_array:
                    for level, *times in self.dependences(one.apply_range(other.reverse())):
                        key = (array, level, times[0], times[1], times[2], source, target)
                        kinds_by_reuse.setdefault(key, set()).add(KINDS[first_kind, second_kind])
        rows = []
        for (array, level, first, near, far, source, target), kinds in kinds_by_reuse.items():
            loop = self.names[source][level]
            if loop["parallel"]:
                least = most = self.footprint(first[:level], first[:level])
            else:
                least, most = self.footprint(first, near), self.footprint(first, far)
            rows.append([sorted(kinds), array, source, target, loop["name"], loop["parallel"], *least, *most])
        return sorted(rows)

    def dependences(self, pairs: isl.Map) -> Iterator[tuple[int, Times, Times, Times]]:
        """Representatives of the pairs of times, split by the level at which they first differ."""
        for level in range(self.levels):
            carried = pairs.order_lt(isl.dim_type.in_, level, isl.dim_type.out, level)
            if not carried.is_empty():
                first = point(carried.domain().lexmin())
                targets = carried.intersect_domain(isl.Set(f"{{ [{', '.join(map(str, first))}] }}")).range()
                yield level, first, point(targets.lexmin()), point(targets.lexmax())
            pairs = pairs.equate(isl.dim_type.in_, level, isl.dim_type.out, level)
            if pairs.is_empty():
                return

    def footprint(self, first: Times, last: Times) -> Counts:
        if (first, last) not in self.counted:
            self.counted[first, last] = self.count(first, last)
        return self.counted[first, last]

    def count(self, first: Times, last: Times) -> Counts:
        names = [f"t{level}" for level in range(self.levels)]
        inside = isl.Set(
            f"{{ [{', '.join(names)}] : {not_before(names, first, '>')} and {not_before(names, last, '<')} }}"
        )
        elements = size = 0
        for name, array in self.arrays.items():
            touched = None
            for _, other, _, access in self.accesses:
                if other == name:
                    image = access.intersect_domain(inside).range()
                    touched = image if touched is None else touched.union(image)
            if touched is None:
                continue
            number = card(touched)
            elements += number
            size += number * array["bytes"] if not self.line_bytes else self.lines(touched, array) * self.line_bytes
        return elements, size

    def lines(self, touched: isl.Set, array: dict[str, Any]) -> int:
        subscripts = [f"e{d}" for d in range(len(array["strides"]))]
        linear = " + ".join(f"{s}*{e}" for s, e in zip(array["strides"], subscripts, strict=True)) or "0"
        per_line = self.line_bytes // array["bytes"]
        to_line = isl.Map(f"{{ {array['name']}[{', '.join(subscripts)}] -> [floor(({linear})/{per_line})] }}")
        return card(touched.apply(to_line))


def not_before(names: list[str], bound: Times, sign: str) -> str:
    """Times at or after (``>``) the bound, or at or before it, compared in as many dimensions as it has."""
    if not bound:
        return "true"
    equal = "".join(f"{name} = {value} and " for name, value in zip(names, bound, strict=False))
    parts = [f"({equal.removesuffix(' and ')})"]
    for level, value in enumerate(bound):
        before = "".join(f"{name} = {b} and " for name, b in zip(names[:level], bound, strict=False))
        parts.append(f"({before}{names[level]} {sign} {value})")
    return f"({' or '.join(parts)})"


def card(points: isl.Set) -> int:
    """The number of points, by barvinok."""
    counted = points.coalesce().card()
    return int(counted.eval(isl.Point.zero(counted.domain().get_space())).to_python())


def point(single: isl.Set) -> Times:
    sample = single.sample_point()
    return tuple(sample.get_coordinate_val(SET, d).to_python() for d in range(single.dim(SET)))


def main() -> None:
    for line in sys.stdin:
        start = time.process_time()
        working_sets = Nest(json.loads(line)).working_sets()
        print(json.dumps({"working_sets": working_sets, "seconds": time.process_time() - start}), flush=True)


if __name__ == "__main__":
    main()

"""Working sets of a nest's data reuses (paper, §4.1 Algorithm 1), and how they fit the caches (§4.2 Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol

from polydl.errors import AnalysisError
from polydl.poly.reuse_closed_form import closed_form
from polydl.poly.reuse_groups import SearchLimitError
from polydl.poly.reuse_isl import IslReuse
from polydl.poly.reuse_references import Representative, Time
from polydl.types import DependenceKind, DependenceWorkingSet, Loop, Schedule, Scop, WorkingSets

Method = Literal["closed-form", "isl"]

_KIND_ORDER: tuple[DependenceKind, ...] = ("RAW", "WAR", "WAW", "RAR")


class _Reuse(Protocol):
    @property
    def method(self) -> Method: ...

    def representatives(self) -> Iterator[Representative]: ...

    def footprint(self, first: Time, last: Time) -> tuple[int, int]: ...


def working_sets(scop: Scop, schedule: Schedule, caches: Sequence[int], *, method: Method | None = None) -> WorkingSets:
    """All working sets of a nest run in the order of ``schedule``, and what each cache holds of them.

    ``caches`` are the bytes that one thread has of each level, innermost first. The closed form is used where the nest
    is in its class, isl elsewhere; ``method`` forces one of them. Raises AnalysisError when isl gives up, and when the
    closed form is forced on a nest outside its class.
    """
    if method != "isl":
        reuse = closed_form(scop, schedule)
        if reuse is not None:
            try:
                return _analyse(reuse, scop, schedule, caches)
            except SearchLimitError:
                pass
        if method == "closed-form":
            raise AnalysisError("the nest is outside the class that has a closed form", file=scop.file, line=scop.line)
    return _analyse(IslReuse(scop, schedule), scop, schedule, caches)


def fit_caches(sizes: Iterable[int], caches: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The sum of the working sets that each cache level holds, and of those that none does (paper, Algorithm 2).

    From the smallest to the largest, a working set goes to the first level where it still fits beside those already
    there: caches are fully associative and exclusive. All in bytes.
    """
    held = [0] * len(caches)
    memory = 0
    for size in sorted(sizes):
        for level, capacity in enumerate(caches):
            if held[level] + size <= capacity:
                held[level] += size
                break
        else:
            memory += size
    return tuple(held), memory


def _analyse(reuse: _Reuse, scop: Scop, schedule: Schedule, caches: Sequence[int]) -> WorkingSets:
    order = {array.name: number for number, array in enumerate(scop.arrays)}
    merged = _merge(reuse.representatives())
    merged.sort(key=lambda r: (order[r.array], r.level, r.source, r.nearest, r.farthest, r.source_statement))
    found: list[DependenceWorkingSet] = []
    sizes: list[int] = []
    for representative in merged:
        dimension = schedule.of(representative.source_statement)[representative.level]
        parallel = isinstance(dimension, Loop) and dimension.parallel
        if parallel:
            prefix = representative.source[: representative.level]
            least = most = reuse.footprint(prefix, prefix)
        else:
            least = reuse.footprint(representative.source, representative.nearest)
            most = reuse.footprint(representative.source, representative.farthest)
        found.append(
            DependenceWorkingSet(
                kinds=tuple(kind for kind in _KIND_ORDER if kind in representative.kinds),
                array=representative.array,
                source=representative.source_statement,
                target=representative.target_statement,
                loop=dimension.name if isinstance(dimension, Loop) else "",
                parallel=parallel,
                minimum_elements=least[0],
                maximum_elements=most[0],
                minimum_bytes=least[1],
                maximum_bytes=most[1],
            )
        )
        sizes.append(least[1])
        if not parallel and representative.nearest != representative.farthest:
            sizes.append(most[1])
    levels, memory = fit_caches(sizes, caches)
    return WorkingSets(tuple(found), levels, memory, reuse.method)


def _merge(representatives: Iterable[Representative]) -> list[Representative]:
    """One of each: references that reuse an array between the same instances are one reuse, of several kinds."""
    merged: dict[tuple[str, str, str, int, Time, Time, Time], set[DependenceKind]] = {}
    for r in representatives:
        key = (r.array, r.source_statement, r.target_statement, r.level, r.source, r.nearest, r.farthest)
        merged.setdefault(key, set()).update(r.kinds)
    return [
        Representative(array, source, target, frozenset(kinds), level, *times)
        for (array, source, target, level, *times), kinds in merged.items()
    ]

"""Working sets of a nest's dependences (paper, §4.1, Algorithm 1) and the caches that hold them (§4.2, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, Protocol

from polydl.errors import AnalysisError
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.working_sets import DependenceKind, DependenceWorkingSet, WorkingSets
from polydl.poly.counting import placed
from polydl.reuse.batch.working_sets import BatchReuse, batch_reuse
from polydl.reuse.boxes import box_nest
from polydl.reuse.caches import fit_caches, fit_shared_caches
from polydl.reuse.closed_form import closed_form
from polydl.reuse.groups import SearchLimitError
from polydl.reuse.isl.working_sets import IslReuse
from polydl.reuse.lines import check_line_bytes
from polydl.reuse.references import KINDS, Representative, Time
from polydl.reuse.table import TableBuilder, WorkingSetsTable
from polydl.reuse.threads import in_step, outermost_parallel

Method = Literal["closed-form", "isl"]

# Schedules that are analysed at once; few enough that the intermediate arrays stay in the caches.
_BATCH = 512


class _Reuse(Protocol):
    """The answers that Algorithms 1 and 2 need about one nest and one schedule; see ``ClosedFormReuse``."""

    @property
    def method(self) -> Method: ...

    def representatives(self) -> Iterator[Representative]: ...

    def footprint(self, first: Time, last: Time) -> tuple[int, int]: ...

    def footprint_of(self, key: tuple[tuple[Time, Time], ...]) -> tuple[int, int]: ...

    def iterations(self, statement: str, prefix: Time) -> tuple[int, int] | None: ...


def working_sets(
    scop: Scop,
    schedule: Schedule,
    caches: Sequence[int],
    *,
    method: Method | None = None,
    line_bytes: int | None = None,
    inclusive: bool = False,
    sharing: tuple[int, Sequence[int]] | None = None,
) -> WorkingSets:
    """All working sets of a nest run in the order of ``schedule``, and the bytes of them that each cache holds.

    ``caches`` are the capacities in bytes, innermost first. isl counts only nests outside of the closed form's class,
    unless ``method`` forces one of the two. With ``line_bytes``, the size of a cache line, bytes are those of the lines
    touched; each array begins at a line. ``inclusive`` caches are explained in ``polydl.reuse.caches``. ``sharing`` is
    the number of threads and, for each cache, the number of threads that share it: the cache then holds the working
    sets of all of them (``polydl.reuse.threads``). Raises AnalysisError when isl exceeds its quota, and when ``method``
    forces the closed form on a nest outside of its class; OptionError when a line does not hold a whole number of
    elements.
    """
    check_line_bytes(scop, line_bytes)
    if method != "isl":
        reuse = closed_form(scop, schedule, line_bytes)
        if reuse is not None:
            try:
                return _analyse(reuse, scop, schedule, caches, line_bytes, inclusive, sharing)
            except SearchLimitError:
                pass
        if method == "closed-form":
            raise AnalysisError(
                "the nest is outside the class that has a closed form",
                file=scop.file,
                line=scop.line,
                remedy="let isl count it (method='isl', or none)",
            )
    try:
        by_isl = IslReuse(scop, schedule, line_bytes)
        with by_isl.limited():
            return _analyse(by_isl, scop, schedule, caches, line_bytes, inclusive, sharing)
    except AnalysisError as error:
        raise placed(error, scop) from error


def working_sets_of_many(
    scop: Scop,
    schedules: Iterable[Schedule],
    caches: Sequence[int],
    *,
    method: Method | None = None,
    line_bytes: int | None = None,
    inclusive: bool = False,
    progress: Callable[[int], None] | None = None,
) -> WorkingSetsTable:
    """``working_sets`` of each schedule, one row each, with exactly the same numbers.

    Schedules in the class of the closed form are counted a batch at a time. ``schedules`` is iterated once, so it may
    be a generator. ``progress`` is called with the number of schedules done. A schedule whose analysis fails becomes
    an entry of the table's ``failures``. Raises OptionError as ``working_sets`` does.
    """
    check_line_bytes(scop, line_bytes)
    nest = None if method == "isl" else box_nest(scop)
    together = None if nest is None else batch_reuse(nest, line_bytes)
    table = TableBuilder(scop, caches, line_bytes, inclusive)
    remaining = iter(schedules)
    while batch := list(islice(remaining, _BATCH)):
        rest: Iterable[int] = range(len(batch))
        start = table.rows
        table.extend(len(batch))
        if together is not None:
            rest = _add_together(together, batch, table)
        for number in rest:
            try:
                analysed = working_sets(
                    scop, batch[number], caches, method=method, line_bytes=line_bytes, inclusive=inclusive
                )
            except AnalysisError as error:
                table.add_failure(start + number, error)
            else:
                table.add(start + number, analysed)
        if progress is not None:
            progress(table.rows)
    return table.build()


def _add_together(together: BatchReuse, batch: Sequence[Schedule], table: TableBuilder) -> list[int]:
    """Adds the schedules in the class of the closed form to the table; returns the indices of the others."""
    batch_sets = together.working_sets(batch)
    table.add_batch(batch_sets, together.loops)
    return [number for number, analysed in enumerate(batch_sets.analysed) if not analysed]


def _analyse(
    reuse: _Reuse,
    scop: Scop,
    schedule: Schedule,
    caches: Sequence[int],
    line_bytes: int | None,
    inclusive: bool,
    sharing: tuple[int, Sequence[int]] | None,
) -> WorkingSets:
    order = {array.name: number for number, array in enumerate(scop.arrays)}
    merged = _merge(reuse.representatives())
    merged.sort(key=lambda r: (order[r.array], r.level, r.source, r.nearest, r.farthest, r.source_statement))
    dependences: list[DependenceWorkingSet] = []
    entered: list[tuple[Representative, Time, Time, int]] = []
    for representative in merged:
        dimension = schedule.of(representative.source_statement)[representative.level]
        parallel = isinstance(dimension, Loop) and dimension.parallel
        if parallel:
            prefix = representative.source[: representative.level]
            least = most = reuse.footprint(prefix, prefix)
        else:
            least = reuse.footprint(representative.source, representative.nearest)
            most = reuse.footprint(representative.source, representative.farthest)
        dependences.append(
            DependenceWorkingSet(
                kinds=tuple(kind for kind in KINDS if kind in representative.kinds),
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
        prefix = representative.source[: representative.level]
        begin, end = (prefix, prefix) if parallel else (representative.source, representative.nearest)
        entered.append((representative, begin, end, least[1]))
        if not parallel and representative.nearest != representative.farthest:
            entered.append((representative, begin, representative.farthest, most[1]))
    if sharing is None:
        levels, memory = fit_caches([size for *_, size in entered], caches, inclusive=inclusive)
    else:
        threads, common = sharing
        sizes = [
            (*(_in_use(reuse, schedule, *entry, threads, number) for number in common), entry[-1]) for entry in entered
        ]
        levels, memory = fit_shared_caches(sizes, caches, inclusive=inclusive)
    return WorkingSets(tuple(dependences), levels, memory, reuse.method, line_bytes)


def _in_use(
    reuse: _Reuse,
    schedule: Schedule,
    representative: Representative,
    first: Time,
    last: Time,
    size: int,
    threads: int,
    sharing: int,
) -> int:
    """Bytes of the working sets that ``sharing`` threads have together while one of them has one of ``size`` bytes."""
    statement = representative.source_statement
    parallel = outermost_parallel(schedule.of(statement), representative.level)
    if parallel is None or sharing == 1:
        return size
    iterations = reuse.iterations(statement, first[:parallel])
    assert iterations is not None, "the source runs in one of the iterations"
    return reuse.footprint_of(in_step(first, last, parallel, iterations, threads, sharing))[1]


def _merge(representatives: Iterable[Representative]) -> list[Representative]:
    """Without duplicates: representatives that differ in their kinds alone become one with all of these kinds."""
    merged: dict[tuple[str, str, str, int, Time, Time, Time], set[DependenceKind]] = {}
    for r in representatives:
        key = (r.array, r.source_statement, r.target_statement, r.level, r.source, r.nearest, r.farthest)
        merged.setdefault(key, set()).update(r.kinds)
    return [
        Representative(array, source, target, frozenset(kinds), level, *times)
        for (array, source, target, level, *times), kinds in merged.items()
    ]

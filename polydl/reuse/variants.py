"""Working sets of many variants of one nest, those that leave it alike in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from polydl.errors import AnalysisError
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.plan.apply import Applied
from polydl.reuse.table import WorkingSetsTable
from polydl.reuse.working_sets import Method, working_sets_of_many


@dataclass(frozen=True, eq=False)
class AnalysedVariants:
    """Working sets of many variants in columns, with a table for each way in which their nest is left.

    ``analysed[n]`` is the ``WorkingSets`` of variant n, or raises the AnalysisError for which it is in ``failures``.
    """

    #: one for each way in which the nest is left
    tables: tuple[WorkingSetsTable, ...]
    #: index of each variant's table
    table_of: tuple[int, ...]
    #: each variant's row of its table
    rows: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> WorkingSets:
        return self.tables[self.table_of[number]][self.rows[number]]

    @cached_property
    def failures(self) -> Mapping[int, AnalysisError]:
        """The error of each variant whose analysis failed, by its number."""
        places = enumerate(zip(self.table_of, self.rows, strict=True))
        return {n: self.tables[t].failures[row] for n, (t, row) in places if row in self.tables[t].failures}


def working_sets_of_variants(
    variants: Sequence[Variant],
    applied: Sequence[Applied],
    caches: Sequence[int],
    *,
    method: Method | None = None,
    line_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> AnalysedVariants:
    """Working sets of variants of one nest, against caches of so many bytes, the innermost first.

    ``applied`` holds the same variants in the same order; an element is taken when it is needed, and not kept.
    ``method`` and ``line_bytes`` are those of ``working_sets``. ``progress`` is told how many are done.
    """
    number_of: dict[tuple[object, ...], int] = {}
    scops: list[Scop] = []
    members: list[list[int]] = []
    table_of, rows = [], []
    for place, variant in enumerate(variants):
        # Which passes of zeros are left to microkernels depends on what these can do.
        key = (variant.scop_steps, *variant.microkernels.items())
        if key not in number_of:
            scop, _ = applied[place].executed
            same = (number for number, other in enumerate(scops) if other is scop)
            number_of[key] = next(same, len(scops))
            if number_of[key] == len(scops):
                scops.append(scop)
                members.append([])
        number = number_of[key]
        table_of.append(number)
        rows.append(len(members[number]))
        members[number].append(place)
    tables = []
    done = 0
    for scop, places in zip(scops, members, strict=True):
        tables.append(
            working_sets_of_many(
                scop,
                (applied[place].executed[1].schedule for place in places),
                caches,
                method=method,
                line_bytes=line_bytes,
                progress=None if progress is None else partial(_advance, progress, done),
            )
        )
        done += len(places)
    return AnalysedVariants(tuple(tables), tuple(table_of), tuple(rows))


def _advance(progress: Callable[[int], None], before: int, done: int) -> None:
    progress(before + done)

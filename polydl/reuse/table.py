"""Working sets of many schedules as columns, which take a few dozen bytes for each dependence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polydl.errors import AnalysisError
from polydl.ir.scop import Scop
from polydl.ir.working_sets import DependenceWorkingSet, WorkingSets
from polydl.reuse.batch.working_sets import BatchWorkingSets
from polydl.reuse.caches import fit_caches_of_many
from polydl.reuse.references import KINDS

# In the order of the fields of ``DependenceWorkingSet``.
_COLUMNS: dict[str, type[np.generic]] = {
    "kinds": np.uint8,
    "array": np.uint16,
    "source": np.uint16,
    "target": np.uint16,
    "loop": np.uint16,
    "parallel": np.bool_,
    "minimum_elements": np.int64,
    "maximum_elements": np.int64,
    "minimum_bytes": np.int64,
    "maximum_bytes": np.int64,
}
_KINDS_OF = [tuple(kind for bit, kind in enumerate(KINDS) if bits >> bit & 1) for bits in range(1 << len(KINDS))]


@dataclass(frozen=True, eq=False)
class WorkingSetsTable:
    """The working sets of several schedules of one nest, one row per schedule.

    ``table[row]`` is the ``WorkingSets`` of one schedule. Columns of dependences have one entry for each dependence of
    each row, with the fields of ``DependenceWorkingSet``; names are indices.
    """

    #: names that ``array`` indexes
    arrays: tuple[str, ...]
    #: names that ``source`` and ``target`` index
    statements: tuple[str, ...]
    #: names that ``loop`` indexes
    loops: tuple[str, ...]
    #: the dependences of row r are the entries from ``starts[r]`` to ``starts[r + 1]``, end exclusive
    starts: npt.NDArray[np.int64]
    #: of each dependence: one bit for each of ``KINDS``
    kinds: npt.NDArray[np.uint8]
    #: index of the array through which it depends
    array: npt.NDArray[np.uint16]
    #: index of the source's statement
    source: npt.NDArray[np.uint16]
    #: index of the target's statement
    target: npt.NDArray[np.uint16]
    #: index of the loop that carries it; the name is "" where the order of the statements does
    loop: npt.NDArray[np.uint16]
    #: whether it spans a parallel loop
    parallel: npt.NDArray[np.bool_]
    #: elements touched from a source to its nearest target
    minimum_elements: npt.NDArray[np.int64]
    #: elements touched from a source to its farthest target
    maximum_elements: npt.NDArray[np.int64]
    #: ``minimum_elements`` in bytes
    minimum_bytes: npt.NDArray[np.int64]
    #: ``maximum_elements`` in bytes
    maximum_bytes: npt.NDArray[np.int64]
    #: bytes in each cache level, [row, level]; 0 for a row that failed
    levels: npt.NDArray[np.int64]
    #: bytes that fit no level, [row]; 0 for a row that failed
    memory: npt.NDArray[np.int64]
    #: whether isl counted, [row]
    by_isl: npt.NDArray[np.bool_]
    #: rows whose analysis failed, with the error
    failures: dict[int, AnalysisError]
    #: as in ``WorkingSets``
    line_bytes: int | None = None

    def __len__(self) -> int:
        return len(self.memory)

    def status(self, row: int) -> Literal["ok", "failed"]:
        """Whether a row has working sets, or an error among ``failures``."""
        return "failed" if row in self.failures else "ok"

    def __getitem__(self, row: int) -> WorkingSets:
        """The working sets of one schedule. Raises the AnalysisError of a row that failed, and IndexError."""
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        row %= len(self)
        if row in self.failures:
            raise self.failures[row]
        entries = slice(int(self.starts[row]), int(self.starts[row + 1]))
        columns: list[list[Any]] = [getattr(self, name)[entries].tolist() for name in _COLUMNS]
        dependences = tuple(
            [
                DependenceWorkingSet(
                    _KINDS_OF[kinds],
                    self.arrays[array],
                    self.statements[source],
                    self.statements[target],
                    self.loops[loop],
                    *sizes,
                )
                for kinds, array, source, target, loop, *sizes in zip(*columns, strict=True)
            ]
        )
        method: Literal["closed-form", "isl"] = "isl" if self.by_isl[row] else "closed-form"
        return WorkingSets(
            dependences, tuple(self.levels[row].tolist()), int(self.memory[row]), method, self.line_bytes
        )

    def __iter__(self) -> Iterator[WorkingSets]:
        return (self[row] for row in range(len(self)))


class TableBuilder:
    """Collects the rows of a ``WorkingSetsTable``; ``extend`` makes room, then rows come in any order."""

    def __init__(self, scop: Scop, caches: Sequence[int], line_bytes: int | None, inclusive: bool) -> None:
        self._caches = caches
        self._line_bytes = line_bytes
        self._inclusive = inclusive
        self._arrays = {array.name: number for number, array in enumerate(scop.arrays)}
        self._statements = {statement.name: number for number, statement in enumerate(scop.statements)}
        self._loops: dict[str, int] = {"": 0}
        self._rows: list[npt.NDArray[np.int32]] = []
        self._columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _COLUMNS}
        self._held: list[npt.NDArray[np.int64]] = []
        self._by_isl: list[npt.NDArray[np.bool_]] = []
        self._failures: dict[int, AnalysisError] = {}
        self.rows = 0

    def extend(self, count: int) -> None:
        """Makes room for the next ``count`` rows."""
        self.rows += count
        # The last column is memory.
        self._held.append(np.zeros((count, len(self._caches) + 1), dtype=np.int64))
        self._by_isl.append(np.zeros(count, dtype=bool))

    def add_batch(self, batch: BatchWorkingSets, loops: Sequence[str]) -> None:
        """Adds the rows that ``batch`` has analysed, among those of the last ``extend``.

        ``loops`` are the names that ``batch.loop`` indexes.
        """
        numbers = np.array([self._loops.setdefault(name, len(self._loops)) for name in loops], dtype=np.uint16)
        held = self._held[-1]
        self._rows.append((batch.schedule + (self.rows - len(held))).astype(np.int32))
        for name, kind in _COLUMNS.items():
            column = numbers[batch.loop] if name == "loop" else getattr(batch, name)
            self._columns[name].append(column.astype(kind))
        both = ~batch.single
        sizes = np.concatenate([batch.minimum_bytes, batch.maximum_bytes[both]])
        owner = np.concatenate([batch.schedule, batch.schedule[both]])
        held[:, :-1], held[:, -1] = fit_caches_of_many(len(held), owner, sizes, self._caches, inclusive=self._inclusive)

    def add(self, row: int, working_sets: WorkingSets) -> None:
        """One row of those for which the room was made last."""
        count = len(working_sets.dependences)
        values: dict[str, list[int]] = {name: [] for name in _COLUMNS}
        for dependence in working_sets.dependences:
            for name in ("minimum_elements", "maximum_elements", "minimum_bytes", "maximum_bytes", "parallel"):
                values[name].append(getattr(dependence, name))
            values["kinds"].append(sum(1 << bit for bit, kind in enumerate(KINDS) if kind in dependence.kinds))
            values["array"].append(self._arrays[dependence.array])
            values["source"].append(self._statements[dependence.source])
            values["target"].append(self._statements[dependence.target])
            values["loop"].append(self._loops.setdefault(dependence.loop, len(self._loops)))
        position = row - (self.rows - len(self._held[-1]))
        try:
            columns = {name: np.array(values[name], dtype=kind) for name, kind in _COLUMNS.items()}
            self._held[-1][position] = *working_sets.levels, working_sets.memory
        except OverflowError:
            self.add_failure(row, AnalysisError("the nest touches more bytes than 64 bits can count"))
            return
        self._rows.append(np.full(count, row, dtype=np.int32))
        for name, column in columns.items():
            self._columns[name].append(column)
        self._by_isl[-1][position] = working_sets.method == "isl"

    def add_failure(self, row: int, error: AnalysisError) -> None:
        """A row whose analysis failed, of those for which room was made."""
        self._failures[row] = error

    def build(self) -> WorkingSetsTable:
        """The table of all rows. The builder can't be used afterwards."""
        rows = np.concatenate([np.zeros(0, dtype=np.int32), *self._rows])
        starts = np.zeros(self.rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=self.rows), out=starts[1:])
        # Rows that were added one by one may come after a batch with later rows.
        order = np.argsort(rows, kind="stable") if (np.diff(rows) < 0).any() else None
        columns = {}
        for name, kind in _COLUMNS.items():
            # One column at a time, so that only one is held twice.
            column = np.concatenate([np.zeros(0, dtype=kind), *self._columns.pop(name)])
            columns[name] = column if order is None else column[order]
        held = np.concatenate([np.zeros((0, len(self._caches) + 1), dtype=np.int64), *self._held])
        return WorkingSetsTable(
            arrays=tuple(self._arrays),
            statements=tuple(self._statements),
            loops=tuple(self._loops),
            starts=starts,
            **columns,
            levels=held[:, :-1],
            memory=held[:, -1],
            by_isl=np.concatenate([np.zeros(0, dtype=bool), *self._by_isl]),
            failures=self._failures,
            line_bytes=self._line_bytes,
        )

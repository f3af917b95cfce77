"""How long calls of a microkernel were measured to take, and what that predicts for other shapes.

Unit: *peak cycles*, the time in which a core at its measured FMA peak does two vector multiply-adds. They are
seconds once multiplied with ``vector_bytes / peak_gflops``, whatever the clock did meanwhile.

For fixed m and n, the time of a call is close to a straight line in the batch and in the steps k * batch:

    cycles(m, n, k, batch) = call(m, n) + product(m, n) * batch + step(m, n) * k * batch

The three coefficients are tabulated over a grid of m and n. Whole and partial vectors of m have rows of their own,
since a kernel that masks its last vector, or falls back to scalars, jumps between them; so have those that begin a
vector with a few elements only, which some kernels compute in another way if k fills vectors and B is contiguous along
it, as all B are that were measured.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from polydl.machine.typed import are_sizes, typed

Cell = tuple[float, float, float]
_Kind = Literal["whole", "few", "partial"]
# The part of a vector that is few.
_FEW = 4


@dataclass(frozen=True)
class Throughput:
    """The table of one microkernel and element type, operands in the first two caches."""

    microkernel: str
    #: C type of the elements of A, B and C.
    element: str
    #: Elements of a vector.
    vector_elements: int
    #: Values of m in the table, in increasing order.
    rows: tuple[int, ...]
    #: Values of n in the table, in increasing order.
    columns: tuple[int, ...]
    #: (call, product, step) in peak cycles for each pair of ``rows`` and ``columns``, rows first.
    cells: tuple[Cell, ...]
    #: How many times as long a call takes whose B is contiguous along n.
    transposed: float
    #: Median of the relative errors of the table for the held-out shapes.
    error: float
    #: The same of the microkernel's own formula.
    formula_error: float
    #: How many shapes were held out: measured, but not part of the fit.
    held_out: int

    @staticmethod
    def from_table(table: Mapping[str, Any]) -> Throughput:
        """From what ``dataclasses.asdict`` made of one, by way of TOML. Raises ValueError, KeyError or TypeError."""
        cells = tuple((float(call), float(product), float(step)) for call, product, step in table["cells"])
        rows, columns = (tuple(table[name]) for name in ("rows", "columns"))
        made = typed(Throughput, {**table, "rows": rows, "columns": columns, "cells": cells})
        if len(cells) != len(rows) * len(columns) or not cells:
            raise ValueError(f"{len(cells)} cells for {len(rows)} rows and {len(columns)} columns")
        if not are_sizes((made.vector_elements, *rows, *columns)):
            raise ValueError("vector_elements, rows and columns are whole numbers of at least 1")
        if any(list(sizes) != sorted(set(sizes)) for sizes in (rows, columns)):
            raise ValueError("rows and columns are in increasing order")
        if not (math.isfinite(made.transposed) and made.transposed > 0):
            raise ValueError("transposed is positive and finite")
        if not all(math.isfinite(value) and value >= 0 for cell in cells for value in cell):
            raise ValueError("cycles are finite and not negative")
        return made

    def cycles(self, m: int, n: int, k: int, batch: int, transposed: bool = False) -> float:
        """Predicted peak cycles of one call; in proportion beyond the largest m and n that were measured."""
        kind = self._kind(m)
        if kind == "few" and (transposed or k % self.vector_elements):
            kind = "partial"
        call, product, step = self._cell(m, n, kind)
        return (call + product * batch + step * k * batch) * (self.transposed if transposed else 1.0)

    def efficiency(self, m: int, n: int, k: int, batch: int = 1) -> float:
        """The part of the FMA peak that a call reaches, counting useful operations only."""
        return m * n * k * batch / (2 * self.vector_elements * self.cycles(m, n, k, batch))

    @cached_property
    def _known(self) -> dict[tuple[int, int, _Kind], Cell]:
        return {}

    @cached_property
    def _rows_by_kind(self) -> dict[_Kind, tuple[int, ...]]:
        return {kind: tuple(m for m in self.rows if self._kind(m) == kind) for kind in get_args(_Kind)}

    def _kind(self, m: int) -> _Kind:
        rest = m % self.vector_elements
        if rest == 0:
            return "whole"
        return "few" if m > self.vector_elements and rest <= self.vector_elements // _FEW else "partial"

    def _cell(self, m: int, n: int, kind: _Kind) -> Cell:
        found = self._known.get((m, n, kind))
        if found is None:
            found = self._known[m, n, kind] = self._interpolated(m, n, kind)
        return found

    def _interpolated(self, m: int, n: int, kind: _Kind) -> Cell:
        """Per vector of m, on a line between the two nearest rows of its kind; on a line between two columns.

        Few elements beyond whole vectors add the same everywhere, so that those rows are on a line themselves.
        """
        kinds = self._rows_by_kind
        own = kinds[kind]
        on_a_line = kind == "few" and len(own) > 1 and m <= own[-1]
        rows = own or kinds["partial"] or kinds["whole"] or kinds["few"]
        (lower, upper, weight), beyond = _between(rows, m)[:3], 1.0
        left, right, share = _between(self.columns, n)
        if n > self.columns[-1]:
            beyond = n / self.columns[-1]
        vectors = self._vectors(m)
        sums = [0.0, 0.0, 0.0]
        for row, row_weight in ((lower, 1.0 - weight), (upper, weight)):
            for column, column_weight in ((left, 1.0 - share), (right, share)):
                scale = row_weight * column_weight * (1.0 if on_a_line else vectors / self._vectors(row))
                if scale:
                    cell = self.cells[self.rows.index(row) * len(self.columns) + self.columns.index(column)]
                    for place, value in enumerate(cell):
                        sums[place] += scale * value
        return sums[0] * beyond, sums[1] * beyond, sums[2] * beyond

    def _vectors(self, m: int) -> int:
        return -(-m // self.vector_elements)


def _between(grid: Sequence[int], value: int) -> tuple[int, int, float]:
    """The neighbours of a value in a sorted grid, and how far it lies from the first to the second (0 to 1)."""
    place = bisect_left(grid, value)
    if place == len(grid):
        return grid[-1], grid[-1], 0.0
    if place == 0 or grid[place] == value:
        return grid[place], grid[place], 0.0
    lower, upper = grid[place - 1], grid[place]
    return lower, upper, (value - lower) / (upper - lower)

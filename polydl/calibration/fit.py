"""From timed calls to a table: three coefficients for each m and n, and how well they predict other shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median

from polydl.calibration.formulas import formula_error
from polydl.contracts import GemmShape, Microkernel
from polydl.machine.throughput import Cell, Throughput


def fitted(
    kernel: Microkernel,
    element: str,
    vector_elements: int,
    grid: Mapping[GemmShape, float],
    transposed: Mapping[GemmShape, float],
    held_out: Mapping[GemmShape, float],
) -> Throughput | None:
    """The table from peak cycles by shape; None if the kernel took too few shapes to interpolate between."""
    cells: dict[tuple[int, int], list[tuple[GemmShape, float]]] = {}
    for shape, cycles in grid.items():
        cells.setdefault((shape.m, shape.n), []).append((shape, cycles))
    rows, columns = _complete(cells.keys())
    if not rows or len(columns) < 2:
        return None
    table = Throughput(
        microkernel=kernel.name,
        element=element,
        vector_elements=vector_elements,
        rows=rows,
        columns=columns,
        cells=tuple(_cell(cells[m, n]) for m in rows for n in columns),
        transposed=1.0,
        error=0.0,
        formula_error=0.0,
        held_out=len(held_out),
    )
    ratios = [cycles / _predicted(table, shape) for shape, cycles in transposed.items()]
    own = [abs(_predicted(table, shape) / cycles - 1.0) for shape, cycles in held_out.items()]
    taken = {shape: cycles * kernel.core.peak_cycle for shape, cycles in held_out.items()}
    return replace(
        table,
        transposed=median(ratios) if ratios else 1.0,
        error=median(own) if own else 0.0,
        formula_error=formula_error(kernel, taken, vector_elements) if taken else 0.0,
    )


def _predicted(table: Throughput, shape: GemmShape) -> float:
    return table.cycles(shape.m, shape.n, shape.k, shape.batch)


def _complete(known: Collection[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns of the grid without those that a kernel's refusals left incomplete, the emptiest first."""
    rows, columns = {m for m, _ in known}, {n for _, n in known}
    while True:
        missing = {(m, n) for m in rows for n in columns}.difference(known)
        if not missing:
            return tuple(sorted(rows)), tuple(sorted(columns))
        by_row = {m: sum(1 for each, _ in missing if each == m) / len(columns) for m in rows}
        by_column = {n: sum(1 for _, each in missing if each == n) / len(rows) for n in columns}
        worst_row, worst_column = max(by_row, key=lambda m: by_row[m]), max(by_column, key=lambda n: by_column[n])
        if by_row[worst_row] >= by_column[worst_column]:
            rows.discard(worst_row)
        else:
            columns.discard(worst_column)


def _cell(timed: Sequence[tuple[GemmShape, float]]) -> Cell:
    """Coefficients, none of them negative, with the least sum of squared relative errors."""
    import numpy as np

    terms = np.array([[1.0, shape.batch, shape.k * shape.batch] for shape, _ in timed])
    cycles = np.array([measured for _, measured in timed])
    weighted = terms / cycles[:, None]
    kept = [0, 1, 2]
    while True:
        found = np.linalg.lstsq(weighted[:, kept], np.ones(len(cycles)), rcond=None)[0]
        negative = [place for place, value in zip(kept, found, strict=True) if value < 0]
        if not negative:
            break
        kept.remove(negative[0])
    values = dict(zip(kept, (float(value) for value in found), strict=True))
    return values.get(0, 0.0), values.get(1, 0.0), values.get(2, 0.0)

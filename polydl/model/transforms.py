"""What transforms of tiles take: vectors of lanes, multiplied by small constant matrices."""

from __future__ import annotations

from math import prod

from polydl.ir.calls import TileTransform
from polydl.ir.statement import Statement
from polydl.machine import Core
from polydl.plan.linear_maps import operations


def transform_cycles(statement: Statement, transform: TileTransform, vector_elements: int, core: Core) -> float:
    """Core cycles of all tiles, operands in the first-level cache."""
    assert statement.box is not None
    extents = [high - low + 1 for low, high in statement.box]
    lanes = extents[transform.lanes]
    tiles = statement.instances // lanes
    for loop in {*transform.results, *transform.sources}:
        tiles //= extents[loop]
    rows = [len(matrix) for matrix in transform.matrices]
    columns = [len(matrix[0]) for matrix in transform.matrices]
    computed = float(operations(transform.matrices[0]) * prod(columns[1:]))
    if len(columns) > 1:
        computed += operations(transform.matrices[1]) * rows[0]
    loads, stores = prod(columns), prod(rows)
    if transform.adds:
        computed, loads = computed + stores, loads + stores
    if transform.walk is not None:
        computed += core.gathered_lanes_operations * prod(extents[loop] for loop in transform.outside)
    cycles = computed / core.fma_per_cycle + loads / core.loads_per_cycle + stores / core.stores_per_cycle
    return tiles * -(-lanes // vector_elements) * cycles

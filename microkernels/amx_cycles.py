"""What calls in tile registers spend on splitting or copying their operands, as their sizes say."""

from __future__ import annotations

from polydl.contracts import GemmShape
from polydl.machine.core import Core
from polydl.microkernels.amx_operands import FORMATS, SIDE, kept_bytes, length_of_a
from polydl.microkernels.amx_panels import fits_panels, panel_elements

# Copies of A that a thread keeps at most: each call looks through them one by one.
_MOST_KEPT = 8


def copies_of_a(shape: GemmShape, core: Core) -> int:
    """Of how many tiles of A a thread keeps copies."""
    return max(1, min(_MOST_KEPT, kept_bytes(core) // (2 * length_of_a(shape, whole=True))))


def copying_cycles(shape: GemmShape, products: float, core: Core) -> float:
    """Core cycles that show beside those of ``products`` while a call splits, copies or reads operands again."""
    all_of_a = shape.anew_a * cycles_of_a(shape, core)
    kind = FORMATS[shape.element]
    if kind.parts == 1:
        return all_of_a
    elements = elements_of_b(shape)
    all_of_b = shape.anew_b * kind.cycles(core) * elements
    hidden = core.tile_hidden_share * products
    if fits_panels(shape, elements, core):
        shown = all_of_a + max(0.0, all_of_b - hidden)
        held_a, held_b = length_of_a(shape, whole=True), 2 * panel_elements(shape)
    else:
        shown = all_of_b + all_of_a
        if shape.anew_a == 1.0 and shape.stride_am == 1:
            # Two tiles before the first product, the others beside products.
            later = max(0.0, 1.0 - 2 * SIDE / shape.m) * all_of_a
            shown -= min(later, hidden)
        held_a, held_b = length_of_a(shape, whole=shape.anew_a < 1.0), kind.parts * elements
    # Each two tiles of A meet all of B that is held.
    lost = min(1.0, max(0.0, 2 * (held_a + held_b) / core.second_cache_bytes - core.tile_held_share))
    return shown + lost * 2 * held_b * -(-shape.m // (2 * SIDE)) / core.last_cache_bytes_per_cycle


def elements_of_b(shape: GemmShape) -> int:
    """Those that a call splits if nothing of B is split yet: what products have in common once, where that is less."""
    by_column = shape.k * shape.columns * shape.batch
    return min(by_column, shape.reach_b) if shape.reach_b else by_column


def cycles_of_a(shape: GemmShape, core: Core) -> float:
    """Those of splitting or copying all of A, once."""
    kind, elements = FORMATS[shape.element], shape.m * shape.k * shape.batch
    if shape.stride_am == 1:
        return kind.cycles(core) * elements
    tiles = -(-shape.m // SIDE) * shape.batch * kind.products_along(shape.k)
    split = core.tile_split_cycles * elements if kind.parts > 1 else 0.0
    return split + kind.parts * tiles * core.tile_transpose_cycles

"""Constants of a core that microkernels' formulas take, fitted to the times of calls.

A formula is nearly linear in its constants, as long as these choose the same register blocks. Some Gauss-Newton steps
of least squares of relative errors find them. A constant of which the calls say little stays near the value that it
had, and what does not predict other calls better than before is not taken. Calls were timed with the blocks that the
first values choose; whoever wants those of the last ones times them once more and fits again.

Other constants decide between register blocks: they are chosen by how fast the code is that comes of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median

from polydl.contracts import FormulaConstants, GemmShape, Microkernel
from polydl.contracts.first_cache import timed_cycles
from polydl.element_types import Values
from polydl.machine.core import Core, constants
from polydl.machine.processors import WIDE_CORE

_STEPS = 12
# By how much a constant is moved to see what it is worth: too little for other register blocks.
_NUDGE = 1e-6
# How much the logarithm of a constant's change counts, squared, beside the mean of squared relative errors.
_TRUST = 1e-4
# Constants stay between these multiples of what is usual, whatever they were first.
_LEAST, _MOST = 1 / 20, 20.0
# Calls that are off by more than this count less.
_FAR = 0.25
# Of constants that decide between register blocks.
_MULTIPLES = (1.0, 0.5, 0.25, 0.1)
# Every so many-th call is held out.
_HELD_OUT = 3


def formula_error(kernel: Microkernel, cycles: Mapping[GemmShape, float], vector_elements: int) -> float:
    """The median of relative errors of the formula, against core cycles by shape."""
    return median(abs(timed_cycles(kernel, shape, vector_elements) / took - 1.0) for shape, took in cycles.items())


def fitted_constants(
    kernel: Microkernel,
    wanted: FormulaConstants,
    core: Core,
    cycles: Mapping[GemmShape, float],
    vector_elements: int,
) -> dict[str, float]:
    """Values of the constants by name; none if the formula predicts calls that are held out no better with them.

    ``cycles`` are core cycles by shape, a third of which are held out.
    """
    numbered = list(enumerate(cycles.items()))
    held_out = dict(item for number, item in numbered if number % _HELD_OUT == 0)
    taken = dict(item for number, item in numbered if number % _HELD_OUT)
    if len(taken) <= len(wanted.names) or not held_out:
        return {}
    values = _fit(kernel, wanted, core, taken, vector_elements)

    def error(chosen: Mapping[str, float]) -> float:
        return formula_error(kernel.on(core.having(constants(chosen, "measured"))), held_out, vector_elements)

    before = {name: float(getattr(core, name)) for name in wanted.names}
    return values if error(values) < error(before) else {}


def decided_constants(
    kernel: Microkernel,
    wanted: FormulaConstants,
    core: Core,
    timed_on: Callable[[Microkernel], Mapping[GemmShape, float]],
) -> dict[str, float]:
    """The values with which the code of a microkernel is the fastest, by name: multiples of those of ``core``.

    ``timed_on`` returns the time of each call by its shape, in any unit; none if the microkernel takes no such call.
    """
    best: tuple[float, dict[str, float]] | None = None
    for multiple in _MULTIPLES:
        values = {name: multiple * getattr(core, name) for name in wanted.names}
        taken = timed_on(kernel.on(core.having(constants(values, "measured")))).values()
        if not taken:
            return {}
        mean = sum(map(math.log, taken)) / len(taken)
        if best is None or mean < best[0]:
            best = mean, values
    return {} if best is None else best[1]


def _fit(
    kernel: Microkernel,
    wanted: FormulaConstants,
    core: Core,
    cycles: Mapping[GemmShape, float],
    vector_elements: int,
) -> dict[str, float]:
    import numpy as np

    first = np.array([float(getattr(core, name)) for name in wanted.names])
    usual = np.array([float(getattr(WIDE_CORE, name)) for name in wanted.names])
    measured = np.array(list(cycles.values()))

    def relative(values: Values) -> Values:
        chosen = dict(zip(wanted.names, map(float, values), strict=True))
        changed = kernel.on(core.having(constants(chosen, "measured")))
        ratios: Values = np.array([timed_cycles(changed, shape, vector_elements) for shape in cycles]) / measured
        return ratios

    values = first.copy()
    trust = np.sqrt(_TRUST * len(measured))
    for _ in range(_STEPS):
        there = relative(values)
        slopes = []
        for place, value in enumerate(values):
            nudged = values.copy()
            nudged[place] = value * (1 + _NUDGE)
            slopes.append((relative(nudged) - there) / _NUDGE)
        weights = np.minimum(1.0, _FAR / np.maximum(np.abs(there - 1.0), 1e-9)) ** 0.5
        # Unknowns are the changes relative to the values; a row for each of them holds it near what it was first.
        rows = np.vstack([np.array(slopes).T * weights[:, None], trust * np.eye(len(values))])
        aims = np.concatenate([(1.0 - there) * weights, trust * np.log(first / values)])
        changes = np.linalg.lstsq(rows, aims, rcond=None)[0]
        values = np.clip(values * (1.0 + np.clip(changes, -0.5, 1.0)), _LEAST * usual, _MOST * usual)
    return {name: float(value) for name, value in zip(wanted.names, values, strict=True)}

"""Shapes at which a decision is in doubt: what was measured around them speaks for another kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polydl.libraries.decision import MOST_SLOWDOWN, Decision, Times, choose, logarithmic_costs
from polydl.libraries.shapes import Shape

# How far a measured shape speaks for those around it: the factor of one size at which its weight is down to 0.61.
_REACH = 2.0**1.5
# Of measured costs, over those that are explained by where a shape lies: samples are few.
_NOISE = 0.05


def by_doubt(
    decision: Decision, shapes: Sequence[Shape], times: Sequence[Times], kernels: Sequence[str], others: Sequence[Shape]
) -> tuple[Shape, ...]:
    """Others than the measured shapes, those first at which the decision is expected to lose most time.

    ``times[n]`` are seconds at ``shapes[n]``, by kernel. How many times as slow as the fastest each of the ``kernels``
    is at another shape is taken from the measured ones around it, by kernel ridge regression with a Gaussian of the
    logarithms of sizes (Rasmussen and Williams, Gaussian Processes for Machine Learning, equation 2.25). Where the
    kernel that the decision takes is the best by that as well, nothing is lost.
    """
    if not others:
        return ()
    known = np.minimum([logarithmic_costs(at, kernels) for at in times], math.log(MOST_SLOWDOWN))
    mean = known.mean(axis=0)
    places, wanted = _logarithms(shapes), _logarithms(others)
    weights = np.linalg.solve(_likeness(places, places) + _NOISE * np.eye(len(places)), known - mean)
    expected = _likeness(wanted, places) @ weights + mean
    taken = [kernels.index(choose(decision, shape)) for shape in others]
    lost = expected[np.arange(len(others)), taken] - expected.min(axis=1)
    return tuple(others[place] for place in np.argsort(-lost, kind="stable").tolist())


def _logarithms(shapes: Sequence[Shape]) -> npt.NDArray[Any]:
    return np.log([list(shape.values()) for shape in shapes])


def _likeness(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """How much the costs at each shape of one side say of those at each of the other: 1 for the same shape."""
    squares: npt.NDArray[Any] = ((one[:, None] - other) ** 2).sum(axis=-1)
    return np.exp(squares / (-2 * math.log(_REACH) ** 2))

"""Input-aware selection: a model learned from a library's measurements, asked about every configuration at a shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polydl.libraries.configurations import Configurations, every_configuration
from polydl.libraries.decision import Times
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.regression import TimeRegression, fitted
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest
from polydl.machine import Machine


@dataclass(frozen=True)
class Selected:
    """A kernel, and the time that is expected of it."""

    kernel: Kernel
    #: that are expected of a call
    seconds: float


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A regression, and all configurations that it is asked about."""

    regression: TimeRegression
    configurations: Configurations

    def fastest(self, shape: Shape, most: int) -> tuple[Selected, ...]:
        """The configurations that are expected to be fastest at a shape, the best first."""
        seconds = self.regression.seconds(self.configurations.features(shape))
        return tuple(
            Selected(self.configurations.kernels[place], float(seconds[place]))
            for place in np.argsort(seconds, kind="stable")[:most].tolist()
        )


def learned(
    nest: SymbolicNest,
    product: SymbolicProduct | None,
    machine: Machine,
    candidates: Mapping[str, Kernel],
    measured: Sequence[tuple[Shape, Times]],
) -> LearnedModel:
    """The model of all kernels that were measured for a nest.

    ``candidates`` are these kernels by id, ``measured`` holds the seconds of each at every shape.
    """
    known = list(candidates)
    features, seconds, groups = [], [], []
    for number, (shape, times) in enumerate(measured):
        here = [candidates[identity] for identity in known if identity in times]
        if not here:
            continue
        features.append(Configurations.of(nest, product, machine, known, here).features(shape))
        seconds += [times[each.id] for each in here]
        groups += [number] * len(here)
    regression = fitted(np.concatenate(features), np.array(seconds), groups)
    kernels = {each.id: each for each in candidates.values()}
    if product is not None:
        others = every_configuration(nest, product, machine)
        every = (*kernels.values(), *(each for each in others if each not in set(kernels.values())))
    else:
        every = tuple(kernels.values())
    return LearnedModel(regression, Configurations.of(nest, product, machine, known, every))

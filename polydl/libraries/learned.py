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
from polydl.libraries.unit import ORIGINAL
from polydl.machine import Machine


@dataclass(frozen=True)
class Selected:
    """What runs, or might run, at a shape, and its time there."""

    #: None for the nest as it was written
    kernel: Kernel | None
    #: that are expected of a call; for the nest as it was written those that were measured, or None at other shapes
    seconds: float | None

    @property
    def id(self) -> str:
        """That of the kernel, or "original"."""
        return ORIGINAL if self.kernel is None else self.kernel.id


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
) -> LearnedModel | None:
    """The model of all kernels that were measured for a nest; None if none of them has a time.

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
    if not seconds:
        return None
    regression = fitted(np.concatenate(features), np.array(seconds), groups)
    kernels = {each.id: each for each in candidates.values()}
    if product is not None:
        others = every_configuration(nest, product, machine)
        every = (*kernels.values(), *(each for each in others if each not in set(kernels.values())))
    else:
        every = tuple(kernels.values())
    return LearnedModel(regression, Configurations.of(nest, product, machine, known, every))

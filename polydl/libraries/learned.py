"""Input-aware selection: a model learned from a library's measurements, asked about every configuration at a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from polydl.libraries.configurations import Configurations, every_configuration
from polydl.libraries.kernel import Kernel
from polydl.libraries.regression import Regression, fitted
from polydl.libraries.shapes import Shape

if TYPE_CHECKING:
    from polydl.libraries.build import Library


@dataclass(frozen=True)
class Selected:
    """A kernel, and the time that is expected of it."""

    kernel: Kernel
    seconds: float


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A regression, and all configurations that it is asked about."""

    regression: Regression
    configurations: Configurations

    def fastest(self, shape: Shape, most: int) -> tuple[Selected, ...]:
        """The configurations that are expected to be fastest at a shape, the best first."""
        seconds = self.regression.seconds(self.configurations.features(shape))
        return tuple(
            Selected(self.configurations.kernels[place], float(seconds[place]))
            for place in np.argsort(seconds, kind="stable")[:most].tolist()
        )


def learned(library: Library) -> LearnedModel:
    """The model of all kernels that a library has measured."""
    nest, product, machine = library.nest, library.product, library.machine
    known = list(library.candidates)
    features, seconds, groups = [], [], []
    for number, (shape, times) in enumerate(zip(library.shapes, library.times, strict=True)):
        here = [library.candidates[identity] for identity in known if identity in times]
        features.append(Configurations.of(nest, product, machine, known, here).features(shape))
        seconds += [times[each.id] for each in here]
        groups += [number] * len(here)
    regression = fitted(np.concatenate(features), np.array(seconds), groups)
    kernels = {each.id: each for each in library.candidates.values()}
    if product is not None:
        others = every_configuration(nest, product, machine)
        every = (*kernels.values(), *(each for each in others if each not in set(kernels.values())))
    else:
        every = tuple(kernels.values())
    return LearnedModel(regression, Configurations.of(nest, product, machine, known, every))

"""Ridge regression of logarithms of times: a quadratic form of features, fitted to what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Of which the penalty on the coefficients is chosen, by what is left out of the fit.
_PENALTIES = (0.01, 0.1, 1.0, 10.0)
_PARTS = 4
# How far predictions may be beyond what was measured, as a logarithm.
_BEYOND = 3.0


@dataclass(frozen=True, eq=False)
class TimeRegression:
    """``log(seconds) = x' Q x + b' x + constant`` of standardized features x."""

    #: what is subtracted from each feature
    center: Array
    #: what it is divided by then
    spread: Array
    #: Q, [feature][feature]
    quadratic: Array
    #: b, [feature]
    linear: Array
    #: of the logarithm of seconds
    constant: float
    #: between which predictions are: what was measured, and some beyond
    bounds: tuple[float, float]

    def logarithms(self, features: Array) -> Array:
        """Logarithms of predicted seconds, one for each row of features."""
        x = (features - self.center) / self.spread
        predicted: Array = np.einsum("ij,ij->i", x @ self.quadratic + self.linear, x) + self.constant
        return predicted.clip(*self.bounds)

    def seconds(self, features: Array) -> Array:
        """Predicted seconds, one for each row of features."""
        return np.exp(self.logarithms(features))


def fitted(features: Array, seconds: Array, groups: Sequence[int]) -> TimeRegression:
    """The regression for rows of features and their times.

    The penalty is the one with which rows are predicted best by all rows of other groups: ``groups`` are shapes, one
    for each row.
    """
    target = np.log(seconds)
    parts = np.asarray(groups) % _PARTS
    errors = dict.fromkeys(_PENALTIES, 0.0)
    for part in set(parts.tolist()) if len(set(parts.tolist())) > 1 else ():
        kept = parts != part
        for penalty in _PENALTIES:
            predicted = _solved(features[kept], target[kept], penalty).logarithms(features[~kept])
            errors[penalty] += float(np.square(predicted - target[~kept]).sum())
    return _solved(features, target, min(_PENALTIES, key=lambda penalty: errors[penalty]))


def _solved(features: Array, target: Array, penalty: float) -> TimeRegression:
    center, spread = features.mean(0), features.std(0)
    spread[spread == 0] = 1
    x = (features - center) / spread
    first, second = np.triu_indices(x.shape[1])
    terms = np.concatenate([x[:, first] * x[:, second], x], axis=1)
    middle, mean = terms.mean(0), float(target.mean())
    terms = terms - middle
    # As many equations as rows, which are fewer than terms as a rule.
    kernel = terms @ terms.T + penalty * np.eye(len(terms))
    weights = terms.T @ np.linalg.solve(kernel, target - mean)
    quadratic = np.zeros((x.shape[1], x.shape[1]))
    quadratic[first, second] = weights[: len(first)]
    bounds = float(target.min()) - _BEYOND, float(target.max()) + _BEYOND
    return TimeRegression(center, spread, quadratic, weights[len(first) :], mean - float(middle @ weights), bounds)

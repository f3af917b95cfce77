"""Rankers that were trained on measured variants: two tournaments and a regression.

Their weights ship with the package (``ranking/weights``). All of them load no more than NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polydl.contracts import Candidate
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.ranking import Ranking
from polydl.machine import Machine
from polydl.machine.processors import architecture
from polydl.model.times import Numbers, Times, predicted_times
from polydl.ranking import features
from polydl.ranking.cost_model import reasons
from polydl.ranking.network import Array, Weights, load
from polydl.ranking.ordering import ordered, where_reused
from polydl.ranking.tournament import THRESHOLD, wins

# Ratings are logarithms of times; the chances in a game are the softmax of so many times the ratings.
SHARPNESS = 10.0
# How far the logarithm of a time that the cost model predicts is corrected, either way.
MOST_CORRECTION = 0.25
# Of so many variants, the fastest by the cost model, the mean correction is that of variants unlike all in training.
_BEST = 10

_DIRECTORY = Path(__file__).parent / "weights"


@dataclass(frozen=True, eq=False)
class _Learned:
    """``weights`` are those that ship with the package unless others are given."""

    name: str
    #: name of a set of features, with its version
    features: str
    #: None for those of the package
    given: Weights | None = None

    @cached_property
    def weights(self) -> Weights:
        """Those given, or the package's. Raises WeightsError where a file is missing, broken or for other features."""
        return self.given or load(_DIRECTORY / f"{self.name}.npz", kind=self.name, features=self.features)

    def to_bytes(self, card: Mapping[str, Any]) -> bytes:
        return replace(self.weights, card=card).to_bytes()


# The bytes of an element of C, A and B in the data that rankers are trained on: all of it is float.
ELEMENT_BYTES = (4, 4, 4)


@dataclass(frozen=True, eq=False)
class PaperTournament(_Learned):
    """The ``dnn-paper`` ranker: the paper's features, network, threshold and tournament (§4.2.2). Scores are wins,
    negated."""

    name: str = "dnn-paper"
    features: str = features.WORKING_SETS

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        won = wins(self.weights.networks[0], features.working_sets(candidates)).tolist() if candidates else []
        return ordered(
            self.name,
            candidates,
            machine,
            scores=[float(-number) for number in won],
            reason=lambda place: where_reused(candidates[place].working_sets, machine),
        )


@dataclass(frozen=True, eq=False)
class UtilityTournament(_Learned):
    """The ``dnn`` ranker: a network rates every variant by itself, from richer features.

    A game's two players get the softmax of their ratings as chances, so that who wins how many of all games follows
    from the sorted ratings; equal wins are ordered by rating. Scores are predicted seconds. What the networks correct
    is how well a core gets on with a variant; how several threads share the work and the caches is left to the cost
    model. So is a variant whose heaviest nest has no microkernel, one of a family that was not in the data, or other
    elements than float, and every variant for a machine of an architecture that was not: the reasons say which these
    are. The cost model's order is the ranking's second one.
    """

    name: str = "dnn"
    features: str = features.RICH

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        times = predicted_times(candidates, machine)
        ratings = self._ratings(candidates, machine, times)
        scores = np.exp(-ratings) * features.ideal_seconds(candidates, machine)
        seconds = reasons(candidates, machine, times)

        def reason(place: int) -> str:
            unseen = self.unseen(features.heaviest_use(candidates[place]), machine)
            return (
                f"{seconds(place)}; the cost model's time, as the networks know {unseen}" if unseen else seconds(place)
            )

        expected = times.summed(times.total).tolist()
        return ordered(self.name, candidates, machine, scores=scores.tolist(), reason=reason, second=expected)

    def unseen(self, use: MicrokernelUse | None, machine: Machine) -> str:
        """What the networks were never trained on, of a variant whose heaviest nest has that call; "" for nothing."""
        if architecture(machine.isa) not in self.weights.architectures:
            return f"no machine of {architecture(machine.isa)}"
        if use is None:
            return "no nest without a microkernel"
        if use.family not in self.weights.families:
            return f"nothing like `{use.name}`"
        return "" if use.element_bytes == ELEMENT_BYTES else "no elements but float"

    def ratings(self, candidates: Sequence[Candidate], machine: Machine) -> list[float]:
        """Logarithms of the speed that is predicted, relative to that of the arithmetic at the machine's peak."""
        rated: list[float] = self._ratings(candidates, machine, predicted_times(candidates, machine)).tolist()
        return rated

    def _ratings(self, candidates: Sequence[Candidate], machine: Machine, times: Times) -> Numbers:
        if not candidates:
            return np.zeros(0)
        uses = [features.heaviest_use(each) for each in candidates]
        alone = machine.threads == 1
        seen = features.rich(candidates, machine, times if alone else None, uses)
        known = [not self.unseen(use, machine) for use in uses]
        corrections = self.corrections(seen)
        predicted = seen[:, features.PREDICTED] if alone else features.predicted(candidates, machine, times)
        # Training saw nothing like these: they are taken to be predicted as well as the best of the others are.
        strange = np.array([not each.families <= set(self.weights.rewrites) for each in candidates])
        others = np.flatnonzero(np.array(known) & ~strange)
        if strange.any() and others.size:
            best = others[np.argsort(predicted[others], kind="stable")[:_BEST]]
            corrections[strange] = corrections[best].mean()
        rated: Numbers = (np.where(known, corrections, 0.0) - predicted).astype(np.float64)
        return rated

    def corrections(self, seen: Array) -> Array:
        """How much better each row of features is than the cost model thinks."""
        found: Array = np.float32(MOST_CORRECTION) * np.tanh(self.weights(seen)[:, 0])
        return found

    def wins(self, candidates: Sequence[Candidate], machine: Machine) -> tuple[int, ...]:
        """How many of all games each candidate wins: those against players whose chances are below the threshold."""
        ratings = np.array(self.ratings(candidates, machine))
        margin = np.log(THRESHOLD / (1.0 - THRESHOLD)) / SHARPNESS
        return tuple(np.searchsorted(np.sort(ratings), ratings - margin, side="left").tolist())


@dataclass(frozen=True, eq=False)
class Regression(_Learned):
    """The ``regression`` ranker: throughput predicted from logarithms of a nest's and a variant's parameters, as
    ISAAC does (Tillet and Cox, 2017, §5). Scores are predicted seconds."""

    name: str = "regression"
    features: str = features.PARAMETERS

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        return ordered(
            self.name,
            candidates,
            machine,
            scores=self.seconds(candidates, machine),
            reason=lambda place: where_reused(candidates[place].working_sets, machine),
        )

    def seconds(self, candidates: Sequence[Candidate], machine: Machine) -> list[float]:
        """Predicted seconds of each candidate, in their order."""
        if not candidates:
            return []
        seen = np.log1p(features.parameters(candidates, machine)).astype(np.float32)
        gflops = np.exp(self.weights(seen)[:, 0].astype(np.float64))
        return [each.flops / rate / 1e9 for each, rate in zip(candidates, gflops.tolist(), strict=True)]


DNN_PAPER = PaperTournament()
DNN = UtilityTournament()
REGRESSION = Regression()

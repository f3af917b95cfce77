"""Training of the learned rankers, with TensorFlow; the same data and seed give the same weights.

Everything is put into arrays once, and every step sees all nests, or a batch that the seed chose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from polydl.contracts import MeasuredNest, TrainedRanker
from polydl.errors import MissingComponentError, OptionError
from polydl.machine.processors import architecture
from polydl.ranking import features, learned
from polydl.ranking.network import Activation, Array, Network, Weights, network_of, scale

Progress = Callable[[int, int], None]

# The paper's network (§4.2.2).
HIDDEN = (64, 32, 16, 8)
ACTIVATIONS: tuple[Activation, ...] = ("relu", "relu", "softsign", "relu")
# One of those in ISAAC's Table 2.
REGRESSION_HIDDEN = (64, 128, 64)
# How often progress is told.
_REPORTS = 20


@contextmanager
def _tensorflow(seed: int) -> Iterator[Any]:
    """TensorFlow, seeded and deterministic. Raises MissingComponentError."""
    try:
        import tensorflow as tf
    except ImportError:
        raise MissingComponentError(
            "TensorFlow is needed to train", remedy="pip install 'polydl[train]', or pip install tensorflow-cpu"
        ) from None
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    yield tf


def _initial(tf: Any, sizes: Sequence[int], members: int, generator: np.random.Generator) -> list[Any]:
    """Weights (members, inputs, outputs) and bias (members, 1, outputs) of each layer, for several networks at once."""
    found = []
    for inputs, outputs in pairwise(sizes):
        scale = np.sqrt(2.0 / inputs)
        weights = generator.normal(0.0, scale, (members, inputs, outputs)).astype(np.float32)
        found.append(tf.Variable(weights))
        found.append(tf.Variable(np.zeros((members, 1, outputs), np.float32)))
    return found


def _forward(tf: Any, variables: Sequence[Any], activations: Sequence[Activation], values: Any) -> Any:
    """Outputs of all members, (members, rows, outputs), for the same rows or for rows of their own."""
    functions = {"relu": tf.nn.relu, "softsign": tf.nn.softsign, "linear": lambda x: x}
    for place, activation in enumerate(activations):
        values = functions[activation](values @ variables[2 * place] + variables[2 * place + 1])
    return values


def _networks(variables: Sequence[Any], activations: Sequence[Activation]) -> tuple[Network, ...]:
    arrays = [variable.numpy() for variable in variables]
    members = len(arrays[0])
    return tuple(
        network_of([(arrays[2 * p][m], arrays[2 * p + 1][m, 0]) for p in range(len(activations))], activations)
        for m in range(members)
    )


def _descend(
    tf: Any,
    variables: Sequence[Any],
    loss: Callable[[Any], Any],
    steps: int,
    rate: float,
    batches: Callable[[int], Any],
    progress: Progress | None,
    decay: float = 0.0,
) -> None:
    """Adam, with a rate that falls to zero along a cosine. ``batches`` gives what ``loss`` gets in each step."""
    means = [tf.Variable(tf.zeros_like(each)) for each in variables]
    squares = [tf.Variable(tf.zeros_like(each)) for each in variables]

    def step(batch: Any, now: Any, number: Any) -> None:
        with tf.GradientTape() as tape:
            value = loss(batch)
        gradients = tape.gradient(value, variables)
        for variable, gradient, mean, square in zip(variables, gradients, means, squares, strict=True):
            mean.assign(0.9 * mean + 0.1 * gradient)
            square.assign(0.999 * square + 0.001 * gradient * gradient)
            change = (mean / (1.0 - 0.9**number)) / (tf.sqrt(square / (1.0 - 0.999**number)) + 1e-8)
            variable.assign_sub(now * (change + decay * variable))

    compiled = tf.function(step)
    for number in range(1, steps + 1):
        now = rate * 0.5 * (1.0 + np.cos(np.pi * (number - 1) / steps))
        compiled(batches(number), tf.constant(now, tf.float32), tf.constant(float(number), tf.float32))
        if progress is not None and (number == steps or number % max(1, steps // _REPORTS) == 0):
            progress(number, steps)


def _scaling(rows: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column.

    Of a column that never changes nothing is learned: its deviation is infinite, so that whatever is in it scales to 0.
    """
    deviation = rows.std(axis=0)
    # Of many equal numbers, rounding makes a mean that is none of them.
    constant = (rows.min(axis=0) == rows.max(axis=0)) | (deviation <= 1e-6)
    return rows.mean(axis=0), np.where(constant, np.inf, deviation).astype(np.float32)


def _seen(nests: Sequence[MeasuredNest]) -> dict[str, tuple[str, ...]]:
    """Those of all microkernels and of all rewrites in the data, and its architectures, as ``Weights`` keeps them."""
    candidates = [candidate for nest in nests for candidate in nest.candidates]
    return {
        "families": tuple(sorted({use.family for each in candidates for use in each.microkernels})),
        "rewrites": tuple(sorted({family for each in candidates for family in each.families})),
        "architectures": tuple(sorted({architecture(nest.machine.isa) for nest in nests})),
    }


def _check(nests: Sequence[MeasuredNest]) -> None:
    if not nests:
        raise OptionError("there is nothing to learn from", remedy="collect measurements with `polydl collect`")


@dataclass(frozen=True)
class PaperTrainer:
    """Of ``dnn-paper``: pairs of variants of the same nest, both ways round, and which of the two is faster."""

    name: str = "dnn-paper"
    #: of the optimizer
    steps: int = 1500
    #: pairs in each step
    batch: int = 2048
    #: of learning, in the first step; it falls to zero
    rate: float = 2e-3

    def train(self, nests: Sequence[MeasuredNest], *, seed: int, progress: Progress | None = None) -> TrainedRanker:
        _check(nests)
        pairs, labels = self._pairs(nests)
        generator = np.random.default_rng(seed)
        with _tensorflow(seed) as tf:
            activations: tuple[Activation, ...] = (*ACTIVATIONS, "linear")
            variables = _initial(tf, (pairs.shape[1], *HIDDEN, 2), 1, generator)

            def batches(_: int) -> Any:
                chosen = generator.integers(0, len(pairs), self.batch)
                return tf.constant(pairs[chosen]), tf.constant(labels[chosen])

            def loss(batch: Any) -> Any:
                inputs, wanted = batch
                outputs = _forward(tf, variables, activations, inputs)[0]
                return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, outputs))

            _descend(tf, variables, loss, self.steps, self.rate, batches, progress)
            networks = _networks(variables, activations)
        size = pairs.shape[1]
        weights = Weights(
            self.name,
            learned.DNN_PAPER.features,
            networks,
            np.zeros(size, np.float32),
            np.ones(size, np.float32),
            {},
            **_seen(nests),
        )
        return learned.PaperTournament(given=weights)

    @staticmethod
    def _pairs(nests: Sequence[MeasuredNest]) -> tuple[Array, Any]:
        inputs, labels = [], []
        for nest in nests:
            sets = features.working_sets(nest.candidates)
            seconds = np.array(nest.seconds)
            one, other = np.nonzero(~np.eye(len(seconds), dtype=bool))
            both = np.concatenate([sets[one], sets[other]], axis=1)
            inputs.append(both / np.maximum(both.sum(axis=1, keepdims=True), 1.0))
            labels.append((seconds[one] > seconds[other]).astype(np.int32))
        return np.concatenate(inputs), np.concatenate(labels)


@dataclass(frozen=True)
class UtilityTrainer:
    """Of ``dnn``: a network corrects the cost model's logarithm of the time.

    Its loss is that of all games of a nest, each weighted by how much slower the slower player is, and of a game's
    best players more. Several networks from different starts are averaged.
    """

    name: str = "dnn"
    members: int = 4
    #: of the optimizer, all nests in each
    steps: int = 250
    #: of learning, in the first step; it falls to zero
    rate: float = 4e-3
    #: of the weights
    decay: float = 1e-1
    #: standard deviation of what is added to the scaled features in training
    noise: float = 0.4

    def train(self, nests: Sequence[MeasuredNest], *, seed: int, progress: Progress | None = None) -> TrainedRanker:
        _check(nests)
        rows = [features.rich(nest.candidates, nest.machine) for nest in nests]
        mean, deviation = _scaling(np.concatenate(rows))
        most = max(len(own) for own in rows)
        inputs = np.zeros((len(nests), most, len(mean)), np.float32)
        times = np.zeros((len(nests), most), np.float32)
        predicted = np.zeros((len(nests), most), np.float32)
        there = np.zeros((len(nests), most), np.float32)
        for place, (own, nest) in enumerate(zip(rows, nests, strict=True)):
            inputs[place, : len(own)] = scale(own, mean, deviation)
            times[place, : len(own)] = np.log(np.array(nest.seconds) / min(nest.seconds))
            predicted[place, : len(own)] = features.predicted(nest.candidates, nest.machine)
            there[place, : len(own)] = 1.0
        generator = np.random.default_rng(seed)
        with _tensorflow(seed) as tf:
            activations: tuple[Activation, ...] = (*ACTIVATIONS, "linear")
            variables = _initial(tf, (len(mean), *HIDDEN, 1), self.members, generator)
            # In the beginning nothing is corrected.
            variables[-2].assign(0.1 * variables[-2])
            flat, shape = inputs.reshape(1, -1, len(mean)), (self.members, len(nests), most)
            games = _game_weights(times, there)
            slower = (times[:, :, None] > times[:, None, :]).astype(np.float32)
            games_tf, slower_tf, times_tf = tf.constant(games), tf.constant(slower), tf.constant(times)
            base, there_tf = tf.constant(predicted), tf.constant(there)

            def batches(_: int) -> Any:
                shaken = flat + self.noise * generator.standard_normal((1, *flat.shape[1:]), np.float32)
                return tf.constant(shaken)

            def loss(batch: Any) -> Any:
                out = tf.reshape(_forward(tf, variables, activations, batch), shape)
                rating = learned.MOST_CORRECTION * tf.tanh(out) - base
                margin = learned.SHARPNESS * (rating[:, :, :, None] - rating[:, :, None, :])
                lost = tf.nn.sigmoid_cross_entropy_with_logits(
                    tf.broadcast_to(1.0 - slower_tf, tf.shape(margin)), margin
                )
                tournament = tf.reduce_sum(games_tf * lost) / self.members
                centred = rating + times_tf
                centred -= tf.reduce_sum(centred * there_tf, -1, True) / tf.reduce_sum(there_tf, -1, True)
                error = tf.reduce_mean(tf.reduce_sum(there_tf * centred * centred, -1) / tf.reduce_sum(there_tf, -1))
                return tournament + error

            _descend(tf, variables, loss, self.steps, self.rate, batches, progress, self.decay)
            networks = _networks(variables, activations)
        weights = Weights(self.name, learned.DNN.features, networks, mean, deviation, {}, **_seen(nests))
        return learned.UtilityTournament(given=weights)


def _game_weights(times: Array, there: Array) -> Array:
    """(nests, players, players): what each game counts, with a sum of 1 over all; twice what a game is worth if
    one of its players is nearly the best."""
    distance = np.minimum(np.abs(times[:, :, None] - times[:, None, :]), 0.5)
    best = np.exp(-10.0 * np.minimum(times[:, :, None], times[:, None, :]))
    weights = distance * (0.2 + best) * there[:, :, None] * there[:, None, :]
    weights /= np.maximum(weights.sum(axis=(1, 2), keepdims=True), 1e-9)
    found: Array = (weights / len(times)).astype(np.float32)
    return found


@dataclass(frozen=True)
class RegressionTrainer:
    """Of ``regression``: the logarithm of GFLOPS, by least squares."""

    name: str = "regression"
    #: of the optimizer
    steps: int = 2000
    #: of learning, in the first step; it falls to zero
    rate: float = 3e-3
    #: of the weights
    decay: float = 1e-3
    #: measurements in each step
    batch: int = 512
    #: outputs of each hidden layer
    hidden: tuple[int, ...] = REGRESSION_HIDDEN
    #: whether the network sees logarithms of the parameters; the plain ones are worse, and only for comparison
    logarithms: bool = True

    def train(self, nests: Sequence[MeasuredNest], *, seed: int, progress: Progress | None = None) -> TrainedRanker:
        _check(nests)
        inputs = np.concatenate([self.inputs(nest) for nest in nests])
        mean, deviation = _scaling(inputs)
        inputs = scale(inputs, mean, deviation)
        wanted = np.concatenate([throughputs(nest) for nest in nests])
        centre, spread = float(wanted.mean()), float(wanted.std()) or 1.0
        wanted = ((wanted - centre) / spread).astype(np.float32)
        generator = np.random.default_rng(seed)
        with _tensorflow(seed) as tf:
            hidden: list[Activation] = ["relu" for _ in self.hidden]
            activations: tuple[Activation, ...] = (*hidden, "linear")
            variables = _initial(tf, (inputs.shape[1], *self.hidden, 1), 1, generator)

            def batches(_: int) -> Any:
                chosen = generator.integers(0, len(inputs), self.batch)
                return tf.constant(inputs[chosen]), tf.constant(wanted[chosen])

            def loss(batch: Any) -> Any:
                rows, target = batch
                return tf.reduce_mean((_forward(tf, variables, activations, rows)[0, :, 0] - target) ** 2)

            _descend(tf, variables, loss, self.steps, self.rate, batches, progress, self.decay)
            variables[-2].assign(variables[-2] * spread)
            variables[-1].assign(variables[-1] * spread + centre)
            networks = _networks(variables, activations)
        weights = Weights(self.name, learned.REGRESSION.features, networks, mean, deviation, {}, **_seen(nests))
        return learned.Regression(given=weights)

    def inputs(self, nest: MeasuredNest) -> Array:
        """What the network sees of a nest's candidates, [candidates][parameters]."""
        found = features.parameters(nest.candidates, nest.machine)
        return np.log1p(found).astype(np.float32) if self.logarithms else found

    def predicted(self, ranker: learned.Regression, nest: MeasuredNest) -> Array:
        """Logarithms of GFLOPS that a ranker of this trainer predicts."""
        return ranker.weights(self.inputs(nest))[:, 0]


def throughputs(nest: MeasuredNest) -> Array:
    """Logarithms of GFLOPS."""
    found: Array = np.log([c.flops / s / 1e9 for c, s in zip(nest.candidates, nest.seconds, strict=True)])
    return found.astype(np.float32)


DNN_PAPER = PaperTrainer()
DNN = UtilityTrainer()
REGRESSION = RegressionTrainer()

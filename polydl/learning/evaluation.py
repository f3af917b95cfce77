"""Evaluation of rankers on nests that they were not trained on: each network or matrix product is held out in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polydl import registry
from polydl.contracts import MeasuredNest, Ranker, Trainer
from polydl.learning.metrics import TOP, Interval, Quality, bootstrap, geomean, quality, random_quality
from polydl.machine import Machine
from polydl.pipeline import ProgressCallback, Stage, ranker_named

DEFAULT_ORDER, RANDOM, ORACLE = "default order", "random pick", "oracle"
RANKERS = ("equation-1", "latency", "cost-model", "dnn-paper", "dnn", "regression")
# Widths of the regression's hidden layers, as in ISAAC's Table 2, up to those that a small data set can train.
ARCHITECTURES = ((64,), (512,), (32, 64, 32), (64, 128, 64), (32, 64, 128, 64, 32))
_FOLDS = 5


@dataclass(frozen=True)
class Judged:
    """The evaluation of one ranker."""

    #: name of the ranker
    ranker: str
    #: whether it was trained
    trained: bool
    #: for each nest of ``Evaluation.nests``; None where the ranker has no order
    qualities: tuple[Quality | None, ...]

    def top(self, k: int) -> list[float]:
        """The relative performance of the best of the first ``TOP[k]`` variants, for each nest with an order."""
        return [quality.top[k] for quality in self.qualities if quality is not None]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of several rankers."""

    nests: tuple[MeasuredNest, ...]
    #: by name; the default order, a random pick and the oracle are among them
    rankers: Mapping[str, Judged]
    #: of the rankers' training and of confidence intervals
    seed: int


@dataclass(frozen=True)
class RankerSummary:
    """One ranker over several nests."""

    ranker: str
    #: geometric mean of ``Quality.top``, for each of ``TOP``
    top: tuple[Interval, ...]
    #: least ``Quality.top`` of a nest, for each of ``TOP``
    worst: tuple[float, ...]
    #: geometric mean
    top_part: float
    #: arithmetic mean
    tau: float | None
    #: arithmetic mean
    pairs: float | None
    #: geometric mean of the top-1 performance relative to the default order's
    over_default: Interval | None
    #: geometric mean of the top-1 performance relative to a random pick's
    over_random: Interval | None


def evaluate(
    nests: Sequence[MeasuredNest],
    *,
    rankers: Sequence[str] = RANKERS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Evaluate rankers on ``nests``.

    A ranker that can be trained is trained anew for each group of nests, without that group and without nests that
    compute the same as one of that group. Raises OptionError for an unknown ranker.
    """
    nests = tuple(nests)
    groups = tuple(dict.fromkeys(nest.group for nest in nests))
    trainers = registry.names("trainers")
    total = sum(len(groups) if name in trainers else 1 for name in rankers)
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(Stage("evaluate", done, total))

    judged: dict[str, Judged] = {}
    for name in rankers:
        if name not in trainers:
            ranker = ranker_named(name)
            judged[name] = Judged(name, False, tuple(judge(ranker, nest) for nest in nests))
            advance()
            continue
        trainer: Trainer = registry.load("trainers", name)
        qualities: dict[int, Quality] = {}
        for group in groups:
            ranker = trainer.train(without(nests, group), seed=seed)
            held_out = {index: judge(ranker, nest) for index, nest in enumerate(nests) if nest.group == group}
            qualities.update(held_out)
            advance()
        judged[name] = Judged(name, True, tuple(qualities[index] for index in range(len(nests))))
    return Evaluation(nests, {**_references(nests), **judged}, seed)


def without(nests: Sequence[MeasuredNest], group: str) -> tuple[MeasuredNest, ...]:
    """The training data when a group is held out: no nest of it, and none that computes the same as one of it."""
    held = {nest.problem for nest in nests if nest.group == group}
    return tuple(nest for nest in nests if nest.group != group and nest.problem not in held)


def judge(ranker: Ranker, nest: MeasuredNest) -> Quality:
    """The quality of a ranker's order of a nest's candidates. The ranker never sees their times."""
    seconds = {c.variant.id: s for c, s in zip(nest.candidates, nest.seconds, strict=True)}
    return quality([seconds[entry.variant.id] for entry in ranker.rank(nest.candidates, nest.machine).entries])


def machines_of(nests: Sequence[MeasuredNest]) -> tuple[Machine, ...]:
    """The machines that nests were measured on, one for each number of threads, whatever their profiles say."""
    return tuple({_key(nest.machine): nest.machine for nest in nests}.values())


def measured_on(nest: MeasuredNest, machine: Machine) -> bool:
    """Whether ``machine``, one of ``machines_of``, stands for that of the nest."""
    return _key(nest.machine) == _key(machine)


def _key(machine: Machine) -> tuple[str, int]:
    return machine.cpu_id, machine.threads


def _references(nests: Sequence[MeasuredNest]) -> dict[str, Judged]:
    by_lot = tuple(random_quality(nest.seconds) for nest in nests)
    perfect = tuple(quality(sorted(nest.seconds)) for nest in nests)
    defaults: list[Quality | None] = []
    for nest in nests:
        if nest.default is None:
            defaults.append(None)
            continue
        reached = min(nest.seconds) / nest.seconds[nest.default]
        defaults.append(Quality((reached,) * len(TOP), reached, None, None))
    return {
        DEFAULT_ORDER: Judged(DEFAULT_ORDER, False, tuple(defaults)),
        RANDOM: Judged(RANDOM, False, by_lot),
        ORACLE: Judged(ORACLE, False, perfect),
    }


def summaries(
    evaluation: Evaluation, among: Callable[[MeasuredNest], bool] = lambda _: True
) -> tuple[RankerSummary, ...]:
    """The summary of each ranker, over the nests that are ``among`` those asked for."""
    indices = [index for index, nest in enumerate(evaluation.nests) if among(nest)]
    lines = []
    for name, judged in evaluation.rankers.items():
        qualities = [quality for index in indices if (quality := judged.qualities[index]) is not None]
        if not qualities:
            continue
        lines.append(
            RankerSummary(
                ranker=name,
                top=tuple(bootstrap([one.top[k] for one in qualities], seed=evaluation.seed) for k in range(len(TOP))),
                worst=tuple(min(one.top[k] for one in qualities) for k in range(len(TOP))),
                top_part=geomean([one.top_part for one in qualities]),
                tau=_mean([one.tau for one in qualities]),
                pairs=_mean([one.pairs for one in qualities]),
                over_default=_over(evaluation, name, DEFAULT_ORDER, indices),
                over_random=_over(evaluation, name, RANDOM, indices),
            )
        )
    return tuple(lines)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _over(evaluation: Evaluation, name: str, other: str, places: Sequence[int]) -> Interval | None:
    if name == other:
        return None
    both = [(evaluation.rankers[name].qualities[p], evaluation.rankers[other].qualities[p]) for p in places]
    ratios = [one.top[0] / two.top[0] for one, two in both if one is not None and two is not None]
    return bootstrap(ratios, seed=evaluation.seed) if ratios else None


@dataclass(frozen=True)
class RegressionError:
    """Mean squared errors of the predicted logarithm of throughput on held-out groups.

    Errors are relative to the variance: predicting the mean would have an error of 1.
    """

    #: widths of the hidden layers
    hidden: tuple[int, ...]
    #: number of weights
    weights: int
    #: error where inputs are logarithms of the parameters
    logarithms: float
    #: error where inputs are the parameters
    plain: float


def regression_errors(
    nests: Sequence[MeasuredNest],
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> tuple[RegressionError, ...]:
    """Errors of the regression for each of ``ARCHITECTURES``, cross-validated over groups (as ISAAC's Table 2)."""
    groups = tuple(dict.fromkeys(nest.group for nest in nests))
    variance = float(np.var(np.concatenate([_logarithms(nest.seconds, nest) for nest in nests])))
    lines = []
    for number, hidden in enumerate(ARCHITECTURES):
        errors: dict[bool, list[float]] = {True: [], False: []}
        weights = 0
        for logarithms in errors:
            trainer: Any = replace(registry.load("trainers", "regression"), hidden=hidden, logarithms=logarithms)
            for fold in range(_FOLDS):
                held = [nest for nest in nests if groups.index(nest.group) % _FOLDS == fold]
                problems = {nest.problem for nest in held}
                kept = [n for n in nests if groups.index(n.group) % _FOLDS != fold and n.problem not in problems]
                if not held or not kept:
                    continue
                ranker: Any = trainer.train(kept, seed=seed)
                weights = ranker.weights.networks[0].parameters
                for nest in held:
                    wanted = _logarithms(nest.seconds, nest)
                    guessed = trainer.predicted(ranker, nest)
                    errors[logarithms] += ((guessed - wanted) ** 2).tolist()
        lines.append(
            RegressionError(
                hidden, weights, float(np.mean(errors[True])) / variance, float(np.mean(errors[False])) / variance
            )
        )
        if progress is not None:
            progress(Stage("regression", number + 1, len(ARCHITECTURES)))
    return tuple(lines)


def _logarithms(seconds: Sequence[float], nest: MeasuredNest) -> Any:
    return np.log([c.flops / s / 1e9 for c, s in zip(nest.candidates, seconds, strict=True)])

"""Rankers judged on nests that their training never saw: each network held out in turn, and each matrix product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polydl import registry
from polydl.contracts import MeasuredNest, Ranker, Trainer
from polydl.learning.metrics import TOP, Interval, Quality, bootstrap, geomean, quality, random_quality
from polydl.machine import Machine
from polydl.pipeline import ProgressCallback, Stage

DEFAULT_ORDER, RANDOM, ORACLE = "default order", "random pick", "oracle"
RANKERS = ("equation-1", "latency", "cost-model", "dnn-paper", "dnn", "regression")
# Hidden layers of the regression, as in ISAAC's Table 2; wide ones in reach of a small data set.
ARCHITECTURES = ((64,), (512,), (32, 64, 32), (64, 128, 64), (32, 64, 128, 64, 32))
_FOLDS = 5


@dataclass(frozen=True)
class Judged:
    """``qualities`` of one ranker, a nest's own at its place in ``Evaluation.nests``; None where there is none."""

    ranker: str
    trained: bool
    qualities: tuple[Quality | None, ...]

    def top(self, k: int) -> list[float]:
        """Performance of the best of the first ``TOP[place]`` for each nest that has one."""
        return [quality.top[k] for quality in self.qualities if quality is not None]


@dataclass(frozen=True)
class Evaluation:
    """``rankers`` by name, among them the default order, a random pick and the oracle."""

    nests: tuple[MeasuredNest, ...]
    rankers: Mapping[str, Judged]
    seed: int


@dataclass(frozen=True)
class Summary:
    """One line of the table. Geometric means, but for tau and pairs; ``worst`` are the worst nests' for top 1, 3, 5.

    ``over_default`` and ``over_random`` are the geometric means of the ratios of top-1 performance.
    """

    ranker: str
    top: tuple[Interval, ...]
    worst: tuple[float, ...]
    top_part: float
    tau: float | None
    pairs: float | None
    over_default: Interval | None
    over_random: Interval | None


def evaluate(
    nests: Sequence[MeasuredNest],
    machine: Machine,
    *,
    rankers: Sequence[str] = RANKERS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Judge rankers. One that is trained is trained anew for each group that is held out, without any nest that
    computes the same as one of that group. Raises OptionError for an unknown ranker."""
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
            ranker: Ranker = registry.load("rankers", name)
            judged[name] = Judged(name, False, tuple(judge(ranker, nest, machine) for nest in nests))
            advance()
            continue
        trainer: Trainer = registry.load("trainers", name)
        qualities: dict[int, Quality] = {}
        for group in groups:
            ranker = trainer.train(without(nests, group), machine, seed=seed)
            held_out = {index: judge(ranker, nest, machine) for index, nest in enumerate(nests) if nest.group == group}
            qualities.update(held_out)
            advance()
        judged[name] = Judged(name, True, tuple(qualities[index] for index in range(len(nests))))
    return Evaluation(nests, {**_references(nests), **judged}, seed)


def without(nests: Sequence[MeasuredNest], group: str) -> tuple[MeasuredNest, ...]:
    """What may be learned from if a group is held out."""
    held = {nest.problem for nest in nests if nest.group == group}
    return tuple(nest for nest in nests if nest.group != group and nest.problem not in held)


def judge(ranker: Ranker, nest: MeasuredNest, machine: Machine) -> Quality:
    """The ranker sees the candidates, never their times."""
    seconds = {c.variant.id: s for c, s in zip(nest.candidates, nest.seconds, strict=True)}
    return quality([seconds[entry.variant.id] for entry in ranker.rank(nest.candidates, machine).entries])


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


def summaries(evaluation: Evaluation, *, group: str | None = None) -> tuple[Summary, ...]:
    """A line for each ranker, over all nests or those of one group."""
    indices = [index for index, nest in enumerate(evaluation.nests) if group in (None, nest.group)]
    lines = []
    for name, judged in evaluation.rankers.items():
        qualities = [quality for index in indices if (quality := judged.qualities[index]) is not None]
        if not qualities:
            continue
        lines.append(
            Summary(
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
    """Mean squared error of the logarithm of throughput on held-out groups, as a part of its variance: 1 is what the
    mean alone would reach. ``plain`` is without logarithms of the parameters."""

    hidden: tuple[int, ...]
    weights: int
    logarithms: float
    plain: float


def regression_errors(
    nests: Sequence[MeasuredNest],
    machine: Machine,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> tuple[RegressionError, ...]:
    """Errors like those of ISAAC's Table 2; every fifth group is held out in turn."""
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
                ranker: Any = trainer.train(kept, machine, seed=seed)
                weights = ranker.weights.networks[0].parameters
                for nest in held:
                    wanted = _logarithms(nest.seconds, nest)
                    guessed = trainer.predicted(ranker, nest, machine)
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

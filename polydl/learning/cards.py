"""Model cards: the data and the machine that a ranker was trained on, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polydl import registry
from polydl.contracts import MeasuredNest, TrainedRanker, Trainer
from polydl.learning.evaluation import judge, machines_of
from polydl.learning.metrics import TOP, geomean
from polydl.pipeline import ProgressCallback, Stage
from polydl.records.record import now

# One group in this many is held out for the scores of the card.
_HELD_OUT = 5


@dataclass(frozen=True)
class Trained:
    """A trained ranker with its card."""

    #: trained on all nests
    ranker: TrainedRanker
    #: its scores are those of a second ranker, trained in the same way without the held-out groups that the card names
    card: dict[str, Any]


def train(
    name: str,
    nests: Sequence[MeasuredNest],
    *,
    sources: Sequence[Path],
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Trained:
    """Train the ranker called ``name`` on measured nests; ``sources`` are where they were read from.

    Raises OptionError for a ranker that can't be trained, MissingComponentError without TensorFlow.
    """
    trainer: Trainer = registry.load("trainers", name)
    groups = sorted({nest.group for nest in nests})
    order = np.random.default_rng(seed).permutation(len(groups))
    held = {groups[index] for index in order[: max(1, len(groups) // _HELD_OUT)]}
    problems = {nest.problem for nest in nests if nest.group in held}
    kept = [nest for nest in nests if nest.group not in held and nest.problem not in problems]
    scores: dict[str, float] = {}
    if kept and len(groups) > 1:
        trial = trainer.train(kept, seed=seed, progress=_relay(progress, "trial"))
        scores = _scores(trial, [nest for nest in nests if nest.group in held])
    ranker = trainer.train(nests, seed=seed, progress=_relay(progress, "train"))
    settings = {key: value for key, value in asdict(trainer).items() if key != "name"}  # type: ignore[call-overload]
    card = {
        "ranker": name,
        "date": now(),
        "seed": seed,
        "data": {
            "sources": [source.name for source in sources],
            "nests": len(nests),
            "variants": sum(len(nest.candidates) for nest in nests),
            "groups": groups,
            "analysis": sorted({nest.analysis for nest in nests}),
        },
        "machines": [
            {
                "name": machine.name,
                "cpu": machine.cpu_id,
                "threads": machine.threads,
                "vector_bytes": machine.vector_bytes,
                "peak_gflops": round(machine.peak_gflops, 1),
                "caches": [level.bytes for level in machine.caches],
            }
            for machine in machines_of(nests)
        ],
        "split": {"held_out": sorted(held), "trained_on": sorted(set(groups) - held)},
        "scores": scores,
        "training": settings,
    }
    return Trained(ranker, card)


def _scores(ranker: TrainedRanker, nests: Sequence[MeasuredNest]) -> dict[str, float]:
    qualities = [judge(ranker, nest) for nest in nests]
    scores = {f"top {count}": geomean([quality.top[k] for quality in qualities]) for k, count in enumerate(TOP)}
    scores["worst top 1"] = min(quality.top[0] for quality in qualities)
    scores["tau"] = float(np.mean([quality.tau or 0.0 for quality in qualities]))
    return {name: round(value, 4) for name, value in scores.items()}


def _relay(progress: ProgressCallback | None, stage: str) -> Any:
    if progress is None:
        return None
    return lambda done, total: progress(Stage(stage, done, total))

"""Features of recorded variants, computed again: whether their version says that their code has changed.

``tests/data/features.json`` has what version ``ANALYSIS`` computed for variants of several nests, on a machine with
fixed values. ``pytest tests/test_feature_version.py --update-golden`` writes what is computed now.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from measured import MACHINE, NESTS

from polydl import pipeline, registry, workloads
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Parallel, Step, Tile, Variant
from polydl.learning.samples import ANALYSIS, describe
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.fuse import Fuse

FEATURES = Path(__file__).parent / "data" / "features.json"
# Evenly spread over the measured variants of each nest.
VARIANTS = 4
WORKLOADS = ("alexnet_02", "resnet_03", "gemm_128x2048x4096")
# Beside them: a nest inside of loops that another one shares, and on three threads two loops, of which one has a
# shorter last tile.
FURTHER: tuple[tuple[str, int, tuple[Step, ...]], ...] = (
    (
        "dwconv_144x56x56x3x3s2p1",
        1,
        (
            Fuse(
                statements=("S0", "S1"),
                orders=(("z1", "z2", "z3", "z4", "z0"), ("c_tile", "oj", "oi", "c", "img", "kj", "ki")),
                bodies=(0, 1),
                shared=4,
                parallel=False,
            ),
        ),
    ),
    (
        "gemm_128x2048x4096",
        3,
        (Tile(1, "i", (96,)), Interchange(1, ("j", "i_t1", "i", "k")), Parallel(1, "j", inner="i_t1")),
    ),
)


@cache
def nest_of(name: str, directory: Path) -> Scop:
    return pipeline.parse(workloads.workload(name).write(directory))


def computed(name: str, threads: int, steps: list[Any], directory: Path) -> dict[str, Any]:
    """The features of a variant as a record would have them."""
    variant, machine = variant_from_json(steps), replace(MACHINE, threads=threads, cores=threads)
    (candidate,) = pipeline.candidates(nest_of(name, directory), [variant], machine=machine)
    features: dict[str, Any] = json.loads(json.dumps(describe(candidate, default=False)))
    return features


def test_features_are_those_of_their_version(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    if pytestconfig.getoption("--update-golden"):
        measured = {nest.name: nest.candidates for nest in NESTS}
        chosen = [
            (name, 1, candidate.variant)
            for name in WORKLOADS
            for candidate in measured[name][:: len(measured[name]) // VARIANTS][:VARIANTS]
        ]
        chosen += [(name, threads, Variant(steps)) for name, threads, steps in FURTHER]
        entries = []
        for name, threads, variant in chosen:
            steps = variant.to_json()
            features = computed(name, threads, steps, tmp_path)
            entries.append({"workload": name, "threads": threads, "variant": steps, "features": features})
        FEATURES.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    entries = json.loads(FEATURES.read_text(encoding="utf-8"))
    assert len(entries) == VARIANTS * len(WORKLOADS) + len(FURTHER)
    assert {entry["features"]["analysis"] for entry in entries} == {ANALYSIS}, "write them with --update-golden"
    for entry in entries:
        features = computed(entry["workload"], entry["threads"], entry["variant"], tmp_path)
        changed = [name for name in features if features[name] != approximate(entry["features"].get(name))]
        assert not changed, (
            f"{', '.join(changed)} of a variant of {entry['workload']} are computed otherwise than by version "
            f"{ANALYSIS}: raise ANALYSIS in polydl/learning/samples.py, then write what is computed now with "
            "--update-golden"
        )


def approximate(value: Any) -> Any:
    """Cycles and iterations may differ in their last digits from one processor to the next."""
    numbers = isinstance(value, list) and all(isinstance(each, int | float) for each in value)
    return pytest.approx(value, rel=1e-9) if numbers else value


def test_shipped_rankers_were_trained_on_what_this_version_computes() -> None:
    assert {nest.analysis for nest in NESTS} == {ANALYSIS}
    for name in registry.names("trainers"):
        assert registry.load("rankers", name).weights.card["data"]["analysis"] == [ANALYSIS], name

"""Predicted misses against those that cachegrind simulated, variant by variant, in recorded files."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.machine.processors import generic
from polydl.model.cache_sets import geometry
from polydl.model.traffic import missed_lines
from polydl.variant_json import variant_from_json

ROOT = Path(__file__).parents[1]

RECORDED = ("cachegrind.json", "cachegrind_unseen.json")
# Half of its variants are within two per cent of each other in the last cache (docs/results/2026-11-21-cachegrind.md).
ALIKE = "stencil 2-D in time"


@lru_cache
def recorded(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "experiments" / "data" / name).read_text(encoding="utf-8"))
    return document


@lru_cache
def spaces_of(source: str, defines: tuple[tuple[str, int], ...], digest: str) -> Any:
    scop = pipeline.parse(ROOT / source, defines=dict(defines))
    assert scop.digest == digest
    return pipeline.space_on(scop, machine_with(1, 32), microkernel="none")


def ranks(values: Any) -> Any:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ((2 * np.cumsum(counts) - counts - 1) / 2)[inverse]


@parametrized("name", RECORDED, quick=1)
@pytest.mark.parametrize("number", range(7))
def test_predictions_order_variants_as_simulated_caches_do(name: str, number: int) -> None:
    document = recorded(name)
    nest = document["nests"][number]
    space = spaces_of(nest["source"], tuple(nest["defines"].items()), nest["digest"])
    core = generic(("avx2",), 32, document["line_bytes"])
    caches = [geometry(cache["bytes"], core, cache["ways"]) for cache in document["caches"]]
    predicted = []
    for entry in nest["variants"]:
        variant = variant_from_json(entry["steps"])
        applied = space.apply(variant)
        levels = zip(*missed_lines(applied.scop, applied.plan, caches, core), strict=True)
        predicted.append([sum(sum(arrays.values()) for arrays in level) for level in levels])
    simulation = np.array([entry["misses"] for entry in nest["variants"]])
    ratios = np.array(predicted) / simulation
    assert np.median(np.abs(ratios - 1), axis=0).max() <= 0.1
    assert ratios.max() <= 5
    assert ratios.min() >= 0.1
    for level in range(len(caches)):
        correlation = np.corrcoef(ranks(np.array(predicted)[:, level]), ranks(simulation[:, level]))[0, 1]
        if nest["name"] == ALIKE and level == len(caches) - 1:
            assert np.abs(ratios[:, level] - 1).max() <= 0.15
        else:
            assert correlation >= 0.9, (nest["name"], level)


def test_enough_variants_were_recorded() -> None:
    assert [len(nest["variants"]) >= 40 for nest in recorded(RECORDED[0])["nests"]] == [True] * 7

"""The example of docs/guide/searching.md, taken from the page, installed as a plug-in and searched with."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest
from chance import shares_by_lot
from documents import install, write_files
from recorded_space import best, bounded, landscape, measured

from polydl import registry
from polydl.contracts.search import Strategy

PAGE = "docs/guide/searching.md"
# Of fewer spaces, a search by lot may know the best of each.
SEEDS = range(8)
RUNS = 40


@pytest.fixture
def nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Strategy:
    write_files(PAGE, tmp_path)
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found: Strategy = registry.load("strategies", "nearest")
    return found


def test_the_strategy_of_the_page_is_one_of_the_names(nearest: Strategy) -> None:
    assert nearest.name == "nearest"
    assert "nearest" in registry.names("strategies")


def test_it_proposes_nothing_twice_and_beats_1000_that_search_by_lot(nearest: Strategy) -> None:
    shares = []
    for seed in SEEDS:
        rows = landscape(seed)
        optimum = min(row.seconds for row in rows if row.seconds is not None)
        space = bounded(rows, 60, seed, lambda row: 0.0)
        trials = measured(nearest.begin(space, seed=seed), space, RUNS)
        assert len({trial.variant.id for trial in trials}) == len(trials) == RUNS
        shares.append(optimum / best(trials))
    spaces = [bounded(landscape(seed), 60, seed, lambda row: 0.0) for seed in SEEDS]
    assert mean(shares) > shares_by_lot(spaces, RUNS).max()

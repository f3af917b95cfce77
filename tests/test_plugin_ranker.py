"""Rankers of another distribution: what they answer is checked, and a fault is said to be theirs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sized_matmul import write_matmul

import polydl
from polydl import pipeline, registry
from polydl.cli import main
from polydl.errors import OptionError
from polydl.machine import Machine

MODULE = """\
from dataclasses import dataclass, replace
from typing import Any, Callable
from polydl import registry

@dataclass(frozen=True)
class Changed:
    name: str
    change: Callable[[Any], Any]
    def rank(self, candidates, machine):
        return self.change(registry.load("rankers", "cost-model").rank(candidates, machine))

def fail(ranking):
    raise KeyError("no such column")

def scored(score):
    return lambda ranking: replace(ranking, entries=tuple(replace(each, score=score) for each in ranking.entries))

class NoRanker:
    name = "none-at-all"

RIGHT = Changed("right", scored(None))
FAILS = Changed("fails", fail)
NOTHING = Changed("nothing", lambda ranking: None)
FEWER = Changed("fewer", lambda ranking: replace(ranking, entries=ranking.entries[1:]))
TWICE = Changed("twice", lambda ranking: replace(ranking, entries=ranking.entries * 2))
SECOND = Changed("second", lambda ranking: replace(ranking, second=("one",)))
LISTED = Changed("listed", lambda ranking: replace(ranking, entries=list(ranking.entries)))
NAN = Changed("nan", scored(float("nan")))
"""
WRONG = {
    "fails": "fails with KeyError: 'no such column'",
    "nothing": "returns a NoneType in place of a polydl.Ranking",
    "fewer": "returns a ranking with 3 of 4 candidates in 3 places",
    "twice": "returns a ranking with 4 of 4 candidates in 8 places",
    "second": "returns a second order with 0 of 4 candidates in 1 places",
    "listed": "returns a ranking whose entries are no tuple of RankedVariant",
    "nan": "returns the score nan of",
}


@pytest.fixture
def nest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A nest, with a distribution ``guesswork`` on the path that offers the rankers."""
    (tmp_path / "guesswork.py").write_text(MODULE)
    metadata = tmp_path / "guesswork-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: guesswork\nVersion: 1.0\n")
    points = [f"{name} = guesswork:{name.upper()}\n" for name in ("right", *WRONG)]
    (metadata / "entry_points.txt").write_text(f"[polydl.rankers]\n{''.join(points)}no-ranker = guesswork:NoRanker\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield write_matmul(tmp_path)
    sys.modules.pop("guesswork", None)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_said_to_be_the_rankers(name: str, nest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"rank {nest} --threads 1 --max-variants 4 --ranker {name}"
    assert main.main(words.split(), standalone_mode=False) == 2
    error = capsys.readouterr().err
    assert f"polydl: error: the ranker '{name}' of guesswork {WRONG[name]}" in error
    assert "tell the authors of guesswork" in error


def test_what_is_no_ranker_is_refused_before_anything_is_done(nest: Path) -> None:
    with pytest.raises(OptionError, match="'no-ranker' of guesswork is no ranker: it has no method `rank`"):
        polydl.optimize(nest, ranker="no-ranker")


def test_a_right_ranking_is_taken_as_it_is(nest: Path) -> None:
    scop, machine = polydl.parse(nest), Machine.detect(threads=1)
    variants = polydl.generate_variants(scop, machine=machine, max_variants=4)
    ranked, model = (polydl.rank(scop, variants, machine=machine, ranker=name) for name in ("right", "cost-model"))
    assert [each.variant.id for each in ranked.entries] == [each.variant.id for each in model.entries]
    assert {each.score for each in ranked.entries} == {None}


def test_built_in_rankers_are_what_is_registered() -> None:
    assert pipeline.ranker_named("cost-model") is registry.load("rankers", "cost-model")
    assert registry.distribution_of("rankers", "cost-model") is None

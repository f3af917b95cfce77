"""Rankers by name. What one of another distribution answers is checked before anything relies on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

from polydl import registry
from polydl.contracts import Candidate, Ranker
from polydl.errors import OptionError, PolydlError
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.scop import Scop
from polydl.machine import Machine


def with_cold_constants(ranker: Ranker, nest: Scop) -> Ranker:
    """The ranker where constants come from memory at each call. Raises OptionError for a nest without constants."""
    from polydl.ranking.cold_constants import ColdConstants

    if not nest.constants:
        raise OptionError(
            "constants are to be cold, and none are named",
            construct="--cold-constants",
            remedy="name arrays that hold the same at every call (--constant), or leave it out",
        )
    return ColdConstants(ranker)


def ranker_named(name: str) -> Ranker:
    """The ranker of a name. Raises OptionError for an unknown one, and for a plug-in that is no ranker."""
    ranker = registry.load("rankers", name)
    distribution = registry.distribution_of("rankers", name)
    if distribution is None:
        built_in: Ranker = ranker
        return built_in
    if not callable(getattr(ranker, "rank", None)):
        raise _fault(name, distribution, "is no ranker: it has no method `rank`")
    return _OfAnother(ranker, name, distribution)


@dataclass(frozen=True)
class _OfAnother:
    """A ranker of another distribution."""

    ranker: Any
    name: str
    distribution: str

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        """Raises OptionError, which names the distribution, for a ranker that fails, and for a wrong ranking."""
        try:
            ranking = self.ranker.rank(candidates, machine)
        except PolydlError:
            raise
        except Exception as error:
            raise _fault(self.name, self.distribution, f"fails with {type(error).__name__}: {error}") from error
        problem = _problem(ranking, [each.variant.id for each in candidates])
        if problem is not None:
            raise _fault(self.name, self.distribution, problem)
        checked: Ranking = ranking
        return checked


def _problem(ranking: Any, ids: Sequence[str]) -> str | None:
    """What is wrong with the ranking of candidates with these ids; None if nothing is."""
    if not isinstance(ranking, Ranking):
        return f"returns a {type(ranking).__name__} in place of a polydl.Ranking"
    entries = ranking.entries
    if not isinstance(entries, tuple) or not all(isinstance(each, RankedVariant) for each in entries):
        return "returns a ranking whose entries are no tuple of RankedVariant"
    orders = {"a ranking": [each.variant.id for each in entries], "a second order": list(ranking.second or ids)}
    for which, order in orders.items():
        if Counter(order) != Counter(ids):
            known = len(set(order) & set(ids))
            return f"returns {which} with {known} of {len(ids)} candidates in {len(order)} places, not each once"
    for entry in entries:
        if entry.score is not None and not (isinstance(entry.score, Real) and isfinite(entry.score)):
            return f"returns the score {entry.score!r} of {entry.variant.id}, which is no finite number"
    return None


def _fault(name: str, distribution: str, problem: str) -> OptionError:
    return OptionError(
        f"the ranker {name!r} of {distribution} {problem}",
        remedy=f"choose another ranker (--ranker), or tell the authors of {distribution}; --debug shows where",
    )

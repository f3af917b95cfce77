"""OpenMP's directives around a region and in it: whether the iterations are shared among threads that it doesn't start.

Generated code has directives of its own, and takes the place of those of the region. Where each thread of a team runs
it, as in the block of ``omp parallel``, each would run all iterations without the region's ``omp for``.
"""

from __future__ import annotations

from polydl.errors import UnsupportedConstructError
from polydl.frontend.facts import Directive, SourceFacts
from polydl.frontend.pragmas_before import with_pragmas
from polydl.frontend.source import Place

# First words of directives for threads that others start: that share work among them, and all others.
_SHARING = ("DISTRIBUTE", "FOR", "GENERIC_LOOP", "SECTION", "SINGLE")
_BETWEEN = ("ATOMIC", "BARRIER", "CRITICAL", "MASKED", "MASTER", "ORDERED", "SCOPE")
# Of those that start threads for what lies in their statements.
_STARTING = ("PARALLEL", "TEAMS", "TARGET")


def check_team(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that no directive of the region is for the threads of a directive around it."""
    if not any(each.offset < each.body < start and end <= each.end and _has_team(each) for each in facts.directives):
        return
    first = with_pragmas(place.text, start)
    inside = [each for each in facts.directives if (first <= each.offset or start <= each.body) and each.end <= end]
    starting = [each for each in inside if each.name.startswith(_STARTING) and not each.name.endswith("_DATA")]
    for directive in sorted(inside, key=lambda directive: directive.offset):
        sharing = directive.name.startswith(_SHARING)
        if not sharing and not directive.name.startswith(_BETWEEN):
            continue
        if any(each.body <= directive.offset < each.end for each in starting):
            continue
        what = "share its iterations" if sharing else "the directive is for, and which would lose it"
        raise UnsupportedConstructError(
            f"the region lies in the block of an OpenMP directive, whose threads {what}",
            file=place.file,
            line=place.line(directive.offset),
            construct=place.quote(directive.offset),
            remedy="put #pragma scop in front of the directive, or end the parallel block before the loops",
        )


def _has_team(directive: Directive) -> bool:
    """Whether several threads run the directive's statement."""
    return "PARALLEL" in directive.name or "TEAMS" in directive.name

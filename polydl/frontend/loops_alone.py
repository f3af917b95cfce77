"""The part of a region that pet detected which has its loops, without the calls in front of them and behind them."""

from __future__ import annotations

import re
from itertools import takewhile

from polydl.frontend.facts import Branch, SourceFacts
from polydl.frontend.source import Place, without_comments

_LOOPS = ("for", "while")
_JUMPS = ("goto", "label")


def loops_alone(facts: SourceFacts, start: int, end: int, place: Place) -> tuple[int, int]:
    """The region ``[start, end)`` without what can't be modelled beside its first loops, and without what it declares.

    It is as long as no construct that a Scop can't represent stands between two loops. What is declared in front of the
    loops stays there where generated code would lose it: static variables keep their values between calls, extern ones
    are other files', an integer that holds data is an element of another array in the view that pet reads, and others
    may be used behind the region. The same region if it has to stay as it is.
    """
    outermost = _outermost(facts, start, end)
    if not outermost:
        return start, end
    constructs = [
        construct
        for construct in facts.constructs
        if start <= construct.offset < end and not any(one.offset <= construct.offset < one.end for one in outermost)
    ]
    if any(construct.kind in _JUMPS for construct in constructs):
        # Jumps may lead into the loops, and pet takes none right behind a label.
        return start, end
    beside = [construct.offset for construct in constructs]
    loop, last = outermost[0], end
    first = loop.offset if any(offset < loop.offset for offset in beside) else start
    if later := [offset for offset in beside if offset > loop.offset]:
        *_, closing = takewhile(lambda one: one.offset < min(later), outermost)
        last = _behind(closing, place)
    declared = [
        variable.offset
        for variable in facts.variables
        if first <= variable.offset < loop.offset
        and (
            variable.storage in ("static", "global")
            or variable.carries_data
            or any(use.offset >= last for use in variable.references)
        )
    ]
    if any(each.is_local_pointer and each.within(first, last) for each in facts.variables):
        # What is refused is how it gets its value.
        return start, end
    text = without_comments(place.text)
    if declared:
        # A macro may declare it.
        first = text.find(";", max(declared), loop.offset) + 1 or first
    if text.count("{", first, last) != text.count("}", first, last):
        # Some of the loops are in a block of their own.
        return start, end
    return first, last


def loops_beside(facts: SourceFacts, refused: int | None, place: Place) -> tuple[int, int] | None:
    """The first loops of the function in which everything can be modelled, where a call in a loop cannot.

    ``refused`` is the line of what can't be modelled. None where that is no call in a loop, or where no loops are left.
    """
    start, end = facts.function.extent[1:]
    calls = [each for each in facts.constructs if each.kind == "call" and place.line(each.offset) == refused]
    outermost = _outermost(facts, start, end)
    if any(each.kind in _JUMPS for each in facts.constructs):
        return None
    if not any(loop.offset <= each.offset < loop.end for each in calls for loop in outermost):
        return None
    text = without_comments(place.text)
    first, last = -1, -1
    for loop in outermost:
        alone = not any(loop.offset <= each.offset < loop.end for each in facts.constructs)
        # What stands between loops belongs to the region, but no block's beginning or end.
        between = any(last <= each.offset < loop.offset for each in facts.constructs)
        apart = first >= 0 and (between or re.search(r"[{}]", text[last : loop.offset]) is not None)
        if first >= 0 and (apart or not alone):
            break
        if alone:
            first, last = (loop.offset if first < 0 else first), _behind(loop, place)
    return (first, last) if {first, last} <= set(facts.shown.origins) else None


def _outermost(facts: SourceFacts, start: int, end: int) -> list[Branch]:
    """The loops of a region that lie in no other, or the choices that these lie in, in the order of the text."""
    inside = [branch for branch in facts.branches if start <= branch.offset and branch.end <= end]
    holding = [
        one
        for one in inside
        if one.kind in _LOOPS
        or (one.kind == "if" and any(o.kind in _LOOPS and one.offset < o.offset < one.end for o in inside))
    ]
    outermost = [one for one in holding if not any(o.offset < one.offset < o.end for o in holding)]
    return sorted(outermost, key=lambda branch: branch.offset)


def _behind(branch: Branch, place: Place) -> int:
    """The offset behind a loop, and behind the semicolon of its last statement."""
    rest = re.match(r"\s*;", without_comments(place.text)[branch.end :])
    return branch.end + (rest.end() if rest is not None else 0)

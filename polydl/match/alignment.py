"""Loops of two statements that walk through one array side by side."""

from __future__ import annotations

from polydl.ir.affine import Affine
from polydl.ir.statement import Statement


def _single(form: Affine) -> int | None:
    used = [place for place, coefficient in enumerate(form.coefficients) if coefficient]
    return used[0] if len(used) == 1 and form.coefficients[used[0]] == 1 else None


def _by_coefficient(form: Affine) -> dict[int, int]:
    """The iterators of a form by their coefficients; empty if two have the same."""
    used = {coefficient: place for place, coefficient in enumerate(form.coefficients) if coefficient}
    return used if len(used) == sum(1 for coefficient in form.coefficients if coefficient) else {}


def aligned_loops(heavy: Statement, light: Statement, shared: int = 0) -> dict[int, tuple[int, int]] | None:
    """For each iterator that ``heavy`` writes with, the one of ``light`` and what it is ahead; None without such pairs.

    Both write each dimension of one array with a lone iterator, with the blocks and the inside of one loop, or with the
    same constant, and ``light`` uses all of its own that have more than one iteration but for the ``shared`` outermost.
    """
    one, other = heavy.writes[0], light.writes[0]
    if one.array != other.array or one.subscripts is None or other.subscripts is None:
        return None
    pairs: dict[int, tuple[int, int]] = {}
    for left, right in zip(one.subscripts, other.subscripts, strict=True):
        ours, theirs = _single(left), _single(right)
        blocked = _by_coefficient(left), _by_coefficient(right)
        if len(blocked[0]) > 1 and blocked[0].keys() == blocked[1].keys() and left.constant == right.constant:
            pairs.update({one: (blocked[1][step], 0) for step, one in blocked[0].items()})
        elif ours is None and theirs is None and left.constant == right.constant:
            if any(left.coefficients) or any(right.coefficients):
                return None
        elif ours is None or theirs is None or ours in pairs:
            return None
        else:
            pairs[ours] = (theirs, left.constant - right.constant)
    paired = {place for place, _ in pairs.values()}
    # A loop of one iteration is in no subscript, and needs no partner.
    free = [place for place in range(shared, light.depth) if place not in paired]
    return (
        pairs if all(light.box is not None and light.box[place][0] == light.box[place][1] for place in free) else None
    )


def loops_alike(heavy: Statement, light: Statement) -> dict[int, tuple[int, int]] | None:
    """``aligned_loops`` of statements that run through the same elements, each with one array reference written."""
    pairs = aligned_loops(heavy, light)
    if pairs is None or light.box is None or heavy.box is None or len(light.writes) != 1:
        return None
    for ours, (theirs, ahead) in pairs.items():
        low, high = heavy.box[ours]
        if light.box[theirs] != (low + ahead, high + ahead):
            return None
    return pairs

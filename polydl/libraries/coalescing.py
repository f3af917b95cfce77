"""Loops around a product that run as one with its m or k, where tiles of A are copied.

A convolution over an image is a product of filters and of a matrix that has a row for each pixel, and in that row all
that the filters multiply there (im2col). The matrix is never made: a tile of it at a time is copied out of the image.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from polydl.ir.statement import Access
from polydl.libraries.symbolic import SymbolicNest


@dataclass(frozen=True)
class Coalesced:
    """Loops of a product, by what they are to it (``Role``), that become one loop each. At least one of two."""

    #: m and loops around it, innermost first: their iterations together pass over elements of C as they lie in memory
    rows: tuple[str, ...]
    #: k and loops over terms, innermost first: their iterations together pass over elements of B as they lie in memory
    terms: tuple[str, ...]

    @property
    def roles(self) -> frozenset[str]:
        """All of these loops."""
        return frozenset((*self.rows, *self.terms))


def coalesced_loops(
    nest: SymbolicNest, accesses: Mapping[str, Access], loops: Mapping[str, int], trips: Mapping[str, str]
) -> Coalesced | None:
    """The loops of a product that coalesce at all sizes; None where each of m and k stays alone.

    ``accesses`` are those of ``a``, ``b`` and ``c``; ``loops`` has each loop's iterator, ``trips`` its iterations.
    None, too, where a loop moves A backwards: copies read beyond rows, up to the last element that the nest reads.
    """
    moving = {
        name: {role for role, loop in loops.items() if loop in each.moving_loops} for name, each in accesses.items()
    }
    rows = _chain(nest, accesses["c"], moving["a"] & moving["c"] - moving["b"], loops, trips)
    terms = _chain(nest, accesses["b"], moving["a"] & moving["b"] - moving["c"], loops, trips)
    if rows[:1] != ("m",) or "k" not in terms or len(rows) + len(terms) == 2:
        return None
    backwards = any(number < 0 for form in accesses["a"].subscripts or () for number in form.coefficients)
    return None if backwards else Coalesced(rows, terms)


def _chain(
    nest: SymbolicNest, access: Access, roles: Collection[str], loops: Mapping[str, int], trips: Mapping[str, str]
) -> tuple[str, ...]:
    """Those of some loops, innermost first, of which each steps over just what the ones before pass over."""
    strides = {role: _factors(nest, access, loops[role]) for role in loops if role in roles}
    chain: list[str] = []
    passed: list[str] = []
    while True:
        following = [role for role, factors in strides.items() if role not in chain and factors == sorted(passed)]
        if not following:
            return tuple(chain)
        chain.append(following[0])
        passed += [trip for trip in [trips[following[0]]] if trip != "1"]


def _factors(nest: SymbolicNest, access: Access, loop: int) -> list[str] | None:
    """The factors, sorted, of the elements by which an iteration of a loop moves an access; None for a sum of such."""
    assert access.subscripts is not None
    moved = [
        (place, form.coefficients[loop]) for place, form in enumerate(access.subscripts) if form.coefficients[loop]
    ]
    if len(moved) != 1:
        return None
    ((place, number),) = moved
    return sorted([*([str(number)] if number != 1 else []), *nest.stride(access.array, place)])

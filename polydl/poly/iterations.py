"""Pairs of iterations."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl


def in_one_iteration(relation: isl.Map, loops: Iterable[int]) -> isl.Map:
    """The pairs that lie in one iteration of each of ``loops``, by their places in both tuples."""
    for place in loops:
        relation = relation.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
    return relation

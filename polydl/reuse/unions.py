"""Exact sizes of unions of products of value sets: the elements of an array that several boxes of iterators touch.

A product has one value set for each dimension of the array: a pair (first, last) for a range of values, or, where the
values of a dimension are scattered, an int whose set bits are the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

ValueSet = tuple[int, int] | int
Product = tuple[ValueSet, ...]


@lru_cache(maxsize=1 << 14)
def value_mask(start: int, terms: tuple[tuple[int, int, int], ...]) -> int:
    """The values ``start + sum(coefficient * iterator)`` as bits; a term is (coefficient, first, last)."""
    for coefficient, first, last in terms:
        start += min(coefficient * first, coefficient * last)
    mask = 1 << start
    for coefficient, first, last in terms:
        covered, wanted = 1, last - first + 1
        while covered < wanted:
            more = min(covered, wanted - covered)
            mask |= mask << (more * abs(coefficient))
            covered += more
    return mask


@lru_cache(maxsize=1 << 14)
def union_size(products: tuple[Product, ...]) -> int:
    """The number of points in the union of the products, none of which is empty.

    Answers are kept, since variants of one nest have most of their inner footprints in common.
    """
    if len(products) > 2:
        products = _maximal(products)
    if len(products) == 1:
        return _size(products[0])
    if len(products) == 2:
        return _size(products[0]) + _size(products[1]) - _overlap(*products)
    return _overlay(products)


def _maximal(products: tuple[Product, ...]) -> tuple[Product, ...]:
    """The products that no other one contains."""
    kept: list[Product] = []
    for product in sorted(set(products), key=_size, reverse=True):
        for other in kept:
            if _contains(other, product):
                break
        else:
            kept.append(product)
    return tuple(kept)


def _size(product: Product) -> int:
    size = 1
    for values in product:
        size *= values.bit_count() if isinstance(values, int) else values[1] - values[0] + 1
    return size


def _contains(outer: Product, inner: Product) -> bool:
    for whole, part in zip(outer, inner, strict=True):
        if isinstance(whole, int) or isinstance(part, int):
            if not isinstance(whole, int) or not isinstance(part, int) or part & ~whole:
                return False
        elif part[0] < whole[0] or part[1] > whole[1]:
            return False
    return True


def _overlap(left: Product, right: Product) -> int:
    size = 1
    for one, other in zip(left, right, strict=True):
        if isinstance(one, int) or isinstance(other, int):
            size *= (one & other).bit_count() if isinstance(one, int) and isinstance(other, int) else 0
            continue
        first = one[0] if one[0] > other[0] else other[0]
        last = one[1] if one[1] < other[1] else other[1]
        if first > last:
            return 0
        size *= last - first + 1
    return size


def _overlay(products: Sequence[Product]) -> int:
    """The size of a union by coordinate compression: values of a dimension that are in the same products form a class.

    ``weights`` maps a set of products (as bits) to the number of points, in the dimensions done, that are in exactly
    these.
    """
    everywhere = 1
    weights = {(1 << len(products)) - 1: 1}
    for column in zip(*products, strict=True):
        distinct = set(column)
        if len(distinct) == 1:
            everywhere *= _size(column[:1])
            continue
        classes = _mask_classes(column) if isinstance(column[0], int) else _range_classes(column)
        combined: dict[int, int] = {}
        for members, weight in weights.items():
            for others, size in classes:
                common = members & others
                if common:
                    combined[common] = combined.get(common, 0) + weight * size
        weights = combined
    return everywhere * sum(weights.values())


def _range_classes(column: Sequence[ValueSet]) -> list[tuple[int, int]]:
    """The classes of values as (the ranges that contain them, as bits; number of values). Neighbours form a class."""
    ranges = [values for values in column if not isinstance(values, int)]
    edges = sorted({edge for first, last in ranges for edge in (first, last + 1)})
    classes = []
    for start, end in pairwise(edges):
        members = 0
        for number, (first, last) in enumerate(ranges):
            if first <= start <= last:
                members |= 1 << number
        classes.append((members, end - start))
    return classes


def _mask_classes(column: Sequence[ValueSet]) -> list[tuple[int, int]]:
    """The classes of values as (the masks that contain them, as bits; number of values)."""
    parts: list[tuple[int, int]] = []
    for number, mask in enumerate(values for values in column if isinstance(values, int)):
        split: list[tuple[int, int]] = []
        rest = mask
        for members, part in parts:
            rest &= ~part
            if part & mask:
                split.append((members | 1 << number, part & mask))
            if part & ~mask:
                split.append((members, part & ~mask))
        if rest:
            split.append((1 << number, rest))
        parts = split
    return [(members, part.bit_count()) for members, part in parts]

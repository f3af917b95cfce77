"""Exact sizes of unions of products of value sets: how many elements of an array several boxes of iterators touch.

A product has one value set per dimension of the array: a pair (first, last) for a range, or an int whose set bits are
the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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


def product_size(product: Product) -> int:
    size = 1
    for values in product:
        size *= values.bit_count() if isinstance(values, int) else values[1] - values[0] + 1
    return size


def union_size(products: Sequence[Product]) -> int:
    """The number of points in at least one of the products, none of which is empty."""
    if len(products) == 1:
        return product_size(products[0])
    kept: list[Product] = []
    for product in sorted(set(products), key=product_size, reverse=True):
        if not any(_contains(other, product) for other in kept):
            kept.append(product)
    if len(kept) == 1:
        return product_size(kept[0])
    if len(kept) == 2:
        return product_size(kept[0]) + product_size(kept[1]) - _overlap(kept[0], kept[1])
    return _overlay(kept)


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
        if isinstance(one, int):
            size *= (one & other).bit_count() if isinstance(other, int) else 0
        elif not isinstance(other, int):
            size *= max(0, min(one[1], other[1]) - max(one[0], other[0]) + 1)
    return size


def _overlay(products: Sequence[Product]) -> int:
    """Coordinate compression: per dimension the classes of values that lie in the same products, then their combinations.

    ``weights`` maps a set of products (as bits) to the number of points so far that lie in exactly those.
    """
    weights = {(1 << len(products)) - 1: 1}
    for dimension in range(len(products[0])):
        classes = _classes([product[dimension] for product in products])
        combined: dict[int, int] = {}
        for members, weight in weights.items():
            for others, size in classes.items():
                common = members & others
                if common:
                    combined[common] = combined.get(common, 0) + weight * size
        weights = combined
    return sum(weights.values())


def _classes(values: Sequence[ValueSet]) -> dict[int, int]:
    """For each set of products (as bits) how many values of this dimension lie in exactly those."""
    ranges = [v for v in values if not isinstance(v, int)]
    sizes: dict[int, int] = {}
    if ranges:
        edges = sorted({edge for first, last in ranges for edge in (first, last + 1)})
        for start, end in zip(edges, edges[1:], strict=False):
            members = sum(1 << number for number, (first, last) in enumerate(ranges) if first <= start and end <= last + 1)
            if members:
                sizes[members] = sizes.get(members, 0) + end - start
        return sizes
    parts: list[tuple[int, int]] = []
    for number, mask in enumerate(v for v in values if isinstance(v, int)):
        split: list[tuple[int, int]] = []
        rest = mask
        for part, members in parts:
            inside, outside = part & mask, part & ~mask
            if inside:
                split.append((inside, members | 1 << number))
            if outside:
                split.append((outside, members))
            rest &= ~part
        if rest:
            split.append((rest, 1 << number))
        parts = split
    for part, members in parts:
        sizes[members] = sizes.get(members, 0) + part.bit_count()
    return sizes

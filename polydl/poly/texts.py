"""isl's sets and maps from the texts that scops and dependences have of them.

The proofs about one nest, and about the variants of it, ask for the same few again and again; to read a text takes
longer than most of what is asked.
"""

from __future__ import annotations

from functools import lru_cache

import islpy as isl


@lru_cache(maxsize=1 << 12)
def map_of(text: str) -> isl.Map:
    """The map that a text in isl's syntax describes: a dependence, or the elements that an access touches."""
    return isl.Map(text)


@lru_cache(maxsize=1 << 12)
def set_of(text: str) -> isl.Set:
    """The set that a text in isl's syntax describes, such as the domain of a statement."""
    return isl.Set(text)

"""Working sets of dependences, and what each cache level holds. Sizes are in bytes unless a name says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DependenceKind = Literal["RAW", "WAR", "WAW", "RAR"]


@dataclass(frozen=True)
class DependenceWorkingSet:
    """Working sets of one dependence (paper, Algorithm 1), in elements and bytes.

    ``loop`` is the name of the loop that carries it, and ``""`` where the statements' order does. A dependence that
    spans a parallel loop has equal minimum and maximum.
    """

    kinds: tuple[DependenceKind, ...]
    array: str
    source: str
    target: str
    loop: str
    parallel: bool
    minimum_elements: int
    maximum_elements: int
    minimum_bytes: int
    maximum_bytes: int


@dataclass(frozen=True)
class WorkingSets:
    """All working sets of a variant, and what each cache level holds (Algorithm 2), in bytes.

    ``levels`` has one entry per cache, innermost first; ``memory`` is what fits none. ``method``
    says how it was counted: ``closed-form`` or ``isl``. With ``line_bytes``, all bytes are those of whole cache
    lines of that size.
    """

    dependences: tuple[DependenceWorkingSet, ...]
    levels: tuple[int, ...]
    memory: int
    method: Literal["closed-form", "isl"]
    line_bytes: int | None = None

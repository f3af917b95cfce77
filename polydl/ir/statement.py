"""Statements: their iteration domains, accesses and expressions.

Sets and relations are isl *strings* without parameters: they pickle, and isl objects never
cross from one copy of isl (pet's) into another (islpy's).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.affine import Affine

AccessKind = Literal["read", "write"]


@dataclass(frozen=True)
class Access:
    """One array reference of one statement.

    ``relation`` is the isl map from the statement's domain to the elements. ``subscripts`` holds
    one affine form per array dimension, or None where a subscript is affine only piecewise or
    with a division (``a[i / 2]``). ``index`` is pet's index expression, as isl prints it.
    """

    reference: str
    array: str
    kind: AccessKind
    relation: str
    index: str
    subscripts: tuple[Affine, ...] | None


@dataclass(frozen=True)
class Expression:
    """A node of a statement's right- or left-hand side.

    ========  ==================================  =======================
    kind      text                                arguments
    ========  ==================================  =======================
    access    the reference id (``Access``)       none
    affine    an isl pw_aff over the iterators    none
    literal   the number as it was written        none
    call      the function's name                 its arguments
    cast      the type's name                     one
    op        C's operator: ``+ += * = ?: - !``   its operands, in order
    ========  ==================================  =======================

    A compound assignment's target appears once, as the first operand, and has two accesses
    (one read, one write) of the same array.
    """

    kind: Literal["access", "affine", "literal", "call", "cast", "op"]
    text: str
    arguments: tuple[Expression, ...] = ()

    def walk(self) -> Iterator[Expression]:
        yield self
        for argument in self.arguments:
            yield from argument.walk()


@dataclass(frozen=True)
class Statement:
    """One assignment and the loops around it.

    ``betas`` and ``directions`` give the original schedule: statement instances run in the order
    of ``(betas[0], directions[0] * iterators[0], betas[1], ..., betas[depth])``. ``box`` holds the
    inclusive bounds of each iterator where the domain is exactly their product, else None.
    """

    name: str
    iterators: tuple[str, ...]
    domain: str
    box: tuple[tuple[int, int], ...] | None
    instances: int
    betas: tuple[int, ...]
    directions: tuple[int, ...]
    body: Expression
    accesses: tuple[Access, ...]
    line: int
    text: str

    @property
    def depth(self) -> int:
        return len(self.iterators)

    @property
    def reads(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind == "read")

    @property
    def writes(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind == "write")

    def access(self, reference: str, kind: AccessKind | None = None) -> Access:
        for candidate in self.accesses:
            if candidate.reference == reference and kind in (None, candidate.kind):
                return candidate
        raise KeyError(reference)

    @cached_property
    def flops_per_instance(self) -> int:
        """Arithmetic operations on elements; calls count as one, conversions and subscripts as none."""
        counted = {"+", "-", "*", "/", "+=", "-=", "*=", "/="}
        return sum(
            1
            for node in self.body.walk()
            if (node.kind == "op" and node.text in counted) or (node.kind == "call" and node.text not in CONVERSIONS)
        )

    @property
    def flops(self) -> int:
        return self.flops_per_instance * self.instances

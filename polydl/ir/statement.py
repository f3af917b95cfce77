"""Statements: their iteration domains, access relations and expressions.

Sets and relations are isl *strings* without parameters. Strings can be pickled, and no isl object crosses from one
copy of isl (the one inside pet) into another (islpy's).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.affine import Affine, Box, box_extents

AccessKind = Literal["read", "write"]
# Where a statement comes from: the user's source (however its loops were changed since), or a rewrite that copies an
# array, evaluates an operand of a product into one, sets one to zero, or puts a tile transform there.
Origin = Literal["source", "copy", "operand", "zero", "transform"]
# Operators in the expressions of statements.
_ADDITIONS = frozenset({"+", "-", "+=", "-="})
_ARITHMETIC = _ADDITIONS | {"*", "/", "*=", "/="}


@dataclass(frozen=True)
class Access:
    """One array reference of one statement: a read or a write of one element per instance."""

    #: id of the reference; the read and the write of a compound assignment's target share it
    reference: str
    #: name of the array
    array: str
    kind: AccessKind
    #: access relation: the isl map from the iteration domain to the elements
    relation: str
    #: pet's index expression, an isl map as isl prints it
    index: str
    #: one affine form per array dimension; None where one is affine only piecewise or divides (``a[i / 2]``)
    subscripts: tuple[Affine, ...] | None

    @property
    def moving_loops(self) -> frozenset[int]:
        """The loops, by their places, that move the access, whose subscripts must be affine."""
        assert self.subscripts is not None
        return frozenset(place for form in self.subscripts for place, step in enumerate(form.coefficients) if step)


@dataclass(frozen=True)
class Expression:
    """A node of a statement's body, which is a tree of expressions.

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
    #: what the node is, by kind: see the table
    text: str
    #: the operands
    arguments: tuple[Expression, ...] = ()

    def walk(self) -> Iterator[Expression]:
        """This node and all nodes below it, parents first."""
        left = [self]
        while left:
            node = left.pop()
            yield node
            left.extend(reversed(node.arguments))

    def with_references(self, names: Mapping[str, str]) -> Expression:
        """The expression with other reference ids of its accesses, by those that they have."""
        text = names[self.text] if self.kind == "access" else self.text
        return Expression(self.kind, text, tuple(each.with_references(names) for each in self.arguments))


@dataclass(frozen=True)
class Statement:
    """One assignment, the loops around it, and its place in the order of the source.

    That order is the 2d+1 form: for ``d`` loops, instances run in the lexicographic order of ``(betas[0],
    directions[0] * iterators[0], betas[1], ..., directions[d-1] * iterators[d-1], betas[d])``.
    """

    #: unique in the scop: S0, S1 and so on, or what a rewrite calls it
    name: str
    #: names of the loops around it, outermost first
    iterators: tuple[str, ...]
    #: iteration domain, an isl set
    domain: str
    #: inclusive bounds of each iterator where the domain is exactly their product, else None
    box: Box | None
    #: number of points of the domain
    instances: int
    #: beta vector of the 2d+1 form: position among its siblings at each depth; ``depth + 1`` numbers
    betas: tuple[int, ...]
    #: 1 or -1 for each loop: whether its iterator counts up or down
    directions: tuple[int, ...]
    #: the assignment, an ``op``
    body: Expression
    #: all reads and writes
    accesses: tuple[Access, ...]
    #: of the source, from 1
    line: int
    #: the statement as the source has it
    text: str
    #: the user's source, or what a rewrite made the statement for
    origin: Origin = "source"

    @property
    def place(self) -> str:
        """Its name and its line, as messages say where it is."""
        return f"{self.name} (line {self.line})"

    @property
    def depth(self) -> int:
        """The number of loops around it."""
        return len(self.iterators)

    @property
    def extents(self) -> tuple[int, ...]:
        """Iterations of each loop, outermost first. Raises ValueError where the domain is no box."""
        if self.box is None:
            raise ValueError(f"the domain of {self.name} is no box")
        return box_extents(self.box)

    @property
    def reads(self) -> tuple[Access, ...]:
        """Its accesses that read, the target of a compound assignment included."""
        return tuple(a for a in self.accesses if a.kind == "read")

    @property
    def writes(self) -> tuple[Access, ...]:
        """Its accesses that write; a compound assignment has one of its target here, and one among ``reads``."""
        return tuple(a for a in self.accesses if a.kind == "write")

    def access(self, reference: str, kind: AccessKind | None = None) -> Access:
        """The access with that reference id, of that kind if one is given. Raises KeyError."""
        for candidate in self.accesses:
            if candidate.reference == reference and kind in (None, candidate.kind):
                return candidate
        raise KeyError(reference)

    @cached_property
    def flops_per_instance(self) -> int:
        """Arithmetic operations of one instance. A call counts as one; a conversion and a subscript as none."""
        return sum(
            1
            for node in self.body.walk()
            if (node.kind == "op" and node.text in _ARITHMETIC)
            or (node.kind == "call" and node.text not in CONVERSIONS)
        )

    @cached_property
    def operations_per_instance(self) -> int:
        """Operations of one instance, of which a product and the addition that it goes into are one; at least 1."""
        additions = (node for node in self.body.walk() if node.kind == "op" and node.text in _ADDITIONS)
        fused = sum(any(each.kind == "op" and each.text == "*" for each in node.arguments) for node in additions)
        return max(1, self.flops_per_instance - fused)

    @property
    def flops(self) -> int:
        """Arithmetic operations of all instances."""
        return self.flops_per_instance * self.instances

"""The plug-in contract of microkernels.

A microkernel is data about the matrix product that it computes, and the C that calls it. All microkernels
compute, for one output tile in column-major terms,

    C[m + n*ldc] += sum over batch, k of A[m*stride_am + k*lda] * B[n*stride_bn + k*stride_bk]

so that B is transposed where ``stride_bn`` is 1, and A where ``lda`` is 1. For most kernels ``stride_am`` is 1.
A *role* is one of ``m``, ``n``, ``rows``, ``k`` and ``batch``; a loop that plays a role disappears from the generated
nest, because the call runs it. Strides and leading dimensions are in elements. The columns of C may come in several
rows of n columns (the output rows of a small image), at any distance from each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from polydl.ir.ingredients import PLAIN, Ingredients
from polydl.ir.kernel import StaticLibrary
from polydl.ir.numerics import REORDERED, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE

Requirement = Literal["zero", "one", "two", "four", "many", "any"]
#: Steps of k that lie side by side where A is in groups, at most: more are rows.
LONGEST_GROUP = 4
# What a microkernel may do beyond adding a product to C: columns in several rows, C written without being read,
# fetching the next tile of A while it computes or packing it where later calls read it, working on copies of its
# operands (so that hundreds of columns pay), and handing over each part of C after its last store.
Ability = Literal["rows", "overwrite", "ahead", "pack", "copies", "after"]


@dataclass(frozen=True)
class StridePattern:
    """What each operand's stride must be along a role's loop, as (C, A, B), in elements; any but zero is positive, and
    many is more than one.

    A stride of two or four along m is for A in groups of so many steps of k that lie side by side, one of many along m
    and one along k for A in rows of all steps of k.
    """

    name: str
    m: tuple[Requirement, Requirement, Requirement]
    n: tuple[Requirement, Requirement, Requirement]
    k: tuple[Requirement, Requirement, Requirement]


@dataclass(frozen=True)
class GemmShape:
    """The sizes of one call."""

    #: type of A's elements, and of B's unless ``element_b`` names another
    element: str
    #: type of C's elements
    accumulator: str
    #: rows of C and A
    m: int
    #: columns of one row
    n: int
    #: terms of each sum, of one product of the batch
    k: int
    #: products that are summed up
    batch: int
    #: elements between neighbouring columns of A
    lda: int
    #: elements between neighbouring columns of C
    ldc: int
    #: how B is walked along n
    stride_bn: int
    #: how B is walked along k
    stride_bk: int
    #: rows of ``n`` columns
    rows: int = 1
    #: whether C is written without being read (beta = 0)
    overwrite: bool = False
    #: type of B's elements; "" where it is A's
    element_b: str = ""
    #: elements between neighbouring rows of A
    stride_am: int = 1
    #: the part of all calls that copy A, for a kernel that keeps copies
    anew_a: float = 1.0
    #: the part of all calls that copy B, for a kernel that keeps copies
    anew_b: float = 1.0
    #: elements that all products of a call span in B, what several of them span counted once; 0 where nobody counted
    reach_b: int = 0

    @property
    def columns(self) -> int:
        """Columns of C in all rows together."""
        return self.n * self.rows

    @property
    def transposed(self) -> bool:
        """Whether B is walked along n in memory."""
        return self.stride_bk != 1 and self.k > 1


@dataclass(frozen=True)
class GemmSite:
    """One place in the generated code where a microkernel is called.

    Extents are pairs (full, last), since the last tile of a loop may be shorter; the two are equal where the tile
    divides the loop.

    With ``after`` there are two functions in the generated C, of which each call that is the last for its tile of C
    uses one, to put something else there than the sums:

    ``<prefix>_after(operands, sums, apart, first, columns, row, rows)`` is called once for each of the blocks that make
    up the tile, of ``rows`` rows from ``row`` on by ``columns`` columns from ``first`` on, counted through all rows of
    n columns. The sums lie at ``sums``, columns ``apart`` elements from each other, in C itself or elsewhere.

    ``<prefix>_after_column(operands, sums, column, row, rows)`` does that for rows of one column, a vector of sums or
    several where ``after_bytes`` says that elements are narrower than these, and becomes part of what calls it. What
    lies in two blocks may be finished by both if neither takes its sums from C.
    """

    #: starts every name that the site defines in C
    prefix: str
    #: type of A's elements, and of B's unless ``element_b`` names another
    element: str
    #: type of C's elements
    accumulator: str
    #: rows of C in one call
    m: tuple[int, int]
    #: columns of one row of columns
    n: tuple[int, int]
    #: terms of each sum, of one product of the batch
    k: tuple[int, int]
    #: products that are summed up in one call
    batch: tuple[int, int]
    #: elements from one column of A to the next
    lda: int
    #: elements from one column of C to the next
    ldc: int
    #: how B is walked along n
    stride_bn: int
    #: how B is walked along k
    stride_bk: int
    #: where A of each product of the batch begins, after that of the first
    offsets_a: tuple[int, ...]
    #: where B of each product of the batch begins, after that of the first
    offsets_b: tuple[int, ...]
    #: where each row of n columns begins in B, after the first
    rows_b: tuple[int, ...] = (0,)
    #: where each row of n columns begins in C, after the first
    rows_c: tuple[int, ...] = (0,)
    #: whether some calls are the first for their tile of C, and must not read it
    overwrites: bool = False
    #: bytes that each call should fetch into the second-level cache for later calls, from an address that it is given
    ahead: int = 0
    #: steps of k by which a call prefetches A; 0 for not at all
    ahead_steps: int = 8
    #: type of B's elements; "" where it is ``element``
    element_b: str = ""
    #: the part of all calls whose tile of A is none of those that ``Microkernel.kept_copies`` keeps: below 1 where
    #: later calls read a tile again, with nothing that writes it from the nest's first call to the last
    anew_a: float = 1.0
    #: the same of B
    anew_b: float = 1.0
    #: columns of m elements that each call should copy, at most, to where they lie side by side; if it is not 0, all
    #: tiles of m and k are full ones, and the batch is one product
    copied: int = 0
    #: elements from one of these columns to the next, where they are copied from
    copied_lda: int = 0
    #: whether something else is put in the place of the sums, as said above
    after: bool = False
    #: whether both functions of ``after`` call functions, over which few registers keep their values
    after_calls: bool = False
    #: bytes of the narrowest elements that both functions write; 0 without ``after``
    after_bytes: int = 0
    #: whether every sum must be taken in the order of the batch and of k
    ordered: bool = False
    #: elements from one row of A to the next
    stride_am: int = 1

    @property
    def type_b(self) -> str:
        """The element type of B, which is A's unless it has one of its own."""
        return self.element_b or self.element

    @property
    def keeps_a(self) -> bool:
        """Whether a copy of A serves several calls."""
        return self.anew_a < 1.0

    @property
    def keeps_b(self) -> bool:
        """Whether a copy of B serves several calls."""
        return self.anew_b < 1.0

    @property
    def rows(self) -> int:
        """Rows of n columns of C that one call computes; 1 if all columns are equally far apart."""
        return len(self.rows_c)

    def pieces_of_b(self, reach: int, gap: int = 0) -> tuple[tuple[int, int], ...]:
        """(Begin, end) of what a call reads of B, in elements: ``reach`` of them for each row of columns and product.

        What overlaps, or lies no further than ``gap`` elements apart, is one piece.
        """
        pieces: list[tuple[int, int]] = []
        for begin in sorted({row + offset for row in self.rows_b for offset in self.offsets_b}):
            if pieces and begin <= pieces[-1][1] + gap:
                pieces[-1] = pieces[-1][0], max(pieces[-1][1], begin + reach)
            else:
                pieces.append((begin, begin + reach))
        return tuple(pieces)

    def shapes(self) -> tuple[tuple[tuple[int, int, int], GemmShape], ...]:
        """Every combination of full (0) and last (1) tiles that occurs, with its shape (full batch, not the first)."""
        found = []
        for last_m in range(1 if self.m[0] == self.m[1] else 2):
            for last_n in range(1 if self.n[0] == self.n[1] else 2):
                for last_k in range(1 if self.k[0] == self.k[1] else 2):
                    shape = GemmShape(
                        self.element,
                        self.accumulator,
                        self.m[last_m],
                        self.n[last_n],
                        self.k[last_k],
                        max(self.batch),
                        self.lda,
                        self.ldc,
                        self.stride_bn,
                        self.stride_bk,
                        self.rows,
                        element_b=self.element_b,
                        stride_am=self.stride_am,
                        anew_a=self.anew_a,
                        anew_b=self.anew_b,
                    )
                    found.append(((last_m, last_n, last_k), shape))
        return tuple(found)


@dataclass(frozen=True)
class CallArguments:
    """C expressions for one call. Conditions are "0", "1" or an expression that is one of them when it runs."""

    #: address of A
    a: str
    #: address of B
    b: str
    #: address of C
    c: str
    #: condition: the tile is the last of its loop
    last_m: str
    #: the same for n
    last_n: str
    #: the same for k
    last_k: str
    #: products of the batch
    batch: str
    #: condition: the call is the first for its tile of C
    first: str = "0"
    #: address of what to fetch ahead, which may lie beyond the array
    ahead: str = "0"
    #: address of what to copy
    copy_from: str = "0"
    #: address of where to copy it
    copy_to: str = "0"
    #: columns to copy, zero or less for none
    copy_columns: str = "0"
    #: condition: the call is the last for its tile of C
    last: str = "0"
    #: what ``<prefix>_after`` is given then
    operands: str = "0"


@dataclass(frozen=True)
class EmittedSite:
    """C for one site."""

    #: headers in angle brackets
    includes: tuple[str, ...]
    #: definitions at file scope
    definitions: str
    #: statements that run once in a process, before the first call
    setup: str
    #: statements that run whenever the function starts
    start: str = ""
    #: what ``definitions`` have beside plain arithmetic, for the check that compiles them with other numbers; it can't
    #: be applied where it is not told of vector types. ``includes`` need not be repeated
    ingredients: Ingredients = PLAIN


@dataclass(frozen=True)
class FormulaConstants:
    """Constants of a core in a microkernel's formula that times of its calls tell (``polydl.calibration.formulas``)."""

    #: fields of ``Core``
    names: tuple[str, ...]
    #: element types of these calls, as in ``Microkernel.elements``
    elements: tuple[str, ...]
    #: steps of k that lie side by side in each row of A; 1 where A lies column by column
    group: int = 1
    #: whether all steps of k lie side by side in each row of A
    row_by_row: bool = False
    #: whether they only decide which register blocks a call has, so that they are chosen by how fast these are
    decide: bool = False

    def __post_init__(self) -> None:
        if self.decide and (self.group != 1 or self.row_by_row):
            raise ValueError("register blocks are decided with operands that lie column by column, and are not copied")


class Microkernel(Protocol):
    """The plug-in contract. Register one by name under the entry-point group ``polydl.microkernels``.

    A class that inherits from it has the usual answers where there are some: from ``register_block`` on.
    """

    @property
    def name(self) -> str:
        """The name that it is registered by, which variants, options and records have."""
        ...

    @property
    def reference(self) -> str:
        """C of the loop nest that one call equals, over a, b, c, m, n, k, count, a_offsets, b_offsets, lda,
        ldc, stride_am, stride_bn, stride_bk, rows, b_rows and c_rows. It is the oracle for tests of the kernel."""
        ...

    @property
    def patterns(self) -> tuple[StridePattern, ...]:
        """Strides that the kernel can take, the preferred first."""
        ...

    @property
    def elements(self) -> tuple[tuple[str, ...], ...]:
        """Element types that the kernel takes: (operands, accumulator), or (A, B, accumulator) if A's is not B's."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """Sites have several rows, first calls, something to fetch or copy, and something to call after the last store
        only for a kernel that says so here."""
        ...

    def unavailable(self) -> str | None:
        """Why the kernel can't be used on this machine, or None."""
        ...

    def rejects(self, shape: GemmShape) -> str | None:
        """Why this shape can't be computed (a dispatch that fails, say), or None."""
        ...

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        """Tile sizes that suit the kernel for a loop of this extent, the best first."""
        ...

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        """Core cycles of one call with operands in the first-level cache."""
        ...

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        """The C that the calls of a site need around them, for vectors of so many bytes; ``call`` makes the calls."""
        ...

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        """One C statement that makes the call."""
        ...

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:  # noqa: ARG002
        """Rows and columns of C that a call keeps in registers at a time, at most: it reads B again for every block of
        rows and A for every block of columns. None if ``Core.usual_block`` is as good a guess as any.
        """
        return None

    def kept_copies(self, shape: GemmShape) -> tuple[int, int]:  # noqa: ARG002
        """Of how many tiles of A, and of B, a thread keeps copies for later calls, those that were made last."""
        return 0, 0

    def waits(self, element: str, vector_elements: int) -> bool:  # noqa: ARG002
        """Whether ``predicted_cycles`` leaves out what calls wait for operands that come from the second-level cache.

        It does, unless the kernel copies its operands first, or was timed with operands from there.
        """
        return "copies" not in self.abilities

    @property
    def formula_constants(self) -> tuple[FormulaConstants, ...]:
        """What ``polydl calibrate`` may fit, so that ``predicted_cycles`` is nearer to the times of calls."""
        return ()

    def panel_rows(self, vector_elements: int) -> int:
        """Rows of A that a kernel with the ability ``copies`` copies at a time, before it multiplies them."""
        return 2 * vector_elements

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        """How sums of products round whose A has elements of this type.

        As multiply-adds in some order do, unless the kernel says otherwise: that it sums in the order of the batch and
        of k where ``GemmSite.ordered`` asks for it, or that it computes other products.
        """
        return REORDERED

    def link_flags(self) -> tuple[str, ...]:
        """What the linker needs for the emitted C."""
        return ()

    @property
    def macros(self) -> frozenset[str]:
        """What a compiler defines whose target has the instructions that the code is made for."""
        return frozenset()

    def static_library(self) -> StaticLibrary | None:
        """What goes with the emitted C in place of those flags; None if the flags are all there is."""
        return None

    @property
    def family(self) -> str:
        """The way in which the kernel computes. A trained ranker trusts what it learned for families that it saw.

        Of ``tile registers``, bounds assume that a product of floats takes six of bfloat16s.
        """
        return ""

    @property
    def library(self) -> str:
        """The library that its calls run in, by which all kernels of that library can be asked for; "" for none."""
        return ""

    def version(self) -> str:
        """The version of that library, or of the kernel itself: times measured with another one are not reused."""
        return ""

    @property
    def kept_memory(self) -> tuple[str, ...]:
        """Sentences of the emitted header on memory that the calls keep by themselves."""
        return ()

    @property
    def core(self) -> Core:
        """The cores that the kernel is for: what it was told by ``on``."""
        return WIDE_CORE

    def on(self, core: Core) -> Microkernel:  # noqa: ARG002
        """The kernel for these cores, if their registers, caches or the time of operations matter to it."""
        return self

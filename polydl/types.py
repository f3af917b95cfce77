"""The frozen data that flows through polydl.

``C file -> Scop -> Variant* -> WorkingSets* -> Ranking -> KernelSource -> Measurement``

Sets and relations are isl *strings* without parameters: they pickle, and isl objects never
cross from one copy of isl (pet's) into another (islpy's). Sizes are in bytes, times in
seconds, unless a name says otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal

from polydl.bfloat16 import CONVERSIONS
from polydl.calls import AnnotatedCall as AnnotatedCall

# The steps of variants flow as well; they fill a file of their own.
from polydl.steps import Attach as Attach
from polydl.steps import Coalesce as Coalesce
from polydl.steps import Fuse as Fuse
from polydl.steps import Gather as Gather
from polydl.steps import Interchange as Interchange
from polydl.steps import NestStep as NestStep
from polydl.steps import Pack as Pack
from polydl.steps import PackPanels as PackPanels
from polydl.steps import PackTiles as PackTiles
from polydl.steps import Pad as Pad
from polydl.steps import Parallel as Parallel
from polydl.steps import Rewrite as Rewrite
from polydl.steps import Split as Split
from polydl.steps import Step as Step
from polydl.steps import Strassen as Strassen
from polydl.steps import Stream as Stream
from polydl.steps import Tile as Tile
from polydl.steps import Unfold as Unfold
from polydl.steps import Unroll as Unroll
from polydl.steps import UseMicrokernel as UseMicrokernel
from polydl.steps import Variant as Variant
from polydl.steps import Vectors as Vectors
from polydl.steps import Winograd as Winograd

AccessKind = Literal["read", "write"]
Role = Literal["loop", "m", "n", "rows", "k", "batch", "call"]
DependenceKind = Literal["RAW", "WAR", "WAW", "RAR"]
Status = Literal["ok", "unsupported", "compile", "timeout", "crash", "wrong"]


# --------------------------------------------------------------------------------------
# What was parsed


@dataclass(frozen=True)
class Array:
    """An array or scalar of the source, its sizes known.

    ``extents`` are in elements, outermost first, and ``()`` for a scalar. ``element`` is the
    canonical C type, such as ``float`` or ``unsigned char``. ``storage`` says where it lives: a ``local`` one
    belongs to the region alone, so that generated code declares it anew or does without; a ``function`` one is
    declared in the function around the region, and values may flow in and out through it. ``view_of`` names the
    array whose memory this one shows in another shape.
    """

    name: str
    element: str
    element_bytes: int
    extents: tuple[int, ...]
    storage: Literal["parameter", "global", "local", "function"]
    view_of: str = ""

    @property
    def elements(self) -> int:
        product = 1
        for extent in self.extents:
            product *= extent
        return product

    @property
    def bytes(self) -> int:
        return self.elements * self.element_bytes

    @property
    def memory(self) -> str:
        """The array whose memory this one shows: itself, if it is no view."""
        return self.view_of or self.name

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance in elements between neighbours along each dimension (row-major)."""
        strides: list[int] = []
        step = 1
        for extent in reversed(self.extents):
            strides.append(step)
            step *= extent
        return tuple(reversed(strides))


@dataclass(frozen=True)
class Affine:
    """``sum(coefficient * iterator) + constant`` over the iterators of one statement."""

    coefficients: tuple[int, ...]
    constant: int = 0

    def at(self, point: tuple[int, ...]) -> int:
        return self.constant + sum(c * x for c, x in zip(self.coefficients, point, strict=True))


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


@dataclass(frozen=True)
class Parameter:
    """One parameter of the function, in the order of its signature.

    ``array`` names the Array it carries (a scalar has extents ``()``). ``declaration`` is the
    parameter as C writes it with all macros expanded, fit for a prototype. ``value`` is the
    integer that ``-D NAME=VALUE`` bound it to, if any.
    """

    name: str
    declaration: str
    array: str
    is_pointer: bool
    is_const: bool
    value: int | None = None


@dataclass(frozen=True)
class Function:
    name: str
    return_type: str
    parameters: tuple[Parameter, ...]
    line: int


@dataclass(frozen=True)
class SharedLoops:
    """Statements whose ``loops`` outermost loops are to stay common to them; the first in ``parallel`` if so."""

    statements: tuple[str, ...]
    loops: int
    parallel: bool = False
    combined: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scop:
    """A static control part: what one region of one C function does, exactly.

    ``source`` is the file's text; ``region`` the offsets (characters, end exclusive) that generated code
    replaces. ``defines`` are the ``-D`` macros given; integer parameters that were bound appear
    as ``Parameter.value``. ``schedule`` is pet's schedule tree, restricted to the statements kept.
    ``shared`` holds loops that were fused, and that distribution must not take apart again.
    """

    file: str
    function: Function
    statements: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    schedule: str
    source: str
    region: tuple[int, int]
    line: int
    defines: tuple[tuple[str, str], ...] = ()
    annotated_calls: tuple[AnnotatedCall, ...] = ()
    include_directories: tuple[str, ...] = ()
    shared: tuple[SharedLoops, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Identity of the nest: what it computes, not how its file is named or laid out."""
        content = json.dumps(
            [
                self.function.name,
                [asdict(s) | {"line": 0, "text": ""} for s in self.statements],
                [asdict(a) for a in self.arrays],
            ],
            sort_keys=True,
        )
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def flops(self) -> int:
        return sum(s.flops for s in self.statements)

    @cached_property
    def footprint(self) -> int:
        """Bytes of all arrays that are read or written."""
        used = {access.array for statement in self.statements for access in statement.accesses}
        return sum(array.bytes for array in self.arrays if array.name in used)

    def array(self, name: str) -> Array:
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def stride(self, access: Access, iterator: int) -> int:
        """Elements by which one step of an iterator of its statement moves an access with affine subscripts."""
        assert access.subscripts is not None
        steps = self.array(access.array).strides
        return sum(step * form.coefficients[iterator] for step, form in zip(steps, access.subscripts, strict=True))

    def statement(self, name: str) -> Statement:
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise KeyError(name)


# --------------------------------------------------------------------------------------
# Execution order


@dataclass(frozen=True)
class Loop:
    """One dimension of time: ``direction * floor((iterator - origin) / size)``.

    ``size`` 1 is the loop itself; a larger one is the loop over tiles of that many iterations.
    ``iterator`` is an index into the statement's iterators. Loops that a microkernel takes over
    carry its role (``m``, ``n``, ``rows``, ``k`` or ``batch``); ``call`` is the role of loops that stand for a call
    which a pragma marked. Where the iterations run in parallel, each thread keeps its own sums in the arrays
    ``combined``, and they are added at the end; ``dynamic`` is as for ``Parallel``, ``unrolled`` for ``Unroll``.
    """

    name: str
    iterator: int
    size: int = 1
    origin: int = 0
    direction: int = 1
    parallel: bool = False
    role: Role = "loop"
    combined: tuple[str, ...] = ()
    dynamic: bool = False
    unrolled: bool = False

    def first(self, low: int, high: int) -> int:
        """The time of the first iteration, for an iterator from ``low`` to ``high``."""
        return self.direction * (((low if self.direction == 1 else high) - self.origin) // self.size)

    def last(self, low: int, high: int) -> int:
        """The time of the last iteration, likewise."""
        return self.direction * (((high if self.direction == 1 else low) - self.origin) // self.size)


@dataclass(frozen=True)
class Schedule:
    """When each statement instance runs.

    For each statement a tuple of time dimensions, outermost first: an ``int`` is a position in a
    sequence, a ``Loop`` a loop. Statements that share outer loops have equal leading dimensions.
    """

    statements: tuple[tuple[str, tuple[int | Loop, ...]], ...]

    def of(self, statement: str) -> tuple[int | Loop, ...]:
        for name, dimensions in self.statements:
            if name == statement:
                return dimensions
        raise KeyError(statement)


# --------------------------------------------------------------------------------------
# Analysis


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


@dataclass(frozen=True)
class RankedVariant:
    """``score`` orders variants within one ranking only, lower first; None where a ranker has no scalar."""

    variant: Variant
    working_sets: WorkingSets
    score: float | None
    reason: str


@dataclass(frozen=True)
class Ranking:
    ranker: str
    entries: tuple[RankedVariant, ...]


# --------------------------------------------------------------------------------------
# Code and measurements


@dataclass(frozen=True)
class MicrokernelUse:
    """What was matched in one nest, for people and for JSON. Leading dimensions are in elements.

    Each call fetches ``ahead`` bytes of the first operand for later calls, or copies ``copied`` of the next tile.
    ``stride_bn`` and ``stride_bk`` say how the second one is walked along n and k.
    """

    nest: int
    name: str
    statement: str
    m: int
    n: int
    k: int
    batch: int
    lda: int
    ldb: int
    ldc: int
    loops: tuple[str, str, str]
    batch_loops: tuple[str, ...]
    operands: tuple[str, str, str]
    rows: int = 1
    row_loops: tuple[str, ...] = ()
    ahead: int = 0
    stride_bn: int = 0
    stride_bk: int = 0
    copied: int = 0


@dataclass(frozen=True)
class KernelSource:
    """A complete C translation unit with the function of the original's name and signature.

    ``harness`` is C that, appended to ``c``, lets a process call the kernel without knowing its
    signature: ``void polydl_invoke(void *const *arguments)``, one pointer per parameter (to the array, or to
    the scalar's value) and then one per global array through ``void *polydl_global(int)``.
    ``link_flags`` are what it needs beyond the C library and OpenMP; ``vector_functions`` are those of ``<math.h>``
    that it calls with whole vectors where the C library can.
    """

    id: str
    function: str
    c: str
    header: str
    harness: str
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    microkernels: tuple[MicrokernelUse, ...] = ()
    vector_functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One timed sample. ``probe_gflops`` is the FMA rate of one core just before and just after."""

    seconds: float
    probe_gflops: tuple[float, float]
    disturbed: bool


@dataclass(frozen=True)
class Measurement:
    """What became of one candidate. ``seconds`` are None unless the status is ``ok``.

    ``error`` is norm-wise against the original nest, scaled as docs/measuring.md says;
    ``message`` holds the full stderr of whatever failed, ``source`` the path of the kept C. Not ``final`` is the time
    of a candidate that fell behind, and was not in the last rounds with the fastest.
    """

    id: str
    status: Status
    samples: tuple[Sample, ...] = ()
    seconds_minimum: float | None = None
    seconds_median: float | None = None
    error: float | None = None
    message: str = ""
    source: str = ""
    final: bool = True

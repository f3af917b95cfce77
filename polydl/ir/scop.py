"""A static control part (SCoP): what one region of one C function computes, exactly.

Sets and relations are isl *strings* without parameters. Strings can be pickled, and no isl object crosses from one
copy of isl (the one inside pet) into another (islpy's). Sizes are in bytes unless a name says otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Literal

from polydl.ir.calls import AnnotatedCall, TransformCall
from polydl.ir.counts import counted
from polydl.ir.data import Initializer, Inputs
from polydl.ir.statement import Access, Expression, Statement

#: Types of one byte.
BYTES = ("char", "signed char", "unsigned char")
#: Bytes of the types that floating-point sums are kept in.
REAL_BYTES = MappingProxyType({"float": 4, "double": 8})
_FLOATING = frozenset({"float", "double", "long double", "_Float16", "bfloat16"})
# Their names in C, and how their constants begin.
_FLOATING_TEXT = re.compile(r"\b(?:float|double|_Float16|bfloat16)\b|\d\.|\.\d|\b\d+[eE]")
# Functions of the compiler, of the C library and of pet that take integers and return one.
_ON_INTEGERS = re.compile(
    r"__builtin_(?:popcount|clz|ctz|ffs|parity|bswap)\w*|(?:__builtin_)?l{0,2}abs|[iu]?(?:min|max)|ceild|floord|int[A-Z]\w*"
)


class UnknownNameError(KeyError):
    """A scop was asked for a statement or an array that it doesn't have; the text says which."""


@dataclass(frozen=True)
class Array:
    """An array or a scalar of the source, or one that a rewrite added. All sizes are known."""

    name: str
    #: canonical C type of an element, such as ``float`` or ``unsigned char``
    element: str
    #: of one element
    element_bytes: int
    #: elements along each dimension, outermost first; ``()`` for a scalar
    extents: tuple[int, ...]
    #: where it lives. A ``constant`` array is global and keeps the values that the source gives it. A ``local`` array
    #: belongs to the region alone: generated code declares it or does without it. A ``function`` array is declared in
    #: the function around the region, and carries values in and out.
    storage: Literal["parameter", "global", "constant", "local", "function"]
    #: the array whose memory this one shows in another shape; "" for an array with memory of its own
    view_of: str = ""

    @property
    def elements(self) -> int:
        """The number of elements; 1 for a scalar."""
        product = 1
        for extent in self.extents:
            product *= extent
        return product

    @property
    def bytes(self) -> int:
        """Bytes of all elements; a view has as many as the array whose memory it shows."""
        return self.elements * self.element_bytes

    @property
    def memory(self) -> str:
        """The name of the array that holds the elements: ``view_of`` for a view, else its own name."""
        return self.view_of or self.name

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours along each dimension (row-major)."""
        strides: list[int] = []
        step = 1
        for extent in reversed(self.extents):
            strides.append(step)
            step *= extent
        return tuple(reversed(strides))


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function."""

    name: str
    #: as C writes it in a prototype, with all macros expanded
    declaration: str
    #: name of the Array that it carries (a scalar is one with extents ``()``)
    array: str
    #: whether it is a pointer or an array
    is_pointer: bool
    #: whether what it points to is ``const``
    is_const: bool
    #: the integer that ``-D NAME=VALUE`` bound it to
    value: int | None = None
    #: ``declaration`` with extents as the source writes them, where they depend on other parameters; "" elsewhere
    sized: str = ""
    #: ``name``, or another where that is a keyword of C++ or C23
    name_in_header: str = ""
    #: ``declaration`` for C and C++: of ``name_in_header``, without ``restrict``
    in_header: str = ""
    #: ``sized`` for C, of ``name_in_header``; "" where that is
    sized_in_header: str = ""


@dataclass(frozen=True)
class SourceFunction:
    """The C function around a region."""

    name: str
    #: as the source writes it
    return_type: str
    #: in the order of the signature
    parameters: tuple[Parameter, ...]
    #: of its definition in the source, from 1
    line: int


@dataclass(frozen=True)
class PureFunction:
    """A function of the source's own that the region calls, whose result depends on its arguments alone."""

    name: str
    #: its declaration in canonical types, without a semicolon; "" for one that isn't ``static``, or has types of the
    #: file's own
    declaration: str
    #: the functions that its calls come down to, which have no bodies in the file, in the order of their names
    calls: tuple[str, ...]
    #: whether it has no loops, jumps nor statements under conditions: a vector loop may contain it
    straight: bool


@dataclass(frozen=True)
class SharedLoops:
    """Loops that a rewrite fused, and that loop distribution must not split again."""

    #: names of the statements inside
    statements: tuple[str, ...]
    #: number of outer loops that they share
    loops: int
    #: whether one of these loops runs in parallel
    parallel: bool = False
    #: arrays that its threads sum into copies of, which are added up at the end
    combined: tuple[str, ...] = ()
    #: which of them that is, the outermost one being 0
    parallel_loop: int = 0
    #: whether they stay as they are, outside of all nests, even around statements that share further loops
    fixed: bool = False


@lru_cache(maxsize=64)
def _as_json(statements: tuple[Statement, ...]) -> str:
    """What statements compute. Many scops have the same ones, and differ in the extents of their arrays alone."""
    parts = [asdict(each) | {"line": 0, "text": ""} for each in statements]
    for part in parts:
        del part["origin"]
    return json.dumps(parts, sort_keys=True)


@dataclass(frozen=True, repr=False)
class Scop:
    """A static control part (SCoP): what one region of one C function computes, exactly."""

    #: path of the source file
    file: str
    function: SourceFunction
    #: in the order of the source
    statements: tuple[Statement, ...]
    #: scalars among them
    arrays: tuple[Array, ...]
    #: pet's schedule tree, restricted to the statements kept
    schedule: str
    #: text of the source file, without what the function doesn't need
    source: str
    #: offsets into ``source``, in characters and end exclusive, that generated code replaces
    region: tuple[int, int]
    #: offsets into ``source`` of the function's definition: its start, its body behind the brace, its end (exclusive)
    definition: tuple[int, int, int]
    #: first line of the region, from 1
    line: int
    #: ``-D`` macros as (name, value)
    defines: tuple[tuple[str, str], ...] = ()
    #: macros as (name, value) above all headers of generated code, since the C library's declare more for them
    features: tuple[tuple[str, str], ...] = ()
    #: microkernel calls that pragmas mark
    annotated_calls: tuple[AnnotatedCall, ...] = ()
    #: searched for headers in this order (``-I``)
    include_directories: tuple[str, ...] = ()
    #: variables in ``source`` that may change and that no other file sees
    private: tuple[str, ...] = ()
    #: those of the functions in ``source`` that the region calls, in the order of their names
    functions: tuple[PureFunction, ...] = ()
    #: fused loops that loop distribution must keep
    shared: tuple[SharedLoops, ...] = ()
    #: tile transforms that rewrites put in
    transform_calls: tuple[TransformCall, ...] = ()
    #: statements whose loops bound each other, as boxes of as many instances (those of skewed loops, as they would be
    #: without): what working sets and costs are estimated from
    unskewed: tuple[Statement, ...] = ()
    #: arrays and scalars of its parameters and globals that hold the same at every call, as the user says
    constants: tuple[str, ...] = ()
    #: lines of loops of the function that are not in the region, where that is not marked
    left_out: tuple[int, ...] = ()
    #: what fills its arrays before it is measured; None for random data
    initializer: Initializer | None = None
    #: arrays that it is measured with; None for random data
    inputs: Inputs | None = None

    def __repr__(self) -> str:
        counts = {"statement": len(self.statements), "array": len(self.arrays), "operation": self.flops}
        size = ", ".join(counted(count, noun) for noun, count in counts.items())
        return f"<Scop {self.function.name} ({self.file}:{self.line}): {size}>"

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the region's loops, accesses and arrays, not its file's name or layout.

        Neither the bodies of functions that it calls nor the values of constant arrays count.
        """
        parts: list[Any] = [[asdict(array) for array in self.arrays]]
        if self.constants:
            parts.append(self.constants)
        if self.initializer is not None:
            parts.append({"initializer": self.initializer.function, "source": self.initializer.source})
        if self.inputs is not None:
            parts.append({"inputs": self.inputs.digest})
        texts = (json.dumps(part, sort_keys=True) for part in parts)
        content = f"[{', '.join([json.dumps(self.function.name), _as_json(self.statements), *texts])}]"
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def line_at(self, offset: int) -> int:
        """The line of the file, from 1, of an offset into ``source`` that lies in the region.

        Before the region, ``source`` may lack lines of the file.
        """
        return self.line + self.source.count("\n", self.region[0], offset)

    @cached_property
    def flops(self) -> int:
        """Arithmetic operations of all statements."""
        return sum(s.flops for s in self.statements)

    @cached_property
    def rounds(self) -> bool:
        """Whether a statement computes with floating-point numbers."""
        return any(map(self.rounds_in, self.statements))

    @cached_property
    def _helpers_round(self) -> bool:
        """Whether functions of the source's own may compute with floating-point numbers, as its text has some."""
        start, end = self.region
        return _FLOATING_TEXT.search(f"{self.source[:start]} {self.source[end:]}") is not None

    def rounds_in(self, statement: Statement) -> bool:
        """Whether this statement of it does."""
        if any(self.array(access.array).element in _FLOATING for access in statement.accesses):
            return True
        integers = set() if self._helpers_round else {each.name for each in self.functions if each.declaration}

        def is_floating(node: Expression) -> bool:
            if node.kind == "literal":
                return not node.text.lower().startswith("0x") and not {".", "e"}.isdisjoint(node.text.lower())
            if node.kind == "call":
                return node.text not in integers and _ON_INTEGERS.fullmatch(node.text) is None
            return node.kind == "cast" and node.text in _FLOATING

        return any(map(is_floating, statement.body.walk()))

    @cached_property
    def footprint(self) -> int:
        """Bytes of all arrays that are read or written."""
        used = {access.array for statement in self.statements for access in statement.accesses}
        return sum(array.bytes for array in self.arrays if array.name in used)

    @cached_property
    def modelled(self) -> Scop:
        """What working sets and costs are estimated from: the scop itself, if it has no statements ``unskewed``."""
        if not self.unskewed:
            return self
        flat = {statement.name: statement for statement in self.unskewed}
        return replace(self, statements=tuple(flat.get(s.name, s) for s in self.statements), unskewed=())

    def array(self, name: str) -> Array:
        """The array of that name. Raises UnknownNameError."""
        try:
            return self._arrays[name]
        except KeyError:
            raise UnknownNameError(f"array `{name}`") from None

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        # Of several with one name, the first counts.
        return {array.name: array for array in reversed(self.arrays)}

    def stride(self, access: Access, iterator: int) -> int:
        """Elements by which one step of a loop moves an access.

        The access must have affine subscripts; ``iterator`` is the loop's index among its statement's iterators.
        """
        assert access.subscripts is not None
        steps = self.array(access.array).strides
        return sum(step * form.coefficients[iterator] for step, form in zip(steps, access.subscripts, strict=True))

    def has_call(self, statement: str) -> bool:
        """Whether a call stands for innermost loops of a statement, which then stay as they are."""
        return any(statement in call.statements for call in self.annotated_calls) or any(
            statement == call.statement for call in self.transform_calls
        )

    def statement(self, name: str) -> Statement:
        """The statement of that name. Raises UnknownNameError."""
        try:
            return self._statements[name]
        except KeyError:
            raise UnknownNameError(f"statement `{name}`") from None

    @cached_property
    def _statements(self) -> dict[str, Statement]:
        return {statement.name: statement for statement in reversed(self.statements)}

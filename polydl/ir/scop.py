"""A static control part: what one region of one C function does, exactly.

Sets and relations are isl *strings* without parameters: they pickle, and isl objects never
cross from one copy of isl (pet's) into another (islpy's). Sizes are in bytes unless a name says otherwise.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal

from polydl.ir.calls import AnnotatedCall
from polydl.ir.statement import Access, Statement


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

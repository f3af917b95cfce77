"""A library's function as a Python callable over arrays of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from polydl.errors import ArgumentError
from polydl.execute.callable import LoadedKernel, library_with
from polydl.ir.scop import Scop
from polydl.libraries.extents import only_size
from polydl.libraries.linear import OPEN
from polydl.libraries.symbolic import SymbolicNest

# Forms of arguments, and sizes, that a function remembers.
_KEPT = 64


@dataclass(frozen=True)
class _Reach:
    """How far an array reaches for which the source doesn't say it."""

    #: elements of its first dimension
    extent: int
    #: whether it is seen with one dimension
    linear: bool


@dataclass(frozen=True)
class _Fitting:
    """What arguments of some extents and sizes need."""

    #: names of the sizes, which the kernel isn't given
    sizes: tuple[str, ...]
    kernel: LoadedKernel
    #: by the name of the argument
    reaches: Mapping[str, _Reach]


class AnySize:
    """``gemm(C=c, A=a, B=b)``: one keyword per array. Sizes are those of the arrays, and may be given, too.

    Arguments and arrays are otherwise as those of ``LoadedKernel``. What becomes of the library's file later changes
    nothing.
    """

    def __init__(self, nest: SymbolicNest, library: Path, exported: str, sha256: str = "") -> None:
        """``exported`` is the function's name in the file, ``sha256`` what that must be, if known.

        Raises as ``polydl.execute.callable.load`` does.
        """
        self._nest = nest
        self.name = exported
        loaded = library_with(library, exported, sha256=sha256)
        self._at = lru_cache(maxsize=_KEPT)(lambda sizes: LoadedKernel(loaded, _resized(nest, dict(sizes)), exported))
        self._seen: dict[tuple[Any, ...], _Fitting] = {}

    def __call__(self, **arguments: Any) -> None:
        """Raises ArgumentError for arrays that don't fit together, and as a ``LoadedKernel`` does."""
        # Calls with arguments of the same extents and sizes need the same kernel, which a call shouldn't look for anew.
        form = tuple([(name, _form(value)) for name, value in arguments.items()])
        fitting = self._seen.get(form)
        if fitting is None:
            fitting = self._fitting(arguments)
            if all(type(arguments.get(size, 0)) is int for size in self._nest.sizes):
                if len(self._seen) >= _KEPT:
                    self._seen.clear()
                self._seen[form] = fitting
        for name in fitting.sizes:
            arguments.pop(name, None)
        for name, reach in fitting.reaches.items():
            arguments[name] = _reached(arguments[name], reach)
        fitting.kernel(**arguments)

    def _fitting(self, arguments: Mapping[str, Any]) -> _Fitting:
        """What arguments of these extents and sizes need. Raises ArgumentError."""
        sizes = self._sizes(arguments)
        kernel: LoadedKernel = self._at(tuple(sizes.items()))
        extents = self._nest.source_extents(sizes)
        arrays = {name: self._array(name) for name in arguments if name not in sizes}
        linear = {view.view_of for view in self._nest.views}
        reaches = {
            name: _Reach(extents[array][0], array in linear)
            for name, array in arrays.items()
            if array in linear or OPEN in self._nest.extents.get(array, ())
        }
        return _Fitting(tuple(sizes), kernel, reaches)

    def __repr__(self) -> str:
        return (
            f"<library function {self.name}({', '.join(each.name for each in self._nest.source.function.parameters)})>"
        )

    def _array(self, name: str) -> str:
        """The array of an argument."""
        parameter = next((each for each in self._nest.source.function.parameters if each.name == name), None)
        return parameter.array if parameter is not None else name

    def _integer(self, name: str, argument: Any) -> int:
        """A size that is an argument. Raises ArgumentError for what is no integer, such as 3.7."""
        try:
            return index(argument)
        except TypeError:
            kind = type(argument).__name__
            raise ArgumentError(f"{self.name}: the size {name} is a {kind}", remedy="pass an integer") from None

    def _sizes(self, arguments: Mapping[str, Any]) -> dict[str, int]:
        """The value of each size, from the arguments of that name and the extents of arrays."""
        sizes: dict[str, int] = {}
        told: dict[str, str] = {}

        def tell(name: str, size: int, source: str) -> None:
            if sizes.setdefault(name, size) != size:
                raise ArgumentError(
                    f"{self.name}: {name} is {sizes[name]} by {told[name]} and {size} by {source}",
                    remedy="pass arrays whose sizes agree",
                )
            told.setdefault(name, source)

        for name in self._nest.sizes:
            if name in arguments:
                tell(name, self._integer(name, arguments[name]), f"{name} itself")
        for array, extents in self._nest.extents.items():
            given = arguments.get(array)
            if isinstance(given, np.ndarray) and given.ndim == len(extents):
                for extent, size in zip(extents, given.shape, strict=True):
                    if extent in self._nest.sizes:
                        tell(extent, size, array)
        for array, extents in self._nest.extents.items():
            given = arguments.get(array)
            if isinstance(given, np.ndarray) and given.ndim == len(extents):
                open_sizes = {name: sizes.get(name) for name in self._nest.sizes}
                for extent, number in zip(extents, given.shape, strict=True):
                    solved = only_size(extent, number, open_sizes) if extent != OPEN else None
                    if solved is not None:
                        tell(*solved, array)
                        open_sizes[solved[0]] = solved[1]
        missing = [name for name in self._nest.sizes if name not in sizes]
        if missing:
            raise ArgumentError(
                f"{self.name}: the size {missing[0]} is unknown",
                remedy=f"pass {missing[0]}=..., or all arrays with as many dimensions as in C",
            )
        return sizes


def _form(argument: Any) -> Any:
    """What two arguments have in common that need the same kernel: extents, the value of an integer, or a type."""
    if isinstance(argument, np.ndarray):
        return argument.shape
    return argument if type(argument) is int else type(argument)


def _reached(argument: Any, reach: _Reach) -> Any:
    """The part of an argument that the nest may touch."""
    if not isinstance(argument, np.ndarray) or not argument.flags.c_contiguous or not argument.ndim:
        return argument
    rows: np.ndarray[Any, Any] = argument.reshape(-1) if reach.linear else argument
    return rows[: reach.extent]


def _resized(nest: SymbolicNest, sizes: Mapping[str, int]) -> Scop:
    """The nest with the arrays and parameters that callers pass at some sizes; its statements stay symbolic."""
    scop = nest.source
    extents = nest.source_extents(sizes)
    arrays = tuple(replace(each, extents=extents.get(each.name, each.extents)) for each in scop.arrays)
    parameters = tuple(
        replace(each, value=sizes[each.name]) if each.name in sizes else each for each in scop.function.parameters
    )
    return replace(scop, arrays=arrays, function=replace(scop.function, parameters=parameters))

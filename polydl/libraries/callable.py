"""A library's function as a Python callable over arrays of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
        self._at = lru_cache(maxsize=64)(lambda sizes: LoadedKernel(loaded, _resized(nest, dict(sizes)), exported))

    def __call__(self, **arguments: Any) -> None:
        """Raises ArgumentError for arrays that don't fit together, and as a ``LoadedKernel`` does."""
        sizes = self._sizes(arguments)
        kernel: LoadedKernel = self._at(tuple(sizes.items()))
        kernel(**{name: self._reached(name, value, sizes) for name, value in arguments.items() if name not in sizes})

    def __repr__(self) -> str:
        return (
            f"<library function {self.name}({', '.join(each.name for each in self._nest.source.function.parameters)})>"
        )

    def _reached(self, name: str, argument: Any, sizes: Mapping[str, int]) -> Any:
        """The part of an argument that the nest may touch, where the source doesn't say how far an array reaches."""
        parameter = next((each for each in self._nest.source.function.parameters if each.name == name), None)
        array = parameter.array if parameter is not None else name
        linear = any(view.view_of == array for view in self._nest.views)
        if not (linear or OPEN in self._nest.extents.get(array, ())):
            return argument
        if not isinstance(argument, np.ndarray) or not argument.flags.c_contiguous or not argument.ndim:
            return argument
        extents = self._nest.source_extents(sizes)[array]
        rows: np.ndarray[Any, Any] = argument.reshape(-1) if linear else argument
        return rows[: extents[0]]

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


def _resized(nest: SymbolicNest, sizes: Mapping[str, int]) -> Scop:
    """The nest with the arrays and parameters that callers pass at some sizes; its statements stay symbolic."""
    scop = nest.source
    extents = nest.source_extents(sizes)
    arrays = tuple(replace(each, extents=extents.get(each.name, each.extents)) for each in scop.arrays)
    parameters = tuple(
        replace(each, value=sizes[each.name]) if each.name in sizes else each for each in scop.function.parameters
    )
    return replace(scop, arrays=arrays, function=replace(scop.function, parameters=parameters))

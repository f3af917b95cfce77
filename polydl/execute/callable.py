"""Built kernels as Python callables on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from polydl import bfloat16
from polydl.errors import ArgumentError, MissingComponentError, OptionError
from polydl.execute.arrays import element_dtype
from polydl.ir.scop import Array, Parameter, Scop


def load(library: str | Path, scop: Scop) -> LoadedKernel:
    """The kernel in a shared library as a callable. The library is never unloaded, since OpenMP's threads persist.

    Raises OptionError if the file or the function doesn't exist, MissingComponentError if the library can't be loaded.
    """
    path = Path(library).resolve()
    if not path.exists():
        raise OptionError(f"there is no library {path}", remedy="build the kernel first")
    try:
        loaded = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise MissingComponentError(f"the library can't be loaded: {error}", file=str(path)) from None
    if not hasattr(loaded, scop.function.name):
        raise OptionError(
            f"{path} has no function {scop.function.name!r}",
            remedy="build it from the same source, where it must not be static",
        )
    return LoadedKernel(loaded, scop)


class LoadedKernel:
    """``kernel(output=out, input=inp)``: one keyword per parameter and per global array of the source.

    Arrays are C-contiguous NumPy arrays of the exact element type (``uint16`` for bfloat16) and extents. Arrays that
    the nest writes are changed in place. Integers that were fixed when the kernel was generated may be left out. A call
    releases the interpreter's lock and uses OpenMP's number of threads. Global arrays are copied into the library and,
    if written, back; a kernel with global arrays must not be called from two threads at once.
    """

    def __init__(self, library: ctypes.CDLL, scop: Scop) -> None:
        self._function = library[scop.function.name]
        self._parameters = scop.function.parameters
        self._arrays = {parameter.name: scop.array(parameter.array) for parameter in scop.function.parameters}
        self._function.argtypes = [
            ctypes.c_void_p if p.is_pointer else _scalar_type(self._arrays[p.name]) for p in self._parameters
        ]
        self._function.restype = None
        self._written = {access.array for statement in scop.statements for access in statement.writes}
        self._globals = {array.name: array for array in scop.arrays if array.storage == "global"}
        self._addresses = {
            name: _global_address(library, name, position) for position, name in enumerate(self._globals)
        }
        self.name = scop.function.name

    def __call__(self, **arguments: Any) -> None:
        """Raises ArgumentError for a name, a type, a shape or a layout that doesn't fit."""
        self._check_names(arguments)
        values: list[Any] = []
        for parameter in self._parameters:
            array = self._arrays[parameter.name]
            if parameter.is_pointer:
                writes = array.name in self._written
                values.append(_checked(parameter.name, arguments[parameter.name], array, writes).ctypes.data)
            else:
                values.append(_scalar(parameter, arguments.get(parameter.name), array))
        outside = {
            name: _checked(name, arguments[name], array, name in self._written) for name, array in self._globals.items()
        }
        self._check_overlaps(arguments)
        for name, given in outside.items():
            ctypes.memmove(self._addresses[name], given.ctypes.data, given.nbytes)
        self._function(*values)
        for name, given in outside.items():
            if name in self._written:
                ctypes.memmove(given.ctypes.data, self._addresses[name], given.nbytes)

    def _check_names(self, arguments: Mapping[str, Any]) -> None:
        names = [*(parameter.name for parameter in self._parameters), *self._globals]
        optional = {parameter.name for parameter in self._parameters if parameter.value is not None}
        missing = [name for name in names if name not in arguments and name not in optional]
        unknown = [name for name in arguments if name not in names]
        if missing or unknown:
            lists = {"missing": missing, "unknown": unknown}
            problem = "; ".join(f"{what} {', '.join(wrong)}" for what, wrong in lists.items() if wrong)
            raise ArgumentError(f"{self.name}: {problem}", remedy=f"its arguments are {', '.join(names)}")

    def _check_overlaps(self, arguments: Mapping[str, Any]) -> None:
        arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
        for name, value in arrays.items():
            written = self._arrays[name].name if name in self._arrays else name
            for other, second in arrays.items():
                if name != other and written in self._written and np.may_share_memory(value, second):
                    raise ArgumentError(
                        f"{self.name}: {name!r} is written and shares memory with {other!r}",
                        remedy="pass arrays that don't overlap",
                    )


def _scalar_type(array: Array) -> Any:
    return np.ctypeslib.as_ctypes_type(element_dtype(array.element))


def _global_address(library: ctypes.CDLL, name: str, position: int) -> int:
    if hasattr(library, "polydl_global"):
        library.polydl_global.restype, library.polydl_global.argtypes = ctypes.c_void_p, [ctypes.c_int]
        address = library.polydl_global(position)
    else:
        try:
            address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
        except ValueError:
            address = None
    if address is None:
        raise OptionError(f"the library doesn't export the global array {name!r}", remedy="make it non-static")
    return int(address)


def _checked(name: str, value: Any, array: Array, written: bool) -> np.ndarray[Any, Any]:
    dtype = element_dtype(array.element)
    is_bfloat16 = array.element == bfloat16.ELEMENT
    # A pointer to one element.
    shapes = {array.extents, (1,)} if array.extents == () else {array.extents}
    wanted = f"a C-contiguous NumPy array of {dtype.name}, shape {array.extents}"
    if is_bfloat16:
        wanted += "; polydl.bfloat16.from_float makes one"
    if not isinstance(value, np.ndarray):
        problem = f"is a {type(value).__name__}"
    elif value.dtype != dtype and not (is_bfloat16 and value.dtype.name == bfloat16.ELEMENT):
        problem = f"holds {value.dtype}"
    elif value.shape not in shapes:
        problem = f"has shape {value.shape}"
    elif not value.flags.c_contiguous:
        problem = "is not C-contiguous"
    elif not value.flags.aligned:
        problem = "has elements at misaligned addresses"
    elif written and not value.flags.writeable:
        problem = "is read-only, and the kernel writes it"
    else:
        return value
    raise ArgumentError(f"argument {name!r} {problem}", remedy=f"pass {wanted}")


def _scalar(parameter: Parameter, value: Any, array: Array) -> Any:
    dtype = element_dtype(array.element)
    if value is None:
        value = parameter.value
    if dtype.kind == "f":
        if not isinstance(value, Real):
            raise ArgumentError(f"argument {parameter.name!r} is a {type(value).__name__}", remedy="pass a number")
        return float(value)
    try:
        number = index(value)
    except TypeError:
        kind = type(value).__name__
        raise ArgumentError(f"argument {parameter.name!r} is a {kind}", remedy="pass an integer") from None
    if parameter.value is not None and number != parameter.value:
        raise ArgumentError(
            f"argument {parameter.name!r} is {number}, and the kernel was made for {parameter.value}",
            remedy="leave it out, or make a kernel for that value",
        )
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not limits[0] <= number <= limits[1]:
        raise ArgumentError(f"argument {parameter.name!r} is {number}", remedy=f"{limits[0]} to {limits[1]}")
    return number

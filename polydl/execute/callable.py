"""Built kernels as Python callables on NumPy arrays."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from polydl import bfloat16
from polydl.element_types import element_dtype
from polydl.errors import ArgumentError, MissingComponentError, OptionError
from polydl.execute.aligned import aligned_bytes
from polydl.ir.interface import Interface
from polydl.ir.scop import Array, Parameter, Scop
from polydl.system.files import opened
from polydl.system.shared_library import loaded_library


def load(library: str | Path, scop: Scop, exported: str = "", *, sha256: str = "") -> LoadedKernel:
    """The kernel in a shared library as a callable. The library is never unloaded, since OpenMP's threads persist.

    What becomes of the file later changes nothing. ``exported`` is its function's name there, if not the source's, and
    ``sha256`` what the file must be, if that is known.
    Raises OptionError if the file or the function doesn't exist or the file is another, MissingComponentError if the
    library can't be loaded or needs instructions that this processor lacks.
    """
    name = exported or scop.function.name
    return LoadedKernel(library_with(Path(library), name, sha256=sha256), scop, name)


def library_with(path: Path, name: str, *, sha256: str = "") -> ctypes.CDLL:
    """The shared library in a file, in which there is a function of that name that this processor can run.

    ``sha256`` is what the file must be, if that is known. Raises as ``load`` does.
    """
    path = path.absolute()
    try:
        with opened(path) as file:
            content = file.read()
    except FileNotFoundError:
        raise OptionError(f"there is no library {path}", remedy="build the kernel first") from None
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror}", remedy="build the kernel first") from None
    loaded = loaded_library(path, content, sha256=sha256, remedy="build the kernel again, in a folder of its own")
    if not hasattr(loaded, name):
        raise OptionError(
            f"{path} has no function {name!r}",
            remedy="build it from the same source, where it must not be static",
        )
    lacks = _missing(loaded, name)
    if lacks:
        raise MissingComponentError(
            f"the library was compiled to use {lacks}, which this processor lacks",
            file=str(path),
            remedy="optimize again on this machine",
        )
    return loaded


def _missing(library: ctypes.CDLL, function: str) -> str:
    """The instruction set that the library needs and this processor lacks; "" if it lacks none."""
    name = Interface(function).missing
    if not hasattr(library, name):
        return ""
    ask = library[name]
    ask.restype, ask.argtypes = ctypes.c_char_p, []
    answer = ask()
    return answer.decode() if isinstance(answer, bytes) else ""


class LoadedKernel:
    """``kernel(output=out, input=inp)``: one keyword per parameter and per global array of the source.

    Arguments without a keyword are, in the order of the C function, those that can't be left out, or all of them.

    Arrays are C-contiguous NumPy arrays of the exact element type (``uint16`` for bfloat16) and extents. Arrays that
    the nest writes are changed in place. Integers that were fixed when the kernel was generated may be left out. A call
    releases the interpreter's lock and uses OpenMP's number of threads. Global arrays are copied into the library and,
    if written, back; a kernel with global arrays must not be called from two threads at once.
    """

    def __init__(self, library: ctypes.CDLL, scop: Scop, name: str) -> None:
        self._library = library
        self._function = library[name]
        self._parameters = scop.function.parameters
        self._arrays = {parameter.name: scop.array(parameter.array) for parameter in scop.function.parameters}
        self._constants = tuple(scop.constants)
        self._function.argtypes = self._types(self._parameters)
        self._function.restype = None
        self._written = {access.array for statement in scop.statements for access in statement.writes}
        self._globals = {array.name: array for array in scop.arrays if array.storage == "global"}
        self._addresses = {
            name: _global_address(library, name, position) for position, name in enumerate(self._globals)
        }
        self.name = name
        # What calls check is looked up once, since a call should cost microseconds.
        self._order = tuple(parameter.name for parameter in self._parameters)
        self._needed = tuple(parameter.name for parameter in self._parameters if parameter.value is None)
        self._all_names = frozenset((*self._order, *self._globals))
        self._required = frozenset((*self._needed, *self._globals))
        arrays = {**self._arrays, **self._globals}
        changed = [each for each in arrays if arrays[each].name in self._written]
        self._apart = [(each, other) for each in changed for other in arrays if each != other]
        self._fixed = {
            each.name: _scalar(each, None, self._arrays[each.name])
            for each in self._parameters
            if not each.is_pointer and each.value is not None
        }
        releasing = Interface(self.name).release
        self._release = library[releasing] if hasattr(library, releasing) else None
        if self._release is not None:
            self._release.restype, self._release.argtypes = None, []
            weakref.finalize(self, self._release)

    def release(self) -> None:
        """Frees what the calling thread's calls keep in memory. The next call allocates it again.

        So does the end of a thread, and the kernel's own end for the thread that it ends in.
        """
        if self._release is not None:
            self._release()

    def __call__(self, *positional: Any, **arguments: Any) -> None:
        """Raises ArgumentError for a name, a number of arguments, a type, a shape or a layout that doesn't fit."""
        self.call(self._function, self._named(positional, arguments))

    def call(self, function: Any, arguments: Mapping[str, Any], *more: Any) -> None:
        """Call a function of the library with the kernel's arguments, and ``more`` behind them, once they are checked.

        Raises ArgumentError.
        """
        self._check_names(arguments)
        values = self._values(self._parameters, arguments)
        outside = {
            name: _checked(name, arguments[name], array, name in self._written) for name, array in self._globals.items()
        }
        self._check_overlaps(arguments)
        for name, given in outside.items():
            ctypes.memmove(self._addresses[name], given.ctypes.data, given.nbytes)
        function(*values, *more)
        for name, given in outside.items():
            if name in self._written:
                ctypes.memmove(given.ctypes.data, self._addresses[name], given.nbytes)

    def call_prepared(
        self,
        run: Any,
        positional: Sequence[Any],
        arguments: Mapping[str, Any],
        constants: Mapping[str, Any],
        buffer: int,
    ) -> None:
        """Run with what was prepared of ``constants``, whose names are no arguments any more."""
        again = sorted(arguments.keys() & constants.keys())
        if again:
            raise ArgumentError(
                f"{self.name}: {', '.join(again)} can't be given, since it is prepared already",
                remedy="leave it out, or prepare anew",
            )
        self.call(run, {**self._named(positional, arguments, constants), **constants}, buffer)

    def prepare(self, *positional: Any, **constants: Any) -> PreparedKernel:
        """Prepare the constants: what is returned takes the other arguments, and runs with what was prepared.

        Raises ArgumentError as a call does, OptionError if the kernel was made without constants, ResourceError where
        memory lacks.
        """
        contents = Interface(self.name)
        if not self._constants or not hasattr(self._library, contents.prepare):
            raise OptionError(
                f"{self.name} was made without constants, so that it prepares none",
                remedy="optimize with constant=[...], or --constant NAME",
            )
        given = self._constant_arguments(positional, constants)
        wanted = [each for each in self._parameters if each.name in given or each.value is not None]
        size, fill, run = (self._library[each] for each in (contents.prepared_bytes, contents.prepare, contents.run))
        size.restype, size.argtypes = ctypes.c_size_t, []
        fill.restype, fill.argtypes = None, [*self._types(wanted), ctypes.c_void_p]
        run.restype, run.argtypes = None, [*self._types(self._parameters), ctypes.c_void_p]
        buffer = aligned_bytes(size())
        values = self._values(wanted, given)
        for name in self._globals.keys() & given.keys():
            array = _checked(name, given[name], self._globals[name], False)
            ctypes.memmove(self._addresses[name], array.ctypes.data, array.nbytes)
        fill(*values, buffer.ctypes.data)
        return PreparedKernel(self, run, given, buffer)

    def _constant_arguments(self, positional: Sequence[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The constants by name, from arguments in the order of the function or by name."""
        names = [*self._order, *self._globals]
        wanted = [name for name in names if name in self._constants]
        left = [name for name in wanted if name not in arguments]
        given = {**dict(zip(left, positional, strict=False)), **arguments}
        if len(positional) > len(left) or given.keys() != set(wanted):
            raise ArgumentError(
                f"{self.name}: other arguments than the constants", remedy=f"pass {', '.join(wanted)}, and nothing else"
            )
        return given

    def _types(self, parameters: Sequence[Parameter]) -> list[Any]:
        return [ctypes.c_void_p if p.is_pointer else _scalar_type(self._arrays[p.name]) for p in parameters]

    def _values(self, parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> list[Any]:
        """What C gets for these parameters. Raises ArgumentError."""
        values: list[Any] = []
        for parameter in parameters:
            array = self._arrays[parameter.name]
            if parameter.is_pointer:
                writes = array.name in self._written
                checked = _checked(parameter.name, arguments[parameter.name], array, writes)
                values.append(checked.__array_interface__["data"][0])
            elif parameter.name in self._fixed and parameter.name not in arguments:
                values.append(self._fixed[parameter.name])
            else:
                values.append(_scalar(parameter, arguments.get(parameter.name), array))
        return values

    def __repr__(self) -> str:
        names = [*self._order, *self._globals]
        return f"<compiled kernel {self.name}({', '.join(names)})>"

    def _named(
        self, positional: Sequence[Any], arguments: Mapping[str, Any], known: Collection[str] = ()
    ) -> dict[str, Any]:
        """All arguments by name, but those that are ``known``."""
        if not positional:
            return dict(arguments)
        every = [name for name in self._order if name not in known]
        needed = [name for name in self._needed if name not in known]
        names = every if len(positional) == len(every) else [name for name in needed if name not in arguments]
        if len(positional) > len(names) or arguments.keys() & names[: len(positional)]:
            raise ArgumentError(
                f"{self.name}: arguments without a name that don't fit: {len(positional)}",
                remedy=f"pass {', '.join(needed)} in this order, or each by its name",
            )
        return {**dict(zip(names, positional, strict=False)), **arguments}

    def _check_names(self, arguments: Mapping[str, Any]) -> None:
        if self._required <= arguments.keys() <= self._all_names:
            return
        names = [*self._order, *self._globals]
        missing = [name for name in names if name in self._required and name not in arguments]
        unknown = [name for name in arguments if name not in self._all_names]
        lists = {"missing": missing, "unknown": unknown}
        problem = "; ".join(f"{what} {', '.join(wrong)}" for what, wrong in lists.items() if wrong)
        raise ArgumentError(f"{self.name}: {problem}", remedy=f"its arguments are {', '.join(names)}")

    def _check_overlaps(self, arguments: Mapping[str, Any]) -> None:
        for name, other in self._apart:
            value, second = arguments.get(name), arguments.get(other)
            if not isinstance(value, np.ndarray) or not isinstance(second, np.ndarray):
                continue
            if np.may_share_memory(value, second):
                raise ArgumentError(
                    f"{self.name}: {name!r} is written and shares memory with {other!r}",
                    remedy="pass arrays that don't overlap",
                )


class PreparedKernel:
    """A kernel whose constants were prepared: ``kernel(output=out, input=inp)`` takes the other arguments.

    It holds the constants and what was made of them. Changing the arrays afterwards has no defined effect. Any number
    of threads may call it at once, as the kernel itself.
    """

    def __init__(
        self, kernel: LoadedKernel, run: Any, constants: Mapping[str, Any], buffer: np.ndarray[Any, Any]
    ) -> None:
        self._kernel = kernel
        self._run = run
        self._constants = dict(constants)
        self._buffer = buffer

    @property
    def prepared_bytes(self) -> int:
        """The size of what is held besides the constants."""
        return int(self._buffer.nbytes)

    def __call__(self, *positional: Any, **arguments: Any) -> None:
        """Raises ArgumentError for an argument that doesn't fit."""
        self._kernel.call_prepared(self._run, positional, arguments, self._constants, self._buffer.ctypes.data)

    def __repr__(self) -> str:
        return f"<{self._kernel!r} with {', '.join(self._constants)} prepared in {self.prepared_bytes:,} bytes>"


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
    """The argument, if it is an array that fits. Raises ArgumentError."""
    dtype = element_dtype(array.element)
    problem = _problem(value, array, dtype, written)
    if problem is None:
        return value  # type: ignore[no-any-return]
    wanted = f"a C-contiguous NumPy array of {dtype.name}, shape {array.extents}"
    if array.element == bfloat16.ELEMENT:
        wanted += "; polydl.bfloat16.from_float makes one"
    raise ArgumentError(f"argument {name!r} {problem}", remedy=f"pass {wanted}")


def _problem(value: Any, array: Array, dtype: np.dtype[Any], written: bool) -> str | None:
    """Why it does not fit; None if it does."""
    if not isinstance(value, np.ndarray):
        return f"is a {type(value).__name__}"
    if value.dtype != dtype and not (array.element == bfloat16.ELEMENT and value.dtype.name == bfloat16.ELEMENT):
        return f"holds {value.dtype}"
    # A pointer to one element.
    if value.shape != array.extents and not (array.extents == () and value.shape == (1,)):
        return f"has shape {value.shape}"
    flags = value.flags
    if not flags.c_contiguous:
        return "is not C-contiguous"
    if not flags.aligned:
        return "has elements at misaligned addresses"
    if written and not flags.writeable:
        return "is read-only, and the kernel writes it"
    return None


def _scalar(parameter: Parameter, value: Any, array: Array) -> Any:
    dtype = element_dtype(array.element)
    if value is None:
        value = parameter.value
    if dtype.kind == "f":
        if not isinstance(value, Real):
            raise ArgumentError(f"argument {parameter.name!r} is a {type(value).__name__}", remedy="pass a number")
        return float(value)
    try:
        number = int(value) if dtype.kind == "b" and isinstance(value, np.bool_) else index(value)
    except TypeError:
        kind = type(value).__name__
        raise ArgumentError(f"argument {parameter.name!r} is a {kind}", remedy="pass an integer") from None
    if parameter.value is not None and number != parameter.value:
        raise ArgumentError(
            f"argument {parameter.name!r} is {number}, and the kernel was made for {parameter.value}",
            remedy="leave it out, or make a kernel for that value",
        )
    least, most = _limits(dtype)
    if not least <= number <= most:
        raise ArgumentError(f"argument {parameter.name!r} is {number}", remedy=f"{least} to {most}")
    return number


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    if dtype.kind == "b":
        return 0, 1
    information = np.iinfo(dtype)
    return int(information.min), int(information.max)

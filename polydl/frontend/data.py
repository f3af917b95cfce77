"""What the user says of the data that a nest is measured with: a function that fills arrays, or arrays in a file."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polydl.bfloat16 import ELEMENT
from polydl.errors import OptionError
from polydl.frontend.constants import with_constants
from polydl.frontend.passes import ReadingJob, asked
from polydl.frontend.source import Edit, EditedText, read_source
from polydl.ir.data import Initializer, Inputs
from polydl.ir.scop import Scop
from polydl.system.files import opened, reason_of, temporary_directory

_TIMEOUT_SECONDS = 60.0
# What C calls a bfloat16.
_BITS = "unsigned short"
_INTEGERS = frozenset({"int", "long", "long long", "short", "unsigned int", "unsigned long", "char"})


def with_data(scop: Scop, *, constant: Sequence[str] = (), init: str = "", inputs: str | Path | None = None) -> Scop:
    """The scop with all that the user says of its arrays: constants, an initializer, a file of inputs."""
    if constant:
        scop = with_constants(scop, constant)
    if init:
        scop = with_initializer(scop, init)
    return scop if inputs is None else with_inputs(scop, inputs)


def with_initializer(scop: Scop, function: str) -> Scop:
    """The scop with data from a function of its file, which is run once before anything is measured.

    Its parameters get those of the nest's function that have the same names, a pointer to them where it takes one. An
    integer that it takes by value is the one that ``-D`` gives, or that ``main`` gives a variable of the same name.
    What it doesn't fill holds random data. Raises UserError for a function that is not there, and for a parameter that
    has no counterpart or another type.
    """
    text = read_source(Path(scop.file)).decode("latin-1")
    bound = {each.name: each.value for each in scop.function.parameters if each.value is not None}
    macros = {name: value for name, value in scop.defines if name not in bound}
    with temporary_directory() as folder:
        job = ReadingJob(
            file=str(Path(scop.file).absolute()),
            name=scop.file,
            text=text,
            original=None,
            function=function,
            defines=macros,
            include_directories=scop.include_directories,
            folder=folder,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
        request = {
            "file": job.file, "text": text, "function": function, "macros": macros, "options": job.include_options,
        }  # fmt: skip
        read = asked("polydl.frontend.initializer_worker", request, job)
    source = EditedText(text).apply(Edit(**edit) for edit in read["edits"]).text
    values = {**read["constants"], **bound}
    arguments = tuple(_argument(scop, function, parameter, values) for parameter in read["parameters"])
    found = Initializer(function, source.encode("latin-1").decode("utf-8"), arguments)
    return replace(scop, initializer=found)


def _argument(scop: Scop, function: str, parameter: Mapping[str, Any], values: Mapping[str, int]) -> str:
    name, element, is_pointer = parameter["name"], parameter["element"], parameter["is_pointer"]
    if not is_pointer and element in _INTEGERS and name in values:
        return str(values[name])
    numbers = {each.name: number for number, each in enumerate(scop.function.parameters)}
    problem, remedy = "", f"give it parameters with the names that {scop.function.name} has"
    if name not in numbers:
        problem = f"its parameter `{name}` is none of {scop.function.name}'s"
        if not is_pointer and element in _INTEGERS:
            remedy = f"give the variable `{name}` of main a constant"
    elif not is_pointer and element in _INTEGERS:
        problem, remedy = f"its parameter `{name}` has no known value", f"give it one: -D {name}=64"
    else:
        array = scop.array(scop.function.parameters[numbers[name]].array)
        if element != (_BITS if array.element == ELEMENT else array.element):
            other = f"that of {scop.function.name} {array.element}"
            problem, remedy = f"its parameter `{name}` has elements of {element}, and {other}", "give both one type"
    if problem:
        raise OptionError(
            problem, file=scop.file, line=parameter["line"], construct=f"--init {function}", remedy=remedy
        )
    argument = f"arguments[{numbers[name]}]"
    return argument if is_pointer else f"*(const {element} *){argument}"


def with_inputs(scop: Scop, path: str | Path) -> Scop:
    """The scop with the arrays of a NumPy file (``numpy.savez``) as data, each by its parameter's or its own name.

    Others hold random data. Raises OptionError for a file that can't be read, a name that the nest doesn't have,
    another shape or type, and a number that is not finite.
    """
    import numpy as np

    from polydl.element_types import element_dtype, numbers

    def refused(problem: str, remedy: str) -> OptionError:
        return OptionError(problem, file=str(path), construct="--inputs", remedy=remedy)

    carried = {each.name: scop.array(each.array) for each in scop.function.parameters if each.value is None}
    carried |= {array.name: array for array in scop.arrays if array.storage == "global"}
    try:
        with opened(Path(path)) as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            file = np.load(content, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise refused("the file holds one array without a name", "write it with numpy.savez(FILE, name=array)")
            with file:
                arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        # NumPy takes what is no file of its own for one of Python objects.
        reason = "it is no NPZ file" if isinstance(error, ValueError) else reason_of(error)
        raise refused(f"no arrays can be read: {reason}", "write it with numpy.savez(FILE, name=array)") from None
    if not arrays:
        raise refused("the file holds no array", "write it with numpy.savez(FILE, name=array)")
    for name, values in arrays.items():
        array = carried.get(name)
        if array is None:
            raise refused(f"the nest has no array or scalar `{name}` to fill", f"one of {', '.join(carried)}")
        wanted = element_dtype(array.element)
        if values.shape != array.extents:
            raise refused(f"`{name}` has the shape {values.shape}", f"give it the shape {array.extents}")
        if values.dtype != wanted:
            raise refused(f"`{name}` has elements of {values.dtype}", f"give it elements of {wanted} ({array.element})")
        shown = numbers(values, wanted)
        if shown.dtype.kind == "f" and not np.isfinite(shown).all():
            raise refused(f"`{name}` has a number that is not finite", "give it finite numbers")
    return replace(scop, inputs=Inputs(str(Path(path).absolute()), digest))

"""Integers whose value is known before the region runs, and the edits that show it to pet.

pet rejects a product of two variables as not affine, and treats a variable that it can't evaluate as a parameter. It
therefore reads a view of the file with 1024 in place of ``n`` where ``-D n=1024`` or a constant fixes the value. An
integer that holds data, not a size, gets a subscript in that view (``zero[0]``), so that pet does not fold it into
index arithmetic. Runs in the child process that holds libclang.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import literal
from polydl.frontend.conversions import Conversions
from polydl.frontend.facts import CALLED, Construct, is_word_of_isl
from polydl.frontend.function_reader import FunctionReader, Variable
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.purity import KNOWN_TO_PET
from polydl.frontend.source import Edit, Enclosure, enclosing
from polydl.frontend.walk import key_of


def known_values(reader: FunctionReader, bound: Mapping[str, int]) -> dict[str, tuple[Variable, int]]:
    """The variables of the function with one value throughout, as (variable, value) by the reader's key."""
    values = {}
    for key, variable in reader.variables.items():
        if not variable.shape.is_scalar_integer or not variable.references:
            continue
        if variable.storage == "parameter":
            if variable.name in bound:
                values[key] = (variable, bound[variable.name])
            continue
        changed = any(r.role in ("write", "update", "address") for r in variable.references)
        if any(reference.role == "address" for reference in variable.references):
            continue
        if variable.shape.is_const or (variable.storage != "global" and not variable.loop_counter and not changed):
            value = integer_value(variable.declaration)
            if value is not None:
                values[key] = (variable, value)
    return values


def value_edits(known: Iterable[tuple[Variable, int]], reader: FunctionReader) -> list[Edit]:
    """Edits of a function that put literals of the variables' types in the place of variables with known values."""
    edits = []
    for variable, value in known:
        edits += _replacements(variable, literal(value, variable.declaration.type), reader)
    return edits


def data_edits(reader: FunctionReader, regions: Sequence[tuple[int, int]]) -> list[Edit]:
    """Edits that replace each integer that holds data by an element of an array.

    ``regions`` has the start and the end of the marked region, or of all places that may be one.
    """
    edits: list[Edit] = []
    start = reader.function.extent.start.offset
    names: set[str] = set()
    for variable in reader.variables.values():
        if not variable.shape.is_scalar_integer or variable.loop_counter or not variable.references:
            continue
        if _decides(variable, reader, regions) or any(variable.written(*region) for region in regions):
            continue
        name = f"{variable.name}_data"
        while name in names or name in reader.text:
            name += "_"
        names.add(name)
        variable.shown, variable.carries_data = name, True
        edits.append(Edit(start, start, f"\nextern int *{name};\n"))
        edits += _replacements(variable, f"{name}[0]", reader)
    return edits


def _decides(variable: Variable, reader: FunctionReader, regions: Sequence[tuple[int, int]]) -> bool:
    """Whether sizes, conditions or subscripts depend on a variable.

    What a parameter that a region computes with decides in front of all regions or behind them doesn't matter.
    """
    deciding = [reference for reference in variable.references if reference.control]
    within = [use for use in variable.references if any(start <= use.offset < end for start, end in regions)]
    if variable.storage != "parameter" or not within:
        return bool(deciding)
    (body,) = (child for child in reader.function.get_children() if child.kind == CursorKind.COMPOUND_STMT)
    return any(use in within or use.offset < body.extent.start.offset for use in deciding)


def distinct_names(reader: FunctionReader, reserved: Set[str]) -> list[Edit]:
    """Edits after which all variables have different names; only counters of successive loops may share one.

    Local variables also avoid ``reserved`` names, which pet would rename, and keywords of isl.
    """
    edits: list[Edit] = []
    taken = {variable.name for variable in reader.variables.values()} | reserved
    seen: dict[str, list[Variable]] = {}
    outer = ("parameter", "global")
    for variable in sorted(reader.variables.values(), key=lambda v: (v.storage not in outer, v.offset)):
        word = variable.shape.is_scalar_integer and is_word_of_isl(variable.name)
        clashes = word or (variable.name in reserved and not variable.loop_counter)
        for other in seen.get(variable.name, []):
            counters = variable.loop_counter and other.loop_counter
            clashes |= not (counters and other.scope_end <= variable.offset)
        seen.setdefault(variable.name, []).append(variable)
        spelled = all(reference.spelled >= 0 for reference in variable.references)
        if clashes and not spelled and len(seen[variable.name]) > 1 and variable.storage not in outer:
            reader.refuse(
                variable.declaration,
                f"{variable.name} is declared more than once, by a macro",
                "make the macro a static function, or write what it stands for with another name each time",
            )
        if not clashes or variable.storage in outer or not spelled:
            continue
        number = 2
        while f"{variable.name}_{number}" in taken:
            number += 1
        alike = f"{variable.name}_"
        variable.shown = alike if word and alike not in taken else f"{variable.name}_{number}"
        taken.add(variable.shown)
        edits += _replacements(variable, variable.shown, reader)
        edits.append(Edit(variable.offset, variable.offset + len(variable.name), variable.shown))
    return edits


def type_edits(reader: FunctionReader, known: Conversions, shift: int) -> list[Edit]:
    """Edits that keep the types of integers in computations on data, and show ``known`` conversions of indices.

    ``shift`` is added to every subscript, since pet silently ignores accesses with a negative one.
    """
    macros, problems = reader.typed_integers.macros(reader.function)
    for cursor, reason in problems:
        if cursor.referenced is not None and _holds_data(reader, key_of(cursor.referenced)):
            continue
        lost = f"{cursor.spelling or 'a constant'} in a macro would lose its type, since {reason}"
        reader.refuse(cursor, lost, "write what the macro stands for in its place")
    edits = [Edit(start, end, " " * (end - start)) for start, end in known.casts]
    if known.declaration:
        first = reader.function.extent.start.offset
        edits.append(Edit(first, first, f"\n{known.declaration}\n"))
    shifted = [Enclosure(start, end, f"{shift} + (") for start, end in reader.subscripts if shift]
    return [*edits, *known.constants, *enclosing([*shifted, *known.shown, *macros, *reader.typed_integers.shown()])]


def _holds_data(reader: FunctionReader, key: str) -> bool:
    """Whether pet reads a variable as data, which has the type that it is declared with."""
    return key in reader.data_integers or reader.variables[key].carries_data


def called_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that give the file's functions other names for which pet has a meaning of its own, such as ``max``."""
    names = sorted(KNOWN_TO_PET & reader.callees.keys())
    return [Edit(0, 0, f"#define {name} {CALLED}{name}\n") for name in names]


def hidden_bodies(functions: Iterable[Any], target: Any, text: str) -> list[Edit]:
    """Edits that reduce all functions except ``target`` to their prototypes.

    pet would analyse them too, and inline those that are marked inline.
    """
    edits = []
    for function in functions:
        bodies = [child for child in function.get_children() if child.kind == CursorKind.COMPOUND_STMT]
        if function == target or not bodies:
            continue
        start, end = bodies[-1].extent.start.offset, bodies[-1].extent.end.offset
        if text[start : start + 1] == "{" and text[end - 1 : end] == "}":
            edits.append(Edit(start, end, ";" + "\n" * text.count("\n", start, end)))
    return edits


def _replacements(variable: Variable, replacement: str, reader: FunctionReader) -> list[Edit]:
    """Edits that replace every use of the variable; a use by a macro is refused if another one has its name, too."""
    edits = [
        Edit(reference.spelled, reference.spelled + len(variable.name), replacement)
        for reference in variable.references
        if reference.spelled >= 0
    ]
    unspelled = [reference.offset for reference in variable.references if reference.spelled < 0]
    if unspelled and any(each.name == variable.name for each in reader.variables.values() if each is not variable):
        message = f"a macro names {variable.name}, which is declared more than once"
        remedy = f"give each {variable.name} another name, or write what the macro stands for in its place"
        reader.constructs += [Construct(offset, offset, message, "", remedy) for offset in unspelled]
    elif unspelled:
        # The body of a macro uses the name: define it as a macro around the function, and remove its declaration.
        start, end = reader.function.extent.start.offset, reader.function.extent.end.offset
        edits.append(Edit(start, start, f"\n#define {variable.name} {replacement}\n"))
        edits.append(Edit(end, end, f"\n#undef {variable.name}\n"))
        if start <= variable.offset < end:
            edits.append(Edit(variable.offset, variable.offset + len(variable.name), f"{variable.name}_"))
    return edits

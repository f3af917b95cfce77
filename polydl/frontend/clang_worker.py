"""The child process that runs libclang: ``python -m polydl.frontend.clang_worker REQUEST RESULT``.

It reads the facts that pet doesn't report (types, extents, signature, uses of variables), and edits the text into the
view that pet reads. Offsets in the result refer to the text of the request.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from clang.cindex import CursorKind, Index, StorageClass, conf

from polydl.errors import PolydlError, UnsupportedConstructError
from polydl.frontend.assignments import assignment_edits
from polydl.frontend.bound_parameters import bound_parameters, check_bound
from polydl.frontend.c_types import declaration, names_in_header, sized_declaration, sized_in_header, with_numbers
from polydl.frontend.child import answer
from polydl.frontend.clang_parser import Parser
from polydl.frontend.commas import comma_edits
from polydl.frontend.conversions import conversions
from polydl.frontend.data_functions import inlining_edits
from polydl.frontend.excerpt import excerpt
from polydl.frontend.facts import Branch, ReplacedPointer
from polydl.frontend.function_reader import FunctionReader, Variable
from polydl.frontend.index_functions import index_edits
from polydl.frontend.known_values import (
    called_edits,
    data_edits,
    distinct_names,
    hidden_bodies,
    known_values,
    type_edits,
    value_edits,
)
from polydl.frontend.macro_statements import macro_edits
from polydl.frontend.macro_uses import check_macros, inactive
from polydl.frontend.openmp_directives import openmp_directives
from polydl.frontend.pointer_sums import sum_edits
from polydl.frontend.regions import check_blocks, check_included, choose, functions_of, marked_regions
from polydl.frontend.reserved_names import check_names
from polydl.frontend.row_pointers import pointer_edits
from polydl.frontend.shifts import shift_edits
from polydl.frontend.source import Edit, EditedText, line_of, one_line, without_comments
from polydl.frontend.successive_values import successive_edits
from polydl.frontend.walk import preorder
from polydl.frontend.written_out import number_edits, written_out_edits

# Most levels of constants that are computed from constants, and of assignments inside of others.
_ROUNDS = 16
_ELSE = re.compile(r"\s*else\b")


def read(request: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a request, as ``SourceFacts.from_json`` takes them.

    Raises PolydlError for what is wrong with the file, the function's name or the macros.
    """
    file, text, name, init = (request[key] for key in ("file", "text", "function", "init"))
    defines: dict[str, str] = request["defines"]
    parser = Parser(file, request["options"])
    bound = bound_parameters(parser.parse(text, {}), text, defines, name, init, file) if defines else {}
    macros = {key: value for key, value in defines.items() if key not in bound}
    written = request["original"] or text
    whole = parser.checked(EditedText(written), written, macros) if written != text else None

    view = EditedText(text)
    pointers: list[dict[str, Any]] = []
    for round_ in range(_ROUNDS):
        unit = parser.checked(view, text, macros)
        functions = functions_of(unit)
        regions = marked_regions(view.text, file, inactive(unit, view.text))
        function, region = choose(functions, regions, name, init, file)
        if round_ == 0:
            check_included(unit, function, text, file)
        reader = FunctionReader(function, view.text, file, request["deepest"])
        if round_ == 0:
            check_macros(whole or unit, macros, written, file, partial(parser.parse_in_detail, written, macros))
            taken = excerpt(whole or unit, written, function.spelling, lambda part: parser.parse(part, macros))
            parameters = [parameter.spelling for parameter in function.get_arguments()]
            sized = _sized(function, parameters)
            check_bound(reader, bound, parameters, file)
            declared = [(variable.name, variable.offset) for variable in reader.variables.values()]
            declared += [(function.spelling, function.location.offset), *((macro, -1) for macro in macros)]
            check_names(unit, function.spelling, declared, text, file, request["shipped"])
            _check_specifiers(function, view.text, file)
            parser.check_headers(text, macros)
            if region is not None:
                check_blocks(region, reader.blocks, [(b.offset, b.end) for b in reader.branches], file)
        # Before values take the place of variables, whose types `sizeof` asks for.
        edits = number_edits(reader) or value_edits(known_values(reader, bound).values(), reader)
        # Marked calls may name a pointer in words that nobody reads.
        if not edits and request["original"] is None:
            edits, replaced = pointer_edits(reader)
            pointers += [_traced(each, view) for each in replaced]
            edits = edits or sum_edits(reader)
        edits = edits or shift_edits(reader)
        edits = edits or written_out_edits(reader)
        edits = edits or comma_edits(reader)
        edits = edits or macro_edits(reader)
        edits = edits or successive_edits(reader)
        edits = edits or index_edits(reader)
        edits = edits or inlining_edits(reader)
        edits = edits or assignment_edits(reader)
        # What the last round leaves is refused, or stays a call.
        if not edits or round_ == _ROUNDS - 1:
            break
        view = view.apply(edits)

    # A macro around the function may have replaced a parameter's name.
    for variable, parameter in zip(reader.variables.values(), parameters, strict=False):
        variable.name = variable.shown = parameter
    reserved = {
        cursor.spelling
        for cursor in unit.cursor.get_children()
        if cursor.kind in (CursorKind.FUNCTION_DECL, CursorKind.VAR_DECL, CursorKind.TYPEDEF_DECL)
    }
    edits = distinct_names(reader, reserved)
    edits += data_edits(reader, _possible_regions(reader) if region is None else [(region.start, region.end)])
    edits += type_edits(reader, conversions(reader), request["shift"])
    edits += called_edits(reader)
    edits += hidden_bodies(functions, function, view.text)
    if region is not None and not _ELSE.match(without_comments(view.text[region.end :])):
        # Else pet takes a statement that a macro stands for, right behind the region, for a part of it.
        edits.append(Edit(region.end, region.end, ";\n"))
    shown = view.apply(_without_overlaps(edits))
    return {
        "shown": {"text": shown.text, "breakpoints": shown.breakpoints()},
        "function": _signature(function, parameters, sized, view),
        "excerpt": asdict(taken),
        "region": None if region is None else [view.origins[region.start], view.origins[region.end]],
        "bound": {parameter: bound[parameter] for parameter in parameters if parameter in bound},
        "macros": macros,
        "variables": [_variable(variable, view) for variable in reader.variables.values()],
        "pointers": pointers,
        "directives": [
            asdict(directive)
            for directive in openmp_directives(partial(parser.parse_openmp, macros=macros), text, function.spelling)
        ],
        "constructs": [asdict(construct.as_written(view, text)) for construct in reader.constructs],
        "branches": [_branch(branch, view) for branch in reader.branches],
        "callees": [asdict(reader.callees[name]) for name in sorted(reader.callees)],
        "cast_types": reader.cast_types,
        "largest_header": max((os.path.getsize(each.include.name) for each in unit.get_includes()), default=0),
    }


def _check_specifiers(function: Any, text: str, file: str) -> None:
    """Raises UnsupportedConstructError where a macro says ``static`` or ``inline``, which emitted C leaves out.

    Also where one stands for the list of parameters, which emitted C writes for functions of other names, too.
    """
    start, name = function.extent.start.offset, function.location.offset
    if not re.match(r"[\s)]*\(", without_comments(text)[name + len(function.spelling) :]):
        raise UnsupportedConstructError(
            f"a macro stands for the parameters of {function.spelling}",
            file=file,
            line=line_of(text, name),
            construct=one_line(text[name:].split("\n")[0]),
            remedy=f"write them in parentheses behind {function.spelling}",
        )
    is_inline = bool(conf.lib.clang_Cursor_isFunctionInlined(function))
    for word, holds in (("static", function.storage_class == StorageClass.STATIC), ("inline", is_inline)):
        if holds and word not in text[start:name]:
            raise UnsupportedConstructError(
                f"a macro says that {function.spelling} is {word}",
                file=file,
                line=line_of(text, start),
                construct=one_line(text[start:].split("\n")[0]),
                remedy=f"write {word} itself, or leave it out: other files are to call the function",
            )


def _possible_regions(reader: FunctionReader) -> list[tuple[int, int]]:
    """Where pet may detect regions: at loops with what stands between them, but for what it can't model."""
    regions: list[tuple[int, int]] = []
    for start, end in sorted((each.offset, each.end) for each in reader.branches if each.kind in ("for", "while")):
        first, last = regions[-1] if regions else (start, start)
        if regions and not any(last <= construct.offset < start for construct in reader.constructs):
            regions[-1] = first, max(last, end)
        else:
            regions.append((start, end))
    return regions


def _without_overlaps(edits: list[Edit]) -> list[Edit]:
    """The last edit at each offset: a variable that was renamed and carries data would be edited twice there."""
    chosen = {(edit.start, edit.end): edit for edit in edits if edit.start < edit.end}
    return [edit for edit in edits if edit.start == edit.end] + list(chosen.values())


def _sized(function: Any, names: list[str]) -> list[tuple[str, str]]:
    """Each parameter with extents as the source writes them: as it stands there, and as a header has it."""
    shown = names_in_header(names)
    return [
        (sized_declaration(each.type, each.spelling, names), sized_in_header(each.type, each.spelling, shown))
        for each in function.get_arguments()
    ]


def _signature(function: Any, names: list[str], sized: list[tuple[str, str]], view: EditedText) -> dict[str, Any]:
    parameters, shown = [], names_in_header(names)
    for name, (declared, declared_in_header), parameter in zip(names, sized, function.get_arguments(), strict=True):
        if not name:
            raise UnsupportedConstructError(
                "a parameter has no name", line=parameter.location.line, remedy="give every parameter a name"
            )
        fixed = declaration(parameter.type, name)
        in_header = declaration(parameter.type, shown[name], in_header=True)
        parameters.append(
            {
                "name": name,
                "declaration": fixed,
                "sized": with_numbers(declared, fixed),
                "name_in_header": shown[name],
                "in_header": in_header,
                "sized_in_header": with_numbers(declared_in_header, in_header),
            }
        )
    return {
        "name": function.spelling,
        "return_type": function.result_type.get_canonical().spelling,
        "offset": view.origins[function.location.offset],
        "extent": [view.origins[offset] for offset in _extent(function)],
        "parameters": parameters,
    }


def _branch(branch: Branch, view: EditedText) -> dict[str, Any]:
    """A branch with its places in the original text."""
    return asdict(branch) | {name: view.origins[getattr(branch, name)] for name in ("offset", "body", "end")}


def _traced(pointer: ReplacedPointer, view: EditedText) -> dict[str, Any]:
    """A pointer with offsets of the file."""
    used = [view.origins[place] for place in pointer.used]
    return {"name": pointer.name, "offset": view.origins[pointer.offset], "used": used}


def _extent(function: Any) -> tuple[int, int, int]:
    """Offsets of a definition's start, of its body behind the brace, and of its end."""
    body = next(child for child in function.get_children() if child.kind == CursorKind.COMPOUND_STMT)
    return function.extent.start.offset, body.extent.start.offset + 1, function.extent.end.offset


def _variable(variable: Variable, view: EditedText) -> dict[str, Any]:
    sizes = [
        child.spelling
        for expression in variable.declaration.get_children()
        for child in preorder(expression)
        if child.kind == CursorKind.DECL_REF_EXPR
        and child.referenced is not None
        and child.referenced.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL)
    ]
    return {
        "name": variable.name,
        "shown": variable.shown,
        "carries_data": variable.carries_data,
        "storage": variable.storage,
        "shape": asdict(variable.shape),
        "offset": view.origins[variable.offset] if variable.offset >= 0 else -1,
        "loop_counter": variable.loop_counter,
        "initialized": variable.initialized,
        "sizes": sizes if None in variable.shape.extents else [],
        "references": [
            asdict(reference) | {"offset": view.origins[reference.offset]} for reference in variable.references
        ],
    }


def prepare(_request: Mapping[str, Any]) -> None:
    """Load libclang, for processes that are forked afterwards."""
    Index.create()


def answered(read: Callable[[Mapping[str, Any]], dict[str, Any]], request: Mapping[str, Any]) -> Mapping[str, Any]:
    """What ``read`` says of the request, in the form in which the parent gets it; an error is an answer, too."""
    # Else libclang parses in a thread of its own, whose stack is too small for a sum of thousands of terms.
    os.environ["LIBCLANG_NOTHREADS"] = "1"
    try:
        return {"result": read(request)}
    except PolydlError as error:
        return _failure(error)


def _failure(error: PolydlError) -> Mapping[str, Any]:
    """What the parent gets for an error, and raises again."""
    fields = {key: getattr(error, key) for key in ("message", "file", "line", "construct", "remedy")}
    return {"error": type(error).__name__, "fields": fields}


def main(request_path: str, result_path: str) -> None:
    """Answers the request in one file with a result in another (``polydl.frontend.child``)."""
    answer(request_path, result_path, partial(answered, read))


if __name__ == "__main__":
    main(*sys.argv[1:])

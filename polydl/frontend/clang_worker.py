"""The child process that runs libclang: ``python -m polydl.frontend.clang_worker REQUEST RESULT``.

It reads the facts that pet doesn't report (types, extents, signature, uses of variables), and edits the text into the
view that pet reads. Offsets in the result refer to the text of the request.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from clang.cindex import CursorKind, Diagnostic, Index, StorageClass, conf

from polydl.errors import OptionError, PolydlError, SourceError, UnsupportedConstructError
from polydl.frontend.assignments import assignment_edits
from polydl.frontend.c_types import declaration, names_in_header, sized_declaration, sized_in_header, with_numbers
from polydl.frontend.child import answer
from polydl.frontend.conversions import conversions
from polydl.frontend.counters import LIMITS
from polydl.frontend.excerpt import excerpt
from polydl.frontend.facts import Branch, ReplacedPointer
from polydl.frontend.feature_macros import feature_macros
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
from polydl.frontend.macro_uses import check_macros, has_conditions, inactive
from polydl.frontend.openmp_directives import openmp_directives
from polydl.frontend.pointer_sums import sum_edits
from polydl.frontend.regions import check_blocks, check_included, choose, functions_of, marked_regions
from polydl.frontend.reserved_names import HEADERS, check_names, conflict
from polydl.frontend.row_pointers import pointer_edits
from polydl.frontend.shifts import shift_edits
from polydl.frontend.source import Edit, EditedText, line_of, one_line, without_comments
from polydl.frontend.successive_values import successive_edits
from polydl.frontend.walk import preorder
from polydl.frontend.written_out import number_edits, written_out_edits

_DETAILED_PREPROCESSING = 1
# Most levels of constants that are computed from constants, and of assignments inside of others.
_ROUNDS = 16
# What a statement begins with that no declaration does.
_STATEMENTS = frozenset({"for", "if", "while", "do", "switch", "return", "{"})
_ELSE = re.compile(r"\s*else\b")


class Parser:
    """Parses views of the file; keeps libclang's index alive."""

    def __init__(self, file: str, options: list[str]) -> None:
        self.file = file
        self.options = ["-xc", *options, "-Werror=integer-overflow"]
        self.index = Index.create()

    def parse(self, text: str, macros: Mapping[str, str]) -> Any:
        """A translation unit of a text in place of the file's, with further macros by name.

        Syntax errors are among its diagnostics, and are not raised as by ``checked``.
        """
        flags = _DETAILED_PREPROCESSING if has_conditions(text) else 0
        return self._parse(text, macros, self.options, flags)

    def parse_in_detail(self, text: str, macros: Mapping[str, str]) -> Any:
        """The same, with what the preprocessor leaves out of headers."""
        return self._parse(text, macros, self.options, _DETAILED_PREPROCESSING)

    def _parse(self, text: str, macros: Mapping[str, str], options: list[str], flags: int) -> Any:
        arguments = options + [f"-D{name}={value}" for name, value in macros.items()]
        return self.index.parse(self.file, arguments, [(self.file, text.encode("latin-1"))], flags)

    def parse_openmp(self, text: str, macros: Mapping[str, str]) -> Any:
        """The same as a compiler with OpenMP reads it, with cursors for its directives."""
        return self._parse(text, macros, [*self.options, "-fopenmp"], 0)

    def check_headers(self, text: str, macros: Mapping[str, str]) -> None:
        """Check that the text stays right after the headers that generated code includes. Raises SourceError."""
        options = [*self.options, *(f"-include{header}" for header in HEADERS)]
        unit = self._parse(text, {**feature_macros(text, macros), **macros}, options, 0)
        for diagnostic in unit.diagnostics:
            if diagnostic.severity < Diagnostic.Error:
                continue
            words = conflict(diagnostic.spelling)
            if words is not None:
                line = diagnostic.location.line
                inside = conf.lib.clang_Location_isFromMainFile(diagnostic.location)
                construct = one_line(text.split("\n")[line - 1]) if inside else None
                raise SourceError(
                    words[0], file=self.file, line=line if inside else None, construct=construct, remedy=words[1]
                )
            return

    def checked(self, view: EditedText, original: str, macros: Mapping[str, str]) -> Any:
        """The parsed view of ``original``. Raises SourceError for the first error that Clang reports."""
        unit = self.parse(view.text, macros)
        errors = [diagnostic for diagnostic in unit.diagnostics if diagnostic.severity >= Diagnostic.Error]
        if errors:
            raise _source_error(errors, self.file, view, original, macros)
        return unit


def _source_error(
    diagnostics: Sequence[Any], file: str, view: EditedText, original: str, macros: Mapping[str, str]
) -> SourceError:
    """The first error, and what is undeclared in all of them. ``macros`` may stand where a name has to."""
    diagnostic = diagnostics[0]
    place = diagnostic.location
    where, line, construct = file, place.line, None
    if place.file is not None and place.file.name != file:
        where = place.file.name
    else:
        line = line_of(original, view.origins[place.offset])
        construct = one_line(original.split("\n")[line - 1]) or None
    message = diagnostic.spelling
    undeclared = [re.fullmatch(r"use of undeclared identifier '(\w+)'.*", each.spelling) for each in diagnostics]
    names = list(dict.fromkeys(match[1] for match in undeclared if match))
    there = re.match(r"\s*(\w+|\{)", view.text[place.offset :]) if where == file and place.file else None
    word = there[1] if there else None
    if message.startswith("expected identifier or '('") and word in _STATEMENTS:
        return SourceError(
            "a statement stands outside of any function",
            file=where,
            line=line,
            construct=construct,
            remedy="put the loops into a function, whose parameters are their arrays and sizes",
        )
    remedy = "mend the C; this is what Clang says about it"
    if undeclared[0]:
        defined = "it as a macro" if len(names) == 1 else "them as macros"
        options = " ".join(f"-D {name}=VALUE" for name in names)
        remedy = f"declare {', '.join(names)}, or define {defined}: {options}"
    elif re.search(r"undeclared (library )?function", message):
        remedy = "declare it, or include the header that does"
    elif "file not found" in message:
        remedy = "name the folder of the header with -I DIR (include_directories in Python)"
    elif message.startswith("expected ") and word in macros:
        given = f"-D {word} or --range {word}"
        remedy = f"{given} puts a number in the place of that name here: leave out the option or the definition"
    elif "overflow" in message:
        remedy = "compute the size in long, such as 100000L * 100000"
    return SourceError(
        f"Clang says at column {place.column}: {message}", file=where, line=line, construct=construct, remedy=remedy
    )


def _bound_parameters(
    unit: Any, text: str, defines: Mapping[str, str], name: str | None, init: str, file: str
) -> dict[str, int]:
    """``{parameter: value}`` of the defines that name an integer parameter. They fix its value and are no macros."""
    functions = functions_of(unit)
    try:
        functions = [choose(functions, marked_regions(text, file, inactive(unit, text)), name, init, file)[0]]
    except PolydlError:
        # Without its macros the file may not parse yet, so that any function of that name counts.
        named = [function for function in functions if name in (None, function.spelling)]
        # A name that the file doesn't have is refused later, by ``choose``, if the macros spoil no function until then.
        absent = name is not None and not re.search(rf"\b{re.escape(name)}\b", text)
        functions = functions if absent else named
    bound = {}
    for function in functions:
        for parameter in function.get_arguments():
            if parameter.spelling not in defines:
                continue
            value = defines[parameter.spelling]
            try:
                bound[parameter.spelling] = int(value, 0)
            except ValueError:
                raise OptionError(
                    f"{parameter.spelling} is a parameter of {function.spelling}, and {value!r} is no integer",
                    file=file,
                    line=parameter.location.line,
                    remedy=f"give it an integer: -D {parameter.spelling}=64",
                ) from None
    return bound


def read(request: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a request, as ``SourceFacts.from_json`` takes them.

    Raises PolydlError for what is wrong with the file, the function's name or the macros.
    """
    file, text, name, init = (request[key] for key in ("file", "text", "function", "init"))
    defines: dict[str, str] = request["defines"]
    parser = Parser(file, request["options"])
    bound = _bound_parameters(parser.parse(text, {}), text, defines, name, init, file) if defines else {}
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
            _check_bound(reader, bound, parameters, file)
            declared = [(variable.name, variable.offset) for variable in reader.variables.values()]
            declared += [(macro, -1) for macro in macros]
            _check_specifiers(function, view.text, file)
            check_names(unit, function.spelling, declared, text, file, request["shipped"])
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
        edits = edits or successive_edits(reader)
        edits = edits or index_edits(reader)
        edits = edits or assignment_edits(reader)
        if not edits:
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


def _check_bound(reader: FunctionReader, bound: Mapping[str, int], parameters: list[str], file: str) -> None:
    for variable in reader.variables.values():
        if variable.storage != "parameter" or variable.name not in bound or variable.name not in parameters:
            continue
        line = line_of(reader.text, variable.offset)
        if not variable.shape.is_scalar_integer:
            raise OptionError(
                f"{variable.name} is a parameter that isn't an integer, so -D can't give it a value",
                file=file,
                line=line,
                remedy=f"leave out -D {variable.name}=…",
            )
        low, high = LIMITS[variable.shape.element]
        if not low <= bound[variable.name] <= high:
            raise OptionError(
                f"{variable.name} is of type {variable.shape.element}, which has no number {bound[variable.name]}",
                file=file,
                line=line,
                remedy=f"give it a value from {low} to {high}, or another type in the source",
            )
        for reference in variable.references:
            if reference.role in ("write", "update", "address"):
                raise UnsupportedConstructError(
                    f"-D gives {variable.name} one value, and the function changes it",
                    file=file,
                    line=line_of(reader.text, reference.offset),
                    construct=variable.name,
                    remedy="copy the parameter to a local variable, and change that",
                )


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

"""The child process that reads a function which fills arrays: ``python -m polydl.frontend.initializer_worker``.

It is told the file and the function, and writes the function's parameters, what of the file it needs, and the constants
that integer variables of ``main`` begin with.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from clang.cindex import CursorKind, Index, TypeKind

from polydl.errors import OptionError
from polydl.frontend.child import answer
from polydl.frontend.clang_parser import Parser
from polydl.frontend.clang_worker import answered
from polydl.frontend.excerpt import excerpt
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.regions import functions_of
from polydl.frontend.source import EditedText
from polydl.frontend.walk import preorder

_POINTERS = (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)


def read(request: Mapping[str, Any]) -> dict[str, Any]:
    """The edits that leave what the function needs of the file, its parameters, and integer constants of ``main``.

    Raises OptionError if the file has no such function, and SourceError if it doesn't compile.
    """
    file, text, name, macros = (request[key] for key in ("file", "text", "function", "macros"))
    parser = Parser(file, request["options"])
    unit = parser.checked(EditedText(text), text, macros)
    functions = {function.spelling: function for function in functions_of(unit)}
    if name not in functions:
        others = ", ".join(sorted(functions))
        raise OptionError(f"the file has no function {name!r}", file=file, remedy=f"name one of {others}")
    taken = excerpt(unit, text, name, lambda part: parser.parse(part, macros))
    return {
        "edits": [asdict(edit) for edit in taken.edits],
        "parameters": [
            {"name": each.spelling, "line": each.location.line, **_type(each.type)}
            for each in functions[name].get_arguments()
        ],
        "constants": _constants(functions["main"]) if "main" in functions else {},
    }


def _type(type_: Any) -> dict[str, Any]:
    """Whether a parameter's type is a pointer, and its elements, as canonical C."""
    canonical = type_.get_canonical()
    is_pointer = canonical.kind in _POINTERS
    while canonical.kind in _POINTERS:
        inner = canonical.get_pointee() if canonical.kind == TypeKind.POINTER else canonical.element_type
        canonical = inner.get_canonical()
    return {"is_pointer": is_pointer, "element": canonical.spelling.removeprefix("const ")}


def _constants(main: Any) -> dict[str, int]:
    declared = (cursor for cursor in preorder(main) if cursor.kind == CursorKind.VAR_DECL)
    values = {cursor.spelling: integer_value(cursor) for cursor in declared}
    return {name: value for name, value in values.items() if value is not None}


def prepare(_request: Mapping[str, Any]) -> None:
    """Load libclang, for processes that are forked afterwards."""
    Index.create()


def main(request_path: str, result_path: str) -> None:
    """Answers the request in one file with a result in another (``polydl.frontend.child``)."""
    answer(request_path, result_path, partial(answered, read))


if __name__ == "__main__":
    main(*sys.argv[1:])

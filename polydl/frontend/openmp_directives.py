"""The directives of OpenMP in a function. Runs in the child process that holds libclang."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from polydl.frontend.facts import Directive
from polydl.frontend.regions import functions_of
from polydl.frontend.walk import preorder

_WORD = re.compile(r"\bomp\s+(\w+)")


def openmp_directives(parse: Callable[[str], Any], text: str, function: str) -> list[Directive]:
    """The directives in the function, however macros and headers write them; those of others' statements behind these.

    ``parse`` reads a text with OpenMP, which is done where the ``text`` has some. libclang shows no directive inside of
    another's statement, so that it reads the text again without those that it has shown.
    """
    directives: dict[int, Directive] = {}
    further = re.search(r"\bomp\b", text) is not None
    while further:
        shown = _shown(parse(text), text, function)
        further = False
        for directive, end in shown:
            if directive.offset in directives:
                continue
            directives[directive.offset] = directive
            # A macro may hold the beginning of the statement as well.
            if end <= directive.body < directive.end:
                blank = re.sub(r"[^\n]", " ", text[directive.offset : end])
                text = text[: directive.offset] + blank + text[end:]
                further = True
    return list(directives.values())


def _shown(unit: Any, text: str, function: str) -> list[tuple[Directive, int]]:
    """The outermost directives, with where each ends itself."""
    bodies = [each for each in functions_of(unit) if each.spelling == function]
    shown = []
    for cursor in (cursor for body in bodies for cursor in preorder(body)):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        name = _name(cursor, text[start:end])
        if name is None:
            continue
        extents = [child.extent for child in cursor.get_children() if _is_statement(child) or _begins(child) >= end]
        body, last = (extents[0].start.offset, extents[-1].end.offset) if extents else (end, end)
        shown.append((Directive(name, start, body, last), end))
    return shown


def _name(cursor: Any, written: str) -> str | None:
    """What a directive is called (``Directive.name``); None for any other cursor."""
    try:
        kind = cursor.kind.name
    except ValueError:
        # libclang knows more directives than its bindings.
        word = _WORD.search(written)
        return word[1].upper() if word is not None else ""
    directive = kind.startswith("OMP_") and kind.endswith("_DIRECTIVE")
    return kind.removeprefix("OMP_").removesuffix("_DIRECTIVE") if directive else None


def _is_statement(cursor: Any) -> bool:
    try:
        return bool(cursor.kind.is_statement())
    except ValueError:
        return True


def _begins(cursor: Any) -> int:
    return int(cursor.extent.start.offset)

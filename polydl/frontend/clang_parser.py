"""Views of a file as libclang reads them, and what is wrong with a file that it refuses.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from clang.cindex import Diagnostic, Index, conf

from polydl.errors import SourceError
from polydl.frontend.feature_macros import feature_macros
from polydl.frontend.macro_uses import has_conditions
from polydl.frontend.reserved_names import HEADERS, conflict
from polydl.frontend.source import EditedText, line_of, one_line

_DETAILED_PREPROCESSING = 1
# What a statement begins with that no declaration does.
_STATEMENTS = frozenset({"for", "if", "while", "do", "switch", "return", "{"})


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

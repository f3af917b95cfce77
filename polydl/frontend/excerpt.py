"""The part of a file that a function needs: what it refers to, directly or not, and all preprocessor directives.

Generated code is made from this text: it has no ``main``, and nothing that only other functions call. It can be linked
with the file that it comes from: helper functions and constants become ``static``, variables weak. Those of other files
are defined, weak as well, so that it works without these.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from clang.cindex import CursorKind, Diagnostic, LinkageKind, StorageClass, conf

from polydl.frontend.c_types import declaration
from polydl.frontend.facts import Excerpt
from polydl.frontend.source import Edit, EditedText, without_comments
from polydl.frontend.walk import preorder, stands_in

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\\r?\n|\\.)*", re.MULTILINE)
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)")
_INCLUDE = re.compile(r"[ \t]*#[ \t]*(?:include|embed)\b")
_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b")
# It is about the function that follows it.
_DECLARES = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+declare[ \t]+(?:simd|variant)\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_REMOVABLE = (
    CursorKind.FUNCTION_DECL,
    CursorKind.VAR_DECL,
    CursorKind.STRUCT_DECL,
    CursorKind.UNION_DECL,
    CursorKind.ENUM_DECL,
    CursorKind.TYPEDEF_DECL,
)


@dataclass
class _Declaration:
    """Declarators that share one declaration, with what belongs to it before."""

    #: libclang's, of the declarators
    cursors: list[Any]
    #: offsets of its first and behind its last character
    start: int
    end: int
    #: of the text that goes with it
    begin: int = 0
    #: behind that text
    until: int = 0
    #: that its declarators use
    names: set[str] = field(default_factory=set)


def excerpt(unit: Any, text: str, function: str, parse: Callable[[str], Any]) -> Excerpt:
    """The part of ``text``, whose parsed form is ``unit``, that the function of that name needs.

    A text that Clang then has objections to (``parse`` gives its parsed form) is taken with fewer changes, or whole.
    """
    file = _File(unit, text)
    needed = file.needed_by(function)
    removed = [_without(each, file.directives, file.kept) for each in file.declarations if each not in needed]
    linked, private = file.linkage(needed, function)
    for edits in ([*removed, *linked], removed):
        if not edits:
            continue
        if _stands(parse(EditedText(text).apply(edits).text), function):
            return Excerpt(tuple(edits), private)
    return Excerpt(private=private)


def _stands(unit: Any, function: str) -> bool:
    wrong = any(
        each.severity >= Diagnostic.Error or "has internal linkage but is not defined" in each.spelling
        for each in unit.diagnostics
    )
    return not wrong and any(each.spelling == function and each.is_definition() for each in _top_level(unit))


def _top_level(unit: Any) -> Iterator[Any]:
    for cursor in unit.cursor.get_children():
        if not cursor.kind.is_preprocessing() and stands_in(unit, cursor):
            yield cursor


class _File:
    """The declarations of a file at its top level, and who refers to what."""

    def __init__(self, unit: Any, text: str) -> None:
        self._unit = unit
        self.text = text
        #: without comments
        self.kept = without_comments(text, keep_strings=True)
        self.directives = [(match.start(), match.end()) for match in _DIRECTIVE.finditer(self.kept)]
        # Neither comments nor strings nor directives.
        code = list(without_comments(text))
        for start, end in self.directives:
            code[start:end] = re.sub(r"[^\n]", " ", text[start:end])
        self.code = "".join(code)
        cursors = list(_top_level(unit))
        self.declarations = self._grouped(cursors)
        self._by_symbol: dict[str, list[_Declaration]] = {}
        self._by_name: dict[str, list[_Declaration]] = {}
        self._elsewhere = {
            each.get_usr()
            for each in unit.cursor.get_children()
            if each.kind in _REMOVABLE and not stands_in(unit, each)
        }
        for group in self.declarations:
            for cursor in group.cursors:
                self._by_symbol.setdefault(cursor.get_usr(), []).append(group)
            for name in group.names:
                self._by_name.setdefault(name, []).append(group)
        self._macros = {
            macro[1]: set(_WORD.findall(self.kept[start:end]))
            for start, end in self.directives
            if (macro := _DEFINE.match(self.kept, start, end))
        }

    def _grouped(self, cursors: Sequence[Any]) -> list[_Declaration]:
        groups: list[_Declaration] = []
        for cursor in sorted(cursors, key=lambda cursor: (cursor.extent.start.offset, -cursor.extent.end.offset)):
            start, end = cursor.extent.start.offset, cursor.extent.end.offset
            if groups and start < groups[-1].end:
                groups[-1].cursors.append(cursor)
                groups[-1].end = max(end, groups[-1].end)
            else:
                groups.append(_Declaration([cursor], start, end))
        behind = 0
        for group, following in zip(groups, [*groups[1:], None], strict=True):
            stop = len(self.code) if following is None else following.start
            if not self.code[group.start : group.end].rstrip().endswith("}") or not _is_function(group):
                semicolon = self.code.find(";", group.end, stop)
                group.end = semicolon + 1 if semicolon >= 0 else group.end
            if not behind:
                # A comment that the file begins with is about all of it.
                behind = len(self.kept) - len(self.kept.lstrip())
            group.begin = min(behind, group.start)
            line_end = self.code.find("\n", group.end)
            rest = self.code[group.end : line_end]
            # A comment behind it on its line is about it.
            behind = group.until = line_end if line_end >= 0 and not rest.strip() and line_end <= stop else group.end
            group.names |= {name for each in group.cursors for name in _names(each)}
        return groups

    def needed_by(self, function: str) -> list[_Declaration]:
        """The declarations that stay, in the order of the file."""
        root = next(
            group
            for group in self.declarations
            for each in group.cursors
            if each.kind == CursorKind.FUNCTION_DECL and each.spelling == function and each.is_definition()
        )
        needed: list[_Declaration] = []
        left = [root, *(group for group in self.declarations if self._must_stay(group))]
        while left:
            group = left.pop()
            if group not in needed:
                needed.append(group)
                left += self._used_by(group)
        return sorted(needed, key=lambda group: group.start)

    def _must_stay(self, group: _Declaration) -> bool:
        """Whether it can't be told what a declaration is for, or it can't be taken out."""
        if any(each.kind not in _REMOVABLE for each in group.cursors):
            return True
        return any(
            _INCLUDE.match(self.kept, start, end) for start, end in self.directives if group.start <= start < group.end
        )

    def _used_by(self, group: _Declaration) -> Iterator[_Declaration]:
        """The declarations that a declaration refers to."""
        if not _is_function(group):
            # Not by its tree: there are tables of many thousand numbers.
            for name in self._words(self.code[group.start : group.end]):
                yield from self._by_name.get(name, ())
            return
        for cursor in group.cursors:
            for node in preorder(cursor):
                target = node.referenced
                if target is None or target == cursor:
                    continue
                yield from self._by_symbol.get(target.get_usr(), ())
                if stands_in(self._unit, target):
                    place = target.location.offset
                    yield from (each for each in self.declarations if each.start <= place < each.end)

    def _words(self, code: str) -> set[str]:
        """The words of the code, and those of the macros among them."""
        words: set[str] = set()
        left = set(_WORD.findall(code))
        while left:
            word = left.pop()
            if word not in words:
                words.add(word)
                left |= self._macros.get(word, set())
        return words

    def linkage(self, needed: Sequence[_Declaration], function: str) -> tuple[list[Edit], tuple[str, ...]]:
        """What makes helpers and constants ``static`` and variables weak, and the variables that are static."""
        edits: list[Edit] = []
        private: list[str] = []
        seen: set[str] = set()
        for group in needed:
            for cursor in group.cursors:
                symbol = cursor.get_usr()
                if cursor.kind not in (CursorKind.FUNCTION_DECL, CursorKind.VAR_DECL) or cursor.spelling == function:
                    continue
                if symbol in seen:
                    continue
                seen.add(symbol)
                constant = cursor.kind == CursorKind.VAR_DECL and _is_constant(cursor)
                if cursor.linkage == LinkageKind.INTERNAL:
                    if cursor.kind == CursorKind.VAR_DECL and not constant:
                        private.append(cursor.spelling)
                elif self._is_defined(symbol):
                    hidden = cursor.kind == CursorKind.FUNCTION_DECL or constant
                    if hidden and symbol not in self._elsewhere:
                        specifier = re.compile(r"extern\b\s*").match(self.code, group.start)
                        edits.append(Edit(group.start, specifier.end() if specifier else group.start, "static "))
                    else:
                        edits.append(Edit(group.start, group.start, f"#pragma weak {cursor.spelling}\n"))
        edits += [
            Edit(place, place, f"#pragma weak {name}\n{declared};\n")
            for place, name, declared in self._defined_elsewhere(needed, function)
        ]
        return _joined(edits), tuple(private)

    def _defined_elsewhere(self, needed: Sequence[_Declaration], function: str) -> Iterator[tuple[int, str, str]]:
        """Variables of other files that the function uses: where they can be defined, their names and declarations."""
        seen: set[str] = set()
        for group in needed:
            for cursor in group.cursors:
                if cursor.spelling != function or not cursor.is_definition():
                    continue
                for node in preorder(cursor):
                    target = node.referenced if node.kind == CursorKind.DECL_REF_EXPR else None
                    if target is None or target.kind != CursorKind.VAR_DECL or target.spelling in seen:
                        continue
                    seen.add(target.spelling)
                    there = conf.lib.clang_Location_isInSystemHeader(target.location)
                    outside = target.linkage == LinkageKind.EXTERNAL and not there and not _is_constant(target)
                    if outside and not self._is_defined(target.get_usr()) and target.get_definition() is None:
                        yield group.start, target.spelling, declaration(target.type, target.spelling)

    def _is_defined(self, symbol: str) -> bool:
        """Whether the file defines it, a variable perhaps without a value."""
        return any(
            each.is_definition() or (each.kind == CursorKind.VAR_DECL and each.storage_class != StorageClass.EXTERN)
            for group in self._by_symbol.get(symbol, ())
            for each in group.cursors
            if each.get_usr() == symbol
        )


def _joined(edits: Sequence[Edit]) -> list[Edit]:
    """With one edit at each place: pragmas before the specifier."""
    places: dict[int, Edit] = {}
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.replacement == "static ", edit.replacement)):
        before = places.get(edit.start)
        replacement = edit.replacement if before is None else before.replacement + edit.replacement
        places[edit.start] = Edit(edit.start, edit.end, replacement)
    return list(places.values())


def _without(group: _Declaration, directives: Sequence[tuple[int, int]], text: str) -> Edit:
    """Removes a declaration but for the directives that later text may depend on."""
    kept = [
        text[start:end].strip()
        for start, end in directives
        if group.begin <= start < group.end
        and not (_PRAGMA if start >= group.start else _DECLARES).match(text, start, end)
    ]
    return Edit(group.begin, group.until, "".join(f"\n{each}" for each in kept) + ("\n" if kept else ""))


def _names(cursor: Any) -> Iterator[str]:
    yield cursor.spelling
    for child in cursor.get_children() if cursor.kind == CursorKind.ENUM_DECL else ():
        yield child.spelling


def _is_function(group: _Declaration) -> bool:
    return any(each.kind == CursorKind.FUNCTION_DECL for each in group.cursors)


def _is_constant(variable: Any) -> bool:
    return bool(variable.type.get_canonical().is_const_qualified())

"""The regions and the functions of a file, and the choice of the one to read.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from clang.cindex import CursorKind, conf

from polydl.errors import NoScopError, OptionError, SourceError, UnsupportedConstructError
from polydl.frontend.source import line_of, one_line, without_comments
from polydl.frontend.walk import OF_VARIABLES, preorder, stands_in

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class MarkedRegion:
    """A marked region, from the line of ``#pragma scop`` through the line of ``#pragma endscop``."""

    #: offset
    start: int
    #: offset, exclusive
    end: int
    #: of ``#pragma scop``, from 1
    line: int


def marked_regions(text: str, file: str, inactive: Sequence[tuple[int, int]] = ()) -> list[MarkedRegion]:
    """The regions between pragmas, except in ``inactive`` code. Raises SourceError for a pragma without its partner."""
    regions: list[MarkedRegion] = []
    opened: int | None = None
    for match in _PRAGMA.finditer(without_comments(text)):
        if any(start <= match.start() < end for start, end in inactive):
            continue
        line = line_of(text, match.start())
        if match[1] == "scop":
            if opened is not None:
                raise SourceError(
                    f"#pragma scop inside the region that line {line_of(text, opened)} began",
                    file=file,
                    line=line,
                    construct=match[0].strip(),
                    remedy="end the first region with #pragma endscop; regions don't nest",
                )
            opened = match.start()
        elif opened is None:
            raise SourceError(
                "#pragma endscop without a #pragma scop before it",
                file=file,
                line=line,
                construct=match[0].strip(),
                remedy="put #pragma scop before the first loop of the region",
            )
        else:
            end = min(match.end() + 1, len(text))
            regions.append(MarkedRegion(opened, end, line_of(text, opened)))
            opened = None
    if opened is not None:
        raise SourceError(
            "#pragma scop is never closed",
            file=file,
            line=line_of(text, opened),
            construct="#pragma scop",
            remedy="put #pragma endscop behind the last loop of the region",
        )
    return regions


def check_blocks(
    region: MarkedRegion, blocks: Sequence[tuple[int, int]], statements: Sequence[tuple[int, int]], file: str
) -> None:
    """Check that the region begins and ends in the same block, between statements. Raises SourceError."""
    around = [[block for block in blocks if block[0] < place <= block[1]] for place in (region.start, region.end)]
    cut = [s for s in statements if s[0] < region.start < s[1] < region.end or region.start < s[0] < region.end < s[1]]
    if around[0] != around[1] or cut:
        raise SourceError(
            "the region doesn't begin and end in the same block",
            file=file,
            line=region.line,
            construct="#pragma scop",
            remedy="put #pragma scop and #pragma endscop around whole statements of one block",
        )


def check_included(unit: Any, function: Any, text: str, file: str) -> None:
    """Check that no included file has statements of the function, which are nowhere in the ``text`` of the file itself.

    Constants may stand there, such as those of a table. Raises UnsupportedConstructError.
    """
    body = range(function.extent.start.offset, function.extent.end.offset)
    included = [each for each in unit.get_includes() if each.depth == 1 and each.location.offset in body]
    elsewhere = [cursor for cursor in preorder(function) if not stands_in(unit, cursor)] if included else []
    names = {
        str(cursor.location.file)
        for cursor in elsewhere
        if cursor.location.file is not None and (cursor.kind.is_statement() or cursor.kind in OF_VARIABLES)
    }
    if not names:
        return
    named = min(included, key=lambda inclusion: str(inclusion.include) not in names)
    line = line_of(text, named.location.offset)
    raise UnsupportedConstructError(
        f"a part of {function.spelling} stands in another file",
        file=file,
        line=line,
        construct=one_line(text.split("\n")[line - 1]),
        remedy="write what that file has in its place, or make it a macro there that is used here",
    )


def functions_of(unit: Any) -> list[Any]:
    """The functions that the file itself defines."""
    return [
        cursor
        for cursor in unit.cursor.get_children()
        if cursor.kind == CursorKind.FUNCTION_DECL and stands_in(unit, cursor) and cursor.is_definition()
    ]


def choose(
    functions: Sequence[Any], regions: Sequence[MarkedRegion], name: str | None, init: str, file: str
) -> tuple[Any, MarkedRegion | None]:
    """The function to read and its marked region, which is None if the file has no marked region.

    Without a ``name``, those of ``init``, which fills the arrays, count only if no other function has some, and without
    regions so do loops of ``main``. Raises OptionError for
    an unknown ``name`` and for an ambiguous choice, NoScopError if no function has a loop, UnsupportedConstructError
    for ``main``, in whose place no program could link what is emitted, and for a function that a macro names.
    """
    if not functions:
        raise NoScopError(
            "the file defines no function", file=file, remedy="put the loops into a function, between the scop pragmas"
        )
    named = [function for function in functions if name in (None, function.spelling)]
    if not named:
        known = ", ".join(function.spelling for function in functions)
        raise OptionError(f"there is no function {name}", file=file, remedy=f"choose one of: {known}")
    homes = {region: _home(functions, region, file) for region in regions}
    if regions:
        candidates = [f for f in named if any(home == f for home in homes.values())]
    else:
        looped = [f for f in named if _has_loop(f)]
        # Those that can be taken, if there are some.
        spelled = [f for f in looped if conf.lib.clang_Location_isFromMainFile(f.location)]
        candidates = [f for f in spelled if f.spelling != "main"] or spelled or looped
    if not candidates:
        raise _no_candidate(functions, named, list(homes.values()) if regions else None, name, file)
    if name is None:
        candidates = [f for f in candidates if f.spelling != init] or candidates
    if len(candidates) > 1:
        listed = ", ".join(f"{f.spelling} (line {f.location.line})" for f in candidates)
        raise OptionError(
            f"several functions have {'marked regions' if regions else 'loops'}: {listed}",
            file=file,
            line=candidates[1].location.line,
            remedy="name one, such as --function " + next(f.spelling for f in candidates if f.spelling != "main"),
        )
    if candidates[0].spelling == "main":
        raise UnsupportedConstructError(
            "the loops are in main, and what is emitted is a function that programs call",
            file=file,
            line=candidates[0].location.line,
            construct="main",
            remedy="move the loops to a function of their own, which main calls",
        )
    if not conf.lib.clang_Location_isFromMainFile(candidates[0].location):
        raise UnsupportedConstructError(
            f"a macro stands for the name of the function {candidates[0].spelling}",
            file=file,
            line=candidates[0].location.line,
            construct=" ".join(takewhile("(".__ne__, (token.spelling for token in candidates[0].get_tokens()))),
            remedy=f"write {candidates[0].spelling} where the macro stands",
        )
    inside = [region for region, home in homes.items() if home == candidates[0]]
    if len(inside) > 1:
        lines = " and ".join(str(region.line) for region in inside)
        raise UnsupportedConstructError(
            f"{candidates[0].spelling} has {len(inside)} regions, at lines {lines}",
            file=file,
            line=inside[1].line,
            construct="#pragma scop",
            remedy="keep one region in the function: join them, or move one to a function of its own",
        )
    return candidates[0], inside[0] if inside else None


def _no_candidate(
    functions: Sequence[Any], named: Sequence[Any], homes: Sequence[Any] | None, name: str | None, file: str
) -> NoScopError:
    """The error where no function can be meant; ``homes`` are the functions with regions if the file has some."""
    what, remedy = "marked region", "enclose the loops in #pragma scop and #pragma endscop"
    if homes is None:
        what, remedy = "for loop", "write what is to be optimized as for loops over arrays"
    if name is None:
        return NoScopError(f"the file has no {what}", file=file, remedy=remedy)
    others = [f for f in functions if (_has_loop(f) if homes is None else any(f == home for home in homes))]
    called = _called_by(named[0], functions)
    chosen = [f for f in called if any(f == other for other in others)]
    message = f"function {name} has no {what}"
    if chosen:
        has = "one" if homes is not None else "loops"
        message += f": it calls {chosen[0].spelling} (line {chosen[0].location.line}), which has {has}"
    if usable := [f.spelling for f in (*chosen, *others) if f.spelling != "main"]:
        held = "region" if homes is not None else "loops"
        remedy = f"name the function that has the {held}: --function {usable[0]}"
    return NoScopError(message, file=file, line=named[0].location.line, remedy=remedy)


def _called_by(function: Any, functions: Sequence[Any]) -> list[Any]:
    """Those of the file's functions that a function calls, and those that they call, in the order of the calls."""
    by_symbol = {each.get_usr(): each for each in functions}
    called: dict[str, Any] = {}
    left = [function]
    while left:
        for cursor in preorder(left.pop(0)):
            symbol = cursor.referenced.get_usr() if cursor.kind == CursorKind.CALL_EXPR and cursor.referenced else ""
            if symbol in by_symbol and symbol not in called:
                called[symbol] = by_symbol[symbol]
                left.append(by_symbol[symbol])
    return list(called.values())


def _home(functions: Sequence[Any], region: MarkedRegion, file: str) -> Any:
    for function in functions:
        if function.extent.start.offset <= region.start and region.end <= function.extent.end.offset:
            return function
    raise SourceError(
        "the region isn't inside one function",
        file=file,
        line=region.line,
        construct="#pragma scop",
        remedy="put #pragma scop and #pragma endscop into the body of the same function",
    )


def _has_loop(cursor: Any) -> bool:
    loops = (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.GOTO_STMT)
    return any(child.kind in loops for child in preorder(cursor))

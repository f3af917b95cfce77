"""The source with OpenMP's directive before each outermost loop whose iterations are proved independent.

The text is the user's own but for these lines. Where it can't be told which loop of the text is which, there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Variant
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.texts import map_of

# Comments, literals and directives: what may hold brackets and words that are no part of the loops.
_NO_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:pragma[ \t]+(?:GCC|clang|acc)\b|if|el|endif|define|undef|include)", re.M)
_OMP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+omp\b")
_PARALLEL, _SPREAD = re.compile(r"\b(?:parallel|target|task\w*|teams)\b"), re.compile(r"\bparallel[ \t]+for\b")
# Clauses that say how many threads take part, and of how many loops they share the iterations.
_FEWER, _COLLAPSED = re.compile(r"\b(?:num_threads|if)[ \t]*\("), re.compile(r"\bcollapse[ \t]*\([ \t]*(\d+)[ \t]*\)")
# The names of a directive, which come before its clauses.
_NAMES = re.compile(
    r"[ \t]*#[ \t]*pragma[ \t]+omp(?:[ \t]|\\\n)+"
    r"(?:(?:parallel|for|simd|sections|loop|master|masked|taskloop)\b(?:[ \t]|\\\n)*)+"
)
_NUMBERED = re.compile(r"\bnum_threads[ \t]*\(")
_ADDED = re.compile(r"\bomp[ \t]+(?!simd\b).*\breduction[ \t]*\(", re.DOTALL)
# What ``_Pragma``, or a macro that makes a string of its argument for that, has of a directive.
_WRITTEN = re.compile(r'["(]\s*(omp\b(?:[^()"]|\([^()"]*\))*)')
_HEAD = re.compile(r"\bfor\s*\(")
_NAME = r"[A-Za-z_]\w*"
_START = re.compile(rf"\s*(?:{_NAME}\s+)*({_NAME})\s*=")
_ASSIGNED = re.compile(
    rf"(?P<before>[*.\w>\])]?)\s*(?<![\w.])(?P<name>{_NAME})\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
    rf"|(?:\+\+|--)\s*(?P<counted>{_NAME})\b(?!\s*\[)"
)
_DECLARATION = re.compile(
    rf"(?<=[{{}};()])\s*(?!(?:else|return|goto|case)\b)(?:{_NAME}\s+)+\**\s*({_NAME}\b[^;{{}}]*)(?=;)"
)
_FLAT_HEAD = re.compile(r"\bfor\s*\([^()]*\)")
_GROUP, _BLOCK = re.compile(r"\([^();]*\)|\[[^\[\];]*\]"), re.compile(r"\{[^{}]*\}")
_DEFINITION = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({_NAME})((?:[^\\\n]|\\.)*)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# What begins a loop, or assigns.
_SETTING = re.compile(r"\bfor\b|\+\+|--|<<=|>>=|(?<![=!<>])=(?!=)")
# Where brackets are left out: a name that is a whole statement, as macros are.
_ALONE = re.compile(rf"(?:[;{{}}]|\b(?:if|else)\b)\s*(?!(?:break|continue|return|while)\b){_NAME}\s*[;}}]")


@dataclass(frozen=True)
class _TextLoop:
    """A ``for`` of the text."""

    #: offsets of the whole loop, end exclusive
    start: int
    end: int
    iterator: str
    #: the loops right inside of it, in the order of the text
    inner: tuple[_TextLoop, ...]


@dataclass(frozen=True)
class DirectedSource:
    """A source with directives before loops, in place of its region's own."""

    #: as the user wrote it
    source: str
    #: offsets there of the region's own directives, end exclusive
    removed: tuple[tuple[int, int], ...]
    #: of each directive, the offset before which it stands, its names with what is before them, and what follows
    added: tuple[tuple[int, str, str], ...]

    def text(self, question: str = "") -> str:
        """The C. With a ``question``, C, each directive makes threads only where that is not 0."""
        asks = f" if (parallel: {question})" if question else ""
        edits = [(start, end, "") for start, end in self.removed]
        return _edited(self.source, [*edits, *((at, at, f"{names}{asks}{rest}") for at, names, rest in self.added)])


@limited
def with_parallel_loops(scop: Scop, dependences: Sequence[Dependence], threads: int) -> DirectedSource | None:
    """The source with ``#pragma omp parallel for`` before each outermost loop of the region that may run in parallel.

    A loop with fewer iterations than there are ``threads`` is passed over for those inside of it, if one of them may
    run in parallel and has more. The region's own OpenMP directives go. None where no loop is proved parallel, where
    the region's own directives stand before the same loops, where it has directives of other kinds, where the source
    has some as ``_Pragma``, or where it isn't known how text and model belong together, or what macros set. Raises
    AnalysisError when isl's quota is used up.
    """
    first, last = scop.region
    if _DIRECTIVE.search(scop.source[first:last]):
        return None
    if _unplaced(scop.source):
        return None
    text = _blanked(scop.source)
    lines = range(scop.line, scop.line_at(last) + 1)
    if any(statement.line not in lines for statement in scop.statements):
        return None
    loops = tuple(_loops(text, first, last))
    chosen = [each for loop in loops for each in _parallel(scop, dependences, threads, text, loop)]
    if not chosen or any(names is None for _, names in chosen):
        return None
    own = _own(scop)
    spread = {each.loop for each in own if _SPREAD.search(each.text) and not _FEWER.search(each.text)}
    if {loop.start for loop, _ in chosen} <= spread:
        return None
    source, directives = scop.source, []
    for loop, names in chosen:
        clause = f" lastprivate({', '.join(names)})" if names else ""
        indent = source[source.rfind("\n", 0, loop.start) + 1 : loop.start]
        start, indent = ("", indent) if indent.isspace() or not indent else ("\n", "")
        directives.append((loop.start, f"{start}#pragma omp parallel for", f"{clause}\n{indent}"))
    return DirectedSource(source, tuple((each.start, each.end) for each in own), tuple(directives))


def without_directives(scop: Scop) -> str:
    """The source without the OpenMP directives of its region; the rest is as it was."""
    return _edited(scop.source, [(each.start, each.end, "") for each in _own(scop)])


def asking(text: str, question: str) -> str:
    """The user's text of loops where each directive that makes threads does so only where ``question``, C, is not 0.

    Those that say themselves how many take part, or when, stay as they are.
    """
    edits = []
    for each in _directives(text):
        names = _NAMES.match(text, each.start)
        if names is not None and _PARALLEL.findall(names.group()) and not _FEWER.search(each.text):
            end = each.start + len(names.group().rstrip(" \t\\\n"))
            edits.append((end, end, f" if (parallel: {question})"))
    return _edited(text, edits)


def own_threads(scop: Scop, threads: int) -> int:
    """How many of ``threads`` the nest runs on as it is written, with the directives of its source.

    A directive before a loop with fewer iterations occupies no more threads than these. One that isn't before a loop
    whose iterations are known counts as if it occupied all.
    """
    if any(_PARALLEL.search(text) for text in _unplaced(scop.source)):
        return threads
    text = _blanked(scop.source)
    first, last = scop.region
    known = {loop.start: iterations for loop, iterations in _iterations(scop, _loops(text, first, last), 0)}
    most = 1
    for each in _directives(scop.source):
        if not _PARALLEL.search(each.text):
            continue
        inside = first <= each.start < last and _SPREAD.search(each.text) is not None
        counts = known.get(each.loop, ()) if inside else ()
        collapsed = _COLLAPSED.search(each.text)
        shared = int(collapsed.group(1)) if collapsed is not None else 1
        most = max(most, min(threads, math.prod(counts[:shared])) if len(counts) >= shared else threads)
    return most


def variant_threads(scop: Scop, variant: Variant, threads: int) -> int:
    """How many of ``threads`` a variant of the nest runs on: all of them where it, or the source around it, has any."""
    return threads if variant.threaded or makes_threads(scop, inside=False) else 1


def makes_threads(scop: Scop, *, inside: bool) -> bool:
    """Whether an OpenMP directive of the source, ``inside`` its region or outside of it, makes threads.

    One that is written as ``_Pragma`` counts as outside of it.
    """
    first, last = scop.region
    if not inside and any(_PARALLEL.search(text) for text in _unplaced(scop.source)):
        return True
    return any(
        _PARALLEL.search(each.text) is not None and (first <= each.start < last) == inside
        for each in _directives(scop.source)
    )


def numbers_threads(scop: Scop) -> bool:
    """Whether an OpenMP directive of the source says how many threads take part."""
    return any(_NUMBERED.search(text) is not None for text in _texts(scop.source))


def adds_up(scop: Scop) -> bool:
    """Whether an OpenMP directive of the source makes sums of parts, but for those of vectors."""
    return any(_ADDED.search(text) is not None for text in _texts(scop.source))


@dataclass(frozen=True)
class _Own:
    """An OpenMP directive of the source, with its continuation lines."""

    #: offsets of its lines, end exclusive
    start: int
    end: int
    text: str
    #: offset of what it stands before, further directives and comments aside
    loop: int


def _directives(source: str) -> Iterator[_Own]:
    blanked = _blanked(source)
    for match in _NO_CODE.finditer(source):
        if _OMP.match(match.group()) is not None:
            code = re.compile(r"\S|\Z").search(blanked, match.end())
            text = match.group().replace("\\\n", " ")
            yield _Own(match.start(), min(match.end() + 1, len(source)), text, code.start() if code else len(source))


def _unplaced(source: str) -> list[str]:
    """OpenMP directives written as ``_Pragma``: macros may put them anywhere."""
    return _WRITTEN.findall(source) if "_Pragma" in source else []


def _texts(source: str) -> list[str]:
    """All OpenMP directives of the source."""
    return [*(each.text for each in _directives(source)), *_unplaced(source)]


def _own(scop: Scop) -> list[_Own]:
    """The OpenMP directives of the region."""
    first, last = scop.region
    return [each for each in _directives(scop.source) if first <= each.start < last]


def _edited(source: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """The text with parts, by their offsets, replaced."""
    for start, end, text in sorted(edits, reverse=True):
        source = f"{source[:start]}{text}{source[end:]}"
    return source


def _iterations(scop: Scop, loops: Iterable[_TextLoop], depth: int) -> Iterator[tuple[_TextLoop, tuple[int, ...]]]:
    """Loops with the numbers of their own iterations and, outermost first, of those inside; without those not known."""
    for loop in loops:
        first, last = scop.line_at(loop.start), scop.line_at(loop.end)
        inside = [each for each in scop.statements if first <= each.line <= last and each.depth > depth]
        if inside and all(each.box is not None and each.iterators[depth] == loop.iterator for each in inside):
            deep = min(each.depth for each in inside)
            yield loop, tuple(max(each.extents[place] for each in inside) for place in range(depth, deep))
        yield from _iterations(scop, loop.inner, depth + 1)


def _blanked(text: str) -> str:
    """The text with a space for each character that is no code; line breaks stay."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _closing(text: str, opening: int, end: int) -> int | None:
    """The offset behind the bracket that closes the one at ``opening``."""
    pairs = {"(": ")", "{": "}"}
    closes, opens, depth = pairs[text[opening]], text[opening], 0
    for place in range(opening, end):
        if text[place] in (opens, closes):
            depth += 1 if text[place] == opens else -1
            if depth == 0:
                return place + 1
    return None


def _loops(text: str, start: int, end: int) -> Iterator[_TextLoop]:
    """The outermost loops of a part of the text."""
    place = start
    while (match := _HEAD.search(text, place, end)) is not None:
        body = _closing(text, match.end() - 1, end)
        begins = _START.match(text, match.end())
        stop = None if body is None else _statement_end(text, body, end)
        if body is None or stop is None or begins is None:
            return
        yield _TextLoop(match.start(), stop, begins.group(1), tuple(_loops(text, body, stop)))
        place = stop


def _statement_end(text: str, start: int, end: int) -> int | None:
    """The offset behind the statement that begins at ``start``."""
    while start < end and text[start].isspace():
        start += 1
    if text[start : start + 1] == "{":
        return _closing(text, start, end)
    control = re.compile(r"(?:for|if)\s*\(").match(text, start, end)
    if control is None:
        behind = text.find(";", start, end)
        return None if behind < 0 else behind + 1
    body = _closing(text, control.end() - 1, end)
    stop = None if body is None else _statement_end(text, body, end)
    if stop is None:
        return None
    otherwise = re.compile(r"\s*else\b").match(text, stop, end)
    return stop if otherwise is None else _statement_end(text, otherwise.end(), end)


def _parallel(
    scop: Scop, dependences: Sequence[Dependence], threads: int, text: str, loop: _TextLoop
) -> list[tuple[_TextLoop, tuple[str, ...] | None]]:
    """``_outermost`` with as many iterations as there are threads, or else with as many as there are at most."""
    first, last = scop.line_at(loop.start), scop.line_at(loop.end)
    inside = [each for each in scop.statements if first <= each.line <= last and each.box is not None]
    fewer = {extent for each in inside for extent in each.extents if 1 < extent < threads}
    for least in (threads, *sorted(fewer, reverse=True)):
        if chosen := list(_outermost(scop, dependences, least, text, loop, 0)):
            return chosen
    return []


def _outermost(
    scop: Scop, dependences: Sequence[Dependence], least: int, text: str, loop: _TextLoop, depth: int
) -> Iterator[tuple[_TextLoop, tuple[str, ...] | None]]:
    """The outermost parallel loops of ``least`` iterations of a loop, itself or some inside, with what threads keep.

    That is scalars, and None where a value goes through a pointer, or macros may hide what is set.
    """
    first, last = scop.line_at(loop.start), scop.line_at(loop.end)
    inside = [each for each in scop.statements if first <= each.line <= last and each.depth > depth]
    shallow = any(first < each.line <= last and each.depth <= depth for each in scop.statements)
    if shallow or not inside or any(each.iterators[depth] != loop.iterator for each in inside):
        return
    few = all(each.box is not None and each.extents[depth] < least for each in inside)
    if few or _carried(inside, dependences, depth):
        for inner in loop.inner:
            yield from _outermost(scop, dependences, least, text, inner, depth + 1)
        return
    counters = {name for each in inside for name in each.iterators[depth:]}
    if counters <= _counters(loop) and not _sets_in_macros(scop.source, text[loop.start : loop.end]):
        yield loop, _kept(text[scop.definition[1] : loop.start], text[loop.start : loop.end], loop.iterator)
    else:
        yield loop, None


def _counters(loop: _TextLoop) -> set[str]:
    """The counters of a loop and of those inside of it."""
    return {loop.iterator}.union(*map(_counters, loop.inner))


def _sets_in_macros(source: str, text: str) -> bool:
    """Whether macros begin loops or assign in a part of the source, where it can't be told what they set.

    Those of headers do where they are statements: an expression holds no assignment.
    """
    flat = _FLAT_HEAD.sub(";", _until_stable(_GROUP, text, " "))
    if _ALONE.search(flat) is not None:
        return True
    bodies = _DEFINITION.findall(_COMMENT.sub(" ", source))
    words, known = set(re.findall(_NAME, text)), -1
    while len(words) > known:
        known = len(words)
        words.update(*(re.findall(_NAME, body) for name, body in bodies if name in words))
    return any(_SETTING.search(body) is not None for name, body in bodies if name in words)


def _carried(statements: Sequence[Statement], dependences: Sequence[Dependence], depth: int) -> bool:
    """Whether iterations of the loop at ``depth`` around the statements depend on each other, sums included."""
    names = {statement.name for statement in statements}
    for dependence in dependences:
        if dependence.source not in names or dependence.target not in names:
            continue
        relation = in_one_iteration(map_of(dependence.relation), range(depth))
        if not relation.subtract(in_one_iteration(relation, [depth])).is_empty():
            return True
    return False


def _kept(before: str, text: str, iterator: str) -> tuple[str, ...] | None:
    """Scalars from outside of a loop that it assigns; ``before`` is the function's text up to it.

    The loop was proved parallel without them, so each iteration assigns them before it reads them. None where values go
    through pointers, or a name stands for two variables.
    """
    declared = _declared(text)
    outer = _until_stable(_BLOCK, _FLAT_HEAD.sub("", _until_stable(_GROUP, before, " ")), ";")
    assigned: list[str] = []
    for match in _ASSIGNED.finditer(text):
        if match.group("before") in ("*", ">", "."):
            return None
        assigned.append(match.group("name") or match.group("counted"))
    if declared & set(assigned) & _declared(f";{outer}"):
        return None
    return tuple(dict.fromkeys(name for name in assigned if name not in declared and name != iterator))


def _declared(text: str) -> set[str]:
    """The variables that are declared in a text."""
    flat = _until_stable(_GROUP, text, " ")
    return {
        re.split(r"[\s=]", part.strip().lstrip("*"), maxsplit=1)[0]
        for match in _DECLARATION.finditer(flat)
        for part in _until_stable(_BLOCK, match.group(1), " ").split(",")
    }


def _until_stable(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """The text with what matches replaced, from the inside outwards."""
    while (shorter := pattern.sub(replacement, text)) != text:
        text = shorter
    return text

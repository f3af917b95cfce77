"""Microkernel calls that a pragma marks (paper, §4), and the loops that replace them for the analysis.

The pragma is on the line before the call and contains loops that compute the same::

    #pragma polydl microkernel(for (int i = 0; i < 64; ++i) for (int j = 0; j < 64; ++j) \\
                               C[i][j] += A[i][0] * B[0][j];)
    kernel(&A[0][0], &B[0][0], &C[0][0]);

Its text is one logical line (backslashes continue it) and may use macros and the function's variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from polydl.errors import SourceError
from polydl.frontend.source import Edit, EditedText, line_of, one_line, without_comments

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+polydl\b", re.MULTILINE)
_REMEDY = "write: #pragma polydl microkernel(LOOPS) on the line before the call that LOOPS stand for"


@dataclass(frozen=True)
class Annotation:
    """A marked call and the loops that replace it. Offsets are in characters, ends exclusive."""

    #: text of the call
    call: str
    #: of the call, from 1
    line: int
    #: of the call in the original text
    start: int
    #: of the call in the file
    end: int
    #: of the loops in the edited text
    edited_start: int
    #: of the loops in the text with loops in place of calls
    edited_end: int


def substitute_annotations(text: str, file: str) -> tuple[EditedText, tuple[Annotation, ...]]:
    """Replace each marked call by its loops. Lines keep their numbers.

    Raises SourceError for a pragma that isn't complete or that no call follows.
    """
    clean = without_comments(text)
    edits: list[Edit] = []
    calls: list[tuple[int, int]] = []
    for match in _PRAGMA.finditer(clean):
        loops, end = _loops(clean, match.start(), match.end(), file)
        start, stop = _call(clean, end, file, line_of(text, match.start()))
        calls.append((start, stop))
        edits.append(Edit(start, stop, "{ " + loops + " }" + "\n" * text.count("\n", start, stop)))
    edited = EditedText(text).apply(edits)
    annotations = []
    shift = 0
    for (start, stop), edit in zip(calls, edits, strict=True):
        edited_end = start + shift + len(edit.replacement)
        call = one_line(without_comments(text[start:stop], keep_strings=True), limit=10_000)
        annotations.append(Annotation(call, line_of(text, start), start, stop, start + shift, edited_end))
        shift += len(edit.replacement) - (stop - start)
    return edited, tuple(annotations)


def _loops(clean: str, start: int, after: int, file: str) -> tuple[str, int]:
    """The loops in the pragma that begins at ``start``, and the end of its logical line."""
    end = clean.find("\n", after)
    while end >= 0 and clean[:end].rstrip("\r").endswith("\\"):
        end = clean.find("\n", end + 1)
    end = len(clean) if end < 0 else end
    content = re.sub(r"\\\r?\n", " ", clean[after:end]).strip()
    match = re.fullmatch(r"microkernel\s*\((.*)\)", content, re.DOTALL)
    if match is None or not match[1].strip() or not _balanced(match[1]):
        raise SourceError(
            "this polydl pragma is not complete",
            file=file,
            line=line_of(clean, start),
            construct=one_line(clean[start:end]),
            remedy=_REMEDY,
        )
    return match[1].strip(), end


def _call(clean: str, position: int, file: str, line: int) -> tuple[int, int]:
    match = re.compile(r"\s*([A-Za-z_]\w*)\s*\(").match(clean, position)
    if match is not None:
        depth = 0
        for place in range(match.end() - 1, len(clean)):
            depth += {"(": 1, ")": -1}.get(clean[place], 0)
            if depth == 0:
                end = re.compile(r"\s*;").match(clean, place + 1)
                if end is not None:
                    return match.start(1), end.end()
                break
    following = one_line(clean[position : position + 200].strip().split("\n")[0], 80)
    raise SourceError(
        "no call follows this microkernel pragma",
        file=file,
        line=line,
        construct=following or None,
        remedy=_REMEDY,
    )


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0

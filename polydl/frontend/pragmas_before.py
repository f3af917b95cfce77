"""Where a region begins together with the pragmas that are for its first loop."""

from __future__ import annotations

import re

from polydl.frontend.source import without_comments

# A directive of the preprocessor, and those of OpenMP that stand for themselves: they are not for what follows.
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)", re.DOTALL)
_ALONE = re.compile(r"omp[ \t]+(?:barrier|cancel|cancellation|flush|taskwait|taskyield)\b")
_LINE = re.compile(r"(?:[^\n\\]|\\\r?\n|\\.)*\n")


def with_pragmas(text: str, start: int) -> int:
    """The start of the region, extended by the pragmas right before it (``omp parallel for``).

    Comments and blank lines may stand in between, and the conditions of the preprocessor that pragmas are under.
    """
    before = without_comments(text)[:start].rstrip(" \t")
    if before and not before.endswith("\n"):
        return start
    lines = list(_LINE.finditer(before))
    begin, depth = start, 0
    for line in reversed(lines):
        if not line[0].strip():
            continue
        directive = _DIRECTIVE.fullmatch(line[0].rstrip())
        if directive is None:
            break
        kind, rest = directive.groups()
        depth += (kind == "endif") - kind.startswith("if")
        conditional = kind.startswith(("if", "endif")) or (kind.startswith("el") and depth > 0)
        if depth < 0 or not (conditional or (kind == "pragma" and not _ALONE.match(rest))):
            break
        if depth == 0:
            begin = line.start()
    return begin

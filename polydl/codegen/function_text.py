"""The user's function in emitted C: a tuned copy, and the function itself, which calls it where the processor can."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polydl import bfloat16
from polydl.codegen import processor
from polydl.codegen.unit_names import tuned_name
from polydl.ir.scop import Scop
from polydl.vector_functions import called

# Pragmas that only this tool reads, with their continuation lines.
_OWN_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop|polydl)\b(.*\\\n)*.*\n?", re.MULTILINE)


def region(scop: Scop, source: str = "") -> str:
    """The region as the user wrote it, without pragmas that only polydl reads; or as another ``source`` has it.

    The two differ within the region alone.
    """
    start, end = scop.region
    text = source or scop.source
    return _OWN_PRAGMA.sub("", text[start : end + len(text) - len(scop.source)]).strip("\n")


def with_region(scop: Scop, lines: Sequence[str]) -> str:
    """The source's function with other lines in place of its region, for people to read."""
    (first, _, last), (start, end) = scop.definition, scop.region
    return "\n".join([scop.source[first:start].rstrip(" \t\n"), *lines, scop.source[end:last].lstrip("\n")])


def with_both(
    scop: Scop, tuned: Sequence[str], beside: Sequence[str], exported: str, definitions: Sequence[str] = ()
) -> str:
    """The source with a copy of its function, in which the lines ``tuned`` stand for the region.

    The function itself keeps the region, and runs it on processors that lack what the copy is compiled to use.
    ``beside`` are functions that belong to it, ``definitions`` those that the copy calls. It is ``exported`` under that
    name.
    """
    source, name = scop.source, scop.function.name
    first, body, last = scop.definition
    start, end = scop.region
    copy = tuned_name(name)
    call = f"{copy}({', '.join(parameter.name for parameter in scop.function.parameters)});"
    calls = [f"    {call}", "    return;"] if scop.function.return_type == "void" else [f"    return {call}"]
    head = exported_text(scop, source[first:body])
    opening, after = source[body:start].rstrip(" \t\n"), source[end:last].lstrip("\n")
    function = [head, "  if (polydl_fits()) {", *calls, "  }", opening, region(scop), after]
    if exported != name:
        function = [f"#define {name} {exported}", *function, f"#undef {name}"]
    return "\n".join(
        [
            *before(scop),
            *definitions,
            f"#define {name} {copy}",
            f"static {head}{opening}",
            *tuned,
            after,
            f"#undef {name}",
            "",
            processor.for_all(*(part.strip("\n") for part in function if part), *beside),
            *([f"{rest}\n"] if (rest := source[last:].strip("\n")) else [""]),
        ]
    )


def before(scop: Scop) -> list[str]:
    """What precedes the function. Functions that the region calls are for all processors, too."""
    text = bfloat16.with_header(scop.source[: scop.definition[0]]).strip("\n")
    if any(re.search(rf"\b{name}\s*\(", text) for name in called(scop.statements)):
        return [processor.for_all(text)]
    return [text] if text else []


def exported_text(scop: Scop, text: str) -> str:
    """The function without ``static`` and ``inline``, so that the emitted library offers what its header declares."""
    pattern = rf"\b(?:static|inline|extern)\b\s*(?=[\w\s*]*\b{re.escape(scop.function.name)}\s*\()"
    return re.sub(pattern, "", text)

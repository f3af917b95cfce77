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

_BLANKS = r"(?:\s|/\*.*?\*/|//[^\n]*)*"
_CLOSED = rf"{_BLANKS}\)"
# Specifiers with which no other file can call a function, and attributes that do the same or ask for such specifiers.
_HIDING = re.compile(
    r"\b(?:static|inline|__inline|__inline__|extern)\b\s*"
    r"|\b(?:__)?(?:always_inline|gnu_inline)(?:__)?\b\s*(?:,\s*)?"
    r'|\b(?:__)?visibility(?:__)?\s*\(\s*"(?:hidden|internal)"\s*\)\s*(?:,\s*)?'
)
_NO_ATTRIBUTES = re.compile(r"\b__attribute(?:__)?\s*\(\s*\([\s,]*\)\s*\)\s*")


def region(scop: Scop, source: str = "") -> str:
    """The region as the user wrote it, without pragmas that only polydl reads; or as another ``source`` has it.

    The two differ within the region alone.
    """
    start, end = scop.region
    text = source or scop.source
    return _OWN_PRAGMA.sub("", text[start : end + len(text) - len(scop.source)]).strip("\n")


def with_region(scop: Scop, lines: Sequence[str]) -> str:
    """The source's function with other lines in place of its region, for people to read."""
    first, inside, _ = scop.definition
    opening, *rest = body(scop, lines)
    return "\n".join([scop.source[first:inside] + opening, *rest])


def body(scop: Scop, lines: Sequence[str]) -> list[str]:
    """What is behind the opening brace of the source's function, with other lines in place of its region."""
    (_, first, last), (start, end) = scop.definition, scop.region
    return [scop.source[first:start].rstrip(" \t\n"), *lines, scop.source[end:last].lstrip("\n")]


#: Before the definition of a function of the file alone that others of the file call. Where gcc 12 has rewritten the
#: addresses that a function writes to, it may take it for one that writes nothing, and leave calls of it out.
OPAQUE = ("#if defined __GNUC__ && !defined __clang__", "__attribute__((noipa))", "#endif")


def with_both(
    scop: Scop, tuned: Sequence[str], beside: Sequence[str], exported: str, definitions: Sequence[str] = ()
) -> str:
    """The source with a copy of its function, which has ``tuned`` behind its opening brace (``body``).

    The function itself keeps the region, and runs it on processors that lack what the copy is compiled to use.
    ``beside`` are functions that belong to it, ``definitions`` those that the copy calls. It is ``exported`` under that
    name.
    """
    name, last = scop.function.name, scop.definition[-1]
    copy = tuned_name(name)
    call = f"{copy}({', '.join(parameter.name for parameter in scop.function.parameters)});"
    calls = [f"    {call}", "    return;"] if scop.function.return_type == "void" else [f"    return {call}"]
    function = [
        head(scop),
        "  if (polydl_fits()) {",
        *calls,
        "  }",
        *body(scop, [processor.unless_alone(region(scop))]),
    ]
    if exported != name:
        function = [f"#define {name} {exported}", *function, f"#undef {name}"]
    return "\n".join(
        [
            *before(scop),
            *definitions,
            *copied(scop, copy, tuned),
            "",
            processor.for_all(*(part.strip("\n") for part in function if part), *beside),
            *([f"{rest}\n"] if (rest := scop.source[last:].strip("\n")) else [""]),
        ]
    )


def copied(scop: Scop, name: str, tuned: Sequence[str], attributes: str = "") -> list[str]:
    """A function of that name for this file alone, with the head of the source's and another body."""
    definition = [*OPAQUE, f"{attributes}static {head(scop)}{tuned[0]}", *tuned[1:]]
    return [f"#define {scop.function.name} {name}", *definition, f"#undef {scop.function.name}"]


def head(scop: Scop) -> str:
    """The source's function up to its opening brace, without what keeps other files from calling it."""
    before_name, behind_name = around_name(scop)
    return f"{_NO_ATTRIBUTES.sub('', _HIDING.sub('', before_name))}{scop.function.name}{behind_name}"


def around_name(scop: Scop) -> tuple[str, str]:
    """What is in front of the name of the source's function, and what is behind it up to the opening brace."""
    first, inside, _ = scop.definition
    text = scop.source[first:inside]
    named = re.search(rf"\b{re.escape(scop.function.name)}\b(?=(?:{_CLOSED})*{_BLANKS}\()", text, re.DOTALL)
    assert named is not None, "the front-end takes no function whose name or parameters a macro writes"
    return text[: named.start()], text[named.end() :]


def parameter_list(scop: Scop) -> str:
    """What ``around_name`` has behind the name, without parentheses that are round the name: ``(f)(int n)``."""
    return re.sub(rf"\A(?:{_CLOSED})+", "", around_name(scop)[1], flags=re.DOTALL)


def before(scop: Scop) -> list[str]:
    """What precedes the function. Functions that the region calls are for all processors, too."""
    text = bfloat16.with_header(scop.source[: scop.definition[0]]).strip("\n")
    if any(re.search(rf"\b{name}\s*\(", text) for name in called(scop.statements)):
        return [processor.for_all(text)]
    return [text] if text else []

"""One function out of emitted C, for people to read."""

from __future__ import annotations

import re

# What may hold a brace or a name that means nothing.
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def function_text(c: str, name: str) -> str | None:
    """The definition of the function ``name`` in the C text, from its return type to its closing brace.

    The first one, if there are several; None if the text doesn't have it in full, as where a macro writes its head.
    """
    code = _NO_CODE.sub(lambda passed: re.sub(r"[^\n]", " ", passed[0]), c)
    # Nothing that ends a statement stands between the name and the body.
    head = re.search(rf"^[^\n;{{}}#]*\b{re.escape(name)}\s*\([^;{{}}]*\)\s*\{{", code, re.MULTILINE)
    if head is None:
        return None
    depth = 0
    for place in range(head.end() - 1, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return c[head.start() : place + 1]
    return None

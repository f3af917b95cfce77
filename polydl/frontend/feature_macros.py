"""Macros of the user's C for which the headers of the C library declare more."""

from __future__ import annotations

import re
from collections.abc import Mapping

from polydl.frontend.macro_definitions import macro_definitions
from polydl.frontend.source import without_comments
from polydl.inclusions import inclusions

# With others the headers may hide what generated code needs.
_FEATURES = ("_GNU_SOURCE", "_DEFAULT_SOURCE")


def feature_macros(text: str, macros: Mapping[str, str]) -> dict[str, str]:
    """The values of those that a C text defines before it includes anything, or ``-D`` does (``macros``), by name."""
    code = without_comments(text, keep_strings=True)
    first = next((each.start for each in inclusions(code)), len(code))
    defined = [each for each in macro_definitions(code[:first]) if each.name in _FEATURES]
    written = {each.name: " ".join(re.sub(r"\\\r?\n", " ", each.body).split()) for each in defined}
    return written | {name: macros[name] for name in _FEATURES if name in macros}

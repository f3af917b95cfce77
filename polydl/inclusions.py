"""What the user's C includes, as its directives name it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Between the parts of a directive; a backslash at the end of a line joins it to the next one.
_SPACE = r"(?:[ \t]|\\\r?\n)*"
_DIRECTIVE = re.compile(
    rf'^[ \t]*#{_SPACE}(include|include_next|import|embed)\b{_SPACE}(?:"([^"\n]+)"|<([^>\n]+)>|[^\n]*)', re.MULTILINE
)
#: Where the system's headers are: those that are installed by hand, and those of its packages.
SYSTEM_FOLDERS = ("/usr/local/include", "/usr/include")
# By which compilers find headers in further folders, the first of these first.
_FOLDERS = ("CPATH", "C_INCLUDE_PATH")


@dataclass(frozen=True)
class Inclusion:
    """One directive."""

    #: ``include``, ``include_next``, ``import`` or ``embed``.
    kind: str
    #: As it is written; None where a macro computes it.
    name: str | None
    #: Whether the file is looked for beside the including one first.
    quoted: bool
    #: The directive's place in the text.
    start: int
    #: The directive itself.
    text: str


def inclusions(text: str) -> Iterator[Inclusion]:
    """All directives of a C text that include something, in their order; also those that a condition leaves out."""
    for directive in _DIRECTIVE.finditer(text):
        kind, quoted, in_brackets = directive.groups()
        yield Inclusion(kind, quoted or in_brackets, quoted is not None, directive.start(), directive[0])


def environment_folders() -> list[str]:
    """The folders behind those of ``-I`` in which the environment has compilers look for headers.

    Compilers take those of the system, such as /usr/include, as if they weren't named.
    """
    named = (folder for variable in _FOLDERS for folder in os.environ.get(variable, "").split(os.pathsep) if folder)
    return [folder for folder in dict.fromkeys(named) if os.path.realpath(folder) not in SYSTEM_FOLDERS]

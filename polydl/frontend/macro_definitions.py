"""The macros that a C text defines, whose bodies the front end changes in the view that pet reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from polydl.c_tokens import TokenKind, tokens
from polydl.frontend.source import without_comments

_DEFINITION = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<parameters>[^)]*)\))?(?P<body>(?:[^\\\n]|\\\r?\n|\\.)*)",
    re.MULTILINE,
)
_UNDEFINED = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
# Without others inside of them.
_PARENTHESES = re.compile(r"\([^()]*\)")
# At most one, which may be put together.
_OPERAND = re.compile(r"\s*(?:\w+(?:\s*##\s*\w+)*)?\s*")


@dataclass(frozen=True)
class MacroDefinition:
    """One definition; several may be of one name."""

    name: str
    #: offset of the body in the text
    start: int
    #: what stands behind the name and its parameters
    body: str
    #: their names; None where no parentheses follow the name
    parameters: tuple[str, ...] | None

    @property
    def is_operand(self) -> bool:
        """Whether the body is one operand wherever it stands: a number, a name, or what parentheses enclose."""
        body = without_comments(self.body)
        while (rest := _PARENTHESES.sub("", body)) != body:
            body = rest
        return _OPERAND.fullmatch(body) is not None

    def words(self) -> set[str]:
        """Identifiers and keywords of the body."""
        return {text for _, text in self._tokens(TokenKind.WORD)}

    def numbers(self) -> Iterator[tuple[int, str]]:
        """Numbers of the body with their offsets in the text."""
        return self._tokens(TokenKind.NUMBER)

    def strings(self) -> Iterator[tuple[int, str]]:
        """Strings and character constants of the body with their offsets in the text."""
        return self._tokens(TokenKind.STRING)

    def _tokens(self, kind: TokenKind) -> Iterator[tuple[int, str]]:
        start = self.start
        for token in tokens(self.body):
            if token.kind is kind:
                yield start, token.text
            start += len(token.text)


def macro_definitions(text: str) -> list[MacroDefinition]:
    """All definitions in the order of the text."""
    return [
        MacroDefinition(each["name"], each.start("body"), each["body"], _parameters(each["parameters"]))
        for each in _DEFINITION.finditer(text)
    ]


def _parameters(written: str | None) -> tuple[str, ...] | None:
    return None if written is None else tuple(each.strip() for each in written.split(",") if each.strip())


def hold_throughout(names: set[str], definitions: list[MacroDefinition], text: str) -> bool:
    """Whether each of these macros has one definition of the ``text``, which nothing there takes back."""
    times = Counter(each.name for each in definitions)
    return all(times[name] == 1 for name in names) and names.isdisjoint(_UNDEFINED.findall(text))


def reachable(names: set[str], definitions: list[MacroDefinition]) -> set[str]:
    """The macros of these names, and those in their bodies."""
    reached: set[str] = set()
    while more := {each.name for each in definitions if each.name in names} - reached:
        reached |= more
        names = names.union(*(each.words() for each in definitions if each.name in more))
    return reached

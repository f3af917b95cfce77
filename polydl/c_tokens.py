"""The preprocessing tokens of a C text (C11, 6.4), for what reads the user's C.

No text that polydl has written is read: what one has to know of it is a value, such as ``KernelSource.ingredients``.
Where the user's statements stand in such a text, all of it goes through here, to be changed and not to be understood.

Directives are tokens like the rest, their replacement lists included. (Lexers for highlighting, such as that of
Pygments, take a directive for one token, and ``x-1`` for ``x`` and ``-1``.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from fractions import Fraction
from typing import NamedTuple


class TokenKind(Enum):
    """What a token is."""

    #: with its delimiters; one of ``//`` without the end of its line
    COMMENT = "comment"
    #: a string or a character constant with its quotes; one that is not closed ends with its line
    STRING = "string"
    #: a preprocessing number (C11, 6.4.8)
    NUMBER = "number"
    #: an identifier or a keyword
    WORD = "word"
    #: blanks, and lines that a backslash joins
    SPACE = "space"
    #: the end of a line, which ends a directive
    LINE = "line"
    #: one character, or a shift
    PUNCTUATOR = "punctuator"


class Token(NamedTuple):
    """A part of a text. The texts of all its tokens, one after the other, are the text."""

    kind: TokenKind
    text: str


_COMMENT = r"(?P<COMMENT> //(?:\\\r?\n|[^\n])*? (?=\n|\Z) | /\*.*?(?:\*/|\Z) )"
_STRING = r"""(?P<STRING> "(?:\\.|[^"\\\n])*(?:"|\\\Z)? | '(?:\\.|[^'\\\n])*(?:'|\\\Z)? )"""
_NUMBER = r"(?P<NUMBER> \.?[0-9](?:[eEpP][-+]|[\w.])* )"
_WORD = r"(?P<WORD> [^\W\d]\w* )"
_SPACE = r"(?P<SPACE> (?:[^\S\n]|\\\r?\n)+ )"
_REST = r"(?P<LINE> \n ) | (?P<PUNCTUATOR> <<|>>|. )"


_DECIMAL = r"(?P<decimal> (?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)? | \d+[eE][-+]?\d+ )"
_HEXADECIMAL = r"0[xX](?P<digits> [\da-fA-F]+\.?[\da-fA-F]* | \.[\da-fA-F]+ )[pP](?P<power> [-+]?\d+ )"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile(" | ".join(alternatives), re.VERBOSE | re.DOTALL)


_GRAMMAR = _pattern(_COMMENT, _STRING, _NUMBER, _WORD, _SPACE, _REST)
_COMMENTS = _pattern(_COMMENT, _STRING)
_FLOATING = re.compile(f"(?:{_DECIMAL}|{_HEXADECIMAL})(?P<suffix> [fFlL]? )", re.VERBOSE | re.ASCII)
_BLANKS_OR_STRING = _pattern(_STRING, r"\s+")
_KINDS = {kind.name: kind for kind in TokenKind}
_BLANKS = frozenset({TokenKind.COMMENT, TokenKind.SPACE, TokenKind.LINE})


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a C text, blanks and comments included."""
    for match in _GRAMMAR.finditer(text):
        assert match.lastgroup is not None
        yield Token(_KINDS[match.lastgroup], match[0])


def code(parts: Sequence[Token], start: int = 0, count: int | None = None) -> list[int]:
    """The places of ``count`` tokens that are neither blank nor comment, from ``start`` on; of all without a count."""
    places: list[int] = []
    for place in range(start, len(parts)):
        if len(places) == count:
            break
        if parts[place].kind not in _BLANKS:
            places.append(place)
    return places


def one_blank_apart(text: str) -> str:
    """A C text without comments, and with one blank in place of several; strings stay as they are."""
    bare = _COMMENTS.sub(lambda match: " " if match.lastgroup == "COMMENT" else match[0], text)
    return _BLANKS_OR_STRING.sub(lambda match: match["STRING"] or " ", bare.strip())


def floating(token: Token) -> tuple[Fraction, str] | None:
    """The value and the suffix of a decimal or hexadecimal floating-point literal; None for any other token."""
    match = _FLOATING.fullmatch(token.text) if token.kind is TokenKind.NUMBER else None
    if match is None:
        # An integer, or a literal of an extension, such as 1.0f16.
        return None
    if match["digits"] is None:
        return Fraction(match["decimal"]), match["suffix"]
    whole, _, fraction = match["digits"].partition(".")
    value = Fraction(int(whole + fraction, 16), 16 ** len(fraction))
    return value * Fraction(2) ** int(match["power"]), match["suffix"]

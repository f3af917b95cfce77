"""The preprocessing tokens of a C text (C11, 6.4): what reads C that polydl has written looks at these alone.

Directives are tokens like the rest, their replacement lists included. (Lexers for highlighting, such as that of
Pygments, take a directive for one token, and ``x-1`` for ``x`` and ``-1``.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
# What is included without quotes, which is no token anywhere else.
_INCLUDED = r"(?P<INCLUDED> \#[^\S\n]*include[^\S\n]*<[^>\n]*> )"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile(" | ".join(alternatives), re.VERBOSE | re.DOTALL)


_GRAMMAR = _pattern(_COMMENT, _STRING, _NUMBER, _WORD, _SPACE, _REST)
_WORDS = _pattern(_COMMENT, _STRING, _NUMBER, _INCLUDED, _WORD)
_COMMENTS = _pattern(_COMMENT, _STRING)
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


def with_words(text: str, renamed: Callable[[str], str]) -> str:
    """A C text with other identifiers; names of included files, strings and comments stay."""

    def changed(match: re.Match[str]) -> str:
        return renamed(match[0]) if match.lastgroup == "WORD" else match[0]

    # Not by all tokens: it takes a tenth of the time to step over those that stay.
    return _WORDS.sub(changed, text)


def without_comments(text: str) -> str:
    """A C text with a blank for each comment."""
    return _COMMENTS.sub(lambda match: " " if match.lastgroup == "COMMENT" else match[0], text)


class Directive(NamedTuple):
    """A line for the preprocessor."""

    #: ``include``, ``define``, …
    name: str
    #: the places of all its tokens, from ``#`` up to the end of its last line, which is not among them
    places: range


def directives(parts: Sequence[Token]) -> Iterator[Directive]:
    """The directives among all tokens of a text."""
    begins, place = True, 0
    while place < len(parts):
        token = parts[place]
        if begins and token.text == "#":
            end = next((at for at in range(place, len(parts)) if parts[at].kind is TokenKind.LINE), len(parts))
            name = code(parts[:end], place + 1, 1)
            yield Directive(parts[name[0]].text if name else "", range(place, end))
            place = end
            continue
        begins = token.kind is TokenKind.LINE or (begins and token.kind in _BLANKS)
        place += 1


def floating(token: Token) -> tuple[Fraction, str] | None:
    """The value and the suffix of a decimal floating-point literal; None for any other token."""
    if token.kind is not TokenKind.NUMBER or token.text[:2] in ("0x", "0X"):
        return None
    digits = token.text[:-1] if token.text[-1] in "fFlL" else token.text
    if not any(letter in digits for letter in ".eE"):
        return None
    try:
        return Fraction(digits), token.text[len(digits) :]
    except ValueError:
        # A literal of an extension, such as 1.0f16.
        return None

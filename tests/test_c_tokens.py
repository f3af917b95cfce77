"""C's tokens: what stands in directives is read, what stands in comments and strings is not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from polydl.c_tokens import Token, TokenKind, code, floating, one_blank_apart, tokens


def _code(text: str) -> list[str]:
    parts = list(tokens(text))
    return [parts[place].text for place in code(parts)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x-1.5e-3f", ["x", "-", "1.5e-3f"]),
        ("a<<16>>b", ["a", "<<", "16", ">>", "b"]),
        ("/* a */ b // c \\\n d\ne", ["b", "e"]),
        ('"/* \\" */" f', ['"/* \\" */"', "f"]),
        ("'\\'' 'x", ["'\\''", "'x"]),
        ("#define A 0x1fu /* b", ["#", "define", "A", "0x1fu"]),
        ('"open\nx', ['"open', "x"]),
        (".5.x", [".5.x"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert _code(text) == expected
    assert "".join(token.text for token in tokens(text)) == text


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("0.75f", (Fraction(3, 4), "f")),
        ("2.", (Fraction(2), "")),
        ("1e2L", (Fraction(100), "L")),
        ("12", None),
        ("0x1.8p3", (Fraction(12), "")),
        ("0X.8P-1f", (Fraction(1, 4), "f")),
        ("0xAp0L", (Fraction(10), "L")),
        (".5e+1", (Fraction(5), "")),
        ("0x1f", None),
        ("1.0f16", None),
    ],
)
def test_floating_literals(literal: str, expected: tuple[Fraction, str] | None) -> None:
    (token,) = tokens(literal)
    assert token == Token(TokenKind.NUMBER, literal)
    assert floating(token) == expected


def test_blanks_and_comments_count_for_nothing_but_in_strings() -> None:
    text = 'a /* "b" */  = //c\n "/* d */  e" \n\n + \'  \';\n'
    assert one_blank_apart(text) == "a = \"/* d */  e\" + '  ';"

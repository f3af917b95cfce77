"""Edited texts can be traced back, and comments are told from code."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polydl.frontend.pet import parse
from polydl.frontend.source import Edit, EditedText, line_of, one_line, without_comments
from polydl.inclusions import inclusions


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(st.text("ab\n", max_size=20))
    edits = []
    position = 0
    while position < len(text) and draw(st.booleans()):
        start = draw(st.integers(position, len(text)))
        end = draw(st.integers(start, len(text)))
        edits.append(Edit(start, end, draw(st.text("XY\n", max_size=4))))
        position = end + 1
    return text, edits


@given(texts_with_edits(), texts_with_edits())
def test_what_was_not_edited_leads_back_to_itself(
    first: tuple[str, list[Edit]], second: tuple[str, list[Edit]]
) -> None:
    text, edits = first
    edited = EditedText(text).apply(edits)
    again = edited.apply([edit for edit in second[1] if edit.end <= len(edited.text)])
    for view in (edited, again):
        assert len(view.origins) == len(view.text) + 1
        assert view.origins == sorted(view.origins)
        assert view.origins[-1] == len(text)
        for position, character in enumerate(view.text):
            if character in "ab":
                assert text[view.origins[position]] == character


@given(texts_with_edits())
def test_edits_apply_as_text_replacement_from_the_end(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.replacement + expected[edit.end :]
    assert EditedText(text).apply(edits).text == expected


@given(texts_with_edits())
def test_origins_cross_in_short(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    edited = EditedText(text).apply(edits)
    copy = EditedText.from_breakpoints(edited.text, edited.breakpoints())
    assert copy.origins == edited.origins


def test_overlapping_edits_are_refused_and_equal_ones_count_once() -> None:
    with pytest.raises(ValueError, match="overlapping"):
        EditedText("abcdef").apply([Edit(0, 3, ""), Edit(2, 4, "")])
    assert EditedText("abc").apply([Edit(1, 2, "X"), Edit(1, 2, "X")]).text == "aXc"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a // b\nc", "a     \nc"),
        ("a /* b\nc */ d", "a     \n     d"),
        ("a // b \\\n c\nd", "a       \n  \nd"),
        ('a "// b" c', "a        c"),
        ("a '\"' b /* */", "a     b      "),
        (r'a "\"/*" b', "a        b"),
        ("a / b /= c", "a / b /= c"),
        ("/* open", "       "),
    ],
)
def test_comments_and_strings_are_blanked_in_place(text: str, expected: str) -> None:
    assert without_comments(text) == expected
    assert len(without_comments(text)) == len(text)


def test_strings_may_be_kept() -> None:
    assert without_comments('f("/* */"); // g', keep_strings=True).rstrip() == 'f("/* */");'


def test_lines_count_from_one() -> None:
    assert [line_of("a\nb\n", offset) for offset in range(5)] == [1, 1, 2, 2, 3]


def test_quotes_are_short_and_readable() -> None:
    assert one_line("a\n   b\t c") == "a b c"
    assert one_line("x" * 300) == "x" * 159 + "…"
    assert one_line("größer".encode().decode("latin-1")) == "größer"


def test_directives_that_include_are_read_as_they_are_written() -> None:
    text = '#include <a.h>\nint x;\n # include "b c.h" // why\n#include \\\n  "d.h"\n#embed "e.bin"\n#include NAME\n'
    read = list(inclusions(text))
    assert [(each.kind, each.name, each.quoted) for each in read] == [
        ("include", "a.h", False),
        ("include", "b c.h", True),
        ("include", "d.h", True),
        ("embed", "e.bin", True),
        ("include", None, False),
    ]
    assert all(text[each.start :].startswith(each.text) for each in read)
    assert not list(inclusions('#includes "a.h"\nputs("#include <b.h>");\n'))


@pytest.mark.native
def test_values_of_other_types_are_converted_before_one_is_chosen() -> None:
    """C converts each to the type of what it is assigned to, and those of ``?:`` to one that both have in common."""
    scop = parse(Path(__file__).parent / "nests" / "choices_of_types.c")
    casts = [[node.text for node in each.body.walk() if node.kind == "cast"] for each in scop.statements]
    assert casts == [["long"], ["float"] * 2, ["long"] * 2, ["double"] * 2, [], ["unsigned char"] * 2, [], [], []]

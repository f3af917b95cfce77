"""Choices by data and ``do`` loops that macros stand for, written out where the macros are used.

With ``#define RAISE(x, v) do { if ((v) > (x)) (x) = (v); } while (0)``, ``RAISE(a[i], b[i]);`` is ``{ if ((b[i]) >
(a[i])) (a[i]) = (b[i]); };``, of which an assignment can be made. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re

from polydl.frontend.assignments import matching
from polydl.frontend.facts import Branch
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.macro_definitions import MacroDefinition, hold_throughout, macro_definitions
from polydl.frontend.source import Edit, without_comments

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_JOINED = re.compile(r"\\\r?\n")
# What makes text of arguments or joins them, and quotes, in whose place the text without comments has blanks.
_TEXT = re.compile(r"[#\"']")


def macro_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that put what such macros stand for in their place; none is left when there are no edits."""
    places = {each.offset for each in reader.branches if each.kind == "while" or _chooses_by_data(each)}
    text = without_comments(reader.text) if places else ""
    definitions = macro_definitions(text)
    edits: list[Edit] = []
    for place in sorted(places):
        name = _WORD.match(text, place)
        definition = next((each for each in definitions if name is not None and each.name == name[0]), None)
        if definition is None or not hold_throughout({definition.name}, definitions, text):
            continue
        expanded = _expanded(definition, place, text)
        if expanded is not None and not _TEXT.search(reader.text[place : expanded.end]):
            edits.append(expanded)
    return edits


def _chooses_by_data(branch: Branch) -> bool:
    return branch.kind == "if" and branch.data_dependent


def _expanded(definition: MacroDefinition, start: int, text: str) -> Edit | None:
    """The macro that is used at an offset of the text, written out; None where its words are more than text."""
    body = _JOINED.sub(" ", definition.body)
    end = start + len(definition.name)
    arguments: dict[str, str] = {}
    if definition.parameters is not None:
        opening = end + len(text[end:]) - len(text[end:].lstrip())
        closing = matching(text, opening) if text.startswith("(", opening) else None
        if closing is None:
            return None
        values = _separated(text[opening + 1 : closing])
        if len(values) != len(definition.parameters):
            return None
        arguments = dict(zip(definition.parameters, values, strict=True))
        end = closing + 1
    if _TEXT.search(body) or definition.name in _WORD.findall(body):
        return None
    return Edit(start, end, _WORD.sub(lambda word: arguments.get(word[0], word[0]), body).strip())


def _separated(arguments: str) -> list[str]:
    """What the commas between a macro's arguments separate."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [each.strip() for each in parts]

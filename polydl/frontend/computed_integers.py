"""What bounds, conditions and subscripts are computed from that aren't affine, and what to write in their place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from polydl.frontend.facts import SourceFacts, VariableFacts
from polydl.frontend.source import Place

#: operators on bits
ON_BITS = re.compile(r"(?<!&)&(?!&)|\^|(?<!\|)\|(?!\|)|<<|>>|~")
_CALL = re.compile(r"\b(?!for\b|if\b|sizeof\b)([A-Za-z_]\w*)\s*\(")
_SHIFTED_BY = re.compile(r"(?:<<|>>)[\s(]*([A-Za-z_]\w*)")


@dataclass(frozen=True)
class _Value:
    """A place that gives an integer a value."""

    variable: VariableFacts
    #: of the variable's name in the text
    start: int
    #: of what ends the expression
    end: int


@dataclass(frozen=True)
class Computed:
    """Headers, conditions and subscripts of a part of the text, with what the integers in them are computed from."""

    facts: SourceFacts
    place: Place
    #: of the part
    start: int
    #: behind the part
    end: int
    #: what gives the integers in it their values, and those in these
    values: tuple[_Value, ...]

    @staticmethod
    def of(facts: SourceFacts, start: int, end: int, place: Place) -> Computed:
        """Those from one offset up to another."""
        values: list[_Value] = []
        asked = [variable for variable in facts.variables if _decides(variable, start, end)]
        known: list[VariableFacts] = []
        while asked:
            variable = asked.pop()
            if variable in known or not variable.shape.is_scalar_integer or variable.loop_counter:
                continue
            known.append(variable)
            for value in _values(variable, place.text):
                values.append(value)
                asked += [each for each in facts.variables if each.within(value.start, value.end)]
        return Computed(facts, place, start, end, tuple(values))

    def of_constants(self) -> str:
        """What to write where elements of constant arrays decide, and no other data; "" where they don't."""
        data = self._data()
        if not data or not all(each.shape.extents and each.shape.is_const for each in data):
            return ""
        # What a parameter points to is another at the next call.
        if any(each.storage == "parameter" for each in data):
            return ""
        name = data[0].name
        return (
            f"write it once for each element of {name}, with the number in the element's place; elements of arrays "
            "are data, constant ones as well"
        )

    def on_bits(self) -> str:
        """Which integer that decides is computed with operators on bits; "" where none is, or data decides."""
        text = self.place.text
        for value in self.values if not self._data() else ():
            if ON_BITS.search(text[value.start : value.end]):
                return (
                    f"{value.variable.name} is computed with operators on bits in line {self.place.line(value.start)}"
                )
        return ""

    def more_than_sums(self) -> str:
        """What to write where loop counters and sizes decide, by more than sums; "" where data or iterations before do.

        Nobody knows here what a call returns.
        """
        text = self.place.text
        parts = [text[self.start : self.end], *(text[value.start : value.end] for value in self.values)]
        called = {name for part in parts for name in _CALL.findall(part)}
        called -= {name for name in called if re.search(rf"#\s*define\s+{name}\b", text)}
        carried = any(use.role == "update" for value in self.values for use in value.variable.references)
        if self._data() or called or carried:
            return ""
        counters = {variable.name for variable in self.facts.variables if variable.loop_counter}
        shifting = [name for part in parts for name in _SHIFTED_BY.findall(part) if name in counters]
        remedy = "write sums of sizes and of loop counters times constants, such as 2 * i + 1; "
        if shifting:
            return f"{remedy}where {shifting[0]} shifts, write what it decides once for each value of {shifting[0]}"
        return f"{remedy}products and quotients of counters can't be modelled"

    def open_integers(self) -> list[tuple[VariableFacts, int]]:
        """The integers without a known value that decide, each with the offset of a use; none where data decides."""
        parts = [(self.start, self.end), *((value.start, value.end) for value in self.values)]
        found = []
        for variable in self.facts.variables if not self._data() else ():
            is_open = variable.storage in ("parameter", "global") and variable.name not in self.facts.bound
            uses = [use.offset for start, end in parts for use in variable.within(start, end)]
            if is_open and uses and variable.shape.is_scalar_integer and not _values(variable, self.place.text):
                found.append((variable, uses[0]))
        return found

    def unknown_results(self) -> str:
        """The functions of the file whose results decide, in words; "" where there are none, or data decides."""
        text = self.place.text
        parts = [text[self.start : self.end], *(text[value.start : value.end] for value in self.values)]
        named = {name for part in parts for name in _CALL.findall(part)}
        names = sorted(each.name for each in self.facts.callees if each.name in named)
        return "" if self._data() else " and ".join(names)

    def _data(self) -> list[VariableFacts]:
        """The arrays and the floating-point numbers that decide."""
        return [
            variable
            for variable in self.facts.variables
            if not variable.shape.is_scalar_integer
            and (
                _decides(variable, self.start, self.end)
                or any(variable.within(value.start, value.end) for value in self.values)
            )
        ]


def _decides(variable: VariableFacts, start: int, end: int) -> bool:
    return any(use.control for use in variable.within(start, end))


def _values(variable: VariableFacts, text: str) -> list[_Value]:
    """What gives an integer its values."""
    starts = [use.offset for use in variable.references if use.role in ("write", "update")]
    if variable.initialized and variable.offset >= 0:
        starts.append(variable.offset)
    return [_Value(variable, start, _end(text, start)) for start in sorted(starts)]


def _end(text: str, start: int) -> int:
    """Where an expression that begins at an offset ends: at a semicolon, or at a comma outside of its parentheses."""
    depth = 0
    for place, character in enumerate(text[start:], start):
        depth += (character in "([") - (character in ")]")
        if depth < 0 or character == ";" or (character == "," and depth == 0):
            return place
    return len(text)

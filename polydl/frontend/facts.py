"""What libclang's pass found out about a file, as it crosses from the child process.

Offsets refer to the text that the pass was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from polydl.frontend.source import EditedText

Role = Literal["read", "write", "update", "address", "element"]
VariableStorage = Literal["parameter", "global", "local", "static"]
BranchKind = Literal["for", "while", "if", "break", "continue"]

# Operators and constants, whatever the case of their letters.
_WORDS_OF_ISL = {
    *("and", "or", "not", "implies", "exists", "true", "false", "min", "max", "mod"),
    *("floor", "ceil", "floord", "ceild", "rat", "infty", "infinity"),
}


def is_word_of_isl(name: str) -> bool:
    """Whether isl reads the name as something else, so that it can't name a loop counter."""
    return name.lower() in _WORDS_OF_ISL


@dataclass(frozen=True)
class Shape:
    """A variable's type. An extent is None where the type doesn't tell it; ``problem`` says what can't be modelled."""

    element: str
    element_bytes: int
    extents: tuple[int | None, ...]
    is_pointer: bool
    is_const: bool
    is_integer: bool
    problem: str | None

    @property
    def is_scalar_integer(self) -> bool:
        return self.is_integer and not self.extents and self.problem is None


@dataclass(frozen=True)
class Reference:
    """One use of a variable.

    ``spelled`` is its place in the text, or -1 where a macro's body spells it. ``control`` marks a use in a loop's
    header, a condition or a subscript, ``conditional`` one that may not be reached.
    """

    offset: int
    spelled: int
    role: Role
    control: bool
    conditional: bool


@dataclass(frozen=True)
class VariableFacts:
    """``shown`` is the variable's name for pet: an array's, where an integer ``carries_data``.

    ``sizes`` names the variables in the declaration of an array whose extents aren't constants.
    """

    name: str
    shown: str
    carries_data: bool
    storage: VariableStorage
    shape: Shape
    offset: int
    loop_counter: bool
    initialized: bool
    sizes: tuple[str, ...]
    references: tuple[Reference, ...]

    def within(self, start: int, end: int) -> tuple[Reference, ...]:
        return tuple(reference for reference in self.references if start <= reference.offset < end)


@dataclass(frozen=True)
class Construct:
    """Something that the model can't hold, at an offset; it matters if it lies in the region."""

    offset: int
    message: str
    text: str
    remedy: str


@dataclass(frozen=True)
class Branch:
    """A loop or a condition: where it starts and ends, and whether arrays decide it."""

    kind: BranchKind
    offset: int
    end: int
    header: str
    data_dependent: bool


@dataclass(frozen=True)
class FunctionFacts:
    """``parameters`` are names with declarations."""

    name: str
    return_type: str
    offset: int
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SourceFacts:
    """``shown`` is the view of the file that pet reads.

    ``bound`` are the parameters that ``-D`` gave a value, ``macros`` the defines that are none.
    """

    shown: EditedText
    function: FunctionFacts
    region: tuple[int, int] | None
    bound: Mapping[str, int]
    macros: Mapping[str, str]
    variables: tuple[VariableFacts, ...]
    constructs: tuple[Construct, ...]
    branches: tuple[Branch, ...]

    @staticmethod
    def from_json(result: Mapping[str, Any]) -> SourceFacts:
        function = result["function"]
        return SourceFacts(
            shown=EditedText.from_breakpoints(result["shown"]["text"], result["shown"]["breakpoints"]),
            function=FunctionFacts(
                function["name"],
                function["return_type"],
                function["offset"],
                tuple((name, text) for name, text in function["parameters"]),
            ),
            region=None if result["region"] is None else (result["region"][0], result["region"][1]),
            bound=result["bound"],
            macros=result["macros"],
            variables=tuple(_variable(fields) for fields in result["variables"]),
            constructs=tuple(Construct(**fields) for fields in result["constructs"]),
            branches=tuple(Branch(**fields) for fields in result["branches"]),
        )


def _variable(fields: Mapping[str, Any]) -> VariableFacts:
    shape = Shape(**{**fields["shape"], "extents": tuple(fields["shape"]["extents"])})
    references = tuple(Reference(**reference) for reference in fields["references"])
    return VariableFacts(**{**fields, "shape": shape, "sizes": tuple(fields["sizes"]), "references": references})

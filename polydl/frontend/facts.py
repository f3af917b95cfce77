"""The facts about a file that libclang's pass returns from the child process.

Offsets refer to the text that the pass was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from polydl.frontend.source import Edit, EditedText, one_line
from polydl.ir.scop import PureFunction

Role = Literal["read", "write", "update", "address", "element"]
VariableStorage = Literal["parameter", "global", "local", "static"]
BranchKind = Literal["for", "while", "if", "break", "continue"]

# Characters of a construct.
_MOST_QUOTED = 120
# What to do about a struct.
MEMBERS = (
    "keep each member in an array of its own, re[i] and im[i] for x[i].re and x[i].im, and pass these; "
    "pass s->x to the function as float *x where it is an array"
)
#: What to do about unsigned numbers below 0.
SIGNED = "compute it with signed integers, or write it so that no value is below 0, such as (i + n - 1) % n"
#: What names of functions begin with that pet would take for its own.
CALLED = "polydl_called_"
# Operators and constants of isl's syntax, in which case doesn't matter.
_WORDS_OF_ISL = {
    *("and", "or", "not", "implies", "exists", "true", "false", "min", "max", "mod"),
    *("floor", "ceil", "floord", "ceild", "rat", "infty", "infinity"),
}


def is_word_of_isl(name: str) -> bool:
    """Whether isl reads the name as a keyword, so that it can't name a loop counter."""
    return name.lower() in _WORDS_OF_ISL


@dataclass(frozen=True)
class DeclaredType:
    """The type of a variable."""

    #: canonical C type of an element
    element: str
    #: of an element
    element_bytes: int
    #: outermost first; None where the type has no constant extent
    extents: tuple[int | None, ...]
    #: whether it is a pointer
    is_pointer: bool
    #: whether what it holds or points to is ``const``
    is_const: bool
    #: whether elements are integers
    is_integer: bool
    #: why a Scop can't represent the type; None if it can
    problem: str | None

    @property
    def is_scalar_integer(self) -> bool:
        """Whether it is a single integer of a type that a Scop can represent."""
        return self.is_integer and not self.extents and self.problem is None


@dataclass(frozen=True)
class VariableUse:
    """One use of a variable."""

    #: of the use, or of the macro call that contains it
    offset: int
    #: offset of the name in the text; -1 where the body of a macro contains it
    spelled: int
    #: ``element`` for the array of a subscript
    role: Role
    #: whether it is in a loop's header, a condition or a subscript
    control: bool
    #: whether it may not be reached
    conditional: bool
    #: whether it is the address of an argument of a function of the C library, which keeps none
    lent: bool = False


@dataclass(frozen=True)
class VariableFacts:
    """A variable of the function."""

    name: str
    #: its name in the view that pet reads
    shown: str
    #: whether it is an integer that holds data, not a size or an index; pet reads it as an array of one element
    carries_data: bool
    storage: VariableStorage
    shape: DeclaredType
    #: of the declaration; -1 in another file
    offset: int
    #: whether a loop counts with it
    loop_counter: bool
    #: whether the declaration has an initializer
    initialized: bool
    #: variables in the extents of its declaration
    sizes: tuple[str, ...]
    #: its uses in the function, in the order of the text
    references: tuple[VariableUse, ...]

    @property
    def is_local_pointer(self) -> bool:
        """Whether it is a pointer that the function declares."""
        return self.shape.is_pointer and self.storage != "parameter"

    def within(self, start: int, end: int) -> tuple[VariableUse, ...]:
        """Its uses from one offset up to another, which is not included."""
        return tuple(reference for reference in self.references if start <= reference.offset < end)


@dataclass(frozen=True)
class ReplacedPointer:
    """A local pointer in whose place the view that pet reads has the array that it points into."""

    name: str
    #: of the declaration
    offset: int
    #: offsets of its elements
    used: tuple[int, ...]


@dataclass(frozen=True)
class Construct:
    """A construct that a Scop can't represent; it is an error if it is in the region."""

    #: of its first character in the text
    offset: int
    #: behind its last one
    end: int
    #: of the error
    message: str
    #: of the construct
    text: str
    #: what to write in its place
    remedy: str
    #: whether pet follows it without end, wherever in a function without a marked region it is
    endless: bool = False
    #: what jumps and what they lead to are, ``goto`` or ``label``, and what calls are: ``call``; "" for anything else
    kind: str = ""

    def as_written(self, view: EditedText, text: str) -> Construct:
        """The same of the ``text`` that the ``view`` was made from, with what stands there."""
        start, end = view.origins[self.offset], view.origins[self.end]
        return replace(self, offset=start, end=end, text=first_line(text[start:end]) or self.text)


def first_line(construct: str) -> str:
    """A construct as messages quote it."""
    return one_line(construct.split("\n")[0], _MOST_QUOTED)


@dataclass(frozen=True)
class Branch:
    """A loop or a condition."""

    kind: BranchKind
    #: of its first character in the text
    offset: int
    #: of what it controls; behind its last character if that is nothing
    body: int
    #: behind its last character
    end: int
    #: whether elements of arrays decide it
    data_dependent: bool


@dataclass(frozen=True)
class Directive:
    """A directive of OpenMP."""

    #: as libclang calls its kind: ``PARALLEL_FOR``, ``GENERIC_LOOP`` for ``omp loop``
    name: str
    #: of its first character in the text, or of the macro that stands for it
    offset: int
    #: of its statement; behind the directive if it has none
    body: int
    #: behind the statement's last character
    end: int


@dataclass(frozen=True)
class DeclaredParameter:
    """A parameter of the function, as prototypes declare it (``ir.scop.Parameter``)."""

    name: str
    declaration: str
    sized: str
    name_in_header: str
    in_header: str
    sized_in_header: str


@dataclass(frozen=True)
class FunctionFacts:
    """The function to read."""

    name: str
    #: in libclang's words, without typedefs
    return_type: str
    #: of its definition
    offset: int
    #: offsets of the definition's start, of its body behind the brace, and of its end
    extent: tuple[int, int, int]
    #: in the order of the signature
    parameters: tuple[DeclaredParameter, ...]


@dataclass(frozen=True)
class Excerpt:
    """What generated code takes over of a file."""

    #: of the text as the user wrote it
    edits: tuple[Edit, ...] = ()
    #: variables that no other file sees, and that may change
    private: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceFacts:
    """All facts about a file."""

    #: the view of the file that pet reads
    shown: EditedText
    function: FunctionFacts
    excerpt: Excerpt
    #: the marked region; None if there is none
    region: tuple[int, int] | None
    #: values of integer parameters that ``-D`` fixed
    bound: Mapping[str, int]
    #: the other defines
    macros: Mapping[str, str]
    #: those that the function declares or uses
    variables: tuple[VariableFacts, ...]
    #: those that name parts of arrays, which the view that pet reads does without
    pointers: tuple[ReplacedPointer, ...]
    #: in the function, in the order of the walk
    constructs: tuple[Construct, ...]
    #: in the function, in the order of the walk
    branches: tuple[Branch, ...]
    #: in the function
    directives: tuple[Directive, ...]
    #: the file's functions that are called, by their names
    callees: tuple[PureFunction, ...]
    #: the types of casts as they are written, and as elements of arrays have them: ``uint8_t``, ``unsigned char``
    cast_types: Mapping[str, str]
    #: bytes of the largest file that is included, directly or not
    largest_header: int

    @staticmethod
    def from_json(result: Mapping[str, Any]) -> SourceFacts:
        """The facts that the child process has written (``clang_worker.read``)."""
        function = result["function"]
        return SourceFacts(
            shown=EditedText.from_breakpoints(result["shown"]["text"], result["shown"]["breakpoints"]),
            function=FunctionFacts(
                function["name"],
                function["return_type"],
                function["offset"],
                (function["extent"][0], function["extent"][1], function["extent"][2]),
                tuple(DeclaredParameter(**fields) for fields in function["parameters"]),
            ),
            excerpt=Excerpt(
                tuple(Edit(**edit) for edit in result["excerpt"]["edits"]), tuple(result["excerpt"]["private"])
            ),
            region=None if result["region"] is None else (result["region"][0], result["region"][1]),
            bound=result["bound"],
            macros=result["macros"],
            variables=tuple(_variable(fields) for fields in result["variables"]),
            pointers=tuple(ReplacedPointer(**{**each, "used": tuple(each["used"])}) for each in result["pointers"]),
            constructs=tuple(Construct(**fields) for fields in result["constructs"]),
            branches=tuple(Branch(**fields) for fields in result["branches"]),
            directives=tuple(Directive(**fields) for fields in result["directives"]),
            callees=tuple(PureFunction(**{**each, "calls": tuple(each["calls"])}) for each in result["callees"]),
            cast_types=result["cast_types"],
            largest_header=result["largest_header"],
        )


def _variable(fields: Mapping[str, Any]) -> VariableFacts:
    shape = DeclaredType(**{**fields["shape"], "extents": tuple(fields["shape"]["extents"])})
    references = tuple(VariableUse(**reference) for reference in fields["references"])
    return VariableFacts(**{**fields, "shape": shape, "sizes": tuple(fields["sizes"]), "references": references})

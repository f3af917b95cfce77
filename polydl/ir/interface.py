"""What callers of a kernel are told: its prototype, and what they can rely on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """Something that callers can rely on, or must see to."""

    #: one or two words
    topic: str
    #: whole sentences
    text: str


@dataclass(frozen=True)
class Prototype:
    """How a function is declared, without a semicolon."""

    #: as its definition in C has it
    text: str = ""
    #: for C++, and for C as well where ``sized_in_header`` is ""
    in_header: str = ""
    #: for C where it has extents that C++ does not take, such as parameters; "" elsewhere
    sized_in_header: str = ""
    #: whether it has the type ``bool`` in headers, which C has from <stdbool.h>
    has_bool: bool = False


@dataclass(frozen=True)
class PreparedCalls:
    """The two functions that do what the kernel's does, in two steps, and how large the buffer between them is."""

    #: of the function that fills the buffer
    prepare: Prototype
    #: of the function that takes the buffer
    run: Prototype
    #: of the buffer
    bytes: int


@dataclass(frozen=True)
class Interface:
    """The content of a kernel's header."""

    #: name of the function
    function: str
    #: of the function; those who ask for names alone need none
    prototype: Prototype = Prototype()
    #: what callers must know, for the header's comment
    clauses: tuple[Clause, ...] = ()
    #: None unless the nest has constants
    prepared: PreparedCalls | None = None

    @property
    def prepare(self) -> str:
        """Name of the function that prepares constants."""
        return f"{self.function}_prepare"

    @property
    def run(self) -> str:
        """Name of the function that uses prepared constants."""
        return f"{self.function}_run"

    @property
    def prepared_bytes(self) -> str:
        """Name of the function that says how large the buffer of prepared constants is."""
        return f"{self.function}_prepared_bytes"

    @property
    def release(self) -> str:
        """Name of the function that frees what a thread keeps."""
        return f"{self.function}_release"

    @property
    def missing(self) -> str:
        """Name of the function that says what the processor lacks."""
        return f"{self.function}_missing"

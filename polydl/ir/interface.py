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
class Interface:
    """The content of a kernel's header."""

    #: name of the function
    function: str
    #: of the function, without a semicolon
    prototype: str
    clauses: tuple[Clause, ...] = ()

    @property
    def release(self) -> str:
        """Name of the function that frees what a thread keeps."""
        return f"{self.function}_release"

    @property
    def missing(self) -> str:
        """Name of the function that says what the processor lacks."""
        return f"{self.function}_missing"

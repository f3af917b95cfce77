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
class PreparedCalls:
    """The two functions that do what the kernel's does, in two steps, and how large the buffer between them is."""

    #: of the function that fills the buffer, as C takes it, without a semicolon
    prepare: str
    #: of the function that takes the buffer, likewise
    run: str
    #: of the buffer
    bytes: int
    #: ``prepare`` and ``run`` as C++ takes them, which has no extents that depend on parameters
    for_cplusplus: tuple[str, str]


@dataclass(frozen=True)
class Interface:
    """The content of a kernel's header."""

    #: name of the function
    function: str
    #: of the function, as C takes it, without a semicolon
    prototype: str
    #: what callers must know, for the header's comment
    clauses: tuple[Clause, ...] = ()
    #: None unless the nest has constants
    prepared: PreparedCalls | None = None
    #: ``prototype`` as C++ takes it; "" where it is the same
    for_cplusplus: str = ""

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

"""What the arrays of a nest hold when it is measured, where that is not random."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Initializer:
    """A function of the source file that fills arrays."""

    function: str
    #: text of the source file, without what the function doesn't need
    source: str
    #: C of its arguments, from the pointers to the nest's own (``KernelSource.harness``)
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Inputs:
    """Arrays in a NumPy file."""

    #: absolute path
    path: str
    #: of the file's content
    digest: str

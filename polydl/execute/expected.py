"""What kernels are compared with: the builds of the original nest, and the results of its checked runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polydl.execute.comparison import Noise
from polydl.execute.contract import Built
from polydl.execute.job import Job

ONCE = "checked with one set of data only, since a run takes long"
ONCE_GIVEN = "checked with one set of data only, since the source has no result for half of the given numbers"


@dataclass(frozen=True)
class Exact:
    """The result of the first checked run in wider floating-point types, and the errors of the reference against it."""

    #: of the file with the results
    path: Path
    #: of each array in the file, bytes
    offsets: dict[str, int]
    #: C types in the file, by array
    elements: dict[str, str]
    #: norm-wise, by array
    source_errors: dict[str, float]
    #: the largest of any element, relative to the largest element of its array
    largest_error: float


@dataclass(frozen=True)
class Marks:
    """Which elements of a checked run are rounding errors in the source itself; of no array by default."""

    #: of the file that marks them; "" if there are none
    path: str = ""
    arrays: tuple[Noise, ...] = ()

    @property
    def places(self) -> dict[str, tuple[str, int]]:
        """The file and the offset of each array's marks, by its name."""
        return {each.array: (self.path, each.offset) for each in self.arrays}

    @property
    def error(self) -> float:
        """The largest of any other element, relative to the largest element of its array."""
        return max((each.error for each in self.arrays), default=0.0)

    @property
    def note(self) -> str:
        """What is not compared, in words."""
        parts = (f"{each.marked} of {each.changed} elements of `{each.array}`" for each in self.arrays)
        return f"{', '.join(parts)} are rounding errors in the source itself, and were not compared"


@dataclass(frozen=True)
class Expected:
    """The stored results of the reference."""

    #: whether the input data are signed
    signed: bool
    #: for each checked run, of each array in its file, bytes
    offsets: tuple[dict[str, int], ...]
    #: for each checked run, the largest norm-wise error of a right result
    tolerances: tuple[float, ...]
    #: None where no rounding errors can be measured
    exact: Exact | None
    #: how far the result in wider types is from the reference's, where that is too far to measure errors against it:
    #: the largest difference, relative to the largest element of its array; None where it isn't, or is not known
    far: float | None = None
    #: for each checked run, the elements that are rounding errors in the source itself, and are not compared
    noise: tuple[Marks, ...] = ()
    #: why there is only one set of data, where a kernel's own run is short
    once: str = ONCE


@dataclass(frozen=True)
class Wider:
    """The nest in wider floating-point types."""

    job: Job
    built: Built
    #: a quarter of half a unit in the last place of the source's types, by array: errors below it count as that
    least: Mapping[str, float]

    @property
    def elements(self) -> dict[str, str]:
        """C types by array."""
        return {array["name"]: array["element"] for array in (*self.job.parameters, *self.job.global_arrays)}


@dataclass(frozen=True)
class Originals:
    """The builds of the original nest."""

    #: the one whose results are the reference
    reference: Built
    #: the one that is timed, then those that take its place, in turn, where the compiler got it wrong; with the words
    #: that name compiler and flags; each made when it is asked for
    timed: Sequence[tuple[str, Callable[[], Built]]]
    #: what rounding errors are measured against; None if nothing rounds
    wider: Wider | None

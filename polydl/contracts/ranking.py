"""The plug-in contracts of rankers, and of what trains them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

from polydl.ir.kernel import MicrokernelUse
from polydl.ir.ranking import Ranking
from polydl.ir.scop import REAL_BYTES
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine

# The family of microkernels whose instructions do more multiply-adds of floats than those of vector registers.
_IN_TILES = "tile registers"


@dataclass(frozen=True)
class Candidate:
    """A variant as a ranker sees it; no isl. Tuples have one entry per nest unless they say otherwise."""

    variant: Variant
    working_sets: WorkingSets
    #: Core cycles predicted for a nest's arithmetic, calls included, with all operands in the first-level cache.
    cycles: tuple[float, ...]
    #: Bytes estimated to be brought into each cache, innermost first, for each nest.
    traffic: tuple[tuple[int, ...], ...]
    #: Iterations of a nest's parallel loop, or what is as many of several that run in parallel together; 1 without one.
    parallel_iterations: tuple[float, ...]
    #: How often threads start on a nest's own parallel loop; 0 without one.
    starts: tuple[int, ...]
    #: The microkernel of each nest that has one, and how it is called.
    microkernels: tuple[MicrokernelUse, ...]
    #: How often a nest's microkernel is called; 0 without one.
    calls: tuple[int, ...]
    #: Floating-point operations of all nests together.
    flops: int
    #: Bytes of all arrays that the nests use.
    footprint: int
    #: Bytes of constants, and of what is prepared of them, that a run reads.
    constant_bytes: int = 0
    #: Families of the variant's rewrites (``polydl.ir.families``).
    families: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Calls:
    """Calls of a microkernel that are all alike and do all operations of a nest, as a bound of their time sees them.

    Without rows, nothing is known of them, nor of what does the operations, but whether tile registers may.
    """

    #: Rows of C in each; 0 if there are no such calls.
    rows: int = 0
    #: Iterations of the parallel loop around them, infinite where that is not known.
    iterations: float = inf
    #: How many there are.
    count: int = 0
    #: Distinct bytes of A and B that each reads at least.
    operand_bytes: int = 0
    #: Whether tile registers do their operations; where nothing else is known, whether they may do some.
    in_tiles: bool = False


def distinct(one: int, stride: int, other: int, other_stride: int) -> int:
    """Elements that two loops of so many iterations touch at least, with strides in elements."""
    (fine, step), (coarse, leap) = sorted(((one, stride), (other, other_stride)), key=lambda loop: loop[1])
    if step and leap >= fine * step:
        return fine * coarse
    return max(count if moved else 1 for count, moved in ((fine, step), (coarse, leap)))


def within_peak(flops: int, element_bytes: Iterable[int]) -> int:
    """The operations if none is done faster than those of ``float``, whose peak is known; else 0.

    They may be where elements are narrower.
    """
    return 0 if any(size < REAL_BYTES["float"] for size in element_bytes) else flops


def in_tiles(family: str) -> bool:
    """Whether the microkernels of a family compute in tile registers."""
    return family == _IN_TILES


@dataclass(frozen=True)
class Outlook:
    """What is known of all variants that a partly decided candidate may become, as a bound of their time sees it."""

    #: Floating-point operations of all nests together that are ``within_peak``.
    flops: int
    #: Bytes of memory that they use at least.
    footprint: int
    #: One of these holds for each of the variants.
    calls: frozenset[Calls]


class Ranker(Protocol):
    """The plug-in contract. Register one by name under the entry-point group ``polydl.rankers``."""

    @property
    def name(self) -> str:
        """The name that it is registered by, which ``--ranker`` takes and results show."""
        ...

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        """The candidates in order, the most promising first, each with one line of reason."""
        ...


@dataclass(frozen=True)
class MeasuredNest:
    """Variants of one nest, measured in the same interleaved rounds: what rankers learn and are judged from."""

    #: Its workload, or its function if it is none.
    name: str
    #: What is held out together: a network, or a matrix product for itself.
    group: str
    #: Equal for nests that compute the same, whatever their names.
    problem: str
    candidates: tuple[Candidate, ...]
    #: Median of each candidate, in their order.
    seconds: tuple[float, ...]
    #: Index of the candidate with the source's own loop order; None if that was not measured.
    default: int | None
    #: The one that ran them, with as many threads.
    machine: Machine
    #: Version of the code that computed what is known of the candidates (``polydl.learning.samples``).
    analysis: int = 1


class TrainedRanker(Ranker, Protocol):
    """A ranker that was learned, and can be kept."""

    def to_bytes(self, card: Mapping[str, Any]) -> bytes:
        """A file of its weights, with ``card`` (data, split, scores, machine) in it."""
        ...


class Trainer(Protocol):
    """The plug-in contract. Register one by name under the entry-point group ``polydl.trainers``."""

    @property
    def name(self) -> str:
        """That of the ranker that it makes."""
        ...

    def train(
        self,
        nests: Sequence[MeasuredNest],
        *,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> TrainedRanker:
        """The same data and the same seed give the same weights. ``progress`` gets the steps done and all of them.

        Raises MissingComponentError without the library that trains.
        """
        ...

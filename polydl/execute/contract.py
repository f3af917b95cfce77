"""The protocol of executors, and the values that they take and return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Literal, Protocol

from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import Cold
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample, Status
from polydl.ir.scop import Scop

#: How long a sample lasts.
SAMPLE_SECONDS = 0.01
#: What the message of an original nest begins with where its results are none to compare with.
NO_REFERENCE = "the original nest can't be a reference"


@dataclass(frozen=True)
class TimingPolicy:
    """How the candidates of one nest are timed; docs/guide/measuring.md explains each field."""

    #: rounds in which each candidate gives one sample; the most rounds if ``adaptive``
    rounds: int = 7
    #: whether clearly slower candidates leave after ``fewest_rounds``, and timing ends once the order is settled
    adaptive: bool = False
    #: before a candidate may be left out, or timing may end
    fewest_rounds: int = 3
    #: undisturbed samples that an adaptive candidate needs; without them it goes on when the budget is spent, up to
    #: twice the fewest rounds
    least_undisturbed: int = 0
    #: a sample repeats invocations until it lasts this long
    minimum_sample_seconds: float = SAMPLE_SECONDS
    #: untimed invocations before each sample
    warmup: int = 1
    #: for timing all candidates together
    budget_seconds: float = 20.0
    #: of one invocation
    timeout_seconds: float = 30.0
    #: what is flushed from the caches before every timed invocation
    cold: Cold = False
    #: where an invocation of the original takes half a second or more, measuring takes as long as so many of them at
    #: most, and ``LONG_EXTRA_SECONDS``; 0 for no such limit
    most_originals: int = 0

    def __post_init__(self) -> None:
        lowest = {
            "rounds": 1,
            "fewest_rounds": 2,
            "least_undisturbed": 0,
            "minimum_sample_seconds": 1e-4,
            "warmup": 0,
            "budget_seconds": 1e-3,
            "timeout_seconds": 1e-3,
            "most_originals": 0,
        }
        for name, bound in lowest.items():
            value = getattr(self, name)
            if not isinstance(value, int | float) or not bound <= value < inf:
                raise OptionError(f"the timing policy's {name} is {value}", remedy=f"at least {bound}, and finite")


@dataclass(frozen=True)
class Built:
    """The result of compiling a kernel."""

    kernel: KernelSource
    #: the emitted C, which is kept if the compiler fails, too
    source: Path
    #: the shared library; None if the compiler failed
    library: Path | None
    #: shell line of the compiler, of two commands where it must not link with all flags
    command: str
    #: the compiler's stderr, warnings included
    message: str
    #: that compiled it
    toolchain: Toolchain
    #: time of the compilation
    seconds: float
    #: what a kernel without a library has for a status: whether the compiler refused it, or didn't come to its end
    status: Status = "compile"


@dataclass(frozen=True)
class Peer:
    """Another program that solves the nest's problem, to be timed in the same rounds as the candidates.

    It generates its own data and checks its own result.
    """

    #: that its measurement has for an id
    name: str
    #: gets two file descriptors as further arguments; the protocol is in docs/guide/benchmarking.md
    command: tuple[str, ...]
    #: argument of the protocol's ``start``
    problem: Mapping[str, Any]
    #: most memory that its arrays take
    bytes: int
    #: overrides of the children's environment; None removes a variable
    environment: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """Progress of a build or a measurement."""

    stage: Literal["build", "check", "time"]
    #: kernels built or checked, or rounds of timing
    done: int
    #: how many there are in all
    total: int
    #: of the kernel, if it is about one
    id: str = ""
    #: what is worth a line of its own; "" where nothing is
    note: str = ""


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class Finished:
    """A measurement that is complete, with reference values so far."""

    measurement: Measurement
    #: shortest time of the original nest
    baseline_seconds: float | None
    #: usual FMA rate of one core
    probe_gflops: float


FinishedCallback = Callable[[Finished], None]


#: for kernels that were not measured before
NO_SAMPLES: Mapping[str, Sequence[Sample]] = {}


@dataclass(frozen=True)
class Batch:
    """Further candidates, which are measured together."""

    candidates: tuple[Built, ...] = ()
    #: samples of earlier measurements of theirs, by id: these go on
    earlier: Mapping[str, Sequence[Sample]] = field(default_factory=dict)


class Executor(Protocol):
    """Builds and runs kernels. A kernel's failure is a value, never an exception."""

    @property
    def name(self) -> str:
        """The name that it is registered by."""
        ...

    def build(
        self,
        kernels: Sequence[KernelSource],
        toolchain: Toolchain,
        directory: Path,
        *,
        jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[Built, ...]:
        """One result per kernel, in order. Raises ResourceError when the disk is full."""

    def measure(
        self,
        candidates: Sequence[Built],
        reference: Built,
        scop: Scop,
        *,
        threads: int,
        policy: TimingPolicy,
        seed: int = 0,
        progress: ProgressCallback | None = None,
        finished: FinishedCallback | None = None,
        peers: Sequence[Peer] = (),
        most_error: float = inf,
        earlier: Mapping[str, Sequence[Sample]] = NO_SAMPLES,
        more: Callable[[], Batch] | None = None,
    ) -> tuple[Measurement, ...]:
        """Verify and time kernels. Returns the measurements of the original nest, candidates and peers.

        ``reference`` is the original as compiled for speed. What all are compared with, it among them, is computed by
        a build of its source that reorders nothing.

        Rounding errors are measured against the nest in a wider type, where one can be told from its text. A candidate
        whose errors are more than ``most_error`` times those of the source's own arithmetic is ``inaccurate``.

        ``finished`` is called with each measurement as soon as it is complete: for a failure when it happens, for a
        time after the rounds that the kernel took part in, for the original after all ``candidates``. It is also called
        after each round, and when a KeyboardInterrupt passes, with what is verified and not complete
        (``Measurement.complete``). ``earlier`` are samples of an earlier measurement of the same kernel in the same
        setting, by id: this one goes on with them. ``more`` is asked for a further batch whenever all are measured,
        until it has none. Its candidates are timed against the fastest so far: those that are clearly behind it after
        the fewest rounds drop out. In the end the fastest of all are timed side by side.

        Raises ResourceError when the arrays don't fit into memory or the disk is full, OptionError for more threads
        than there are cores.
        """

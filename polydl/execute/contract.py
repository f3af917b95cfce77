"""What an executor is, and the values that go in and come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop


@dataclass(frozen=True)
class TimingPolicy:
    """How one nest's candidates are timed; docs/guide/measuring.md explains each field.

    ``warmup`` counts the untimed invocations before each sample. ``budget_seconds`` bounds the timing of all
    candidates together, and ``timeout_seconds`` each single invocation. With ``cold`` the arrays are flushed from the
    caches before every timed invocation. If ``adaptive``, ``rounds`` is the most that there are: after
    ``fewest_rounds`` whoever is clearly behind takes no further part, and the rest ends once the order is settled;
    candidates with fewer than ``least_undisturbed`` samples that nothing disturbed go on when the budget is spent, for
    up to twice the fewest rounds.
    """

    rounds: int = 7
    adaptive: bool = False
    fewest_rounds: int = 3
    least_undisturbed: int = 0
    minimum_sample_seconds: float = 0.01
    warmup: int = 1
    budget_seconds: float = 20.0
    timeout_seconds: float = 30.0
    cold: bool = False

    def __post_init__(self) -> None:
        lowest = {
            "rounds": 1,
            "fewest_rounds": 2,
            "least_undisturbed": 0,
            "minimum_sample_seconds": 1e-4,
            "warmup": 0,
            "budget_seconds": 1e-3,
            "timeout_seconds": 1e-3,
        }
        for name, bound in lowest.items():
            value = getattr(self, name)
            if not value >= bound:
                raise OptionError(f"the timing policy's {name} is {value}", remedy=f"at least {bound}")


@dataclass(frozen=True)
class Built:
    """A kernel's sources on disk, and the shared library made from them unless the compiler failed.

    ``source`` is the emitted C, kept whatever happens; ``message`` the compiler's stderr, warnings included;
    ``seconds`` the time it took.
    """

    kernel: KernelSource
    source: Path
    library: Path | None
    command: str
    message: str
    seconds: float


@dataclass(frozen=True)
class Peer:
    """Another program that solves the nest's problem, to be timed in the same rounds as the candidates.

    ``command`` gets two file descriptors as further arguments and speaks the protocol of docs/guide/benchmarking.md;
    ``problem`` goes along with ``start``. ``environment`` overrides what children get; None removes a variable.
    ``bytes`` is the memory that its arrays take at most. It makes its own data and checks its own result.
    """

    name: str
    command: tuple[str, ...]
    problem: Mapping[str, Any]
    bytes: int
    environment: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` kernels built or checked, or timing rounds finished. ``id`` is the kernel's, if any."""

    stage: Literal["build", "check", "time"]
    done: int
    total: int
    id: str = ""


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class Finished:
    """A measurement that will not change any more, beside the original's minimum and the usual probe so far."""

    measurement: Measurement
    baseline_seconds: float | None
    probe_gflops: float


FinishedCallback = Callable[[Finished], None]


class Executor(Protocol):
    """Builds and runs kernels. A kernel's failure is a value, never an exception."""

    @property
    def name(self) -> str: ...

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
    ) -> tuple[Measurement, ...]:
        """The measurement of ``reference``, the original nest, then one per candidate and one per peer, in order.

        ``finished`` is told of each as soon as it is known: a failure when it happens, a time when the rounds that it
        took part in are over, the original last. Raises ResourceError when the arrays don't fit into memory or the
        disk is full, and OptionError for more threads than there are cores.
        """

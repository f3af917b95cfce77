"""Kernels measured beside each other and the original nest at one shape after the other; records are gone on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from polydl import registry
from polydl.codegen.original import original
from polydl.execute.contract import SAMPLE_SECONDS, Built, Executor, FinishedCallback, TimingPolicy
from polydl.execute.shared_process import SharedProcess
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop
from polydl.libraries.unit import ORIGINAL
from polydl.machine import Machine
from polydl.optimization.unmeasured import unmeasured
from polydl.records.resume import book_of, to_run
from polydl.records.store import directory_of

# Rounds in which the candidates of one shape give a sample each.
_MOST_ROUNDS = 15
# For all candidates of one shape.
_BUDGET_SECONDS = 10.0
# Where kernels share a process, hundreds of shapes are measured: what a decision is fitted to needs to be right in the
# mean, while a winner has to be right by itself.
_SHARED_ROUNDS, _SHARED_SAMPLE_PART, _SHARED_BUDGET_SECONDS = 5, 0.1, 1.0


def medians(measured: Mapping[str, Measurement]) -> dict[str, float]:
    """The median seconds of those that have a time, by id."""
    return {name: each.seconds_median for name, each in measured.items() if each.seconds_median is not None}


class ShapeMeasuring:
    """Measures kernels that take any size. Each is compiled once, in ``directory``. It is a context manager.

    At the shapes of the nests ``shared_for``, all kernels share a process, unless one of them fails; elsewhere each has
    one of its own, and there are more and longer samples.

    Measurements go into a folder of their own in ``records`` (a directory, True for the user's, False for none), since
    they are of other code than that of variants. What they hold is not measured again.
    """

    def __init__(
        self,
        machine: Machine,
        toolchain: Toolchain,
        directory: Path,
        *,
        seed: int,
        records: str | Path | bool,
        timeout_seconds: float,
        shared_for: Sequence[Scop] = (),
    ) -> None:
        self._machine = machine
        self._toolchain = toolchain
        self._directory = directory
        self._seed = seed
        directory_of_records = directory_of(records)
        self._records: Path | bool = False if directory_of_records is None else directory_of_records / "libraries"
        self._policy = TimingPolicy(
            rounds=_MOST_ROUNDS,
            minimum_sample_seconds=SAMPLE_SECONDS,
            adaptive=True,
            budget_seconds=_BUDGET_SECONDS,
            timeout_seconds=timeout_seconds,
        )
        self._executor: Executor = registry.load("executors", "local")
        self._built: dict[str, Built] = {}
        # Kernels that failed at a shape, and are not run again.
        self._failed: set[str] = set()
        self._in_order: Built | None = None
        self._stack = ExitStack()
        self._shared: SharedProcess | None = None
        if shared_for:
            policy = replace(
                self._policy,
                rounds=min(_SHARED_ROUNDS, _MOST_ROUNDS),
                minimum_sample_seconds=_SHARED_SAMPLE_PART * SAMPLE_SECONDS,
                budget_seconds=_SHARED_BUDGET_SECONDS,
            )
            most = max(sum(array.bytes for array in scop.arrays) for scop in shared_for)
            self._shared = self._stack.enter_context(SharedProcess(machine.threads, policy, seed, directory, most))

    def __enter__(self) -> ShapeMeasuring:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def times(self, scop: Scop, kernels: Sequence[KernelSource]) -> dict[str, float]:
        """Median seconds of ``measurements``."""
        return medians(self.measurements(scop, kernels))

    def measurements(self, scop: Scop, kernels: Sequence[KernelSource]) -> dict[str, Measurement]:
        """What was measured of the kernels and of the original nest, by id, at the shape of ``scop``.

        A kernel that failed or was wrong has none. Raises ExecutionError if the original can't be run.
        """
        plain = original(scop)
        everyone = [plain, *kernels]
        book = book_of(scop, self._machine, self._toolchain, self._records, seed=self._seed)
        known = dict(book.known(everyone).records) if book is not None else {}
        missing = any(kernel.id not in known for kernel in kernels)
        # Beside those without a record the fastest of the others run again, to compare with.
        wanted = set(to_run([kernel.id for kernel in kernels], known)) if missing else set()
        right = {
            identity: record.measurement
            for identity, record in known.items()
            if record.seconds_median is not None and identity not in wanted
        }
        if not wanted and ORIGINAL in known:
            return right
        wanted -= self._failed
        measured = self._measured(
            scop,
            plain,
            [kernel for kernel in kernels if kernel.id in wanted],
            book.recorder(everyone, {}) if book is not None else None,
        )
        first = measured[0]
        if first.status != "ok":
            raise unmeasured(scop, first)
        for each in measured:
            if each.status == "ok" and each.seconds_median:
                right[each.id] = each
            else:
                self._failed.add(each.id)
        return right

    def _measured(
        self, scop: Scop, plain: KernelSource, kernels: Sequence[KernelSource], finished: FinishedCallback | None
    ) -> tuple[Measurement, ...]:
        """What was measured of the original and of the kernels."""
        original, *others = self._build([plain, *kernels])
        if self._shared is not None:
            measured = self._shared.measure([original, *others], self._reference(plain), scop, finished)
            if measured is not None:
                return measured
        return self._executor.measure(
            others, original, scop, threads=self._machine.threads, policy=self._policy, seed=self._seed,
            finished=finished,
        )  # fmt: skip

    def _reference(self, plain: KernelSource) -> Built:
        """The original nest as a build that reorders nothing makes it."""
        if self._in_order is None:
            folder = self._directory / "in-order"
            (self._in_order,) = self._executor.build([plain], self._toolchain.in_order, folder)
        return self._in_order

    def _build(self, kernels: Sequence[KernelSource]) -> list[Built]:
        """The kernels, compiled now or before."""
        missing = [kernel for kernel in kernels if kernel.id not in self._built]
        if missing:
            for built in self._executor.build(missing, self._toolchain, self._directory):
                self._built[built.kernel.id] = built
        return [self._built[kernel.id] for kernel in kernels]

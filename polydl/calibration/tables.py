"""Builds the programs of one microkernel and times their calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from polydl.calibration.programs import TimedCall, elements_needed, program, timed_calls
from polydl.contracts import GemmShape, GemmSite, Microkernel
from polydl.errors import ExecutionError, MissingComponentError
from polydl.execute.child import Child, ChildError
from polydl.execute.resources import choose_cores
from polydl.execute.toolchain import Toolchain
from polydl.native import privileged
from polydl.system.control_groups import usable_processors
from polydl.system.files import reason_of, temporary_directory
from polydl.system.process_group import run_in_group

# Seconds of a call and the GFLOPS of the probes before and after, for each sample.
Samples = list[list[float]]

WORKER = (sys.executable, "-P", "-m", "polydl.calibration.worker")
_REMEDY = "mend the microkernel, or calibrate others with --microkernel"
_SITES_PER_PROGRAM = 2
_ROUNDS = 11
# Of calls that were timed before, beside further ones.
_FURTHER_ROUNDS = 4
# Calls of which most samples were disturbed get further rounds, up to so many times in all.
_LEAST_SOUND = 5
_MOST_TURNS = 3
# Of each question to the process that times calls, and of the compiler.
_TIMEOUT_SECONDS = 120.0
# A sample counts if its probes differ by no more than this, and neither lies further below the usual one.
_TOLERANCE = 0.1


def timed(
    kernel: Microkernel, sites: Sequence[GemmSite], vector_bytes: int, toolchain: Toolchain
) -> Mapping[GemmShape, float]:
    """Peak cycles of every call that the sites make, by shape; all of the same element types.

    Raises ExecutionError if the microkernel's C does not compile, crashes or hangs.
    """
    with CallTimer() as timer:
        return timer.time(kernel, sites, vector_bytes, toolchain)


class CallTimer:
    """Times calls, those of each microkernel and of each element type in a process of its own.

    It is a context manager. What disturbs calls and not the probes beside them, as another machine's work on the same
    core does, often lasts longer than all rounds of some calls. So each time that further calls are timed, those of
    before get some rounds more.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._programs: dict[tuple[str, str], _Programs] = {}

    def __enter__(self) -> CallTimer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def time(
        self, kernel: Microkernel, sites: Sequence[GemmSite], vector_bytes: int, toolchain: Toolchain
    ) -> Mapping[GemmShape, float]:
        """Peak cycles of all calls so far of this microkernel and of the sites' element types, by shape.

        The sites' calls are timed first, those of before once more. Raises as ``timed`` does.
        """
        if not sites:
            return {}
        key = kernel.name, sites[0].element
        if key not in self._programs:
            self._programs[key] = self._stack.enter_context(_Programs(kernel, sites[0], vector_bytes, toolchain))
        programs = self._programs[key]
        try:
            programs.time(programs.add(sites))
        except ExecutionError:
            # Its process may have ended. Further calls get another one.
            del self._programs[key]
            raise
        return programs.cycles()

    def again(self) -> Mapping[tuple[str, str], Mapping[GemmShape, float]]:
        """Time all calls so far once more: their peak cycles by microkernel and element type, and by shape."""
        for programs in self._programs.values():
            programs.time(programs.count)
        return {key: programs.cycles() for key, programs in self._programs.items()}


class _Programs:
    """The programs of one microkernel and the process that has loaded them. It is a context manager."""

    def __init__(self, kernel: Microkernel, site: GemmSite, vector_bytes: int, toolchain: Toolchain) -> None:
        self._kernel = kernel
        self._elements = [site.element, site.type_b, site.accumulator]
        self._vector_bytes = vector_bytes
        self._toolchain = toolchain
        self._libraries = 0
        self._calls: list[TimedCall] = []
        self._wanted: list[list[int]] = []
        self._samples: list[Samples] = []
        self._seeds = count()

    def __enter__(self) -> _Programs:
        self._core = choose_cores(1)[0]
        with ExitStack() as stack:
            self._directory = stack.enter_context(temporary_directory())
            self._child = stack.enter_context(Child([self._core], self._directory, WORKER))
            self._child.send("start", elements=self._elements, core=self._core)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def count(self) -> int:
        """The number of calls."""
        return len(self._calls)

    def add(self, sites: Sequence[GemmSite]) -> int:
        """Compile and load the programs of further sites; the number of their first call."""
        parts = [sites[first : first + _SITES_PER_PROGRAM] for first in range(0, len(sites), _SITES_PER_PROGRAM)]
        with ThreadPoolExecutor(max_workers=usable_processors()) as pool:
            pending = [
                pool.submit(
                    compiled,
                    program(self._kernel, part, self._vector_bytes),
                    self._toolchain,
                    self._directory / f"{self._libraries + number}.so",
                    what=f"the microkernel {self._kernel.name}",
                    link_flags=self._kernel.link_flags(),
                )
                for number, part in enumerate(parts)
            ]
            try:
                libraries = [str(future.result()) for future in pending]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._ask("load", libraries=libraries, lengths=list(elements_needed(sites)))
        first = len(self._calls)
        for number, part in enumerate(parts, self._libraries):
            for call in timed_calls(part):
                self._calls.append(call)
                self._wanted.append([number, call.site, *call.last, call.shape.batch])
                self._samples.append([])
        self._libraries += len(parts)
        return first

    def time(self, first: int) -> None:
        """Take the rounds of the calls from the ``first`` on, and some further ones of those before it."""
        pending = list(range(first, len(self._calls)))
        for _ in range(_MOST_TURNS):
            if not pending:
                break
            self._sample(pending, _ROUNDS)
            usual = usual_probe(self._samples)
            pending = [place for place in pending if len(undisturbed(self._samples[place], usual)) < _LEAST_SOUND]
        if first:
            self._sample(range(first), _FURTHER_ROUNDS)

    def cycles(self) -> dict[GemmShape, float]:
        """Peak cycles of each call, by shape."""
        usual = usual_probe(self._samples)
        return {
            call.shape: peak_cycles(taken, usual, self._vector_bytes)
            for call, taken in zip(self._calls, self._samples, strict=True)
        }

    def _sample(self, places: Sequence[int], rounds: int) -> None:
        calls = [self._wanted[place] for place in places]
        reply = self._ask("measure", calls=calls, rounds=rounds, seed=next(self._seeds))
        for place, taken in zip(places, reply["samples"], strict=True):
            self._samples[place] += taken

    def _ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        try:
            return self._child.request(command, _TIMEOUT_SECONDS, **arguments)
        except ChildError as error:
            raise ExecutionError(
                f"the microkernel {self._kernel.name} can't be timed ({error.status}): {error.message}",
                remedy=_REMEDY,
            ) from None


def compiled(
    text: str,
    toolchain: Toolchain,
    library: Path,
    *,
    what: str,
    link_flags: Sequence[str] = (),
    remedy: str = _REMEDY,
) -> Path:
    """A shared library of C, beside its source.

    Raises ExecutionError that names ``what``, with the ``remedy``, if it does not compile in two minutes, and
    MissingComponentError if the compiler can't be run.
    """
    source = library.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    kind = ("-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,-z,defs")
    command = [str(toolchain.path), *toolchain.flags, *kind, str(source), "-o", str(library), *link_flags]
    try:
        done = run_in_group([*command, "-lm"], library.parent, timeout_seconds=_TIMEOUT_SECONDS)
    except OSError as error:
        install = privileged("apt-get install -y gcc libc6-dev")
        raise MissingComponentError(
            f"the compiler {toolchain.path} can't be run: {reason_of(error)}",
            remedy=install if isinstance(error, FileNotFoundError) else "see that this user may run that program",
        ) from None
    except subprocess.TimeoutExpired:
        raise ExecutionError(
            f"the C of {what} does not compile in {_TIMEOUT_SECONDS:.0f} seconds", remedy=remedy
        ) from None
    if done.returncode != 0:
        raise ExecutionError(f"the C of {what} does not compile:\n{done.stderr.strip()}", remedy=remedy)
    return library


def usual_probe(samples: Sequence[Samples]) -> float:
    """The upper quartile of all probes: what the core does beside such calls while it has the machine for itself.

    The peak does not serve as a measure: the clock that it is reached with is rarely there beside vector code.
    """
    rates = sorted(rate for taken in samples for _, before, after in taken for rate in (before, after))
    return rates[(3 * len(rates)) // 4]


def undisturbed(taken: Samples, usual: float) -> Samples:
    """The samples whose probes agree with each other and with the usual one."""
    least = (1.0 - _TOLERANCE) * usual
    return [
        [seconds, before, after]
        for seconds, before, after in taken
        if min(before, after) >= least and abs(before - after) <= _TOLERANCE * max(before, after)
    ]


def peak_cycles(taken: Samples, usual: float, vector_bytes: int) -> float:
    """Seconds of a call in units of the core's peak as the probes beside it saw it: the median of undisturbed samples.

    Where too few are left, of that third of all samples that had the best probes.
    """
    chosen = undisturbed(taken, usual)
    if len(chosen) < _LEAST_SOUND:
        chosen = sorted(taken, key=lambda sample: -min(sample[1:]))[: max(1, len(taken) // 3)]
    return median(seconds * (before + after) / 2 for seconds, before, after in chosen) * 1e9 / vector_bytes

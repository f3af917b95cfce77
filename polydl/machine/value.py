"""The machine that code is ranked for: its caches, cores, instruction sets and measured speeds.

Sizes are in bytes, times in seconds, rates in bytes per second and GFLOPS (fp32, a multiply-add
counts 2). Latencies, bandwidths and the peak are those of *one core* while the others are idle, unless a name says
``total``: then of all cores at once.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli_w

from polydl.arguments import whole
from polydl.errors import MachineError
from polydl.machine.caches import CacheLevel, check_cache_sizes, parse_cache_sizes
from polydl.machine.call_times import CallTimes, read_call_times
from polydl.machine.core import Core, CoreConstant, cache_constants, constants
from polydl.machine.processors import published
from polydl.machine.profile import Profile
from polydl.machine.speeds import Speeds, calibrated_speeds, stored_or_measured
from polydl.machine.system import System, default_directory, find
from polydl.machine.throughput import Throughput
from polydl.machine.typed import are_names, typed
from polydl.system.control_groups import usable_processors
from polydl.system.files import text_of, writing


@dataclass(frozen=True, repr=False)
class Machine:
    """The machine that code is made for.

    Raises MachineError if the numbers contradict each other, OptionError for threads that are no integer.
    """

    #: Of the processor, for people.
    name: str
    #: The kind of processor: vendor, family, model, stepping and the sizes of its caches, whatever ``caches`` says.
    cpu_id: str
    #: That this process may use.
    cores: int
    #: How many of the cores a kernel may use.
    threads: int
    #: Instruction sets, as the system names them.
    isa: tuple[str, ...]
    #: Bytes of the longest vectors.
    vector_bytes: int
    #: From the innermost outwards.
    caches: tuple[CacheLevel, ...]
    #: Of a load that no cache serves.
    memory_latency_seconds: float
    #: Of one core while the others are idle.
    memory_bandwidth_bytes_per_second: float
    #: That a process may use there: the machine's memory, or what a control group leaves of it.
    memory_bytes: int
    #: Of one core while the others are idle.
    peak_gflops: float
    #: Bytes per second that all cores read at once, from each cache and from memory; empty before ``polydl calibrate``.
    total_bandwidths: tuple[float, ...] = ()
    #: Of all cores at once; 0 before ``polydl calibrate``.
    total_peak_gflops: float = 0.0
    #: How long calls of microkernels were measured to take; empty before ``polydl calibrate``.
    throughputs: tuple[Throughput, ...] = ()
    #: Calls of microkernels that were timed when these were first used.
    call_times: tuple[CallTimes, ...] = ()
    #: Physical constants of a core that are known better than those published of its family.
    constants: tuple[CoreConstant, ...] = ()
    #: Whether this process runs on it. Of a machine elsewhere nothing is asked of the system here, and nothing is run.
    at_hand: bool = True

    def __post_init__(self) -> None:
        # An integer of another type, such as NumPy's, could not be written to records.
        object.__setattr__(self, "threads", whole("threads", self.threads))
        if self.cores < 1 or self.vector_bytes < 1 or self.memory_bytes < 1:
            raise MachineError("a machine's cores, vector_bytes and memory_bytes are at least 1")
        if not 1 <= self.threads <= self.cores:
            raise MachineError(
                f"{self.threads} threads on {self.cores} cores",
                remedy=f"ask for 1 to {self.cores} threads (--threads), the processors that this process may use",
            )
        check_cache_sizes(tuple(level.bytes for level in self.caches))
        if self.total_bandwidths and len(self.total_bandwidths) != len(self.caches) + 1:
            raise MachineError("a machine's total_bandwidths are those of each cache and of memory")
        rates = [self.memory_latency_seconds, self.memory_bandwidth_bytes_per_second, self.peak_gflops]
        rates += [*self.total_bandwidths, *([self.total_peak_gflops] if self.total_peak_gflops else [])]
        for level in self.caches:
            rates += [level.latency_seconds, level.bandwidth_bytes_per_second]
            if level.line_bytes < 1 or level.shared_by < 1:
                raise MachineError(f"line_bytes and shared_by of cache {level.name} are at least 1")
        if not all(math.isfinite(rate) and rate > 0 for rate in rates):
            raise MachineError("a machine's latencies, bandwidths and peak are positive and finite")

    def __repr__(self) -> str:
        caches = ", ".join(f"{level.name} {level.bytes / 1024:.6g}K" for level in self.caches)
        vectors = f"vectors of {8 * self.vector_bytes} bits"
        return f"<Machine {self.name}: {self.threads} of {self.cores} cores, {vectors}, {caches}>"

    @staticmethod
    def detect(
        cache_sizes: str | None = None, threads: int | None = None, profile_directory: Path | None = None
    ) -> Machine:
        """The machine that this process runs on.

        Speeds are those that ``polydl calibrate`` found, or else are measured once (under two seconds); both are kept
        in ``profile_directory`` (by default the user's cache directory) for this kind of processor, so that later
        calls agree with the first. ``cache_sizes``,
        such as ``32K,1M,36608K``, replaces the sizes found, innermost first; each level keeps the speeds of the
        level found in its place. Raises MachineError for sizes or threads that make no sense and for a calibration of
        another processor, and MissingComponentError if the speeds must be measured and the runtime library is missing.
        """
        sizes = None if cache_sizes is None else parse_cache_sizes(cache_sizes)
        cores = usable_processors()
        threads = None if threads is None else whole("threads", threads)
        if threads is not None and not 1 <= threads <= cores:
            raise MachineError(
                f"{threads} threads asked for",
                remedy=f"ask for 1 to {cores} threads (--threads), the processors that this process may use",
            )
        system = find(sizes)
        identity = system.identity
        directory = profile_directory or default_directory()
        calibration = system.calibration(directory)
        if calibration is not None:
            speeds = calibrated_speeds(calibration)
        else:
            speeds = stored_or_measured(identity.cpu_id, identity.cache_bytes, system.memory_bytes, directory)
        machine = _machine_of(system, speeds, calibration, threads or cores)
        timed = read_call_times(directory, identity.cpu_id)
        machine = replace(machine, call_times=timed)
        return machine if sizes is None else machine.with_cache_sizes(sizes)

    @staticmethod
    def of_calibration(profile: Profile) -> Machine:
        """The machine elsewhere that ``polydl calibrate`` was run on, with all of its cores.

        Raises MachineError for a calibration that doesn't say enough, by an earlier polydl.
        """
        if profile.surroundings is None:
            raise MachineError(
                "an earlier polydl made this calibration, and it holds for the machine that it was made on alone",
                remedy="run `polydl calibrate` there again",
            )
        system = System.of_profile(profile.identity, profile.surroundings)
        machine = _machine_of(system, calibrated_speeds(profile), profile, profile.identity.cores)
        return replace(machine, at_hand=False)

    @cached_property
    def core(self) -> Core:
        """The physical constants of a core: those published of its family, fitted to ``call_times``, and ``constants``.

        Sizes and rates of its caches are those of ``caches``.
        """
        first, *further = self.caches
        timed = [constant for times in self.call_times for constant in times.constants]
        known = published(self.cpu_id, self.isa, self.vector_bytes, first.line_bytes).having((*timed, *self.constants))
        rate = further[0].bandwidth_bytes_per_second if further else self.memory_bandwidth_bytes_per_second
        latency = further[0].latency_seconds if further else self.memory_latency_seconds
        behind = [*(level.bandwidth_bytes_per_second for level in further[1:]), self.memory_bandwidth_bytes_per_second]
        sizes = cache_constants([level.bytes for level in self.caches])
        cycle = self._cycle_seconds_of(known)
        speeds = {
            "second_cache_bytes_per_cycle": rate * cycle,
            "second_cache_latency_cycles": latency / cycle,
            "last_cache_bytes_per_cycle": behind[0] * cycle,
        }
        return known.having((*sizes, *constants(speeds, "measured"), *self.constants))

    @property
    def second_cache_bytes(self) -> int:
        """Bytes of the second-level cache, or of the only one."""
        return self.caches[min(1, len(self.caches) - 1)].bytes

    @property
    def cycle_seconds(self) -> float:
        """Seconds of a cycle in which a core at its peak does as many multiply-adds of floats as it can."""
        return self._cycle_seconds_of(self.core)

    def _cycle_seconds_of(self, core: Core) -> float:
        return core.operations_per_cycle(self.vector_bytes) / (self.peak_gflops * 1e9)

    def vector_elements(self, element_bytes: int) -> int:
        """Elements of so many bytes each in a vector, and 1 where a vector holds none."""
        return max(1, self.vector_bytes // element_bytes)

    def bandwidths(self, threads: int | None = None) -> tuple[float, ...]:
        """Bytes per second that each of so many threads reads from each cache, then from memory, all at once.

        ``None`` stands for all of the machine's ``threads``.
        """
        threads = threads or self.threads
        if threads not in self._bandwidths:
            alone = [*(level.bandwidth_bytes_per_second for level in self.caches)]
            alone.append(self.memory_bandwidth_bytes_per_second)
            totals = [total / threads for total in self.total_bandwidths if threads > 1] or alone
            self._bandwidths[threads] = tuple(map(min, alone, totals))
        return self._bandwidths[threads]

    @cached_property
    def _bandwidths(self) -> dict[int, tuple[float, ...]]:
        return {}

    def with_cache_sizes(self, sizes: Sequence[int]) -> Machine:
        """The same machine with caches of other sizes (bytes, innermost first).

        Each level keeps the speeds of the level in its place, on one core and on all; one that this machine doesn't
        have lies halfway, on a logarithmic scale, between the last cache and memory.
        """
        check_cache_sizes(sizes)
        # What the system told of the sets is of this machine's caches.
        kept = (each for each in self.constants if (each.name, each.source) != ("same_set_bytes", "detected"))
        last = self.caches[-1]
        beyond = replace(
            last,
            latency_seconds=math.sqrt(last.latency_seconds * self.memory_latency_seconds),
            bandwidth_bytes_per_second=math.sqrt(
                last.bandwidth_bytes_per_second * self.memory_bandwidth_bytes_per_second
            ),
        )
        totals = self.total_bandwidths
        if totals:
            *of_caches, of_memory = totals
            halfway = math.sqrt(of_caches[-1] * of_memory)
            totals = (*(*of_caches, *(halfway for _ in sizes))[: len(sizes)], of_memory)
        return replace(
            self,
            constants=tuple(kept),
            caches=tuple(
                replace(self.caches[i] if i < len(self.caches) else beyond, name=f"L{i + 1}", bytes=size)
                for i, size in enumerate(sizes)
            ),
            total_bandwidths=totals,
        )

    @staticmethod
    def load(path: str | Path) -> Machine:
        """Reads what ``save`` wrote, or a person. Raises MachineError, with the file, if it is no description."""
        try:
            table = tomllib.loads(text_of(Path(path)))
            isa = table.get("isa", [])
            if not are_names(isa):
                raise ValueError("isa is a list of names")
            levels = tuple(typed(CacheLevel, level) for level in table.get("caches", []))
            totals = tuple(float(rate) for rate in table.get("total_bandwidths", []))
            tables = tuple(Throughput.from_table(each) for each in table.get("throughputs", []))
            timed = tuple(CallTimes.from_table(each) for each in table.get("call_times", []))
            known = tuple(CoreConstant(**each) for each in table.get("constants", []))
            others = {"caches": levels, "isa": tuple(isa), "total_bandwidths": totals, "throughputs": tables}
            others["call_times"] = timed
            rest = {"total_peak_gflops": 0.0, "at_hand": True}
            return typed(Machine, {**rest, **table, **others, "constants": known})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MachineError(
                f"not a machine description: {error}", file=str(path), remedy="see what Machine.detect().save() writes"
            ) from None
        except MachineError as error:
            raise MachineError(error.message, file=str(path), remedy=error.remedy) from None

    def save(self, path: str | Path) -> None:
        """Writes a TOML file, whole or not at all. Raises MachineError if it can't be written."""
        try:
            with writing(Path(path)) as file:
                # Where it is, whoever reads it knows.
                table = {name: value for name, value in asdict(self).items() if name != "at_hand"}
                file.write(tomli_w.dumps(table).encode())
        except OSError as error:
            raise MachineError(
                f"can't write the machine description: {error.strerror}", file=str(path), remedy="choose another path"
            ) from None

    def to_json(self) -> dict[str, Any]:
        """What reports say of the machine."""
        return {
            "name": self.name,
            "cores": self.cores,
            "threads": self.threads,
            "cache_bytes": [level.bytes for level in self.caches],
            "peak_gflops": self.peak_gflops,
        }


def _machine_of(system: System, speeds: Speeds, calibration: Profile | None, threads: int) -> Machine:
    """What the system and measurements say, with the calibration's further speeds if there is one."""
    identity = system.identity
    machine = Machine(
        name=identity.name,
        cpu_id=identity.cpu_id,
        cores=identity.cores,
        threads=threads,
        isa=identity.features,
        vector_bytes=system.vector_bytes,
        caches=tuple(
            CacheLevel(f"L{i + 1}", cache.bytes, cache.line_bytes, cache.shared_by, latency, bandwidth)
            for i, (cache, latency, bandwidth) in enumerate(
                zip(system.caches, speeds.latencies, speeds.bandwidths, strict=False)
            )
        ),
        memory_latency_seconds=speeds.latencies[-1],
        memory_bandwidth_bytes_per_second=speeds.bandwidths[-1],
        memory_bytes=system.memory_bytes,
        peak_gflops=speeds.peak_gflops,
        constants=system.constants,
    )
    *inner, last = machine.caches
    machine = replace(machine, caches=(*inner, replace(last, bytes=min(last.bytes, speeds.usable_bytes))))
    if calibration is None:
        return machine
    if calibration.identity.cores == identity.cores:
        machine = replace(
            machine,
            total_bandwidths=tuple(level.total_bandwidth_bytes_per_second for level in calibration.levels),
            total_peak_gflops=calibration.total_peak_gflops,
        )
    measured = constants(calibration.constants, "measured")
    return replace(machine, throughputs=calibration.throughputs, constants=(*machine.constants, *measured))

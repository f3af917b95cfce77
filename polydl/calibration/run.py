"""The whole calibration in steps that are kept as they end, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from polydl import registry
from polydl.calibration import levels as level_speeds
from polydl.calibration.cores import measure_pages, measure_thread_start
from polydl.calibration.fit import fitted
from polydl.calibration.programs import grid_sites, held_out_sites, program, transposed_sites
from polydl.calibration.tables import timed
from polydl.contracts import GemmShape, GemmSite, Microkernel
from polydl.errors import ExecutionError, MachineError, OptionError
from polydl.execute.resources import choose_cores
from polydl.execute.toolchain import Toolchain
from polydl.files import replacing
from polydl.machine.profile import VERSION, Identity, LevelSpeed, Profile, read_for, write
from polydl.machine.system import System
from polydl.machine.throughput import Throughput

ELEMENTS = (("float", 4), ("double", 8))
_SITES_PER_STEP = 18

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Calibration:
    """What a calibration measured, and what it could not."""

    profile: Profile
    #: (microkernel, why it has no table)
    failures: tuple[tuple[str, str], ...]


def calibrate(
    system: System,
    path: Path,
    *,
    microkernels: Sequence[str] | None = None,
    fresh: bool = False,
    report: Report | None = None,
) -> Calibration:
    """Measure the machine and the microkernels (all that are available), and write the profile to ``path``.

    With ``microkernels``, these alone are timed, and the rest of an earlier profile of this processor stays. What an
    interrupted run has measured is used again unless ``fresh``. ``report`` gets the name of a stage, the steps done
    and all of them. Raises OptionError for an unknown microkernel, MissingComponentError without a compiler.
    """
    earlier = None
    if microkernels is not None:
        with suppress(MachineError):
            earlier = read_for(path, system.identity)
    chosen = [_loaded(name).on(system.core) for name in microkernels or registry.names("microkernels")]
    toolchain = Toolchain.find()
    kept = _Kept(system.identity, path, fresh)
    measured = earlier or _machine(system, toolchain, kept, report)
    tables: list[Throughput] = []
    failures: list[tuple[str, str]] = []
    for kernel in chosen:
        elements = [(element, width) for element, width in ELEMENTS if (element, element) in kernel.elements]
        if not elements:
            if microkernels is not None:
                failures.append((kernel.name, "it multiplies neither float nor double, and tables are of these alone"))
            continue
        reason = kernel.unavailable()
        if reason is not None:
            # This machine does without it, unless it was asked for.
            if microkernels is not None:
                failures.append((kernel.name, reason))
            continue
        for element, width in elements:
            try:
                table = _table(kernel, element, width, system.vector_bytes, toolchain, kept, report)
            except ExecutionError as error:
                failures.append((kernel.name, error.message))
                break
            if table is None:
                failures.append((kernel.name, f"it takes too few shapes of {element} for a table"))
            else:
                tables.append(table)
    names = {kernel.name for kernel in chosen}
    others = [table for table in measured.throughputs if table.microkernel not in names]
    profile = replace(
        measured,
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        throughputs=(*others, *tables),
        surroundings=system.surroundings,
    )
    write(profile, path)
    kept.drop()
    return Calibration(profile, tuple(failures))


def _loaded(name: str) -> Microkernel:
    try:
        found: Microkernel = registry.load("microkernels", name)
    except OptionError as error:
        raise OptionError(error.message, construct=f"--microkernel {name}", remedy=error.remedy) from None
    return found


class _Kept:
    """Finished steps by name, in a file beside the profile that is gone once all are done."""

    def __init__(self, identity: Identity, path: Path, fresh: bool) -> None:
        self._path = path.with_suffix(".partial.json")
        self._head = json.loads(json.dumps({"version": VERSION, "identity": asdict(identity)}))
        self._steps: dict[str, Any] = {}
        if not fresh:
            with suppress(OSError, ValueError, AttributeError):
                found = json.loads(self._path.read_text(encoding="utf-8"))
                if {name: found.get(name) for name in self._head} == self._head:
                    self._steps = dict(found["steps"])

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        if name not in self._steps:
            self._steps[name] = work()
            with suppress(OSError):  # then an interrupted run only begins anew
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(self._path) as file:
                    file.write(json.dumps(self._head | {"steps": self._steps}).encode())
        return self._steps[name]

    def drop(self) -> None:
        with suppress(OSError):
            self._path.unlink()


def _machine(system: System, toolchain: Toolchain, kept: _Kept, report: Report | None) -> Profile:
    """What is measured of the machine itself."""
    cores = choose_cores(len(os.sched_getaffinity(0)))

    def speeds() -> Any:
        progress = None if report is None else lambda done, total: report("levels", done, total)
        return asdict(level_speeds.measure(system.identity.cache_bytes, system.memory_bytes, cores, progress=progress))

    def constants() -> Any:
        core = system.core
        operations = core.operations_per_cycle(system.vector_bytes)
        pages = measure_pages(cores[0], core.page_bytes, core.line_bytes, operations)
        return {**pages, **measure_thread_start(cores, toolchain)}

    levels = kept.step("levels", speeds)
    return Profile(
        system.identity,
        measured="",
        peak_gflops=levels["peak_gflops"],
        total_peak_gflops=levels["total_peak_gflops"],
        spread=levels["spread"],
        levels=tuple(LevelSpeed(**level) for level in levels["levels"]),
        constants=kept.step("constants", constants),
    )


def _table(
    kernel: Microkernel,
    element: str,
    width: int,
    vector_bytes: int,
    toolchain: Toolchain,
    kept: _Kept,
    report: Report | None,
) -> Throughput | None:
    vector_elements = vector_bytes // width
    groups = [
        ("grid", grid_sites(kernel, element, vector_elements)),
        ("transposed", transposed_sites(kernel, element, vector_elements)),
        ("held out", held_out_sites(kernel, element, vector_elements)),
    ]
    steps = [
        (group, sites[first : first + _SITES_PER_STEP])
        for group, sites in groups
        for first in range(0, len(sites), _SITES_PER_STEP)
    ]
    found: dict[str, dict[GemmShape, float]] = {group: {} for group, _ in groups}
    for number, (group, sites) in enumerate(steps):
        found[group].update(_step(kernel, sites, vector_bytes, toolchain, kept))
        if report is not None:
            report(f"{kernel.name} {element}", number + 1, len(steps))
    return fitted(kernel, element, vector_elements, found["grid"], found["transposed"], found["held out"])


def _step(
    kernel: Microkernel,
    sites: Sequence[GemmSite],
    vector_bytes: int,
    toolchain: Toolchain,
    kept: _Kept,
) -> dict[GemmShape, float]:
    """Named by what is compiled, so that a microkernel that changed meanwhile is timed again."""
    text = program(kernel, sites, vector_bytes) + " ".join((*toolchain.flags, toolchain.version))
    name = f"{kernel.name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def work() -> list[list[object]]:
        found = timed(kernel, sites, vector_bytes, toolchain)
        return [[*astuple(shape), cycles] for shape, cycles in found.items()]

    return {GemmShape(*row[:-1]): row[-1] for row in kept.step(name, work)}

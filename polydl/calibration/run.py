"""The whole calibration in steps that are kept as they end, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from polydl import registry
from polydl.calibration import levels as level_speeds
from polydl.calibration import loops, prefetchers
from polydl.calibration.arithmetic import measure_arithmetic, probe
from polydl.calibration.cores import measure_pages, measure_thread_start
from polydl.calibration.fit import fitted
from polydl.calibration.formulas import decided_constants, fitted_constants
from polydl.calibration.loops import measure_headroom
from polydl.calibration.programs import formula_sites, grid_sites, held_out_sites, long_sites, program, transposed_sites
from polydl.calibration.tables import timed
from polydl.contracts import FormulaConstants, GemmShape, GemmSite, Microkernel
from polydl.element_types import element_dtype
from polydl.errors import ExecutionError, MachineError, OptionError
from polydl.execute.resources import choose_cores
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.machine.core import Core, constants
from polydl.machine.profile import VERSION, Identity, LevelSpeed, Profile, read_for, write
from polydl.machine.system import System
from polydl.machine.throughput import Throughput
from polydl.system.control_groups import usable_processors
from polydl.system.files import replacing

ELEMENTS = (("float", 4), ("double", 8))
_SITES_PER_STEP = 18

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class CalibrationFailure:
    """What of a microkernel could not be measured."""

    microkernel: str
    #: a table of what its calls take, or constants of its formula
    lacks: Literal["table", "constants"]
    #: why
    reason: str

    @property
    def text(self) -> str:
        """All of it in a sentence."""
        if self.lacks == "table":
            return f"no table for {self.microkernel}: {self.reason}"
        return f"not all constants of {self.microkernel}'s formula were measured: {self.reason}"


@dataclass(frozen=True)
class Calibration:
    """What a calibration measured, and what it could not."""

    profile: Profile
    failures: tuple[CalibrationFailure, ...]


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
    names = tuple(microkernels or registry.names("microkernels"))
    # First the one that has what a call takes in its formula: others have some of its constants as well.
    chosen = sorted(map(_loaded, names), key=lambda kernel: "call_cycles" not in _fitted_names(kernel))
    timing = _Timing(system.vector_bytes, Toolchain.find(), _Kept(system.identity, path, fresh), report)
    measured = _machine(system, timing) if earlier is None else earlier
    found = {**measured.constants, **timing.arithmetic(choose_cores(1)[0])}
    tables: list[Throughput] = []
    failures: list[CalibrationFailure] = []
    for kernel in chosen:
        reason = _not_timed(kernel)
        if reason is not None:
            # This machine does without it, unless it was asked for.
            if microkernels is not None:
                failures.append(CalibrationFailure(kernel.name, "table", reason))
            continue
        others = {name: value for name, value in found.items() if name not in _fitted_names(kernel)}
        values, why = _formula_constants(kernel, _core(measured, others, system), timing)
        found = others | values
        failures += [CalibrationFailure(kernel.name, "constants", each) for each in why]
        known = kernel.on(_core(measured, found, system))
        for element, width in ELEMENTS:
            if (element, element) not in kernel.elements:
                continue
            try:
                table = _table(known, element, width, timing)
            except ExecutionError as error:
                failures.append(CalibrationFailure(kernel.name, "table", error.message))
                break
            if table is None:
                reason = f"it takes too few shapes of {element}"
                failures.append(CalibrationFailure(kernel.name, "table", reason))
            else:
                tables.append(table)
    untouched = [table for table in measured.throughputs if table.microkernel not in names]
    profile = replace(
        measured,
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        throughputs=(*untouched, *tables),
        constants=found,
        surroundings=system.surroundings,
    )
    write(profile, path)
    timing.kept.drop()
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


@dataclass(frozen=True)
class _Timing:
    """What all steps of a calibration share."""

    #: of the processor's longest vectors
    vector_bytes: int
    toolchain: Toolchain
    kept: _Kept
    #: gets the name of a stage, the steps done and all steps
    report: Report | None

    def arithmetic(self, core: int) -> dict[str, float]:
        """The constants of arithmetic, measured once with the same compiler."""
        measured: dict[str, float] = self.step(
            "arithmetic",
            probe(self.vector_bytes),
            lambda: measure_arithmetic(core, self.vector_bytes, self.toolchain),
        )
        return measured

    def step(self, name: str, text: str, work: Callable[[], Any]) -> Any:
        """A step that is kept by the C that it compiles and by the compiler: where that changed, it is done again."""
        compiled = text + " ".join((*self.toolchain.flags, self.toolchain.version))
        return self.kept.step(f"{name} {hashlib.sha256(compiled.encode()).hexdigest()[:16]}", work)

    def told(self, stage: str, done: int, total: int) -> None:
        if self.report is not None:
            self.report(stage, done, total)


def _machine(system: System, timing: _Timing) -> Profile:
    """What is measured of the machine itself."""
    cores = choose_cores(usable_processors())

    def speeds() -> Any:
        progress = partial(timing.told, "levels")
        return asdict(level_speeds.measure(system.identity.cache_bytes, system.memory_bytes, cores, progress=progress))

    def constants_of_core() -> Any:
        operations = core.operations_per_cycle(system.vector_bytes)
        pages = measure_pages(cores[0], core.page_bytes, core.line_bytes, operations)
        return {**pages, **measure_thread_start(cores, timing.toolchain), **measure_headroom(cores[0])}

    levels = timing.kept.step("levels and usable bytes", speeds)
    profile = Profile(
        system.identity,
        measured="",
        peak_gflops=levels["peak_gflops"],
        total_peak_gflops=levels["total_peak_gflops"],
        spread=levels["spread"],
        levels=tuple(LevelSpeed(**level) for level in levels["levels"]),
        usable_bytes=levels["usable_bytes"],
    )
    core = _core(profile, timing.arithmetic(cores[0]), system)
    shared = core, cores[0], system.vector_bytes, profile.peak_gflops, timing.toolchain
    found: dict[str, float] = dict(timing.kept.step("constants of the core", constants_of_core))
    stages = (
        ("loops", loops.probe(system.vector_bytes), loops.measure_loops),
        ("prefetchers", prefetchers.probe(core), prefetchers.measure_prefetchers),
    )
    for number, (stage, text, measure) in enumerate(stages):
        found |= timing.step(stage, text, partial(measure, *shared))
        timing.told("core", number + 1, len(stages))
    return replace(profile, constants=found)


def _not_timed(kernel: Microkernel) -> str | None:
    """Why calls of a microkernel are not timed; None if they are."""
    if not kernel.formula_constants and all((element, element) not in kernel.elements for element, _ in ELEMENTS):
        return "it multiplies neither float nor double, and its formula has no constants to measure"
    return kernel.unavailable()


def _fitted_names(kernel: Microkernel) -> frozenset[str]:
    return frozenset(name for wanted in kernel.formula_constants for name in wanted.names)


def _core(measured: Profile, known: Mapping[str, float], system: System) -> Core:
    """The core of a machine with this calibration."""
    return Machine.of_calibration(replace(measured, constants=known, surroundings=system.surroundings)).core


def _formula_constants(kernel: Microkernel, core: Core, timing: _Timing) -> tuple[dict[str, float], list[str]]:
    """Constants of the microkernel's formula by name, and why some could not be measured.

    They predict its calls better than those of ``core``.
    """
    found: dict[str, float] = {}
    failures: list[str] = []
    for number, wanted in enumerate(kernel.formula_constants):
        try:
            found |= _group_constants(kernel, wanted, core.having(constants(found, "measured")), timing)
        except ExecutionError as error:
            failures.append(error.message)
        timing.told(f"{kernel.name} formula", number + 1, len(kernel.formula_constants))
    return found, failures


def _group_constants(kernel: Microkernel, wanted: FormulaConstants, core: Core, timing: _Timing) -> dict[str, float]:
    vector_elements = timing.vector_bytes // element_dtype(wanted.elements[-1]).itemsize
    if wanted.decide:
        sites = long_sites(kernel.on(core), wanted, vector_elements)
        if not sites:
            return {}
        return decided_constants(kernel, wanted, core, partial(_step, sites=sites, timing=timing))
    values: dict[str, float] = {}
    # Once more, with the register blocks that the constants choose.
    for _ in range(2):
        here = core.having(constants(values, "measured"))
        sites = formula_sites(kernel.on(here), wanted, vector_elements)
        if not sites:
            break
        cycles = {shape: taken * here.peak_cycle for shape, taken in _step(kernel.on(here), sites, timing).items()}
        values = fitted_constants(kernel, wanted, here, cycles, vector_elements) or values
    return values


def _table(kernel: Microkernel, element: str, width: int, timing: _Timing) -> Throughput | None:
    vector_elements = timing.vector_bytes // width
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
        found[group].update(_step(kernel, sites, timing))
        timing.told(f"{kernel.name} {element}", number + 1, len(steps))
    return fitted(kernel, element, vector_elements, found["grid"], found["transposed"], found["held out"])


def _step(kernel: Microkernel, sites: Sequence[GemmSite], timing: _Timing) -> dict[GemmShape, float]:
    """Peak cycles by shape, kept by what is compiled."""

    def work() -> list[list[object]]:
        found = timed(kernel, sites, timing.vector_bytes, timing.toolchain)
        return [[*astuple(shape), cycles] for shape, cycles in found.items()]

    text = program(kernel, sites, timing.vector_bytes)
    return {GemmShape(*row[:-1]): row[-1] for row in timing.step(kernel.name, text, work)}

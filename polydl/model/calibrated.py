"""Microkernels as a machine has them: with predictions from tables that were measured on it, and maybe elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

from polydl.contracts import (
    Ability,
    CallArguments,
    EmittedSite,
    FormulaConstants,
    GemmShape,
    GemmSite,
    Microkernel,
    StridePattern,
)
from polydl.contracts.first_cache import timed_cycles
from polydl.ir.kernel import StaticLibrary
from polydl.ir.numerics import Rounding
from polydl.machine.call_times import CallTimes
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.machine.throughput import Throughput
from polydl.model.call_factors import CallFactors


@dataclass(frozen=True)
class Calibrated(Microkernel):
    """A microkernel whose predictions come from measured tables, and from its own formula where there is none.

    Where calls were timed one by one, these correct the formula.
    """

    kernel: Microkernel
    #: Tables of this microkernel, one for each type of elements.
    throughputs: tuple[Throughput, ...]
    #: Calls that were timed one by one, for each type of elements.
    call_times: tuple[CallTimes, ...] = ()
    #: The cores whose cycles are predicted.
    core: Core = WIDE_CORE
    #: The instruction sets of a machine that is not at hand, as systems name them; None for the machine at hand.
    elsewhere: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def reference(self) -> str:
        return self.kernel.reference

    @property
    def patterns(self) -> tuple[StridePattern, ...]:
        return self.kernel.patterns

    @property
    def elements(self) -> tuple[tuple[str, ...], ...]:
        return self.kernel.elements

    @property
    def abilities(self) -> frozenset[Ability]:
        return self.kernel.abilities

    def unavailable(self) -> str | None:
        """Why the kernel can't be used. Of another machine its instruction sets say so: nothing can be tried there."""
        if self.elsewhere is None:
            return self.kernel.unavailable()
        if self.library:
            return f"{self.library} makes code for the processor that it runs on, and the machine is another"
        present = {_plain(name) for name in self.elsewhere}
        lacking = sorted(macro.strip("_") for macro in self.macros if _plain(macro) not in present)
        return f"the machine has no {' or '.join(lacking)}" if lacking else None

    def rejects(self, shape: GemmShape) -> str | None:
        return self.kernel.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return self.kernel.sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        """Core cycles from the table; columns beyond it take more time as the microkernel's own formula says, and
        operands that are not copied anew less.

        Without a table, from the formula and the calls that were timed.
        """
        for table in self.throughputs:
            if (table.element, table.vector_elements) == (shape.element, vector_elements):
                columns, most = shape.columns, table.columns[-1]
                cycles = table.cycles(shape.m, min(columns, most), shape.k, shape.batch, shape.transposed)
                cycles *= self.core.peak_cycle
                if columns <= most and shape.anew_a == shape.anew_b == 1.0:
                    return cycles
                # Calls that were timed copy what they copy at all.
                known = replace(shape, anew_a=1.0, anew_b=1.0)
                known = replace(known, n=most, rows=1) if columns > most else known
                formula = self.kernel.predicted_cycles
                return cycles * formula(shape, vector_elements) / formula(known, vector_elements)
        cycles = self.kernel.predicted_cycles(shape, vector_elements)
        factors = self._factors.get((shape.element, vector_elements))
        if factors is None:
            return cycles
        # What was timed of other calls may say too little: none is faster than the core's peak, unless the formula says
        # that it is, as of products of tiles.
        products = shape.m * shape.columns * shape.k * shape.batch
        at_peak = products / (vector_elements * self.core.fma_per_cycle)
        return max(cycles * factors.of(shape), min(cycles, at_peak))

    def waits(self, element: str, vector_elements: int) -> bool:
        """Not if a table covers such calls: it was measured with operands in the first two caches."""
        covered = any(
            (table.element, table.vector_elements) == (element, vector_elements) for table in self.throughputs
        )
        return not covered and self.kernel.waits(element, vector_elements)

    @cached_property
    def _factors(self) -> dict[tuple[str, int], CallFactors]:
        """By element type and vector length, for calls that no table covers."""
        return {
            (times.element, times.vector_elements): CallFactors(
                times,
                partial(timed_cycles, self.kernel, vector_elements=times.vector_elements),
                self.core.peak_cycle,
            )
            for times in self.call_times
        }

    def kept_copies(self, shape: GemmShape) -> tuple[int, int]:
        return self.kernel.kept_copies(shape)

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        return self.kernel.register_block(shape, vector_elements)

    @property
    def formula_constants(self) -> tuple[FormulaConstants, ...]:
        return self.kernel.formula_constants

    def panel_rows(self, vector_elements: int) -> int:
        return self.kernel.panel_rows(vector_elements)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        return self.kernel.emit(site, vector_bytes)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return self.kernel.call(site, arguments)

    def rounding(self, element: str) -> Rounding:
        return self.kernel.rounding(element)

    def link_flags(self) -> tuple[str, ...]:
        return self.kernel.link_flags()

    @property
    def macros(self) -> frozenset[str]:
        return self.kernel.macros

    def static_library(self) -> StaticLibrary | None:
        return self.kernel.static_library()

    @property
    def family(self) -> str:
        return self.kernel.family

    @property
    def library(self) -> str:
        return self.kernel.library

    @property
    def kept_memory(self) -> tuple[str, ...]:
        return self.kernel.kept_memory

    def version(self) -> str:
        return self.kernel.version()

    def on(self, core: Core) -> Microkernel:
        return replace(self, kernel=self.kernel.on(core), core=core)


def calibrated(
    kernel: Microkernel,
    throughputs: Sequence[Throughput],
    call_times: Sequence[CallTimes] = (),
    elsewhere: tuple[str, ...] | None = None,
) -> Microkernel:
    """The microkernel with the tables and the timed calls that are its own, or as it is if there are none.

    ``elsewhere`` are the instruction sets of a machine that is not at hand.
    """
    tables = tuple(table for table in throughputs if table.microkernel == kernel.name)
    times = tuple(each for each in call_times if each.microkernel == kernel.name and each.calls)
    if not tables and not times and elsewhere is None:
        return kernel
    return Calibrated(kernel, tables, times, elsewhere=elsewhere)


def uncalibrated(kernel: Microkernel) -> Microkernel:
    """The microkernel with its own formula alone."""
    return kernel.kernel if isinstance(kernel, Calibrated) else kernel


def _plain(name: str) -> str:
    """An instruction set as systems and compilers both write it, but for underscores."""
    return name.replace("_", "").lower()

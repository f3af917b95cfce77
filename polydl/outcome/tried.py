"""A variant that was compiled and run."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.ranking import RankedVariant
from polydl.records.record import Record


@dataclass(frozen=True, repr=False)
class Tried:
    """A variant that was compiled and run."""

    #: place in the ranking, from 1
    rank: int
    ranked: RankedVariant
    kernel: KernelSource
    measurement: Measurement
    #: the earlier measurement that this one is; None if it was measured now
    record: Record | None = None

    def __repr__(self) -> str:
        return f"<Tried {self.kernel.id}: {self.measurement.outcome}, {self.rank}. in the ranking>"

"""A variant that was compiled and run."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.ranking import RankedVariant
from polydl.records.record import Record


@dataclass(frozen=True)
class Tried:
    """A variant that was compiled and run, with its place in the ranking (1 is first).

    ``record`` is the earlier measurement that this one is, None if it was measured now.
    """

    rank: int
    ranked: RankedVariant
    kernel: KernelSource
    measurement: Measurement
    record: Record | None = None

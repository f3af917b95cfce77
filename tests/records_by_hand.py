"""A record of a measurement that never was, for tests of the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from polydl.ir.measurement import Sample
from polydl.ir.variant import Interchange, Parallel, Tile, Variant
from polydl.records.record import Record, Setting

NEST, OTHER = "0123456789abcdef", "fedcba9876543210"
SETTING = Setting("GenuineIntel-6-85-7-32K-1024K-36608K", 1, "gcc 12.2.0 -O3", (("libxsmm", "1.17"),))
VARIANT = Variant((Tile(0, "i", (64, 16)), Interchange(0, ("i_t2", "j", "i_t1")), Parallel(0, "i_t2")))


def record(seconds: float | None = 1.25e-3, **changes: Any) -> Record:
    made = Record(
        kind="variant",
        id=VARIANT.id,
        nest=NEST,
        function="matmul",
        flops=983040,
        setting=SETTING,
        status="ok" if seconds is not None else "crash",
        run="r1",
        date="2026-11-21T10:00:00+00:00",
        code="abcd",
        variant=VARIANT,
        workload=None,
        samples=(Sample(1.25e-3, (151.25, 150.5), False), Sample(1.5e-3, (151.25, 90.5), True)),
        seconds_minimum=seconds,
        seconds_median=seconds,
        error=3.5e-7,
        baseline_seconds=0.02,
        peak_gflops=151.25,
        polydl="0.1.0",
        features={"cost": 1.5e-6, "levels": [1.0, 2.0]},
    )
    return replace(made, **changes)

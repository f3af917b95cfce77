"""A machine, caches and schedules that tests of working sets share."""

from __future__ import annotations

from collections.abc import Sequence

from nest_factory import Work, in_order, schedule_of

from polydl.ir.schedule import Schedule
from polydl.machine import CacheLevel, Machine

CACHES = (32 << 10, 1 << 20, 32 << 20)
MACHINE = Machine(
    name="example",
    cpu_id="example",
    cores=4,
    threads=2,
    isa=("avx2",),
    vector_bytes=32,
    caches=(
        CacheLevel("L1", 32 << 10, 64, 1, 1e-9, 1e11),
        CacheLevel("L2", 1 << 20, 64, 2, 4e-9, 5e10),
        CacheLevel("L3", 32 << 20, 64, 4, 2e-8, 2e10),
    ),
    memory_latency_seconds=1e-7,
    memory_bandwidth_bytes_per_second=1e10,
    memory_bytes=8 << 30,
    peak_gflops=100.0,
)


def schedules(work: Work, orders: Sequence[str], parallel: str = "") -> list[Schedule]:
    return [schedule_of((work.name, in_order(work, order, parallel))) for order in orders]

"""Calls of microkernels with packed operands of floats."""

from __future__ import annotations

from dataclasses import replace

from polydl.contracts import GemmShape
from polydl.machine.call_times import CallTime, CallTimes


def packed_call(m: int, n: int, k: int, batch: int = 1, **changes: int) -> GemmShape:
    """A call with packed operands, but for ``changes``."""
    plain = GemmShape("float", "float", m, n, k, batch, lda=m, ldc=m, stride_bn=k, stride_bk=1)
    return replace(plain, **changes)  # type: ignore[arg-type]


def timed(*factors: tuple[GemmShape, float]) -> CallTimes:
    """Calls of the microkernel ``c`` that took so many times the cycles of their ``formula``."""
    rows = (
        CallTime(each.m, each.columns, each.k, each.batch, each.transposed, factor * formula(each))
        for each, factor in factors
    )
    return CallTimes("c", "float", 16, "", True, tuple(rows))


def formula(call: GemmShape) -> float:
    """Cycles at 32 multiply-adds in each."""
    return call.m * call.columns * call.k * call.batch / 32

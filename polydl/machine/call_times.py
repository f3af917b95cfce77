"""Calls of microkernels that were timed one by one when they were first used, kept beside the machine's speeds.

What the formulas of these microkernels take is fitted to them and kept with them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomli_w

from polydl.errors import MachineError
from polydl.machine.core import CoreConstant
from polydl.system.files import replacing

_VERSION = 2


@dataclass(frozen=True)
class CallTime:
    """One call with operands in the first two caches, packed as tightly as its sizes allow."""

    #: Rows of C.
    m: int
    #: The columns of all rows.
    n: int
    #: Terms of each sum of one product.
    k: int
    #: Products that one call sums.
    batch: int
    #: Whether B is contiguous along n.
    transposed: bool
    #: Peak cycles: the time of two vector multiply-adds each.
    cycles: float


@dataclass(frozen=True)
class CallTimes:
    """The calls of one microkernel and element type."""

    microkernel: str
    #: C type of the elements of A and B.
    element: str
    #: Of that type in a vector of the machine.
    vector_elements: int
    #: Of the microkernel, the compiler and its flags.
    versions: str
    #: Whether nothing is left to time; False after an interruption.
    complete: bool
    calls: tuple[CallTime, ...]
    #: Those of a core in the microkernel's formula, fitted to the calls; none if it predicts no better with them.
    constants: tuple[CoreConstant, ...] = ()

    @staticmethod
    def from_table(table: Mapping[str, Any]) -> CallTimes:
        """Calls from what ``dataclasses.asdict`` made of them, by way of TOML.

        Raises ValueError, KeyError or TypeError, and MachineError for what is no constant of a core.
        """
        calls = tuple(CallTime(**row) for row in table["calls"])
        for call in calls:
            if min(call.m, call.n, call.k, call.batch) < 1 or not (math.isfinite(call.cycles) and call.cycles > 0):
                raise ValueError(f"{call} is no timed call")
        constants = tuple(CoreConstant(**row) for row in table.get("constants", []))
        return CallTimes(**{**table, "calls": calls, "constants": constants})


def call_times_path(directory: Path, cpu_id: str) -> Path:
    """Where the times of calls on a kind of processor are kept, in a directory of profiles."""
    return directory / f"{cpu_id}.calls.toml"


def read_call_times(directory: Path, cpu_id: str) -> tuple[CallTimes, ...]:
    """What is kept there; nothing if the file is absent, damaged, of another version or of another processor."""
    try:
        table = tomllib.loads(call_times_path(directory, cpu_id).read_text(encoding="utf-8"))
        if (table.get("version"), table.get("cpu_id")) != (_VERSION, cpu_id):
            return ()
        return tuple(CallTimes.from_table(each) for each in table["microkernels"])
    except (OSError, ValueError, KeyError, TypeError, MachineError):
        return ()


def write_call_times(directory: Path, cpu_id: str, times: Iterable[CallTimes]) -> None:
    """Whole or not at all. Raises OSError."""
    with replacing(call_times_path(directory, cpu_id)) as file:
        table = {"version": _VERSION, "cpu_id": cpu_id, "microkernels": [asdict(each) for each in times]}
        file.write(tomli_w.dumps(table).encode())

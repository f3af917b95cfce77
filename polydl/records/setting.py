"""The setting in which this process measures."""

from __future__ import annotations

from polydl.errors import MissingComponentError
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.native import libxsmm_version
from polydl.records.record import Setting


def setting_of(machine: Machine, toolchain: Toolchain, *, strict_fp: bool = False, cold: bool = False) -> Setting:
    """The setting of measurements on this machine.

    ``machine.caches`` are not part of it: cache sizes that the user gave change which variants are tried, but no time.
    """
    return Setting(
        cpu=machine.cpu_id,
        threads=machine.threads,
        compiler=" ".join([toolchain.kind, toolchain.version, *toolchain.flags]),
        libraries=_libraries(),
        strict_fp=strict_fp,
        cold=cold,
    )


def _libraries() -> tuple[tuple[str, str], ...]:
    try:
        return (("libxsmm", libxsmm_version()),)
    except MissingComponentError:
        return ()

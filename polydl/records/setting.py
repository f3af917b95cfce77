"""The setting in which this process measures."""

from __future__ import annotations

from contextlib import suppress

from polydl import registry
from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import Cold
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.machine import Machine
from polydl.records.record import Setting


def setting_of(
    machine: Machine, toolchain: Toolchain, *, numerics: Numerics = DEFAULT_NUMERICS, cold: Cold = False
) -> Setting:
    """The setting of measurements on this machine.

    ``machine.caches`` are not part of it: cache sizes that the user gave change which variants are tried, but no time.
    """
    return Setting(
        cpu=machine.cpu_id,
        threads=machine.threads,
        compiler=" ".join([toolchain.kind, toolchain.version, *toolchain.flags]),
        libraries=_libraries(),
        numerics=numerics,
        cold=cold,
    )


def _libraries() -> tuple[tuple[str, str], ...]:
    """The versions of all microkernels that have one, by the library that they belong to or else by their own name."""
    found = {}
    for name in registry.names("microkernels"):
        with suppress(OptionError):  # one that can't be imported computes nothing either
            kernel = registry.load("microkernels", name)
            if version := kernel.version():
                found[kernel.library or kernel.name] = version
    return tuple(sorted(found.items()))

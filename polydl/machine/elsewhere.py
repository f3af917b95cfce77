"""Machines that this process doesn't run on, from a file or from the profiles of processors that polydl brings.

A file is what ``polydl calibrate`` wrote on the other machine, or what ``Machine.save`` did. The profiles in
``profiles/`` say where each of their numbers is from.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

from polydl.errors import MachineError
from polydl.machine.profile import read
from polydl.machine.system import find
from polydl.machine.value import Machine
from polydl.system.files import text_of

_PROFILES = Path(__file__).with_name("profiles")


def names() -> tuple[str, ...]:
    """The processors that polydl has a profile of."""
    return tuple(sorted(path.stem for path in _PROFILES.glob("*.toml")))


def machine_elsewhere(name: str, *, threads: int | None = None) -> Machine:
    """The machine of a file, or with a processor of that name (``names``).

    ``threads`` are all cores by default; a processor of a name comes with as many cores as it is to have threads. A
    machine like the one at hand, with no more threads than there are cores here, is taken for the one at hand. Raises
    MachineError for a file that describes none and for more threads than a file's machine has.
    """
    profile = _PROFILES / f"{name}.toml"
    if name in names():
        machine = Machine.load(profile)
        if threads is not None and threads > machine.cores:
            # What all cores reach together was measured with fewer. All share a last cache that all shared there.
            last = machine.caches[-1]
            if last.shared_by == machine.cores:
                machine = replace(machine, caches=(*machine.caches[:-1], replace(last, shared_by=threads)))
            machine = replace(machine, cores=threads, total_bandwidths=(), total_peak_gflops=0.0)
    else:
        machine = _read(Path(name))
    if threads is not None and not 1 <= threads <= machine.cores:
        raise MachineError(
            f"{threads} threads asked for",
            file=name,
            remedy=f"ask for 1 to {machine.cores} threads (--threads), the cores of that machine",
        )
    machine = replace(machine, threads=threads or machine.cores)
    at_hand = is_here(machine)
    if at_hand and name in names():
        # As in what is measured here without a name.
        machine = replace(machine, name=find([level.bytes for level in machine.caches]).identity.name)
    return replace(machine, at_hand=at_hand)


def _read(path: Path) -> Machine:
    try:
        table = tomllib.loads(text_of(path))
    except OSError as error:
        raise MachineError(
            f"there is no description of a machine: {error.strerror}",
            file=str(path),
            remedy=f"name a file of `polydl calibrate --profile`, or a processor: {', '.join(names())}",
        ) from None
    except ValueError as error:
        raise MachineError(
            f"not a machine description: {error}", file=str(path), remedy="write it with `polydl calibrate --profile`"
        ) from None
    if "identity" not in table:
        return Machine.load(path)
    try:
        return Machine.of_calibration(read(path))
    except MachineError as error:
        raise MachineError(error.message, file=str(path), remedy=error.remedy) from None


def is_here(machine: Machine) -> bool:
    """Whether this machine is of the same kind, and has as many cores as the other is to have threads."""
    identity = find([level.bytes for level in machine.caches]).identity
    same = (identity.cpu_id, set(identity.features)) == (machine.cpu_id, set(machine.isa))
    return same and machine.threads <= identity.cores

"""From a nest to what all processes that run kernels of it are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from polydl.execute.arrays import GUARD_BYTES, Data
from polydl.execute.contract import TimingPolicy
from polydl.execute.participant import Job
from polydl.execute.ranges import divided_by_diagonals, drawn_integers
from polydl.execute.tolerance import tolerance
from polydl.ir.scop import Array, Parameter, Scop
from polydl.system.sandbox import is_sandboxed

# Inputs of at least this size together are in memory once, for all processes.
_SHARED_BYTES = 32 << 20


def job_of(scop: Scop, cores: tuple[int, ...], seed: int, policy: TimingPolicy, directory: Path) -> Job:
    """What all processes of a measurement of the nest on these cores have in common."""
    carried = [(scop.array(parameter.array), parameter) for parameter in scop.function.parameters]
    global_arrays = [array for array in scop.arrays if array.storage == "global"]
    arrays = [array for array, _ in carried] + global_arrays
    parameters = [_describe(array, parameter) for array, parameter in carried]
    # Numbers like these the workers give to the contents of their arrays.
    inputs = [(stream, array) for stream, array in enumerate(arrays[: len(carried)]) if is_input(scop, array)]
    diagonals = divided_by_diagonals(scop)
    dominant = tuple((stream, array.extents[0]) for stream, array in enumerate(arrays) if array.name in diagonals)
    constant = tuple(stream for stream, array in enumerate(arrays) if array.name in scop.constants)
    # Each sandbox has numbers of processes of its own, so that nobody outside can end what one forks in there.
    forks = not is_sandboxed()
    if sum(array.bytes for _, array in inputs) < _SHARED_BYTES or not forks:
        inputs = []
    return Job(
        parameters=parameters,
        global_arrays=[_describe(array) for array in global_arrays],
        bytes=sum(array.bytes + 2 * GUARD_BYTES for array in arrays),
        forks=forks,
        shared=[{**parameters[stream], "stream": stream} for stream, _ in inputs],
        cores=cores,
        data=Data(seed, True, integers=drawn_integers(scop), dominant=dominant, constant=constant),
        tolerance=tolerance(scop),
        directory=directory,
        policy=policy,
    )


def is_input(scop: Scop, array: Array) -> bool:
    """Whether the nest reads the array and never writes it."""
    written = {access.array for statement in scop.statements for access in statement.writes}
    return bool(array.extents) and array.name not in written


def _describe(array: Array, parameter: Parameter | None = None) -> dict[str, Any]:
    return {
        "name": array.name if parameter is None else parameter.name,
        "element": array.element,
        "extents": list(array.extents),
        "value": None if parameter is None else parameter.value,
    }

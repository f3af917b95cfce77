"""What all processes that run kernels of a nest are told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, prod
from pathlib import Path
from typing import Any

from polydl.element_types import element_dtype
from polydl.execute.arrays import GUARD_BYTES, Data
from polydl.execute.contract import TimingPolicy
from polydl.execute.ranges import divided_by_diagonals, drawn_integers, shifted_by
from polydl.execute.tolerance import tolerance
from polydl.ir.scop import Array, Parameter, Scop
from polydl.system.sandbox import is_sandboxed

# Inputs of at least this size together are in memory once, for all processes.
_SHARED_BYTES = 32 << 20
# Time limits for filling or comparing all arrays, on however slow a machine.
_PREPARE_SECONDS = 60.0
_PREPARE_BYTES_PER_SECOND = 20e6
# A kernel that ran once within the limit, and now takes that many times longer, hangs.
_SLOWEST = 100


@dataclass(frozen=True)
class Job:
    """The facts that all children of one measurement have in common."""

    #: of the function, as ``Worker.start`` takes them
    parameters: list[dict[str, Any]]
    #: those that the function reads and writes beside its parameters, in the same form
    global_arrays: list[dict[str, Any]]
    #: of all arrays of one child
    bytes: int
    #: whether one process starts the others, by forks
    forks: bool
    #: arrays that no kernel writes, and that all children read from the same memory; none unless it ``forks``
    shared: list[dict[str, Any]]
    #: to pin threads to
    cores: tuple[int, ...]
    #: the contents of the arrays at the first run
    data: Data
    #: largest norm-wise error of a correct result
    tolerance: float
    #: for temporary files
    directory: Path
    policy: TimingPolicy
    #: largest error of a candidate against a wider type, over that of the source's own arithmetic
    most_error: float = inf

    def contents(self, signed: bool, turn: int) -> Data:
        """The contents of the arrays, with signed or positive values, at one of the two checked runs."""
        return replace(self.data, signed=signed, turn=turn)

    def result(self, turn: int) -> Path:
        """The file with the reference's result of one of the two checked runs."""
        return self.directory / f"reference-{turn}"

    @property
    def shared_bytes(self) -> int:
        """Bytes of the arrays that children share, with their guard zones."""
        sizes = (prod(each["extents"]) * element_dtype(each["element"]).itemsize for each in self.shared)
        return sum(size + 2 * GUARD_BYTES for size in sizes)

    @property
    def walk_seconds(self) -> float:
        """Time limit for filling or comparing all arrays."""
        return _PREPARE_SECONDS + self.bytes / _PREPARE_BYTES_PER_SECOND

    def limit(self, seconds: float) -> float:
        """Time limit of a command that runs a kernel for ``seconds`` and may fill its arrays again."""
        return self.policy.timeout_seconds + _SLOWEST * seconds + self.bytes / _PREPARE_BYTES_PER_SECOND


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
    counts = shifted_by(scop)
    shifting = tuple(stream for stream, array in enumerate(arrays) if array.name in counts)
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
        data=Data(seed, True, drawn_integers(scop), dominant=dominant, shifting=shifting, constant=constant),
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

"""The data that a nest is measured with where the user names it: filled by a function of the file, or read from one."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from polydl.codegen.original import compile_flags, defines, invoking
from polydl.execute.build import build
from polydl.execute.checking import Checker
from polydl.execute.child import ChildError
from polydl.execute.job import Job
from polydl.execute.participant import Participant
from polydl.execute.toolchain import Toolchain
from polydl.ir.data import Initializer
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop


def given_arrays(scop: Scop, job: Job, toolchain: Toolchain) -> tuple[tuple[int, str, int, str], ...]:
    """Where the contents of arrays lie, as ``Data.given`` has it; the files are in the job's directory.

    What a file of inputs holds goes before what the initializer fills. Raises ChildError where the initializer can't be
    compiled or run, or fills nothing.
    """
    filled = {} if scop.initializer is None else _initialized(scop, scop.initializer, job, toolchain)
    read = {} if scop.inputs is None else _read(scop.inputs.path, job.directory / "inputs")
    found = {**filled, **read}
    arrays = enumerate((*job.parameters, *job.global_arrays))
    return tuple(
        (stream, *found[array["name"]], array["element"])
        for stream, array in arrays
        if array["name"] in found and array["value"] is None
    )


def _initialized(scop: Scop, initializer: Initializer, job: Job, toolchain: Toolchain) -> dict[str, tuple[str, int]]:
    """Run the initializer in a process of its own, on random data: file and offset of what it fills, by array."""
    built = build([initializing(scop, initializer)], toolchain.in_order, job.directory / "initializer")[0]
    participant, path = Participant(built), job.directory / "initialized"
    checker = Checker(job, None)
    try:
        with ExitStack() as stack:
            checker.launch(participant, True, stack)
            checker.wait(participant)
            participant.running.request("run", job.policy.timeout_seconds)
            reply = participant.running.request("store", job.walk_seconds, path=str(path))
    except ChildError as error:
        raise ChildError(error.status, f"{initializer.function}: {error.message}") from None
    if reply["wrong"] is not None:
        raise ChildError("unsupported", f"after {initializer.function} {reply['wrong']}")
    return {name: (str(path), offset) for name, offset in reply["offsets"].items()}


def initializing(scop: Scop, initializer: Initializer) -> KernelSource:
    """C that calls the initializer with pointers to the arguments of the nest's function."""
    of_file = replace(scop, source=initializer.source)
    call = f"{initializer.function}({', '.join(initializer.arguments)})"
    # Global arrays of the nest that the initializer knows nothing of.
    others = "".join(
        f"static unsigned char {array.name}[{array.bytes}];\n"
        for array in scop.arrays
        if array.storage == "global" and not re.search(rf"\b{array.name}\b", initializer.source)
    )
    return KernelSource(
        id="initializer",
        function=initializer.function,
        c=defines(scop) + initializer.source,
        interface=Interface(initializer.function),
        harness=others + invoking(scop, call),
        compile_flags=compile_flags(of_file),
    )


def _read(path: str, to: Path) -> dict[str, tuple[str, int]]:
    """The arrays of a NumPy file as they lie in memory, in one file."""
    places: dict[str, tuple[str, int]] = {}
    with np.load(path, allow_pickle=False) as arrays, to.open("wb") as file:
        for name in arrays.files:
            places[name] = (str(to), file.tell())
            file.write(np.ascontiguousarray(arrays[name]).tobytes())
    return places

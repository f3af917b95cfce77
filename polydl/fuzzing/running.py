"""Runs the variants of one nest in a process of their own and compares each with the original, twice.

The process is forked, since nothing has to be imported again then. Each run is on other data and at another place: once
arrays begin right after a page without access, once they end right before one.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import select
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polydl.element_types import Values, element_dtype
from polydl.execute.arrays import Buffer, Data
from polydl.execute.comparison import compare, first_not_finite, store
from polydl.execute.ranges import drawn_integers
from polydl.fuzzing.limits import limit_processor_seconds
from polydl.fuzzing.memory import GuardedArray
from polydl.fuzzing.unit import global_symbol, invoke_symbol
from polydl.ir.scop import Scop

# Of one variant's runs: of processor time, so that on a busy machine none takes too long, and of any time.
_PROCESSOR_SECONDS, _SECONDS = 20, 900.0
_CORE_BYTES = 0
# As much as the first thread may have, whatever the limit on stacks says of others.
_STACK_BYTES = 64 << 20
# Data sets of whole numbers that are tried until one changes an array.
_DRAWS = 4
_PLACES = 2


@dataclass(frozen=True)
class VariantAnswer:
    """What became of one variant."""

    #: of the variant in its unit
    number: int
    #: ok, wrong, crash, timeout, or imprecise: wrong on random data, in the same way twice, and right where nothing is
    #: rounded
    status: str
    message: str = ""


@dataclass(frozen=True)
class OriginalResult:
    """What the original makes of some data."""

    #: file of the arrays that it changes
    path: Path
    #: of each of these arrays in the file, in bytes
    offsets: Mapping[str, int]
    data: Data


@dataclass(frozen=True)
class OriginalLibrary:
    """The library of the original, the largest error of a correct result, and the results at each place."""

    #: the shared library
    library: Path
    #: the largest norm-wise relative error of a correct result
    tolerance: float
    #: of the data at the first place
    seed: int
    #: at each place of the arrays in memory, as in ``GuardedArray``
    results: tuple[OriginalResult, ...]


class NoReferenceError(Exception):
    """The original itself can't be run, or gives nothing to compare with."""


def reference(scop: Scop, library: Path, tolerance: float, seed: int, directory: Path) -> OriginalLibrary:
    """Run the original, and keep its results in the directory. Raises NoReferenceError."""
    told, failure = _forked(partial(_run_original, scop, library, tolerance, seed, directory))
    refusal = next((each["refused"] for each in told if "refused" in each), None)
    if refusal is not None:
        raise NoReferenceError(refusal)
    if failure is not None:
        raise NoReferenceError(f"the original ends with {failure[1]}")
    results = tuple(
        OriginalResult(
            _results(directory, place), each["offsets"], _data(scop, tolerance, seed + place, each["signed"])
        )
        for place, each in enumerate(told)
    )
    return OriginalLibrary(library, tolerance, seed, results)


def run(
    scop: Scop,
    reference: OriginalLibrary,
    library: Path,
    numbers: Sequence[int],
    directory: Path,
    combining: Collection[int] = (),
) -> tuple[VariantAnswer, ...]:
    """Run the variants of a unit by their numbers.

    Threads combine sums of those ``combining``, in an order that may be another one at each call.
    """
    left = list(numbers)
    answers: list[VariantAnswer] = []
    while left:
        told, failure = _forked(partial(_run_all, scop, reference, library, tuple(left), directory, combining))
        finished = [VariantAnswer(each["number"], each["status"], each["message"]) for each in told if "number" in each]
        answers += finished
        left = left[len(finished) :]
        refusal = next((("crash", each["refused"]) for each in told if "refused" in each), failure)
        if refusal is not None and left:
            answers.append(VariantAnswer(left.pop(0), *refusal))
    return tuple(answers)


def _forked(work: Callable[[Callable[[dict[str, Any]], None]], None]) -> tuple[list[dict[str, Any]], Any]:
    """What a forked process reports, and its failure as a status and a message, or None.

    The child works in a thread of its own. If this process has run parallel code of OpenMP, the thread that the child
    goes on with has a team there whose other threads it does not have: it would wait for them without end.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (_CORE_BYTES, _CORE_BYTES))
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            limit_processor_seconds(_PROCESSOR_SECONDS)
            silent = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                os.dup2(silent, standard)
            _in_a_new_thread(work, writer)
            status = 0
        except BaseException as error:
            _send(writer, {"refused": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(status)
    os.close(writer)
    text, hung = _read(reader, child)
    _, ended = os.waitpid(child, 0)
    entries = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    if hung:
        return entries, ("timeout", f"no answer within {_SECONDS:g} s")
    if os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGXCPU:
        return entries, ("timeout", f"no answer within {_PROCESSOR_SECONDS} s of processor time")
    if os.WIFSIGNALED(ended):
        return entries, ("crash", f"killed by {signal.Signals(os.WTERMSIG(ended)).name}")
    if os.WEXITSTATUS(ended):
        return entries, ("crash", f"exit status {os.WEXITSTATUS(ended)}")
    return entries, None


def _in_a_new_thread(work: Callable[[Callable[[dict[str, Any]], None]], None], writer: int) -> None:
    """Do the work in a thread that is started for it. Raises what the work does."""
    threading.stack_size(_STACK_BYTES)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(work, lambda entry: _send(writer, entry)).result()


def _send(writer: int, entry: dict[str, Any]) -> None:
    os.write(writer, (json.dumps(entry) + "\n").encode())


def _read(reader: int, child: int) -> tuple[str, bool]:
    """All that the child writes, and whether it was killed since it took too long for an answer."""
    text = bytearray()
    deadline = time.monotonic() + _SECONDS
    try:
        while True:
            ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                return text.decode(errors="replace"), True
            data = os.read(reader, 1 << 16)
            if not data:
                return text.decode(errors="replace"), False
            text += data
            deadline = time.monotonic() + _SECONDS
    finally:
        os.close(reader)


# ----------------------------------------------------------------------------------
# In the child


@dataclass(frozen=True)
class _WholeNumbers(Data):
    """Small whole numbers in all arrays, so that sums and products round nowhere, whatever their order."""

    def _draw(self, key: tuple[int, ...], dtype: np.dtype[Any], count: int) -> Values:
        values = np.random.default_rng(key).integers(-2, 3, count)
        return values.astype(dtype) if dtype.kind == "f" else super()._draw(key, dtype, count)


class _Kernel:
    """A function of a library with the arrays that it is called with."""

    def __init__(self, scop: Scop, arrays: Sequence[GuardedArray], library: ctypes.CDLL, suffixed: int | None) -> None:
        parameters = scop.function.parameters
        bound = {number: each.value for number, each in enumerate(parameters) if each.value is not None}
        invoke = "polydl_invoke" if suffixed is None else invoke_symbol(suffixed)
        address = "polydl_global" if suffixed is None else global_symbol(suffixed)
        self._invoke = library[invoke]
        self._invoke.restype, self._invoke.argtypes = None, [ctypes.c_void_p]
        self._bound = bound
        self._arrays = arrays
        places = library[address]
        places.restype, places.argtypes = ctypes.c_void_p, [ctypes.c_int]
        outside = [array for array in scop.arrays if array.storage == "global"]
        self._outside = [
            Buffer(array.name, element_dtype(array.element), array.extents, len(arrays) + number, places(number))
            for number, array in enumerate(outside)
        ]

    def __call__(self, place: int, data: Data) -> list[Buffer]:
        """Fill all arrays, call the function once, and return the arrays that it may have changed."""
        buffers = []
        for number, array in enumerate(self._arrays):
            buffer = array.buffers[place]
            if number in self._bound:
                buffer.values[:] = self._bound[number]
            else:
                buffer.fill(data)
            buffers.append(buffer)
        for buffer in self._outside:
            buffer.fill(data)
        self._invoke((ctypes.c_void_p * max(len(buffers), 1))(*(buffer.address for buffer in buffers)))
        return [buffer for number, buffer in enumerate(buffers) if number not in self._bound] + self._outside


def _results(directory: Path, place: int) -> Path:
    return directory / f"expected{place}"


def _data(scop: Scop, tolerance: float, seed: int, signed: bool) -> Data:
    # Where integers are mixed with floats, large ones would hide what the floats are.
    return Data(seed, signed, "small" if tolerance > 0 else drawn_integers(scop))


def _arrays(scop: Scop) -> list[GuardedArray]:
    """Those of the parameters."""
    carried = [(scop.array(parameter.array), parameter.name) for parameter in scop.function.parameters]
    return [GuardedArray(array, name, stream) for stream, (array, name) in enumerate(carried)]


Report = Callable[[dict[str, Any]], None]


def _run_original(scop: Scop, library: Path, tolerance: float, seed: int, directory: Path, report: Report) -> None:
    """Report where the results are at each place and of what data they are, or why there are none."""
    original = _Kernel(scop, _arrays(scop), ctypes.CDLL(str(library)), None)
    told: list[dict[str, Any]] = []
    for place in range(_PLACES):
        for signed in (True, False):
            data = _data(scop, tolerance, seed + place, signed)
            buffers = original(place, data)
            if all(first_not_finite(buffer) is None for buffer in buffers):
                told.append({"offsets": store(buffers, data, _results(directory, place)), "signed": signed})
                break
        else:
            report({"refused": "its results are not finite"})
            return
    if not any(each["offsets"] for each in told):
        report({"refused": "it changes no array"})
        return
    for each in told:
        report(each)


def _run_all(
    scop: Scop,
    reference: OriginalLibrary,
    library: Path,
    numbers: Sequence[int],
    directory: Path,
    combining: Collection[int],
    report: Report,
) -> None:
    arrays = _arrays(scop)
    unit = ctypes.CDLL(str(library))
    for number in numbers:
        limit_processor_seconds(_PROCESSOR_SECONDS)
        kernel = _Kernel(scop, arrays, unit, number)
        status, wrong = "ok", ""
        for place, expected in enumerate(reference.results):
            buffers = kernel(place, expected.data)
            verdict = compare(buffers, expected.data, expected.path, expected.offsets, reference.tolerance)
            if verdict.wrong is None:
                continue
            status, wrong = "wrong", f"run {place + 1}: {verdict.wrong}"
            # Errors that come and go are those of threads, unless these combine sums.
            stays = number in combining or _repeats(kernel, place, expected.data, buffers)
            if not stays or not _agree_on_whole_numbers(scop, arrays, reference, kernel, place, directory / "whole"):
                break
            status = "imprecise"
        report({"number": number, "status": status, "message": wrong})


def _repeats(kernel: _Kernel, place: int, data: Data, buffers: Sequence[Buffer]) -> bool:
    """Whether a kernel leaves the same once more, bit for bit, as it has left in the buffers."""
    before = [buffer.values.tobytes() for buffer in buffers]
    return [buffer.values.tobytes() for buffer in kernel(place, data)] == before


def _agree_on_whole_numbers(
    scop: Scop, arrays: Sequence[GuardedArray], reference: OriginalLibrary, kernel: _Kernel, place: int, path: Path
) -> bool:
    """Whether a kernel that was wrong is right where nothing is rounded: then its errors are those of roundings."""
    if not reference.tolerance:
        return False
    original = _Kernel(scop, arrays, ctypes.CDLL(str(reference.library)), None)
    for seed in range(reference.seed, reference.seed + _DRAWS):
        data = _WholeNumbers(seed, True, "small")
        buffers = original(place, data)
        if any(first_not_finite(buffer) is not None for buffer in buffers):
            return False
        # Products may add up to nothing, above all where the result is a single element.
        if offsets := store(buffers, data, path):
            return compare(kernel(place, data), data, path, offsets, reference.tolerance).wrong is None
    return False

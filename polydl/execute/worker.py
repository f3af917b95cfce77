"""The child process that runs one kernel: ``python -m polydl.execute.worker COMMANDS REPLIES`` (two file descriptors).

It starts quickly, so it imports NumPy, ctypes and little else, and it ends when the parent closes the pipe or dies.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from polydl.element_types import element_dtype, is_floating, numbers
from polydl.execute.arrays import Buffer, Data
from polydl.execute.comparison import compare, distances, first_not_finite, mark_noise, store
from polydl.execute.sampling import MOST_COLD_REPEATS, MOST_REPEATS, Reply, TimingSampler, serve
from polydl.ir.cold import Cold
from polydl.native import runtime
from polydl.system.sandbox import limit

# Elements per array that are inspected to see whether values drift.
_INSPECTED = 1 << 16
# Inputs are read at this distance, so that they are in the caches: no processor has shorter lines.
_TOUCHED_BYTES = 64
# Times as long as the invocations of a sample: what may lie between them.
_MOST_COST = 3.0


@dataclass(frozen=True)
class FilledArrays:
    """Arrays that were filled before this process was forked."""

    #: by name
    buffers: Mapping[str, Buffer]
    #: their contents
    data: Data
    #: by name, those that kernels write, where several use the same memory in turn: each fills them before it runs
    written: Mapping[str, Buffer] = field(default_factory=dict)


NO_INPUTS = FilledArrays({}, Data(0, True))


class Worker:
    """A loaded kernel with its arrays. Each public method answers the command of its name."""

    def __init__(self, inputs: FilledArrays = NO_INPUTS) -> None:
        self._inputs = inputs
        self._buffers: list[Buffer] = []
        self._outputs: list[Buffer] = []
        # The contents of the constants that are prepared, and the address and the size of what was made of them.
        self._prepared_of: Data | None = None
        self._prepared = (0, 0)
        self._drifts = True
        # Successive invocations after which values are still in a range that doesn't change the time.
        self._batch = MOST_REPEATS

    def start(
        self,
        library: str,
        parameters: list[Reply],
        global_arrays: list[Reply],
        cores: list[int],
        data: Reply,
    ) -> Reply:
        """Pin this process to the cores, load the library, allocate and fill the arrays."""
        sampler = TimingSampler(cores)
        # Before any of the file's code runs: its constructors do when the library is loaded.
        limit(sum(_bytes(array) for array in (*parameters, *global_arrays)), len(cores))
        return self.open(sampler, library, parameters, global_arrays, data)

    def open(
        self, sampler: TimingSampler, library: str, parameters: list[Reply], global_arrays: list[Reply], data: Reply
    ) -> Reply:
        """``start`` in a process that is pinned and limited."""
        self._sampler = sampler
        self._flush = runtime().flush
        try:
            loaded = ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            self._time = loaded.polydl_time_invocations
            self._invoke = ctypes.cast(loaded.polydl_invoke, ctypes.c_void_p)
            self._prepare = getattr(loaded, "polydl_prepare", None)
            global_address = loaded.polydl_global if global_arrays else None
        except (OSError, AttributeError) as error:
            return {"failed": "unsupported", "message": f"the library can't be used: {error}"}
        if self._prepare is not None:
            self._prepare.restype, self._prepare.argtypes = ctypes.c_long, [ctypes.c_void_p, ctypes.c_void_p]
        self._time.restype, self._time.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
        if global_address is not None:
            global_address.restype, global_address.argtypes = ctypes.c_void_p, [ctypes.c_int]
        self._bound = {p["name"]: p["value"] for p in parameters if p["value"] is not None}
        for stream, array in enumerate([*parameters, *global_arrays]):
            address: int | None = None
            index = stream - len(parameters)
            if global_address is not None and index >= 0:
                address = global_address(index)
                if address is None:
                    return {"failed": "unsupported", "message": f"polydl_global({index}) is NULL"}
            dtype, extents = element_dtype(array["element"]), tuple(array["extents"])
            shared = self._inputs.buffers.get(array["name"]) or self._inputs.written.get(array["name"])
            self._buffers.append(shared or Buffer(array["name"], dtype, extents, stream, address))
        self._arguments = (ctypes.c_void_p * max(len(parameters), 1))(
            *(buffer.address for buffer in self._buffers[: len(parameters)])
        )
        return self.fill(data)

    def fill(self, data: Reply) -> Reply:
        """Fill all arrays with random data, except inputs that have it already and that nothing may have changed.

        What the kernel prepares of its constants is prepared anew only where these have other contents.
        """
        self._data = Data(**data)
        self._refill(self._buffers)
        constants = replace(self._data, turn=0)
        if self._prepare is not None and self._prepared_of != constants:
            place = ctypes.c_void_p()
            size = self._prepare(self._arguments, ctypes.byref(place))
            if size < 0:
                return {"failed": "unsupported", "message": "there is no memory for what is prepared"}
            self._prepared_of, self._prepared = constants, (place.value or 0, size)
        return {}

    def run(self) -> Reply:
        """One invocation, with a probe before and after."""
        return self._sampler.sample(1, self._invocations)

    def store(self, path: str) -> Reply:
        """Store the result of the original nest; ``wrong`` is the reason if it can't be a reference."""
        arrays = self._arrays()
        for buffer in arrays:
            if damage := buffer.damage():
                return {"offsets": {}, "finite": True, "damaged": True, "wrong": damage}
            at = first_not_finite(buffer)
            if at is not None:
                number = numbers(buffer.values[at : at + 1], buffer.dtype)[0]
                value = f"`{buffer.element(at)}` is {number!s} on {'the given' if self._data.given else 'random'} data"
                return {"offsets": {}, "finite": False, "damaged": False, "wrong": value}
        offsets = store(arrays, self._data, Path(path))
        self._expect(offsets)
        nothing = "it changes no array, so no variant can be checked against it"
        return {"offsets": offsets, "finite": True, "damaged": False, "wrong": None if offsets else nothing}

    def compare(
        self,
        path: str,
        offsets: dict[str, int],
        tolerance: float,
        noise: dict[str, tuple[str, int]],
        unchanged: bool = True,
    ) -> Reply:
        """Compare with the stored result of the original nest.

        Without ``unchanged``, arrays that the original does not change are not looked at.
        """
        arrays = [buffer for buffer in self._arrays() if unchanged or buffer.name in offsets]
        verdict = compare(arrays, self._data, Path(path), offsets, tolerance, noise)
        self._expect(offsets)
        return {"error": verdict.error, "wrong": verdict.wrong}

    def distance(self, path: str, offsets: dict[str, int], elements: dict[str, str]) -> Reply:
        """Errors by array, against results in a wider type."""
        return {"errors": distances(self._arrays(), self._data, Path(path), offsets, elements)}

    def mark_noise(
        self, path: str, offsets: dict[str, int], elements: dict[str, str], most: float, marks: str
    ) -> Reply:
        """See ``comparison.mark_noise``."""
        arrays = mark_noise(self._arrays(), self._data, Path(path), offsets, elements, most, Path(marks))
        return {"arrays": [asdict(each) for each in arrays]}

    def calibrate(self, minimum_seconds: float, warmup: int, cold: Cold) -> Reply:
        """See ``TimingSampler.calibrate``."""
        most = MOST_COLD_REPEATS if cold else MOST_REPEATS
        # Values that leave their range within few invocations are made anew before the next ones.
        most_cost = math.inf if cold else _MOST_COST * minimum_seconds
        return self._sampler.calibrate(
            minimum_seconds, most, lambda repeats: self._sample(repeats, warmup, cold), most_cost
        )

    def sample(self, repeats: int, warmup: int, cold: Cold) -> Reply:
        """See ``TimingSampler.sample``."""
        return self._sampler.sample(repeats, lambda repeats: self._sample(repeats, warmup, cold))

    def _arrays(self) -> list[Buffer]:
        return [buffer for buffer in self._buffers if buffer.name not in self._bound]

    def _refill(self, buffers: list[Buffer]) -> None:
        for buffer in buffers:
            if buffer.name in self._bound:
                buffer.values[:] = self._bound[buffer.name]
            elif buffer.name not in self._inputs.buffers:
                buffer.fill(self._data)
            elif self._data != self._inputs.data:
                buffer.unshare()
                buffer.fill(self._data)

    def _expect(self, offsets: dict[str, int]) -> None:
        self._outputs = [buffer for buffer in self._buffers if buffer.name in offsets]
        # If one invocation on fresh data already leaves the range, the nest can't be timed otherwise.
        self._drifts = not self._drifted()

    def _invocations(self, count: int) -> float:
        return float(self._time(self._invoke, self._arguments, count))

    def _sample(self, repeats: int, warmup: int, cold: Cold) -> float:
        """Total seconds of the timed invocations, on values of ordinary magnitude as far as the nest allows."""
        total, done, fresh = 0.0, 0, False
        flushed = self._buffers if cold != "constants" else [self._buffers[stream] for stream in self._data.constant]
        while done < repeats:
            batch = 1 if cold else min(repeats - done, self._batch)
            if self._batch < MOST_REPEATS and not fresh:
                self._refill(self._outputs)
                fresh = True
            # What one invocation leaves in the caches is there for the next, but for what is flushed.
            if not cold or (cold == "constants" and (done == 0 or fresh)):
                self._warm(warmup)
            if cold:
                for buffer in flushed:
                    self._flush(buffer.address, buffer.values.nbytes)
                if self._prepared[1]:
                    self._flush(*self._prepared)
            seconds = self._invocations(batch)
            drifted = self._drifts and self._drifted()
            if drifted:
                self._refill(self._outputs)
                if batch > 1:
                    # These times are useless. Try a batch from fresh data, or a shorter one if this one was fresh.
                    if fresh:
                        self._batch = batch // 2
                    fresh = True
                    continue
            fresh = drifted
            total += seconds
            done += batch
        return total

    def _warm(self, invocations: int) -> None:
        """Bring the arrays into the caches, without invocations where these take too long."""
        if invocations:
            self._invocations(invocations)
            return
        for buffer in self._buffers:
            buffer.values.view(np.uint8)[::_TOUCHED_BYTES].max(initial=0)

    def _drifted(self) -> bool:
        """Whether a value of the outputs is infinite, not a number, subnormal, or so large that it soon overflows."""
        for buffer in self._outputs:
            if not is_floating(buffer.dtype):
                continue
            seen = np.abs(numbers(buffer.values[:: max(1, buffer.elements // _INSPECTED)], buffer.dtype))
            limits = np.finfo(seen.dtype)
            ordinary = (seen == 0) | ((seen >= limits.tiny) & (seen <= np.sqrt(limits.max)))
            if not np.all(ordinary):
                return True
        return False


def _bytes(array: Reply) -> int:
    return element_dtype(array["element"]).itemsize * math.prod(array["extents"])


def methods(worker: Worker) -> tuple[Callable[..., Reply], ...]:
    """The methods that answer commands."""
    return (
        worker.start,
        worker.fill,
        worker.run,
        worker.store,
        worker.compare,
        worker.distance,
        worker.mark_noise,
        worker.calibrate,
        worker.sample,
    )


def main(commands: int, replies: int) -> None:
    """Answers the commands of a ``Worker``, on these file descriptors, until the parent closes the pipe or dies."""
    serve(commands, replies, methods(Worker()))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

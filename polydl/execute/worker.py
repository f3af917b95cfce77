"""The child process that runs one kernel: ``python -m polydl.execute.worker COMMANDS REPLIES`` (two file descriptors).

One JSON object per line each way. It starts quickly, so it imports NumPy, ctypes and little else, and it ends
when the parent closes the pipe or dies.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polydl.errors import MissingComponentError
from polydl.execute.arrays import Buffer, Data
from polydl.execute.comparison import compare, first_not_finite, store
from polydl.native import runtime

Reply = dict[str, Any]

_PR_SET_PDEATHSIG = 1
_PROBE_ITERATIONS = 250_000
# OpenMP's threads spin a while after a parallel loop; the probe must not share its core with them.
_SETTLE_SECONDS = 0.002
# Elements per array that are looked at to see where the values drift.
_INSPECTED = 1 << 16
_MOST_REPEATS = 1 << 24
_MOST_COLD_REPEATS = 50


class Worker:
    """A loaded kernel with its arrays. Each public method answers the command of its name."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []
        self._outputs: list[Buffer] = []
        self._drifts = True
        # Invocations in a row that leave the values in a range where they take no other time than usual.
        self._batch = _MOST_REPEATS

    def start(
        self,
        library: str,
        parameters: list[Reply],
        global_arrays: list[Reply],
        cores: list[int],
        seed: int,
        signed: bool,
    ) -> Reply:
        """Pin this process to the cores, load the library, allocate and fill the arrays."""
        # Before OpenMP or the probes start a thread, since threads inherit it.
        os.sched_setaffinity(0, cores)
        self._cores = cores
        self._fma_gflops = runtime().fma_gflops
        self._flush = runtime().flush
        try:
            loaded = ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            self._time = loaded.polydl_time_invocations
            self._invoke = ctypes.cast(loaded.polydl_invoke, ctypes.c_void_p)
            global_address = loaded.polydl_global if global_arrays else None
        except (OSError, AttributeError) as error:
            return {"failed": "unsupported", "message": f"the library can't be used: {error}"}
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
            dtype, extents = np.dtype(array["dtype"]), tuple(array["extents"])
            self._buffers.append(Buffer(array["name"], dtype, extents, stream, address))
        self._arguments = (ctypes.c_void_p * max(len(parameters), 1))(
            *(buffer.address for buffer in self._buffers[: len(parameters)])
        )
        return self.fill(seed, signed)

    def fill(self, seed: int, signed: bool) -> Reply:
        """Fresh random data everywhere."""
        self._data = Data(seed, signed)
        self._refill(self._buffers)
        return {}

    def run(self) -> Reply:
        """One invocation, with the probes beside it."""
        before = self._probe()
        seconds = self._invocations(1)
        return {"seconds": seconds, "probes": [before, self._probe()]}

    def store(self, path: str) -> Reply:
        """Keep what the original nest left; ``wrong`` says why it can't be a reference."""
        arrays = self._arrays()
        for buffer in arrays:
            if damage := buffer.damage():
                return {"offsets": {}, "finite": True, "wrong": damage}
            at = first_not_finite(buffer)
            if at is not None:
                value = f"`{buffer.element(at)}` is {buffer.values[at]!s} on random data"
                return {"offsets": {}, "finite": False, "wrong": value}
        offsets = store(arrays, self._data, Path(path))
        self._expect(offsets)
        nothing = "it changes no array, so no variant can be checked against it"
        return {"offsets": offsets, "finite": True, "wrong": None if offsets else nothing}

    def compare(self, path: str, offsets: dict[str, int], tolerance: float) -> Reply:
        """Compare with what the original nest left."""
        verdict = compare(self._arrays(), self._data, Path(path), offsets, tolerance)
        self._expect(offsets)
        return {"error": verdict.error, "wrong": verdict.wrong}

    def calibrate(self, minimum_seconds: float, warmup: int, cold: bool) -> Reply:
        """How many invocations last at least so long, the seconds of one, and those that such a sample costs."""
        most = _MOST_COLD_REPEATS if cold else _MOST_REPEATS
        repeats = 1
        while True:
            start = time.monotonic()
            seconds = self._sample(repeats, warmup, cold)
            if seconds >= 0.9 * minimum_seconds or repeats == most:
                return {"repeats": repeats, "seconds": seconds / repeats, "cost": time.monotonic() - start}
            wanted = math.ceil(1.1 * repeats * minimum_seconds / max(seconds, 1e-9))
            repeats = min(max(wanted, repeats + 1), 16 * repeats, most)

    def sample(self, repeats: int, warmup: int, cold: bool) -> Reply:
        """Seconds of one invocation, the mean of ``repeats``."""
        before = self._probe()
        seconds = self._sample(repeats, warmup, cold)
        return {"seconds": seconds / repeats, "probes": [before, self._probe()]}

    def _arrays(self) -> list[Buffer]:
        return [buffer for buffer in self._buffers if buffer.name not in self._bound]

    def _refill(self, buffers: list[Buffer]) -> None:
        for buffer in buffers:
            if buffer.name in self._bound:
                buffer.values[:] = self._bound[buffer.name]
            else:
                buffer.fill(self._data)

    def _expect(self, offsets: dict[str, int]) -> None:
        self._outputs = [buffer for buffer in self._buffers if buffer.name in offsets]
        # Where a single invocation on fresh data already leaves the range, that is how the nest is.
        self._drifts = not self._drifted()

    def _invocations(self, count: int) -> float:
        return float(self._time(self._invoke, self._arguments, count))

    def _sample(self, repeats: int, warmup: int, cold: bool) -> float:
        """Total seconds of the timed invocations, all on values of ordinary magnitude as far as the nest allows."""
        total, done, fresh = 0.0, 0, False
        while done < repeats:
            batch = 1 if cold else min(repeats - done, self._batch)
            if self._batch < _MOST_REPEATS and not fresh:
                self._refill(self._outputs)
                fresh = True
            if warmup and not cold:
                self._invocations(warmup)
            if cold:
                for buffer in self._buffers:
                    self._flush(buffer.address, buffer.values.nbytes)
            seconds = self._invocations(batch)
            drifted = self._drifts and self._drifted()
            if drifted:
                self._refill(self._outputs)
                if batch > 1:
                    # Those numbers are of no use. A batch from fresh data may do; if this one was, a shorter one.
                    if fresh:
                        self._batch = batch // 2
                    fresh = True
                    continue
            fresh = drifted
            total += seconds
            done += batch
        return total

    def _drifted(self) -> bool:
        """Is some value of the outputs infinite, not a number, subnormal, or so large that it soon overflows?"""
        for buffer in self._outputs:
            if buffer.dtype.kind != "f":
                continue
            limits = np.finfo(buffer.dtype)
            seen = np.abs(buffer.values[:: max(1, buffer.elements // _INSPECTED)])
            ordinary = (seen == 0) | ((seen >= limits.tiny) & (seen <= np.sqrt(limits.max)))
            if not np.all(ordinary):
                return True
        return False

    def _probe(self) -> float:
        """GFLOPS of the slowest of the cores, all of them probed at once."""
        if len(self._cores) == 1:
            return float(self._fma_gflops(_PROBE_ITERATIONS))
        time.sleep(_SETTLE_SECONDS)
        rates: list[float] = []
        probes = [threading.Thread(target=self._probe_core, args=(core, rates)) for core in self._cores]
        for probe in probes:
            probe.start()
        for probe in probes:
            probe.join()
        return min(rates)

    def _probe_core(self, core: int, rates: list[float]) -> None:
        os.sched_setaffinity(0, {core})
        rates.append(float(self._fma_gflops(_PROBE_ITERATIONS)))


def main(commands: int, replies: int) -> None:
    _die_with_parent()
    # What the kernel prints must neither fill a pipe nor pass for a reply.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    worker = Worker()
    methods: dict[str, Callable[..., Reply]] = {
        method.__name__: method
        for method in (
            worker.start,
            worker.fill,
            worker.run,
            worker.store,
            worker.compare,
            worker.calibrate,
            worker.sample,
        )
    }
    with open(commands, encoding="utf-8") as requests, open(replies, "w", encoding="utf-8") as answers:
        for line in requests:
            request = json.loads(line)
            try:
                reply = methods[request.pop("command")](**request)
            except (OSError, MemoryError) as error:
                reply = {"resource": getattr(error, "errno", None), "message": str(error) or "not enough memory"}
            except MissingComponentError as error:
                reply = {"missing": error.message, "remedy": error.remedy}
            answers.write(json.dumps(reply) + "\n")
            answers.flush()


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

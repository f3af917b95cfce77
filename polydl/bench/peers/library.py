"""Peers that are a compiled library behind peer.h."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from polydl.bench.peers.problems import SOURCE, WEIGHTS, ConvolutionProblem, Floats, PeerError, Problem, fill
from polydl.native import runtime

_FloatPointer = ctypes.POINTER(ctypes.c_float)
# As peer.h numbers them. In place of one kind of blocks a library chooses its own.
_WEIGHTS = {None: 0, "prepared": 1, "each-call": 2}
_LAYOUTS = {"blocked": 0, "nchw": 1, "row-major": 1, "nhwc": 2}


class LibraryBackend:
    """``description`` names the ``library`` and the workload's ``layout``.

    It says when ``weights`` are prepared (``kinds.PeerSetting``), whether every product is computed (``direct``), and
    whether caches will be ``cold``.
    """

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        self._shapes = problem.shapes
        self._library = ctypes.CDLL(description["library"])
        for name in ("peer_convolution", "peer_product", "peer_ready", "peer_note"):
            getattr(self._library, name).restype = ctypes.c_char_p
        self._library.peer_flush_arrays.restype = None
        self._library.peer_run.restype, self._library.peer_run.argtypes = ctypes.c_double, [ctypes.c_long]
        self._library.peer_result.restype = _FloatPointer
        sizes = (ctypes.c_long * len(problem.sizes))(*problem.sizes)
        arrays = [_FloatPointer(), _FloatPointer()]
        references = [ctypes.byref(array) for array in arrays]
        layout, weights = _LAYOUTS[description["layout"]], _WEIGHTS[description["weights"]]
        if isinstance(problem, ConvolutionProblem):
            _check(self._library.peer_convolution(sizes, layout, weights, int(description["direct"]), *references))
        else:
            _check(self._library.peer_product(sizes, layout, weights, int(problem.accumulate), *references))
        for array, shape, stream in zip(arrays, self._shapes, (SOURCE, WEIGHTS), strict=False):
            fill(np.ctypeslib.as_array(array, shape=shape).reshape(-1), stream)
        _check(self._library.peer_ready(_flush() if description["cold"] else None))

    @property
    def note(self) -> str:
        return str(self._library.peer_note().decode())

    def run(self, repeats: int) -> float:
        return float(self._library.peer_run(repeats))

    def flush(self) -> None:
        self._library.peer_flush_arrays(_flush())

    def result(self) -> Floats:
        return np.ctypeslib.as_array(self._library.peer_result(), shape=self._shapes[2])


def _flush() -> ctypes.c_void_p:
    return ctypes.cast(runtime().library.polydl_flush, ctypes.c_void_p)


def _check(message: bytes | None) -> None:
    if message is not None:
        raise PeerError(message.decode())

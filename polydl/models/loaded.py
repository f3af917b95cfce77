"""Compiled models as Python callables on NumPy arrays, without the framework that they come from."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Never, SupportsIndex

import numpy as np

from polydl.errors import ArgumentError, MissingComponentError, OptionError, ResourceError
from polydl.ir.scop import ALIGNMENT
from polydl.models.graph import Array
from polydl.models.manifest import Manifest, read_manifest
from polydl.system.files import write_atomically

# Of a model that takes little time.
_MOST_CALLS = 100


def load(folder: str | Path) -> LoadedModel:
    """The model in a folder that ``save`` wrote.

    Raises OptionError if there is none or it is not complete, MissingComponentError if its library can't be loaded.
    """
    return LoadedModel(Path(folder).resolve())


def copied(program: Path, folder: Path) -> None:
    """Copy a written program to a folder, which is made if it is not there. Raises ResourceError."""
    for path in sorted(program.iterdir()):
        write_atomically(folder / path.name, path.read_bytes())


class LoadedModel:
    """``model(input, …)`` takes and gives NumPy arrays of ``float32``: one array, or a tuple of several.

    Weights are read once, and prepared once as the kernels need them. Each thread that calls has memory of its own,
    which is allocated at its first call.
    """

    def __init__(self, folder: Path) -> None:
        self.manifest: Manifest = read_manifest(folder)
        name = self.manifest.name
        library = folder / f"lib{name}.so"
        try:
            loaded = ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            remedy = "run build.sh in that folder, or save the model again"
            raise MissingComponentError(f"the library can't be loaded: {error}", remedy=remedy) from None
        self._run, self._prepare = loaded[name], loaded[f"{name}_prepare_memory"]
        self._timed, prepare_weights = loaded[f"{name}_timed"], loaded[f"{name}_prepare_weights"]
        self._run.argtypes = [ctypes.c_void_p] * (len(self.manifest.inputs) + len(self.manifest.outputs) + 2)
        self._timed.argtypes = [*self._run.argtypes, ctypes.c_void_p]
        self._prepare.argtypes = prepare_weights.argtypes = [ctypes.c_void_p]
        for function in (self._run, self._timed, self._prepare, prepare_weights):
            function.restype = None
        self._weights = _aligned(self.manifest.weights_bytes + self.manifest.prepared_bytes)
        self._read(folder / f"{name}.weights")
        prepare_weights(self._weights.ctypes.data)
        self._threads = threading.local()

    def _read(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise OptionError(f"{path}: {error.strerror}", remedy="save the model again") from None
        if len(content) != self.manifest.weights_bytes:
            text = f"{path} has {len(content)} bytes and must have {self.manifest.weights_bytes}"
            raise OptionError(text, remedy="save the model again")
        self._weights[: len(content)] = np.frombuffer(content, np.uint8)

    def __repr__(self) -> str:
        shapes = ", ".join(str(each.shape) for each in self.manifest.inputs)
        return f"<model {self.manifest.name} of {len(self.manifest.operators)} kernels for {shapes}>"

    def __copy__(self) -> LoadedModel:
        """Itself: no call changes it in a way that another could see."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> LoadedModel:
        del memo
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise OptionError("a compiled model can't be pickled", remedy="pass the folder that it was saved to")

    def run(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Call it on addresses of row-major arrays, whose types and shapes are not checked."""
        self._run(*inputs, *outputs, *self._weights_and_memory())

    def _weights_and_memory(self) -> tuple[int, int]:
        """Their addresses; the memory is the calling thread's."""
        memory = getattr(self._threads, "memory", None)
        if memory is None:
            memory = self._threads.memory = _aligned(self.manifest.memory_bytes)
            self._prepare(memory.ctypes.data)
            self._threads.addresses = (self._weights.ctypes.data, memory.ctypes.data)
        addresses: tuple[int, int] = self._threads.addresses
        return addresses

    def __call__(self, *inputs: Array) -> Array | tuple[Array, ...]:
        """Raises ArgumentError for a number of arguments, a type or a shape that doesn't fit."""
        arrays, results = self._arrays(inputs)
        self.run([each.ctypes.data for each in arrays], [each.ctypes.data for each in results])
        return results[0] if len(results) == 1 else tuple(results)

    def call_seconds(self, *inputs: Array, least_seconds: float = 0.3) -> float:
        """The median time of a call, of at least three and as many as that time holds.

        Raises ArgumentError as a call does.
        """
        arrays, results = self._arrays(inputs)
        addresses = [each.ctypes.data for each in arrays], [each.ctypes.data for each in results]
        self.run(*addresses)
        samples: list[float] = []
        while len(samples) < 3 or (sum(samples) < least_seconds and len(samples) < _MOST_CALLS):
            start = time.perf_counter()
            self.run(*addresses)
            samples.append(time.perf_counter() - start)
        return float(np.median(samples))

    def operator_seconds(self, *inputs: Array, calls: int = 20) -> tuple[float, ...]:
        """The median time of each operator within so many calls, in the order of ``manifest.operators``.

        Raises ArgumentError as a call does.
        """
        arrays, results = self._arrays(inputs)
        addresses = [each.ctypes.data for each in (*arrays, *results)]
        samples = np.zeros((calls, len(self.manifest.operators)))
        for sample in samples:
            self._timed(*addresses, *self._weights_and_memory(), sample.ctypes.data)
        return tuple(map(float, np.median(samples, 0)))

    def _arrays(self, inputs: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Inputs as the library takes them, and arrays for its results. Raises ArgumentError."""
        expected = self.manifest.inputs
        if len(inputs) != len(expected):
            names = ", ".join(each.name for each in expected)
            raise ArgumentError(f"{len(inputs)} arguments", remedy=f"pass {len(expected)}: {names}")
        for given, wanted in zip(inputs, expected, strict=True):
            if not isinstance(given, np.ndarray) or given.dtype != np.float32 or given.shape != wanted.shape:
                what = (
                    f"{given.dtype} of shape {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
                )
                remedy = f"pass a NumPy array of float32, shape {wanted.shape}"
                raise ArgumentError(f"argument {wanted.name!r} is {what}", remedy=remedy)
        arrays = [np.ascontiguousarray(each) for each in inputs]
        return arrays, [np.empty(each.shape, np.float32) for each in self.manifest.outputs]


def _aligned(size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Bytes from a multiple of the alignment on."""
    try:
        content = np.empty(size + ALIGNMENT, np.uint8)
    except MemoryError:
        raise ResourceError(f"{size} bytes don't fit into memory", remedy="free some memory") from None
    first = -content.ctypes.data % ALIGNMENT
    return content[first : first + size]

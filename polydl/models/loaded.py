"""Compiled models as Python callables on NumPy arrays, without the framework that they come from."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Never, SupportsIndex

import numpy as np

from polydl.errors import ArgumentError, OptionError, ResourceError
from polydl.execute.aligned import Bytes, aligned_bytes
from polydl.models.graph import Array
from polydl.models.manifest import MANIFEST, Manifest, read_manifest
from polydl.system.files import opened, write_together
from polydl.system.shared_library import loaded_library

# Of a model that takes little time.
_MOST_CALLS = 100
_SAVE_AGAIN = "save the model again"
# The files in which models have their kernels (``kernels.named``), and no others.
_KERNELS = f"kernel_{'[0-9a-f]' * 12}_polydl.c"
_BUILD_AGAIN = f"run build.sh in that folder, or {_SAVE_AGAIN}"


def load(folder: str | Path) -> LoadedModel:
    """The model in a folder that ``save`` wrote. What becomes of the folder later changes nothing.

    Raises OptionError if there is none, if it is not complete, or if its library or weights are not those that were
    saved, MissingComponentError if the library can't be loaded, and ResourceError where memory or room for temporary
    files lacks.
    """
    return LoadedModel(Path(folder))


def copied(program: Path, target: str | Path) -> None:
    """Copy a written program to a folder, in place of one that is there; the folder is made if it is not there.

    Until all is written, the older one stays as it is; from then on there is none until all is in place. Raises
    OptionError for what is no folder's name, and ResourceError if either can't be done.
    """
    folder = _named_folder(target)
    try:
        files = {folder / path.name: path.read_bytes() for path in sorted(program.iterdir()) if path.name != MANIFEST}
        # The last one, which makes the others count.
        files[folder / MANIFEST] = (program / MANIFEST).read_bytes()
    except OSError as error:
        text = f"the model's own files can't be read: {error.strerror}"
        raise ResourceError(text, file=error.filename, remedy="optimize the model again") from None
    kernels = [each for each in folder.glob(_KERNELS) if each not in files]
    write_together(files, kernels)


def _named_folder(target: str | Path) -> Path:
    if not str(target):
        raise OptionError("the folder to save to has no name", remedy='name one; this directory is "."')
    folder = Path(target)
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.exists(path))
    if not os.path.isdir(there):
        raise OptionError(f"can't save to {folder}: {there} is a file", remedy="name a folder, or move the file away")
    return folder


class LoadedModel:
    """``model(input, …)`` takes and gives NumPy arrays of ``float32``: one array, or a tuple of several.

    Weights are read once, and prepared once as the kernels need them. Each thread that calls has memory of its own,
    which is allocated at its first call.
    """

    def __init__(self, folder: Path) -> None:
        self.manifest: Manifest = read_manifest(folder)
        name = self.manifest.name
        library = folder / f"lib{name}.so"
        content = _content(library, self.manifest.library_bytes, self.manifest.library_sha256, _BUILD_AGAIN)
        loaded = loaded_library(library, content.tobytes(), remedy=_BUILD_AGAIN)
        _check_functions(loaded, self.manifest, library)
        self._run, self._prepare = loaded[name], loaded[f"{name}_prepare_memory"]
        self._timed, prepare_weights = loaded[f"{name}_timed"], loaded[f"{name}_prepare_weights"]
        self._run.argtypes = [ctypes.c_void_p] * (len(self.manifest.inputs) + len(self.manifest.outputs) + 2)
        self._timed.argtypes = [*self._run.argtypes, ctypes.c_void_p]
        self._prepare.argtypes = prepare_weights.argtypes = [ctypes.c_void_p]
        for function in (self._run, self._timed, self._prepare, prepare_weights):
            function.restype = None
        self._weights = _content(
            folder / f"{name}.weights",
            self.manifest.weights_bytes,
            self.manifest.weights_sha256,
            _SAVE_AGAIN,
            self.manifest.prepared_bytes,
        )
        prepare_weights(self._weights.ctypes.data)
        self._threads = threading.local()

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
            memory = self._threads.memory = aligned_bytes(self.manifest.memory_bytes)
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


def _check_functions(library: ctypes.CDLL, manifest: Manifest, path: Path) -> None:
    """Raises OptionError unless it is the library that a manifest describes."""
    for end in ("", "_timed", "_prepare_memory", "_prepare_weights", "_memory_bytes", "_weights_bytes"):
        if not hasattr(library, f"{manifest.name}{end}"):
            raise OptionError(f"{path} has no function {manifest.name}{end}", remedy=_BUILD_AGAIN)
    wanted = {
        f"{manifest.name}_memory_bytes": manifest.memory_bytes,
        f"{manifest.name}_weights_bytes": manifest.weights_bytes + manifest.prepared_bytes,
    }
    for name, size in wanted.items():
        function = library[name]
        function.restype, function.argtypes = ctypes.c_size_t, []
        if function() != size:
            raise OptionError(f"{path}: {name}() is {function()}, and {MANIFEST} has {size}", remedy=_BUILD_AGAIN)


def _content(path: Path, size: int, digest: str, remedy: str, further: int = 0) -> Bytes:
    """The bytes of a file, and room for so many further ones.

    Raises OptionError with the remedy unless it has just so many, with that SHA-256, ResourceError where memory lacks.
    """
    try:
        with opened(path) as file:
            present = os.fstat(file.fileno()).st_size
            if present != size:
                raise OptionError(f"{path} has {present} bytes and must have {size}", remedy=remedy)
            content = aligned_bytes(size + further)
            count = file.readinto(content[:size].data)
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror}", remedy=remedy) from None
    if count != size or sha256(content[:size].data).hexdigest() != digest:
        raise OptionError(f"{path} is not the file that was saved: its SHA-256 is another", remedy=remedy)
    return content

"""The native part: LIBXSMM as a shared library, and the C runtime (``runtime.h``) with its probes.

Both libraries lie in this package once polydl is installed. LIBXSMM's is absent where polydl was
built without LIBXSMM; everything else works then, and asking for it says how to get it.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from polydl.errors import MissingComponentError, ResourceError

RUNTIME_FILE = "libpolydl_runtime.so"
LIBXSMM_FILE = "libpolydl_xsmm.so"
LIBXSMM_ARCHIVE = "libpolydl_xsmm.a"
LIBXSMM_LICENCE = "LICENSE.libxsmm.txt"
LIBXSMM_PACKAGE = "libxsmm-dev"


def runtime_path() -> Path:
    """The path of the runtime library. Raises MissingComponentError if it was not built."""
    return _find(RUNTIME_FILE, "the polydl runtime library", reinstall_command())


def libxsmm_path() -> Path:
    """The shared library to link emitted C with. Raises MissingComponentError if it was not built."""
    return _find(LIBXSMM_FILE, "LIBXSMM", libxsmm_remedy())


def libxsmm_archive() -> tuple[Path, Path]:
    """LIBXSMM as a static archive that goes with emitted C, and its licence.

    Raises MissingComponentError if it was not built.
    """
    paths = (_find(name, "LIBXSMM", libxsmm_remedy()) for name in (LIBXSMM_ARCHIVE, LIBXSMM_LICENCE))
    return next(paths), next(paths)


@cache
def runtime() -> Runtime:
    """The runtime library. Raises MissingComponentError if it is absent, can't be loaded, or is of another version."""
    path = runtime_path()
    library = _load(path, "the polydl runtime library", reinstall_command())
    try:
        return Runtime(path, _declare(library))
    except AttributeError as error:
        message = f"the polydl runtime library is of another version: {error}"
        raise MissingComponentError(message, file=str(path), remedy=reinstall_command()) from None


@cache
def libxsmm_library() -> ctypes.CDLL:
    """LIBXSMM, loaded once and never unloaded; signatures are the caller's to declare.

    Raises MissingComponentError if it is absent or can't be loaded.
    """
    return _load(libxsmm_path(), "LIBXSMM", libxsmm_remedy())


def libxsmm_version() -> str:
    """The version of the LIBXSMM that emitted C is linked with, such as ``1.17``. Raises MissingComponentError."""
    return ctypes.string_at(
        ctypes.addressof(ctypes.c_char.in_dll(libxsmm_library(), "polydl_libxsmm_version"))
    ).decode()


def libxsmm_remedy() -> str:
    """The one command that brings LIBXSMM and builds polydl's shared library from it."""
    return f"{privileged(f'apt-get install -y {LIBXSMM_PACKAGE}')} && {reinstall_command()}"


def privileged(command: str) -> str:
    """The command as this user has to write it to run it as root."""
    return command if os.geteuid() == 0 else f"sudo {command}"


def reinstall_command() -> str:
    """The command that builds this installation's native part again, from where it was installed."""
    pip = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps"
    origin, editable = _origin()
    if origin is None:
        return f"{pip} --no-binary polydl polydl"
    return f"{pip} {'-e ' if editable else ''}{shlex.quote(str(origin))}"


def _origin() -> tuple[Path | None, bool]:
    """The directory that polydl was installed from (PEP 610), if it is still there, and whether in editable mode."""
    checkout = Path(__file__).parents[2]
    if (checkout / "CMakeLists.txt").exists():
        return checkout, True
    # Processes that run kernels start without it, in less time.
    from importlib import metadata

    try:
        recorded = json.loads(metadata.distribution("polydl").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return None, False
    url = urlsplit(recorded.get("url", ""))
    directory = Path(unquote(url.path))
    if url.scheme == "file" and (directory / "CMakeLists.txt").exists():
        return directory, bool(recorded.get("dir_info", {}).get("editable"))
    return None, False


def _find(file: str, what: str, remedy: str) -> Path:
    # Two directories in an editable installation: the sources' and the one that was built.
    for directory in __path__:
        path = Path(directory) / file
        if path.exists():
            return path
    raise MissingComponentError(f"{what} is not installed ({file} is not in {', '.join(__path__)})", remedy=remedy)


def _load(path: Path, what: str, remedy: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise MissingComponentError(f"{what} can't be loaded: {error}", file=str(path), remedy=remedy) from None


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    size, real, pointer = ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p
    signatures: dict[str, tuple[type | None, list[type]]] = {
        "allocate": (pointer, [size, size]),
        "free": (None, [pointer]),
        "seconds": (real, []),
        "isa": (ctypes.c_char_p, []),
        "vector_bytes": (size, []),
        "fma_gflops": (real, [ctypes.c_long]),
        "flush": (None, [pointer, size]),
        "evict": (None, [pointer, size]),
        "latency": (real, [size, size, ctypes.c_long, ctypes.c_int]),
        "read_bandwidth": (real, [size, size, ctypes.c_int]),
    }
    for name, (result, arguments) in signatures.items():
        function = library[f"polydl_{name}"]
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    return library


@dataclass(frozen=True)
class Runtime:
    """The C runtime. Each probe measures the core that it happens to run on."""

    #: of the shared library
    path: Path
    library: ctypes.CDLL

    def allocate(self, size: int, alignment: int = 64) -> int:
        """Address of ``size`` bytes, aligned to a power of two of at least 8. Raises ResourceError."""
        address = self.library.allocate(size, alignment)
        if address is None:
            raise ResourceError(f"no {size} bytes of memory aligned to {alignment}")
        return int(address)

    def free(self, address: int) -> None:
        """Frees what ``allocate`` returned."""
        self.library.free(address)

    def seconds(self) -> float:
        """A monotonic clock, the one that generated programs use."""
        return float(self.library.seconds())

    @property
    def isa(self) -> str:
        """The instruction set of the probes: ``avx512``, ``avx2`` or ``generic``."""
        return str(self.library.isa().decode())

    @property
    def vector_bytes(self) -> int:
        """Bytes of the probes' vectors; of the longest ones that this processor has and the runtime was built for."""
        return int(self.library.vector_bytes())

    def fma_gflops(self, iterations: int = 250_000) -> float:
        """fp32 GFLOPS of one core over ``iterations`` rounds of 12 vector multiply-adds (16 on AArch64): under 1 ms."""
        return float(self.library.fma_gflops(iterations))

    def flush(self, address: int, size: int) -> None:
        """Drop the lines of ``size`` bytes from all caches; nothing happens on processors other than x86-64."""
        self.library.flush(address, size)

    def evict(self, address: int, size: int) -> None:
        """Read and write back every line of a buffer, so that the caches lose what they held before."""
        self.library.evict(address, size)

    def latency(self, size: int, *, line_bytes: int = 64, accesses: int = 100_000, repeats: int = 3) -> float:
        """Seconds per dependent load from a working set of ``size`` bytes; the best of the repeats."""
        return self._measured(self.library.latency(size, line_bytes, accesses, repeats), size)

    def read_bandwidth(self, size: int, *, bytes_read: int = 8 << 20, repeats: int = 3) -> float:
        """Bytes per second that one core reads, in order, from ``size`` bytes; the best of the repeats."""
        return self._measured(self.library.read_bandwidth(size, bytes_read, repeats), size)

    @staticmethod
    def _measured(value: float, size: int) -> float:
        if value < 0:
            raise ResourceError(f"a working set of {size} bytes can't be measured: too small, or not enough memory")
        return value

"""Compilers as peers for the nest of any C file: each is verified and timed as a candidate is.

``gcc``, ``clang`` and ``polly`` translate the file as it is. ``pluto-like`` is what isl's scheduler, an implementation
of Pluto's algorithm, makes of the nest in tiles of 32, without any search. ``pluto`` is Pluto itself, in several ways.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polydl.bench.peers import pluto
from polydl.bench.peers.kinds import MissingPeerError
from polydl.bench.peers.pluto import Translation
from polydl.codegen.original import original
from polydl.errors import MissingComponentError, OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.optimization.plain_builds import fast_flags
from polydl.pipeline import kernel
from polydl.system.files import temporary_directory
from polydl.system.process_group import run_in_group

if TYPE_CHECKING:
    from polydl.optimization.optimized import Optimization

_POLLY = ("-mllvm", "-polly")
_POLLY_THREADS = ("-mllvm", "-polly-parallel")
# Where Debian puts each version.
_LLVM = Path("/usr/lib")
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class CompilerPeer:
    """A compiler to compare with."""

    #: as ``--peers`` takes it and tables show it
    name: str
    #: command that installs it
    remedy: str
    #: the compiler if it is installed and works; raises OptionError or MissingComponentError
    find: Callable[[], Toolchain]
    #: the nest of an optimization as this compiler gets it, in each way that is tried
    translate: Callable[[Optimization], tuple[Translation, ...]]

    def toolchain(self) -> Toolchain:
        """The compiler. Raises MissingPeerError."""
        try:
            return self.find()
        except (OptionError, MissingComponentError) as error:
            raise MissingPeerError(error.message, self.remedy) from None

    def translations(self, result: Optimization) -> tuple[Translation, ...]:
        """The nest, with the peer's name as its id, once for each way of this peer.

        Raises AnalysisError where isl finds no schedule in time, UntranslatedError where the peer makes nothing of it.
        """
        return tuple(replace(each, kernel=replace(each.kernel, id=self.name)) for each in self.translate(result))


def _one_way(source: Callable[[Optimization], KernelSource]) -> Callable[[Optimization], tuple[Translation, ...]]:
    return lambda result: (Translation(source(result)),)


def _plain(result: Optimization) -> KernelSource:
    nest = original(result.scop)
    return replace(nest, compile_flags=(*nest.compile_flags, *fast_flags(result.numerics)))


def _for_polly(result: Optimization) -> KernelSource:
    nest = _plain(result)
    threads = _POLLY_THREADS if result.machine.threads > 1 else ()
    return replace(nest, compile_flags=(*nest.compile_flags, *threads))


def _scheduled(result: Optimization) -> KernelSource:
    from polydl.variants.plain_schedule import plain_schedule

    machine = result.machine
    variant = plain_schedule(result.scop, threads=machine.threads, numerics=result.numerics)
    scheduled = kernel(result.applied(variant), machine.vector_bytes)
    return replace(scheduled, compile_flags=(*scheduled.compile_flags, *fast_flags(result.numerics)))


def _polly() -> Toolchain:
    """The newest clang with Polly built in, with the flags that switch it on.

    Raises MissingComponentError if there is none.
    """
    on_path = shutil.which("clang")
    installed = {Path(path).resolve(): _version(path) for path in _LLVM.glob("llvm-*/bin/clang")}
    if on_path is not None:
        installed.setdefault(Path(on_path).resolve(), 0)
    for path in sorted(installed, key=lambda path: installed[path], reverse=True):
        if _accepts(path, _POLLY):
            toolchain = Toolchain.find(str(path))
            return replace(toolchain, flags=(*toolchain.flags, *_POLLY))
    which = ", ".join(map(str, installed))
    raise MissingComponentError(f"no clang has Polly built in: {which}" if which else "there is no clang")


def _version(path: Path) -> int:
    """The number in the name of a folder of LLVM."""
    return int(re.sub(r"\D", "", path.parts[-3]) or 0)


def _accepts(path: Path, flags: tuple[str, ...]) -> bool:
    """Whether a clang knows the flags."""
    with temporary_directory() as directory:
        command = [str(path), "-O3", *flags, "-x", "c", "-c", "/dev/null", "-o", str(directory / "nothing.o")]
        try:
            return run_in_group(command, directory, timeout_seconds=_TIMEOUT_SECONDS).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


_PEERS = (
    CompilerPeer("gcc", "apt-get install -y gcc libc6-dev", lambda: Toolchain.find("gcc"), _one_way(_plain)),
    CompilerPeer("clang", "apt-get install -y clang libomp-dev", lambda: Toolchain.find("clang"), _one_way(_plain)),
    CompilerPeer("polly", "apt-get install -y clang libomp-dev", _polly, _one_way(_for_polly)),
    CompilerPeer("pluto-like", "apt-get install -y gcc libc6-dev", Toolchain.find, _one_way(_scheduled)),
    CompilerPeer("pluto", pluto.REMEDY, pluto.toolchain, pluto.translations),
)
COMPILERS = {peer.name: peer for peer in _PEERS}

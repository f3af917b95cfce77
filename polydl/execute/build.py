"""Compilation of kernels, several at a time. A failure of the compiler is a value, and its source is kept."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from polydl.codegen.processor import TUNED_ALONE
from polydl.codegen.team import ALL_THREADS
from polydl.errors import OptionError, ResourceError
from polydl.execute.contract import Built, Progress
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Status
from polydl.system.control_groups import usable_processors
from polydl.system.files import reason_of
from polydl.system.full_disk import DISK_FULL, another, disk_full
from polydl.system.interruption import INTERRUPTION
from polydl.system.process_group import kill_group
from polydl.system.sandbox import exit_status_of, inside, is_sandboxed
from polydl.system.shared_library import check_executable

COMPILE_TIMEOUT_SECONDS = 120.0
# What gcc and clang say when a program that they run is killed, as the system does where memory is short.
_KILLED = re.compile(r"Killed signal terminated program|unable to execute command: Killed")

# A file apart from the kernel's, so that no compiler can drop or merge invocations.
_TIMER = """\
#define _POSIX_C_SOURCE 199309L
#include <time.h>

double polydl_time_invocations(void (*invoke)(void *const *), void *const *arguments, long repeats);

double polydl_time_invocations(void (*invoke)(void *const *), void *const *arguments, long repeats) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < repeats; ++i)
    invoke(arguments);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}
"""
# By the command that compiles it, the object.
_TIMERS: dict[tuple[str, ...], bytes] = {}


def build(
    kernels: Sequence[KernelSource],
    toolchain: Toolchain,
    directory: Path,
    *,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Built, ...]:
    """Compile each kernel into ``<id>.so`` in ``directory``, beside its source ``<id>.c``.

    The compiler gets a second file, ``<id>.harness.c``, which includes the first and contains
    ``KernelSource.harness``. All calls take all threads there, so that samples are of one kind, and what would run the
    original nest on another processor is left out. Raises ResourceError when the disk is full or nothing in
    ``directory`` can be run, OptionError for two kernels of the same id.
    """
    with Building([(kernel, toolchain) for kernel in kernels], directory, jobs=jobs) as building:
        return building.results(progress)


class Building:
    """Kernels that are compiled in the background, each with a toolchain of its own, as ``build`` compiles them.

    It is a context. Compilers that are still running as it ends are killed.
    """

    def __init__(
        self, kernels: Sequence[tuple[KernelSource, Toolchain]], directory: Path, *, jobs: int | None = None
    ) -> None:
        names = [kernel.id for kernel, _ in kernels]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise OptionError(f"two kernels have the id {twice!r}", remedy="give each kernel an id of its own")
        self._kernels = list(kernels)
        self._directory = directory
        self._compilers = _Compilers()
        self._pool = ThreadPoolExecutor(max_workers=jobs or usable_processors())
        self._pending: list[Future[Built]] = []

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        _write(self._directory / "timer.c", _TIMER)
        check_executable(self._directory, another(self._directory))
        if not self._kernels:
            return
        # The first job, so that those which wait for it do so while it runs.
        timer = self._pool.submit(_build_timer, self._kernels[0][1], self._directory, self._compilers)
        for kernel, toolchain in self._kernels:
            job = self._pool.submit(_build_one, kernel, toolchain, self._directory, self._compilers, timer)
            self._pending.append(job)

    def _end(self) -> None:
        with INTERRUPTION.deferred():
            self._compilers.kill()
            self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the kernels."""
        return frozenset(kernel.id for kernel, _ in self._kernels)

    def results(self, progress: Callable[[Progress], None] | None = None) -> tuple[Built, ...]:
        """All, in the order of the kernels, once they are compiled. Raises ResourceError when the disk is full."""
        for done, future in enumerate(as_completed(self._pending)):
            built = future.result()
            if progress is not None:
                progress(Progress("build", done + 1, len(self._pending), built.kernel.id))
        return tuple(each.result() for each in self._pending)


@dataclass(frozen=True)
class _Ended:
    """How a compiler ended."""

    exit_status: int
    #: its stderr, or why there is none
    message: str
    #: of the kernel, where the exit status is not 0; only what the compiler refuses needs no further attempt
    status: Status = "compile"


class _Compilers:
    """The compilers that are running, so that all of them can be killed at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._killed = False
        # Asked here, since compilers run in other threads.
        self._sandboxed = is_sandboxed()

    def run(self, command: Sequence[str], directory: Path) -> tuple[int, str]:
        """Run a compiler; returns its exit status and stderr. Its temporary files go to ``directory``.

        Raises TimeoutExpired after the time limit.
        """
        with self._lock:
            if self._killed:
                return 1, "interrupted"
            process = subprocess.Popen(
                inside(command, directory) if self._sandboxed else command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # A compiler that is killed leaves its temporary files behind.
                env=os.environ | {"LC_ALL": "C", "TMPDIR": str(directory)},
                start_new_session=True,
            )
            self._running.add(process)
        try:
            _, stderr = process.communicate(timeout=COMPILE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            kill_group(process.pid)
            process.communicate()
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        return exit_status_of(process.returncode) if self._sandboxed else process.returncode, stderr

    def kill(self) -> None:
        with self._lock:
            self._killed = True
            for process in self._running:
                kill_group(process.pid)


def _build_timer(toolchain: Toolchain, directory: Path, compilers: _Compilers) -> _Ended:
    """Bring what times the calls, once for all kernels.

    A process compiles it once with each compiler.
    """
    key = toolchain.object_command(Path("timer.c"), Path("timer.o"))
    if key in _TIMERS:
        _write(directory / "timer.o", _TIMERS[key])
        return _Ended(0, "")
    unfinished = directory / "timer.unfinished.o"
    command = toolchain.object_command(directory / "timer.c", unfinished)
    ended = _compiled(command, directory, compilers)
    if ended.exit_status == 0:
        _TIMERS[key] = unfinished.read_bytes()
        unfinished.replace(directory / "timer.o")
    else:
        unfinished.unlink(missing_ok=True)
    return ended


def _compiled(command: Sequence[str], directory: Path, compilers: _Compilers) -> _Ended:
    try:
        exit_status, stderr = compilers.run(command, directory)
    except subprocess.TimeoutExpired:
        return _Ended(1, f"the compiler did not finish within {COMPILE_TIMEOUT_SECONDS:g} s", "timeout")
    except OSError as error:
        return _Ended(1, f"the compiler {command[0]} can't be run: {reason_of(error)}", "unsupported")
    killed = exit_status < 0 or _KILLED.search(stderr) is not None
    return _Ended(exit_status, stderr, "unsupported" if killed else "compile")


def _build_one(
    kernel: KernelSource,
    toolchain: Toolchain,
    directory: Path,
    compilers: _Compilers,
    timer: Future[_Ended],
) -> Built:
    start = time.monotonic()
    source, harness = directory / f"{kernel.id}.c", directory / f"{kernel.id}.harness.c"
    _write(source, kernel.c)
    macros = "".join(f"#define {name}\n" for name in (ALL_THREADS, TUNED_ALONE))
    _write(harness, f'{macros}#include "{source.name}"\n\n{kernel.harness}')
    library, unfinished = directory / f"{kernel.id}.so", directory / f"{kernel.id}.unfinished.so"
    library.unlink(missing_ok=True)
    commands = toolchain.library_commands(kernel, harness, unfinished, (directory / "timer.o",))
    ended = timer.result()
    said: list[str] = []
    for command in commands:
        if ended.exit_status == 0:
            ended = _compiled(command, directory, compilers)
            said.append(ended.message)
    unfinished.with_suffix(".o").unlink(missing_ok=True)
    message = "".join(said) or ended.message
    if ended.exit_status == 0:
        # Renamed and not written in place: another process may have the old library loaded.
        unfinished.replace(library)
    else:
        unfinished.unlink(missing_ok=True)
        if any(os.strerror(number) in message for number in DISK_FULL):
            raise disk_full(directory)
        message = message or f"the compiler ended with exit status {ended.exit_status} and said nothing"
    return Built(
        kernel=kernel,
        source=source,
        library=library if ended.exit_status == 0 else None,
        command=" && ".join(map(shlex.join, commands)),
        message=message,
        toolchain=toolchain,
        seconds=time.monotonic() - start,
        status=ended.status,
    )


def _write(path: Path, content: str | bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        if error.errno in DISK_FULL:
            raise disk_full(path.parent) from None
        raise ResourceError(
            f"can't write {path}: {error.strerror}", remedy="choose a directory that is writable"
        ) from None

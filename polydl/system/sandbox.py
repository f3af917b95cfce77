"""What a file's code may do when it runs: bubblewrap's sandbox, limits of a process, and its environment.

docs/security.md says whose code runs when.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from polydl.errors import MissingComponentError
from polydl.system.system_calls import filter_path

_PROGRAM = "bwrap"
# No network, no sight of other processes, nothing to write to; it ends with this process. polydl.system.system_calls
# takes the sockets of the file system away.
_OPTIONS = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)
_TRIAL_SECONDS = 20.0
_ROOT = os.geteuid() == 0
# A shell reports a signal in this way, and so does bubblewrap.
_SIGNALLED = 128
# What programs and libraries need to be found and to speak the user's language, and what tunes them.
_INHERITED = frozenset(
    ("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")
)
_INHERITED_PREFIXES = ("LC_", "PYTHON", "XDG_", "LIBXSMM_", "GLIBC_", "MALLOC_")
# Memory that the code of a nest may take beside its arrays, and copies of these.
_SPARE_BYTES, _COPIES = 8 << 30, 8
_FILE_BYTES = 1 << 20

_SANDBOXED: ContextVar[bool] = ContextVar("sandboxed", default=False)


@contextmanager
def sandboxed() -> Iterator[None]:
    """Inside, compilers and kernels run in a sandbox. Raises MissingComponentError if there can be none."""
    _try()
    token = _SANDBOXED.set(True)
    try:
        yield
    finally:
        _SANDBOXED.reset(token)


def is_sandboxed() -> bool:
    """Whether this is inside of ``sandboxed``; to be asked in the thread that entered it."""
    return _SANDBOXED.get()


def inside(command: Sequence[str], folder: Path) -> list[str]:
    """The command that runs a command in the sandbox, where ``folder`` alone can be written.

    Its standard input is empty. Raises MissingComponentError.
    """
    path = os.path.realpath(folder)
    sandbox = [shutil.which(_PROGRAM) or _PROGRAM, *_OPTIONS, "--bind", path, path, "--seccomp", "0", "--"]
    # bubblewrap reads the filter from its standard input, and hands on none.
    return [*_reading(filter_path()), *sandbox, *_reading(os.devnull), *command]


def _reading(path: str) -> list[str]:
    """What stands before a command, so that its standard input is a file."""
    return ["/bin/sh", "-c", f'exec "$0" "$@" <{path}']


def confined(command: Sequence[str], folder: Path, array_bytes: int) -> list[str]:
    """The command that runs a program with a nest's code within the limits of ``limit``, for one thread.

    Inside of ``sandboxed`` it runs in the sandbox, where ``folder`` alone can be written.
    """
    blocks = (array_bytes + _FILE_BYTES) // 512
    kibibytes = (_COPIES * array_bytes + _SPARE_BYTES) // 1024
    # Of a lower limit that is set already, the shell complains; it stays.
    limits = "; ".join(f"ulimit {each} 2>/dev/null || :" for each in ("-c 0", f"-f {blocks}", f"-v {kibibytes}"))
    limited = ["/bin/sh", "-c", f'{limits}; exec "$0" "$@"', *command]
    return inside(limited, folder) if is_sandboxed() else limited


def exit_status_of(status: int) -> int:
    """The exit status of a command in the sandbox, minus a signal that ended it, from that of bubblewrap."""
    return _SIGNALLED - status if status > _SIGNALLED else status


def _try() -> None:
    if shutil.which(_PROGRAM) is None:
        install = "apt-get install -y bubblewrap"
        raise MissingComponentError(
            "--sandbox needs bubblewrap, which is not installed",
            remedy=install if _ROOT else f"sudo {install}",
        )
    try:
        ended = subprocess.run(
            inside(["true"], Path.cwd()), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=_TRIAL_SECONDS, check=False,
        )  # fmt: skip
        problem = ended.stderr.strip() if ended.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem is not None:
        raise MissingComponentError(
            f"bubblewrap can't make a sandbox here: {problem}",
            remedy="let users make namespaces (sysctl kernel.unprivileged_userns_clone=1), or use a virtual machine",
        )


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What a process that runs the file's code sees of an environment: none of its secrets."""
    return {
        name: value for name, value in variables.items() if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)
    }


def limit(array_bytes: int, threads: int) -> None:
    """Limit this process: no core dumps, no files much larger than its arrays, and memory for some copies of them.

    Its stack may grow to the size of its arrays, of which an initializer may have copies there.
    """
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: array_bytes + _FILE_BYTES,
        resource.RLIMIT_AS: _address_space() + threads * (_COPIES * array_bytes + _SPARE_BYTES),
    }
    for kind, most in wanted.items():
        soft, hard = resource.getrlimit(kind)
        least = min((bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY), default=most)
        resource.setrlimit(kind, (min(most, least), min(most, least)))
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft != resource.RLIM_INFINITY:
        enough = soft + array_bytes
        resource.setrlimit(
            resource.RLIMIT_STACK, (enough if hard == resource.RLIM_INFINITY else min(enough, hard), hard)
        )


def _address_space() -> int:
    """Bytes of address space that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

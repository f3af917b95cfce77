"""Programs that may start others, each in a process group of its own that is killed as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from polydl.system.interruption import INTERRUPTION

# For the last of a group that was killed to be gone.
_DYING_SECONDS = 5.0
# For a process that was told to end: the programs that it runs are killed first.
_ENDING_SECONDS = 10.0


def run_in_group(
    command: Sequence[str],
    folder: Path | None = None,
    *,
    timeout_seconds: float | None,
    merged: bool = False,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program that may start others. Its temporary files go to ``folder``, where it runs, if one is given.

    It sees ``environment``, or all of this process's.

    If this process is interrupted or the time is over, no process of it is left. ``merged`` has stderr in stdout.
    Raises OSError, TimeoutExpired.
    """
    process = None
    seen = os.environ if environment is None else environment
    try:
        # A program that has just been started must be known before it can be killed.
        with INTERRUPTION.deferred():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merged else subprocess.PIPE,
                text=True,
                errors="replace",
                cwd=folder,
                # A compiler that is killed leaves its temporary files behind.
                env=seen if folder is None else {**seen, "TMPDIR": str(folder)},
                start_new_session=True,
            )
        stdout, stderr = process.communicate(timeout=timeout_seconds)
    except BaseException:
        if process is not None:
            kill_group(process.pid)
            # Until all of the group have closed their output: they write into a folder that is about to go.
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_DYING_SECONDS)
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def kill_group(leader: int) -> None:
    """Kill the process group of its leader, if there is one left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def wait_for_end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was told to end, and kill its group if it takes long."""
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        process.wait()

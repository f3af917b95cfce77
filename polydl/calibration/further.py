"""What a first use has left is timed while candidates compile, by ``python -m polydl.calibration.further``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polydl import registry
from polydl.calibration.first_use import FirstUse, PackedCall, by_key, including, lock_path, time_calls
from polydl.contracts import GemmSite
from polydl.execute.toolchain import Toolchain
from polydl.machine.call_times import CallTime, read_call_times, write_call_times
from polydl.machine.core import Core
from polydl.system.files import locked
from polydl.system.interruption import INTERRUPTION
from polydl.system.process_group import wait_for_end

_COMMAND = (sys.executable, "-P", "-m", "polydl.calibration.further")


@contextmanager
def going_on(first: FirstUse | None) -> Iterator[None]:
    """While this lasts, a process of its own times what the first use has left, and keeps it for the next command."""
    if first is None or not first.further:
        yield
        return
    process = None
    try:
        # A process that has just been started must be known before it can be ended.
        with INTERRUPTION.deferred():
            process = subprocess.Popen(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        assert process.stdin is not None
        with suppress(OSError), process.stdin:
            process.stdin.write(json.dumps(_request(first)).encode())
        yield
    finally:
        if process is not None:
            with INTERRUPTION.deferred():
                process.terminate()
                wait_for_end(process)


def _request(first: FirstUse) -> dict[str, Any]:
    versions = {key: each.versions for key, each in by_key(first.machine.call_times).items()}
    return {
        "directory": str(first.directory),
        "cpu_id": first.machine.cpu_id,
        "vector_bytes": first.machine.vector_bytes,
        "toolchain": {**asdict(first.toolchain), "path": str(first.toolchain.path)},
        "steps": [
            {
                "microkernel": step[0].kernel.name,
                "core": asdict(step[0].kernel.core),
                "versions": versions[step[0].key],
                "sites": [asdict(call.site) for call in step],
            }
            for step in first.further
        ],
    }


def _immutable(value: Any) -> Any:
    """What JSON made lists of, as tuples again."""
    if isinstance(value, dict):
        return {name: _immutable(member) for name, member in value.items()}
    return tuple(map(_immutable, value)) if isinstance(value, list) else value


def time_further(
    request: Mapping[str, Any],
    wanted: Callable[[], bool],
    time_step: Callable[..., list[CallTime]] = time_calls,
) -> None:
    """Time the steps of a request as long as that is ``wanted``, and keep each as it ends.

    A step is left out where times of other versions, as of another compiler, have come to be kept meanwhile.
    """
    directory, cpu_id = Path(request["directory"]), request["cpu_id"]
    asked = request["toolchain"]
    flags = {name: tuple(asked[name]) for name in ("flags", "openmp_linked")}
    toolchain = Toolchain(**{**asked, "path": Path(asked["path"]), **flags})
    for step in request["steps"]:
        if not wanted():
            return
        kernel = registry.load("microkernels", step["microkernel"]).on(Core(**_immutable(step["core"])))
        calls = [PackedCall(kernel, GemmSite(**_immutable(site))) for site in step["sites"]]
        with locked(lock_path(directory, cpu_id)):
            known = by_key(read_call_times(directory, cpu_id))
            mine = known.get(calls[0].key)
            if mine is not None and mine.versions == step["versions"]:
                times = time_step(calls, request["vector_bytes"], toolchain)
                known[calls[0].key] = including(mine, times)
                write_call_times(directory, cpu_id, known.values())


def main() -> None:
    """Times the request on standard input (``going_on``) until it is done or its parent has ended."""
    INTERRUPTION.unwind()
    parent = os.getppid()
    with suppress(KeyboardInterrupt):
        time_further(json.load(sys.stdin), lambda: os.getppid() == parent)


if __name__ == "__main__":
    main()

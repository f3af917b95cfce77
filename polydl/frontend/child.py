"""Child processes for the passes of libclang and libpet, which may print, hang, abort or crash.

Requests and results are JSON files in a temporary folder. The output of the child is kept in full.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MEMORY_BYTES = 4 << 30


@dataclass(frozen=True)
class Outcome:
    """The end of a child process."""

    #: None if the child wrote none
    result: dict[str, Any] | None
    #: why there is no result, in words
    failure: str
    #: all that the child printed
    output: str


def run_child(module: str, request: Mapping[str, Any], folder: Path, timeout_seconds: float) -> Outcome:
    """Run the main function of ``module`` in a Python process of its own."""
    name = module.rpartition(".")[2]
    request_path, result_path = folder / f"{name}.request", folder / f"{name}.result"
    request_path.write_text(json.dumps(request), encoding="utf-8")
    # -P: a file json.py in the working folder must not shadow the module.
    command = [sys.executable, "-P", "-m", module, str(request_path), str(result_path)]
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout_seconds
        )
    except subprocess.TimeoutExpired as expired:
        printed = expired.stdout.decode(errors="replace") if expired.stdout else ""
        return Outcome(None, f"did not finish within {timeout_seconds:g} s", printed)
    output = ended.stdout.decode(errors="replace")
    if ended.returncode == 0 and result_path.is_file():
        return Outcome(json.loads(result_path.read_text(encoding="utf-8")), "", output)
    if ended.returncode < 0:
        return Outcome(None, f"was ended by signal {_signal_name(-ended.returncode)}", output)
    return Outcome(None, f"ended with status {ended.returncode}", output)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def limit_resources() -> None:
    """Limit the memory of this process, and disable core dumps, since an abort of pet is expected."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

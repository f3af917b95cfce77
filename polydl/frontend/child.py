"""Child processes for what may print, hang, abort or crash: libclang's and libpet's passes.

A request goes in and a result comes out as JSON files in a temporary folder; what the child printed is kept in full.
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
    """How a child ended. ``result`` is None where it wrote none; ``failure`` says in words what happened then."""

    result: dict[str, Any] | None
    failure: str
    output: str


def run_child(module: str, request: Mapping[str, Any], folder: Path, timeout_seconds: float) -> Outcome:
    """Run ``module``'s main in a Python process of its own."""
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
    """Called by the child itself: bounded memory, and no core dump for an abort that was expected."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

"""Passes in processes that are forked from this one, whose modules and libraries are loaded once."""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import subprocess
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def forked(module: str, arguments: Sequence[str], printed: Path, timeout_seconds: float) -> int:
    """Fork a process that runs the main function of a module; its exit status, or minus the signal that ended it.

    ``arguments`` are the paths of the request and of the result; what the process prints goes to ``printed``. The
    libraries are loaded here the first time, and nothing of a pass runs here. Raises TimeoutExpired.
    """
    worker = import_module(module)
    worker.prepare(json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            text = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            for standard, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), text, text)):
                os.dup2(descriptor, standard)
            # A fault of the pass is the parent's to report.
            faulthandler.disable()
            worker.main(*arguments)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    watched = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([watched], [], [], timeout_seconds)
    finally:
        os.close(watched)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, ended = os.waitpid(child, 0)
    if not ready:
        raise subprocess.TimeoutExpired(module, timeout_seconds)
    return os.waitstatus_to_exitcode(ended)

"""Where the program ``polydl`` begins: with what signals do, before anything is imported that takes time.

The installed command (``native/launcher.c``) has blocked them, so that they wait until ``end_at_once`` stands.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import gc
import os
import sys

# Objects that are allocated before the young ones are searched for cycles, and how often older ones are with them.
# Python's 700, 10 and 10 take a fifth of an analysis, whose values are trees and have no cycles.
_COLLECTED_AFTER = (20_000, 50, 100)


def collect_seldom() -> None:
    """Search for unreachable cycles of objects less often than Python does."""
    gc.set_threshold(*_COLLECTED_AFTER)


def main() -> None:
    """Run the command line, and exit with its status."""
    _end_without_traceback()
    from polydl.system.interruption import INTERRUPTION

    INTERRUPTION.end_at_once()
    collect_seldom()
    try:
        from polydl.cli import main as command_line
    except ModuleNotFoundError as error:
        from polydl.errors import missing_dependency

        missing = missing_dependency(error)
        if missing is None:
            raise
        sys.exit(f"polydl: {missing}")

    try:
        INTERRUPTION.unwind()
        command_line(prog_name="polydl")
    except KeyboardInterrupt:
        # Just before or after all that the command line itself watches over.
        os.write(2, f"polydl: {INTERRUPTION.text}\n".encode())
        sys.exit(INTERRUPTION.exit_status)
    finally:
        INTERRUPTION.ignore()
        # Python would search all that is there for cycles before it ends, which takes a tenth of a ranking.
        gc.freeze()


def _end_without_traceback() -> None:
    """Have Ctrl-C end the process at once: Python would show where the import of the first module was.

    ``signal`` itself imports ``enum``, which takes three times as long as all that comes before this. The exit
    status is that of ``polydl.system.interruption``.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def _end(number: int, _frame: object) -> None:
    os.write(2, b"polydl: interrupted\n")
    os._exit(128 + number)

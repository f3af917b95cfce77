"""Where the program ``polydl`` begins: with what signals do, before anything is imported that takes time."""

from __future__ import annotations

import sys

from polydl.interruption import INTERRUPTION


def main() -> None:
    """Run the command line, and exit with its status."""
    INTERRUPTION.end_at_once()
    from polydl.cli import main as command_line

    try:
        INTERRUPTION.unwind()
        command_line(prog_name="polydl")
    except KeyboardInterrupt:
        # Just before or after all that the command line itself watches over.
        sys.exit(INTERRUPTION.exit_status)
    finally:
        INTERRUPTION.ignore()

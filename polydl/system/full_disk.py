"""What is raised where a disk is full."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

from polydl.errors import ResourceError

#: numbers of errors that say so
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def disk_full(directory: Path) -> ResourceError:
    """The error to raise where nothing more can be written to a directory, with a remedy that suits the directory."""
    return ResourceError("the disk is full", file=str(directory), remedy=f"free space there, or {another(directory)}")


def another(directory: Path) -> str:
    """What the user can say to have another directory used."""
    if Path(tempfile.gettempdir()) in (directory, *directory.parents):
        return "name another folder for temporary files: TMPDIR=FOLDER polydl …"
    return "choose another directory"

"""Folders and files of the records that tell polydl what to do: what others may have written is not read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A larger file is none of polydl's; reading it would fill the memory.
_MOST_BYTES = 256 << 20
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class OddError(Exception):
    """A folder or file that is not used; the message says why."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@contextmanager
def opened_folder(path: Path | str, parent: int | None = None) -> Iterator[int]:
    """A descriptor of a folder that this user alone may write. Raises OddError, OSError."""
    remedy = "name another directory (--records), or remove this one" if parent is None else ""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise OddError("it is no folder, or a symbolic link", remedy) from None
        raise
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            raise OddError("it belongs to another user", remedy)
        if status.st_mode & _BY_OTHERS:
            raise OddError("others than its owner may write it", remedy)
        yield descriptor
    finally:
        os.close(descriptor)


def content_of(name: str, folder: int) -> bytes:
    """The content of a file in a folder. Raises OddError, OSError."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        raise OddError(f"its {name} is gone") from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & _BY_OTHERS:
            raise OddError(f"its {name} is no ordinary file that this user alone may write")
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OddError(f"its {name} is too large")
    return content

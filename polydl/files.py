"""Files that are complete or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from polydl.errors import ResourceError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside the path, which is renamed once it is complete: a reader sees the old file or the whole new one.

    Raises OSError.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """Like ``replacing``, in a directory that is made if it is missing.

    Raises ResourceError when the disk is full or the directory can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            yield stream
    except OSError as error:
        raise ResourceError(
            f"can't write {path}: {error.strerror}", remedy="free some space, or name another directory (--out)"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """Like ``written_atomically``, with all of the content at once. Raises ResourceError."""
    with written_atomically(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)

"""Shared libraries that are loaded from copies of their own, so that what happens to their files changes nothing."""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from pathlib import Path

from polydl.errors import MissingComponentError, ResourceError
from polydl.system.files import temporary_directory

# 64 bits, the lowest byte first.
_ELF = b"\x7fELF\x02\x01"
# Where its header says where the table of sections begins, and how large each of how many entries is.
_TABLE, _ENTRIES, _HEADER_BYTES = 40, 58, 64
# By the path and the SHA-256 of the content: two copies of a library at two paths have global variables each.
_LOADED: dict[tuple[str, str], ctypes.CDLL] = {}


def loaded_library(path: Path, content: bytes, remedy: str | None = None) -> ctypes.CDLL:
    """The library with the content of the file ``path``, which is loaded once and never unloaded.

    The system takes a path that it knows for what it has loaded from there, whatever the file has become, and runs code
    from the file itself: what is written over it later would run, and a file that ends early ends the process. So a
    copy is loaded, which goes away at once.

    Raises MissingComponentError if it can't be loaded, ResourceError if there is no place for the copy.
    """
    key = (os.path.abspath(path), hashlib.sha256(content).hexdigest())
    if key not in _LOADED:
        if _ends_early(content):
            raise MissingComponentError(
                "the library can't be loaded: its end is missing", file=str(path), remedy=remedy
            )
        with temporary_directory() as folder:
            copy = folder / path.name
            try:
                copy.write_bytes(content)
            except OSError as error:
                text = f"the library can't be copied: {error.strerror}"
                raise ResourceError(text, file=str(copy), remedy="name another place in TMPDIR") from None
            try:
                _LOADED[key] = ctypes.CDLL(str(copy), mode=os.RTLD_NOW | os.RTLD_LOCAL)
            except OSError as error:
                said = str(error).replace(f"{copy}: ", "")
                raise MissingComponentError(
                    f"the library can't be loaded: {said}", file=str(path), remedy=remedy
                ) from None
    return _LOADED[key]


def _ends_early(content: bytes) -> bool:
    """Whether a part of a library is missing: linkers write the table of its sections last."""
    if not content.startswith(_ELF) or len(content) < _HEADER_BYTES:
        return False  # the loader says what it is
    (begin,) = struct.unpack_from("<Q", content, _TABLE)
    size, count = struct.unpack_from("<HH", content, _ENTRIES)
    return bool(begin + size * count > len(content))

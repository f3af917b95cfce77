"""Shared libraries that are loaded from copies of their own, so that what happens to their files changes nothing."""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from pathlib import Path
from threading import Lock

from polydl.errors import MissingComponentError, OptionError, ResourceError
from polydl.system.files import temporary_directory

# 64 bits, the lowest byte first.
_ELF = b"\x7fELF\x02\x01"
# Where its header says where the table of sections begins, and how large each of how many entries is.
_TABLE, _ENTRIES, _HEADER_BYTES = 40, 58, 64
# By the path and the SHA-256 of the content: two copies of a library at two paths have global variables each.
_LOADED: dict[tuple[str, str], ctypes.CDLL] = {}
_ANOTHER = "name another folder for temporary files in TMPDIR, where programs may be run"
# Of several threads that ask for a library at once, one loads it.
_LOADING = Lock()


def loaded_library(path: Path, content: bytes, *, sha256: str = "", remedy: str | None = None) -> ctypes.CDLL:
    """The library with the content of the file ``path``, which is loaded once and never unloaded.

    The system takes a path that it knows for what it has loaded from there, whatever the file has become, and runs code
    from the file itself: what is written over it later would run, and a file that ends early ends the process. So a
    copy is loaded, which goes away at once.

    ``sha256`` is what the content must be, in hexadecimal digits, if that is known, and ``remedy`` what to do where the
    file is damaged. Raises OptionError if the content is another, MissingComponentError if it can't be loaded,
    ResourceError if there is no place for the copy, or if nothing there can be run.
    """
    digest = hashlib.sha256(content).hexdigest()
    if sha256 and digest != sha256:
        raise OptionError(f"{path} is not the library that was written there: its SHA-256 is another", remedy=remedy)
    key = (os.path.abspath(path), digest)
    with _LOADING:
        if key not in _LOADED:
            _LOADED[key] = _loaded(path, content, remedy)
        return _LOADED[key]


def _loaded(path: Path, content: bytes, remedy: str | None) -> ctypes.CDLL:
    """A copy of the library. Raises MissingComponentError, ResourceError."""
    if _ends_early(content):
        raise MissingComponentError("the library can't be loaded: its end is missing", file=str(path), remedy=remedy)
    with temporary_directory() as folder:
        check_executable(folder, _ANOTHER)
        copy = folder / path.name
        try:
            copy.write_bytes(content)
        except OSError as error:
            text = f"the library can't be copied: {error.strerror}"
            raise ResourceError(text, file=str(copy), remedy=_ANOTHER) from None
        try:
            return ctypes.CDLL(str(copy), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            said = str(error).replace(f"{copy}: ", "")
            raise MissingComponentError(f"the library can't be loaded: {said}", file=str(path), remedy=remedy) from None


def check_executable(directory: Path, remedy: str) -> None:
    """Check that libraries in the directory can be loaded.

    Raises ResourceError, with the remedy, on a file system mounted ``noexec``.
    """
    if os.statvfs(directory).f_flag & os.ST_NOEXEC:
        raise ResourceError(
            "nothing that is compiled there can be run: the file system is mounted noexec",
            file=str(directory),
            remedy=remedy,
        )


def _ends_early(content: bytes) -> bool:
    """Whether a part of a library is missing: linkers write the table of its sections last."""
    if not content.startswith(_ELF) or len(content) < _HEADER_BYTES:
        return False  # the loader says what it is
    (begin,) = struct.unpack_from("<Q", content, _TABLE)
    size, count = struct.unpack_from("<HH", content, _ENTRIES)
    return bool(begin + size * count > len(content))

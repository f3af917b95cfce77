"""Files that are complete or not there, and temporary ones that don't outlive the process that made them for long.

A process holds a lock (``flock``) on each temporary file and folder of its own. The system takes the lock away when the
process ends, however it ends, and so the next process tells what a killed one has left from what is in use.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from polydl.errors import ResourceError
from polydl.system.full_disk import DISK_FULL, disk_full
from polydl.system.interruption import INTERRUPTION

#: What is said of a path that no document and no generated text can name.
NO_TEXT = "the path is not UTF-8 text"
#: of a document (JSON, TOML, CSV); none that polydl or a person writes comes near
MOST_BYTES = 64 << 20
_PREFIX = "polydl-tmp-"
# What ``tempfile`` appends to a prefix; hexadecimal digits of so many bytes are like it.
_RANDOM = "[a-z0-9_]{8}"
_RANDOM_BYTES = 4
# Of a new file, less what the user's mask takes away; and of one that is to have another's mode in the end.
_NEW_MODE, _HIDDEN_MODE = 0o644, 0o600
# To empty a folder in which processes that were just killed may still write.
_ATTEMPTS = 3
# Of symbolic links that lead to another; the system follows no more.
_MOST_LINKS = 40


def is_text(path: str | Path) -> bool:
    """Whether a path is UTF-8, as names on Linux need not be."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """A folder for this process alone, which is removed at the end. Raises ResourceError, also once its disk is full.

    Folders that processes of the same user left when they were killed are removed first, once in each process. A
    process that is forked meanwhile, and ends, leaves the folder to the one that made it.
    """
    path, descriptor, maker = None, -1, os.getpid()
    try:
        try:
            parent = Path(tempfile.gettempdir())
            if not is_text(parent):
                # Libraries that are built there are opened by their paths.
                raise ResourceError(NO_TEXT, file=str(parent), remedy="name another place in TMPDIR")
            _sweep_once(parent)
            with INTERRUPTION.deferred():
                path, descriptor = _new_directory(parent)
        except OSError as error:
            raise ResourceError(
                f"no temporary folder can be made: {error.strerror}",
                file=error.filename,
                remedy="free some space there, or name another place in TMPDIR",
            ) from None
        try:
            yield path
        except OSError as error:
            # Of a write, no file is named.
            inside = not isinstance(error.filename, str) or path in Path(error.filename).parents
            if error.errno in DISK_FULL and inside:
                raise disk_full(path) from None
            raise
    finally:
        if path is not None and os.getpid() == maker:
            with INTERRUPTION.deferred():
                _remove(path)
                os.close(descriptor)


def _new_directory(parent: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that holds its lock. Raises OSError."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if _claimed(descriptor, path):
                return path, descriptor
            os.close(descriptor)


def _remove(folder: Path) -> None:
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


@cache
def _sweep_once(parent: Path) -> None:
    sweep(parent, re.compile(_PREFIX + _RANDOM))


def sweep(parent: Path | int, pattern: re.Pattern[str]) -> None:
    """Remove files and folders that a process of this user has left when it was killed.

    These are the entries of ``parent``, a path or a descriptor, whose whole name fits the pattern, that belong to this
    user and that no process has locked. Nothing is raised for what can't be removed.
    """
    with suppress(OSError):
        descriptor = parent if isinstance(parent, int) else os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in os.listdir(descriptor):
                if pattern.fullmatch(name):
                    with suppress(OSError):
                        _remove_unlocked(name, descriptor)
        finally:
            if descriptor != parent:
                os.close(descriptor)


def _remove_unlocked(name: str, parent: int) -> None:
    """Raises OSError, also if it is in use."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(status.st_mode):
            shutil.rmtree(name, dir_fd=parent)
        elif stat.S_ISREG(status.st_mode):
            os.unlink(name, dir_fd=parent)
    finally:
        os.close(descriptor)


def _claimed(descriptor: int, path: Path) -> bool:
    """Lock a temporary file or folder. False if another process swept it before."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks, on which nobody can sweep either
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the bytes, in as many parts as the system takes them. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]


def opened(path: Path) -> BufferedReader:
    """A file to read. Raises OSError, also for a folder, a pipe and a device, on none of which it waits."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    return open(descriptor, "rb")


def text_of(path: Path) -> str:
    """The text of a document that a user names. Raises OSError, as ``opened``, also for more than ``MOST_BYTES``.

    Raises UnicodeDecodeError for other text than UTF-8.
    """
    with opened(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB", str(path))
    return content.decode()


def reason_of(error: Exception) -> str:
    """Why a document can't be read, without the number and the path that Python has in the text of an OSError."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """While no other process holds the lock of this file, which is made if it is missing, and stays. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside the path, which is renamed once it is complete: a reader sees the old file or the whole new one.

    The new one is on the disk before it takes the old one's place, whose mode it has. Where there was none, others may
    read it as far as the user's mask lets them, and never write it. Raises OSError.
    """
    prefix = f".{path.name}."
    sweep(path.parent, re.compile(re.escape(prefix) + _RANDOM))
    temporary, handle = None, -1
    try:
        with INTERRUPTION.deferred():
            mode = _mode(path)
            temporary, handle = _new_file(path.parent, prefix, _NEW_MODE if mode is None else _HIDDEN_MODE)
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
            os.replace(temporary, path)
    except BaseException:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    """Who may do what with the file that is there; None if there is none, or something else. Raises OSError."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) & 0o777 if stat.S_ISREG(mode) else None


def _new_file(parent: Path, prefix: str, mode: int) -> tuple[Path, int]:
    """A new file, and its descriptor, which holds its lock. Raises OSError.

    ``tempfile`` makes files that the user's mask says nothing of.
    """
    while True:
        path = parent / f"{prefix}{os.urandom(_RANDOM_BYTES).hex()}"
        with suppress(FileExistsError):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            if _claimed(handle, path):
                return path, handle
            os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Like ``replacing``, for a path that a person names: a link stays one, and the file that it leads to is replaced.

    A pipe, a device and ``/dev/stdout`` are no files to replace: they are written to. Raises OSError.
    """
    descriptor = _in_place(path)
    if descriptor is not None:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        return
    with replacing(Path(os.path.realpath(path)) if path.is_symlink() else path) as stream:
        yield stream


def _in_place(path: Path) -> int | None:
    """A new descriptor of what is written to as it is; None for a file, a folder and what is not there.

    Raises OSError for what takes no output.
    """
    try:
        # Before a link is read, since the system does not follow links that other users leave in shared folders.
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    own = _own_descriptor(path)
    if own is not None:
        return os.dup(own)
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return os.open(path, os.O_WRONLY | os.O_NOCTTY)
    raise OSError(errno.EINVAL, "it is a socket" if stat.S_ISSOCK(mode) else "it is a disk")


def _own_descriptor(path: Path) -> int | None:
    """The descriptor of this process that a path names, as ``/dev/stdout`` does; None for any other path.

    To open such a path would write over what the descriptor has written to its file before.
    """
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            break
        if os.path.realpath(path.parent) == f"/proc/{os.getpid()}/fd":
            return int(path.name)
        path = path.parent / path.readlink()
    return None


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """Like ``writing``, in a directory that is made if it is missing.

    Raises ResourceError when the disk is full or the place can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as stream:
            yield stream
    except OSError as error:
        raise ResourceError(
            f"can't write {path}: {error.strerror}", remedy="free some space there, or name another place"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """Like ``written_atomically``, with all of the content at once. Raises ResourceError."""
    with written_atomically(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def write_together(files: Mapping[Path, str | bytes], stale: Iterable[Path] = ()) -> None:
    """Write files that are used together in place of older ones, and remove those of the older ones that are ``stale``.

    All are on the disk before the first takes its place. The last one is what makes the others count: an older one goes
    away before anything else changes, and the new one comes when all others are there. A file by itself takes the older
    one's place at once. Links are replaced, not followed. Folders are made if they are missing. Raises ResourceError,
    which names the folder that can't be written, or what stands in a file's place.
    """
    paths, gone = list(files), list(stale)
    last = paths[-1]
    if len(paths) > 1 or gone:
        gone.insert(0, last)
    place = last.parent
    try:
        with ExitStack() as stack:
            # Each is renamed when its block ends: the last one, which is entered first, after all others.
            for path in reversed(paths):
                place = path.parent
                place.mkdir(parents=True, exist_ok=True)
                stream = stack.enter_context(replacing(path))
                content = files[path]
                stream.write(content.encode() if isinstance(content, str) else content)
                stream.flush()
                os.fsync(stream.fileno())
            for place in gone:
                place.unlink(missing_ok=True)
    except OSError as error:
        raise ResourceError(
            # A rename has two names, of which the second is the file's own.
            f"can't write to {error.filename2 or place}: {error.strerror}",
            remedy="free some space there, or name another folder",
        ) from error

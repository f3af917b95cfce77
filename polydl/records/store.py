"""Records on disk: a file of JSON lines for each nest, in one directory.

Lines are only appended, each with one write under a lock. Several processes may therefore write at a time, and a
killed one leaves at most an incomplete last line. Such a line is separated from the next one. Whatever is no record is
passed over by readers, and reported.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import itertools
import os
import pwd
import shlex
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from polydl.arguments import of_type
from polydl.errors import OptionError, RecordsError, ResourceError
from polydl.records.line import MOST_LINE_BYTES, OtherPolydlError, from_line, to_line
from polydl.records.record import Record
from polydl.system.files import opened, replacing, write_all
from polydl.system.full_disk import DISK_FULL, disk_full

_SUFFIX = ".jsonl"
_BACKUP = ".bak"
_NO_FILE = "it is no ordinary file"
# More than a record needs, as a rule.
_ROOM_BYTES = 1 << 16
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
# Of a directory that is made, whatever the user's mask: others may not write it.
_MODE = 0o755


@dataclass(frozen=True)
class Damage:
    """A line that holds no record, or something in a directory of records that is no file."""

    file: Path
    #: number of the line, from 1; None for what is no file
    line: int | None
    #: what is wrong, in words
    reason: str
    #: whether it is an incomplete last line, as a killed process leaves it
    torn: bool
    #: whether another polydl may read it: a newer one, or one that has its steps; such a line is never removed
    elsewhere: bool = False


@dataclass(frozen=True)
class Merged:
    """The result of ``merge``, in records."""

    added: int
    #: records that were there already
    known: int
    damaged: tuple[Damage, ...]


@dataclass(frozen=True)
class Pruned:
    """The result of ``prune``, in records."""

    removed: int
    kept: int
    #: damaged lines, all of them removed
    damaged: int
    #: files as they were before
    backups: tuple[Path, ...]
    #: what is no file, and stays
    passed_over: tuple[Damage, ...] = ()


def default_directory() -> Path:
    """The directory of records in the user's data directory."""
    return platformdirs.user_data_path("polydl") / "records"


def directory_of(records: str | Path | bool) -> Path | None:
    """The directory that is meant: True is the user's, False none. Raises OptionError for what is no directory."""
    remedy = "a directory, True for the user's records, or False for none"
    of_type("records", records, bool, str, Path, remedy=remedy)
    if isinstance(records, bool):
        return default_directory() if records else None
    if os.path.isfile(records):
        raise OptionError(f"records is {str(records)!r}, which is a file", remedy=remedy)
    return Path(records)


def file_of(directory: Path, nest: str) -> Path:
    """The file with the records of a nest, by its digest; ``nest_of`` is the inverse."""
    return directory / f"{nest}{_SUFFIX}"


def nest_of(path: Path) -> str:
    """The nest of a file of records, or of its backup."""
    return path.name.partition(".")[0]


def append(directory: Path, records: Iterable[Record]) -> None:
    """Append records. Raises ResourceError if they can't be written; the file then has no incomplete line.

    What was appended stays when this process is killed; it is not forced to the disk, which would disturb measurements.
    """
    lines: dict[str, list[bytes]] = {}
    for record in records:
        lines.setdefault(record.nest, []).append(to_line(record))
    for nest, nest_lines in lines.items():
        with _locked(file_of(directory, nest)) as descriptor:
            _write(descriptor, nest_lines, directory)


def read(
    directory: Path, *, nest: str | None = None, damaged: Callable[[Damage], None] | None = None
) -> Iterator[Record]:
    """All records, or those of one nest, in the order in which they were written, one at a time.

    Records that are appended after a file was opened are not seen. ``damaged`` is called for each line that is no
    record of this version or an older one, and for what is no file. Raises RecordsError for a file that can't be read.
    """
    for path in _ordinary(files(directory, nest), damaged):
        yield from read_file(path, damaged)


def files(directory: Path, nest: str | None = None) -> tuple[Path, ...]:
    """The files that ``read`` reads, and what else has such a name."""
    if nest is not None:
        return tuple(path for path in [file_of(directory, nest)] if os.path.exists(path))
    return tuple(sorted(directory.glob(f"*{_SUFFIX}")))


def _ordinary(paths: Iterable[Path], damaged: Callable[[Damage], None] | None) -> Iterator[Path]:
    """The paths of files. ``damaged`` is called for a folder, a pipe, a device and a link that leads nowhere."""
    for path in paths:
        try:
            ordinary = path.is_file()
        except PermissionError:
            ordinary = True  # whoever reads it says why that is refused
        if ordinary:
            yield path
        # One that another process has just removed is no matter.
        elif damaged is not None and os.path.lexists(path):
            damaged(Damage(path, None, _NO_FILE, torn=False))


def read_file(path: Path, damaged: Callable[[Damage], None] | None = None) -> Iterator[Record]:
    """See ``read``."""
    yield from _sound(_parsed(path), damaged)


def read_stream(
    file: io.BufferedIOBase, path: Path, damaged: Callable[[Damage], None] | None = None
) -> Iterator[Record]:
    """See ``read``; ``path`` is what damage is said of. Raises OSError."""
    yield from _sound(_lines(file, path), damaged)


def _sound(
    lines: Iterable[tuple[bytes, Record | Damage]], damaged: Callable[[Damage], None] | None
) -> Iterator[Record]:
    for _, content in lines:
        if isinstance(content, Record):
            yield content
        elif damaged is not None:
            damaged(content)


def merge(directory: Path, sources: Sequence[Path]) -> Merged:
    """Add the records of other directories or files, except those that are in ``directory`` already.

    Raises RecordsError for a source that doesn't exist or can't be read. The sources before it are merged by then.
    """
    added, known = 0, 0
    damaged: list[Damage] = []
    for source in sources:
        if not source.exists():
            raise RecordsError("there are no records", file=str(source), remedy="name a directory or a file of records")
        for path in _ordinary(files(source), damaged.append) if source.is_dir() else (source,):
            by_nest: dict[str, list[bytes]] = {}
            for record in read_file(path, damaged.append):
                by_nest.setdefault(record.nest, []).append(to_line(record))
            for nest, lines in by_nest.items():
                with _locked(file_of(directory, nest)) as descriptor:
                    with open(os.dup(descriptor), "rb") as file:
                        file.seek(0)
                        there = {_identity(to_line(record)) for record in read_stream(file, path)}
                    fresh = {key: line for line in lines if (key := _identity(line)) not in there}
                    _write(descriptor, list(fresh.values()), directory)
                added += len(fresh)
                known += len(lines) - len(fresh)
    return Merged(added, known, tuple(damaged))


def prune(directory: Path, unwanted: Callable[[Sequence[Record]], Sequence[bool]], *, dry_run: bool = False) -> Pruned:
    """Remove records, and all damaged lines but those that another polydl may read.

    ``unwanted`` gets all records of one nest, in order, and returns for each whether to remove it. A file that changes
    is replaced atomically, and its old content is kept beside it as ``.bak``. ``dry_run`` only counts.
    """
    removed, kept, damaged = 0, 0, 0
    backups: list[Path] = []
    passed_over: list[Damage] = []
    for path in _ordinary(files(directory), passed_over.append):
        with _locked(path) as descriptor:
            with open(os.dup(descriptor), "rb") as file:
                parsed = list(_lines(file, path))
            sound = [content for _, content in parsed if isinstance(content, Record)]
            verdicts = iter(unwanted(sound))
            left = [
                (line, content)
                for line, content in parsed
                if (not next(verdicts) if isinstance(content, Record) else content.elsewhere)
            ]
            sound_left = sum(isinstance(content, Record) for _, content in left)
            removed += len(sound) - sound_left
            kept += sound_left
            damaged += len(parsed) - len(sound) - (len(left) - sound_left)
            if len(left) < len(parsed) and not dry_run:
                backups.append(_replace(path, [line for line, _ in left]))
    return Pruned(removed, kept, damaged, tuple(backups), tuple(passed_over))


def _replace(path: Path, lines: Sequence[bytes]) -> Path:
    """Replace the content of a locked file; the old file becomes the backup, whose path is returned."""
    backup = path.with_name(path.name + _BACKUP)
    try:
        backup.unlink(missing_ok=True)
        os.link(path, backup)
        if lines:
            with replacing(path) as file:
                file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        else:
            path.unlink()
    except OSError as error:
        raise _refused(error, path) from None
    return backup


def refusal(directory: Path) -> ResourceError | None:
    """Why no record could be stored in the directory now; None if one could. The directory is made if it is missing."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=_MODE)
        # A file without a name, where the system has such.
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            file.write(bytes(_ROOM_BYTES))
    except OSError as error:
        return _refused(error, directory)
    return None


def exposure(directory: Path) -> RecordsError | None:
    """Why others than this user could change the records there; None if they can't, or if there is none."""
    try:
        status = os.stat(directory)
    except OSError:
        return None
    mode, owner = stat.S_IMODE(status.st_mode), _user(status.st_uid)
    another = "name another directory (--records)"
    if status.st_uid != os.geteuid():
        return RecordsError(
            f"the directory belongs to {owner}, not to {_user(os.geteuid())} (its mode is {mode:04o})",
            file=str(directory),
            remedy=another,
        )
    if mode & _BY_OTHERS:
        # A directory such as /tmp is there for others to write.
        shared = mode & stat.S_ISVTX
        return RecordsError(
            f"others than its owner, {owner}, may write the directory (its mode is {mode:04o})",
            file=str(directory),
            remedy=another if shared else f"run `chmod go-w {shlex.quote(str(directory))}`, or {another}",
        )
    return None


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A descriptor of the file, open for appending and locked. The file is created if it doesn't exist."""
    descriptor = -1
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=_MODE)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
            _require_file(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The process that held the lock before may have replaced the file.
            if _is_at(descriptor, path):
                break
            os.close(descriptor)
            descriptor = -1
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        raise _refused(error, path) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _require_file(descriptor: int) -> None:
    """Raises OSError for a pipe or a device, which may have no end."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, _NO_FILE)


def _write(descriptor: int, lines: Sequence[bytes], directory: Path) -> None:
    """Append to a locked file. An incomplete last line gets a line break first; a failed write is undone."""
    if not lines:
        return
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = (b"\n" if torn else b"") + b"".join(lines)
    end = size + len(data)
    try:
        write_all(descriptor, data)
    except BaseException as error:
        # A signal may end the work just after the whole was written.
        if os.fstat(descriptor).st_size != end:
            os.ftruncate(descriptor, size)
        if isinstance(error, OSError):
            raise _refused(error, directory) from None
        raise


def _refused(error: OSError, path: Path) -> ResourceError:
    if error.errno in DISK_FULL:
        return disk_full(path)
    return ResourceError(
        f"can't write the records: {error.strerror}", file=str(path), remedy="name another directory (--records)"
    )


def _identity(line: bytes) -> bytes:
    return hashlib.sha256(line).digest()


def _parsed(path: Path) -> Iterator[tuple[bytes, Record | Damage]]:
    """The lines that the file had when it was opened; see ``_lines``. Raises RecordsError."""
    try:
        with opened(path) as file:
            # Wait for a writer to finish its line.
            fcntl.flock(file, fcntl.LOCK_SH)
            end = os.fstat(file.fileno()).st_size
            fcntl.flock(file, fcntl.LOCK_UN)
            yield from _lines(file, path, end)
    except OSError as error:
        remedy = "make it a file that you may read, or name other records"
        raise RecordsError(f"can't be read: {error.strerror}", file=str(path), remedy=remedy) from None


def _lines(file: io.BufferedIOBase, path: Path, end: int = sys.maxsize) -> Iterator[tuple[bytes, Record | Damage]]:
    """(text, record) of each line but empty ones, up to ``end``. The text of a line that is too long is cut."""
    for number in itertools.count(1):
        line = file.readline(min(MOST_LINE_BYTES, end - file.tell()))
        if not line:
            return
        torn = not line.endswith(b"\n") and not _skip_rest(file, end)
        if line.strip():
            yield line, _content(line, path, number, torn)


def _skip_rest(file: io.BufferedIOBase, end: int) -> bool:
    """Read on to the end of a line. Whether it has one."""
    while rest := file.readline(min(MOST_LINE_BYTES, end - file.tell())):
        if rest.endswith(b"\n"):
            return True
    return False


def _content(line: bytes, path: Path, number: int, torn: bool) -> Record | Damage:
    if len(line) >= MOST_LINE_BYTES:
        return Damage(path, number, f"it is longer than {MOST_LINE_BYTES} bytes", torn)
    try:
        return from_line(line)
    except OtherPolydlError as error:
        return Damage(path, number, str(error), torn, elsewhere=True)
    except ValueError as error:
        return Damage(path, number, str(error), torn)

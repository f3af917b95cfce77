"""Records on disk: a file of JSON lines for each nest, in one directory.

Lines are only appended, each with one write under a lock. Several processes may therefore write at a time, and a
killed one leaves at most an incomplete last line. Such a line is separated from the next one, skipped by readers, and
reported.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from polydl.errors import RecordsError, ResourceError
from polydl.execute.resources import DISK_FULL, disk_full
from polydl.records.record import Record, from_line, to_line

_SUFFIX = ".jsonl"
_BACKUP = ".bak"


@dataclass(frozen=True)
class Damage:
    """A line that holds no record."""

    file: Path
    #: number of the line, from 1
    line: int
    reason: str
    #: whether it is an incomplete last line, as a killed process leaves it
    torn: bool


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


def default_directory() -> Path:
    """The directory of records in the user's data directory."""
    return platformdirs.user_data_path("polydl") / "records"


def file_of(directory: Path, nest: str) -> Path:
    return directory / f"{nest}{_SUFFIX}"


def nest_of(path: Path) -> str:
    """The nest of a file of records, or of its backup."""
    return path.name.partition(".")[0]


def append(directory: Path, records: Iterable[Record]) -> None:
    """Append records. Raises ResourceError if they can't be written; the file then has no incomplete line."""
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
    record. Raises RecordsError for a record of a newer version and for a file that can't be read.
    """
    for path in files(directory, nest):
        yield from read_file(path, damaged)


def files(directory: Path, nest: str | None = None) -> tuple[Path, ...]:
    """The files that ``read`` reads."""
    if nest is not None:
        return tuple(path for path in [file_of(directory, nest)] if path.exists())
    return tuple(sorted(directory.glob(f"*{_SUFFIX}")))


def read_file(path: Path, damaged: Callable[[Damage], None] | None = None) -> Iterator[Record]:
    """See ``read``."""
    for number, line, parsed in _parsed(path):
        if isinstance(parsed, Record):
            yield parsed
        elif damaged is not None:
            damaged(Damage(path, number, parsed, not line.endswith(b"\n")))


def merge(directory: Path, sources: Sequence[Path]) -> Merged:
    """Add the records of other directories or files, except those that are in ``directory`` already.

    Raises RecordsError for a source that doesn't exist, can't be read, or has a newer version. The sources before it
    are merged by then.
    """
    added, known = 0, 0
    damaged: list[Damage] = []
    for source in sources:
        if not source.exists():
            raise RecordsError("there are no records", file=str(source), remedy="name a directory or a file of records")
        for path in files(source) if source.is_dir() else (source,):
            by_nest: dict[str, list[bytes]] = {}
            for record in read_file(path, damaged.append):
                by_nest.setdefault(record.nest, []).append(to_line(record))
            for nest, lines in by_nest.items():
                with _locked(file_of(directory, nest)) as descriptor:
                    there = {_identity(line) for line in _lines(descriptor)}
                    fresh = {key: line for line in lines if (key := _identity(line)) not in there}
                    _write(descriptor, list(fresh.values()), directory)
                added += len(fresh)
                known += len(lines) - len(fresh)
    return Merged(added, known, tuple(damaged))


def prune(directory: Path, unwanted: Callable[[Sequence[Record]], Sequence[bool]], *, dry_run: bool = False) -> Pruned:
    """Remove records, and all damaged lines.

    ``unwanted`` gets all records of one nest, in order, and returns for each whether to remove it. A file that changes
    is replaced atomically, and its old content is kept beside it as ``.bak``. ``dry_run`` only counts.
    """
    removed, kept, damaged = 0, 0, 0
    backups: list[Path] = []
    for path in files(directory):
        with _locked(path) as descriptor:
            parsed = [(line, content) for _, line, content in _parsed(path, locked=True)]
            sound = [(line, content) for line, content in parsed if isinstance(content, Record)]
            verdicts = unwanted([content for _, content in sound])
            left = [line for (line, _), goes in zip(sound, verdicts, strict=True) if not goes]
            removed += len(sound) - len(left)
            kept += len(left)
            damaged += len(parsed) - len(sound)
            if len(left) < len(parsed) and not dry_run:
                backups.append(_replace(path, descriptor, left))
    return Pruned(removed, kept, damaged, tuple(backups))


def _replace(path: Path, descriptor: int, lines: Sequence[bytes]) -> Path:
    """Replace the content of a locked file; the old file becomes the backup, whose path is returned."""
    backup = path.with_name(path.name + _BACKUP)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        os.chmod(temporary, os.fstat(descriptor).st_mode & 0o777)
        backup.unlink(missing_ok=True)
        os.link(path, backup)
        if lines:
            os.replace(temporary, path)
        else:
            path.unlink()
    except OSError as error:
        raise _refused(error, path) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
    return backup


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A descriptor of the file, open for appending and locked. The file is created if it doesn't exist."""
    descriptor = -1
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
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


def _write(descriptor: int, lines: Sequence[bytes], directory: Path) -> None:
    """Append to a locked file. An incomplete last line gets a line break first; a failed write is undone."""
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = (b"\n" if torn else b"") + b"".join(lines)
    if not lines:
        return
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        os.ftruncate(descriptor, size)
        raise _refused(error, directory) from None


def _refused(error: OSError, path: Path) -> ResourceError:
    if error.errno in DISK_FULL:
        return disk_full(path)
    return ResourceError(
        f"can't write the records: {error.strerror}", file=str(path), remedy="name another directory (--records)"
    )


def _lines(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        yield from file


def _identity(line: bytes) -> bytes:
    return hashlib.sha256(line.strip()).digest()


def _parsed(path: Path, *, locked: bool = False) -> Iterator[tuple[int, bytes, Record | str]]:
    """(number, text, record) of each line that the file had when it was opened. A damaged line has the reason instead.

    ``locked`` says whether this process holds the file's lock.
    """
    try:
        with open(path, "rb") as file:
            if not locked:
                # Wait for a writer to finish its line.
                fcntl.flock(file, fcntl.LOCK_SH)
            end = os.fstat(file.fileno()).st_size
            if not locked:
                fcntl.flock(file, fcntl.LOCK_UN)
            for number in itertools.count(1):
                line = file.readline(max(0, end - file.tell()))
                if not line:
                    return
                if line.strip():
                    yield number, line, _record(line, path, number)
    except OSError as error:
        raise RecordsError(f"can't be read: {error.strerror}", file=str(path)) from None


def _record(line: bytes, path: Path, number: int) -> Record | str:
    try:
        return from_line(line)
    except RecordsError as error:
        raise RecordsError(error.message, file=str(path), line=number, remedy=error.remedy) from None
    except ValueError as error:
        return str(error)

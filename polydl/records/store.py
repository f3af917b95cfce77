"""Records on disk: a file of JSON lines for each nest, in one directory.

Lines are only ever added, each with one write under a lock, so that several processes may write at a time and one that
is killed leaves at most a torn last line. That line is kept apart from the next one, passed over, and reported.
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
    """A line that holds no record: ``torn`` if it is the last one and incomplete, as a killed process leaves it."""

    file: Path
    line: int
    reason: str
    torn: bool


@dataclass(frozen=True)
class Merged:
    added: int
    known: int
    damaged: tuple[Damage, ...]


@dataclass(frozen=True)
class Pruned:
    """``backups`` hold the files as they were."""

    removed: int
    kept: int
    damaged: int
    backups: tuple[Path, ...]


def default_directory() -> Path:
    """In the user's data directory."""
    return platformdirs.user_data_path("polydl") / "records"


def file_of(directory: Path, nest: str) -> Path:
    return directory / f"{nest}{_SUFFIX}"


def nest_of(path: Path) -> str:
    """The nest whose records such a file, or its backup, holds."""
    return path.name.partition(".")[0]


def append(directory: Path, records: Iterable[Record]) -> None:
    """Add records, each as one line. Raises ResourceError if they can't be written; then none is left torn."""
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

    Sees what was there when a file was opened, whoever writes on. ``damaged`` is told of each line that is passed over.
    Raises RecordsError for a record of a newer form and for what can't be read.
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
    """Add what other directories or files hold, but for records that are there already.

    Raises RecordsError for a source that is not there, that can't be read, or is of a newer form; the sources before
    it are merged by then.
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
    """Remove records. ``unwanted`` says of all records of one nest, in order, which ones go.

    Damaged lines go as well. A file that loses any is written anew and renamed, and stays beside it as ``.bak``.
    ``dry_run`` only counts.
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
    """Put these lines in the place of a file that is locked; what it held becomes the backup."""
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
    """The file, created if need be, open for appending, with no other writer until the end."""
    descriptor = -1
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Whoever held the lock may have put another file in its place.
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
    """Append to a locked file. A torn last line gets its line break first; a write that fails is taken back."""
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
    """Number and text of each line that was there when the file was opened, with the record or what is wrong.

    ``locked`` if this process holds the file's lock.
    """
    try:
        with open(path, "rb") as file:
            if not locked:
                # A writer that is at it finishes its line first.
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

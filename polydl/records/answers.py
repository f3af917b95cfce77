"""A cache of finished optimizations, so that the same question is answered at once.

The digest of a question (``polydl.records.questions``) names a folder with the JSON document of the optimization and
the winner's files. A question that differs in anything has no answer here; its optimization still reuses measurements
from the records.

An answer is code that the user will run, so nothing is taken on trust. The document has the SHA-256 of itself and of
each file, and the names of files are fixed. Folders must belong to this user alone, who alone may write them, and no
symbolic link is followed: all is opened relative to a folder that was checked.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from polydl.emitted_names import FILE_KINDS, OPTIONAL_FILES, FileKind, emitted_names
from polydl.errors import ResourceError
from polydl.records.own_files import OddError, content_of, opened_folder
from polydl.records.record import now
from polydl.system.files import sweep, write_together

_FOLDER = "answers"
_DOCUMENT = "document.json"
_QUESTION = r"[0-9a-f]{24}"
# While an answer is written or taken away, its folder has such a name.
_UNFINISHED = re.compile(rf"\.{_QUESTION}\.[0-9a-f]{{8}}")
# C's identifiers, and what compilers take beside them.
_FUNCTION = re.compile(r"[\w$]{1,255}")
_ATTEMPTS = 3

Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


@dataclass(frozen=True)
class Answer:
    """The result of an optimization."""

    #: as ``optimize --json`` prints it
    document: dict[str, Any]
    #: the contents of the winner's files
    files: Mapping[FileKind, bytes]

    @property
    def function(self) -> str:
        """The name of the emitted function."""
        return str(self.document["input"]["exported"])


@dataclass(frozen=True)
class Refused:
    """What stands in the place of an answer, or of all answers, and is not used."""

    #: of what stands there
    path: Path
    #: a clause
    reason: str
    #: empty if it is replaced by the next answer to the same question
    remedy: str = ""


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    """The form of the document's file."""

    #: the version of this form; files of another one are not read
    form: Literal[3]
    #: the question, so that an answer can't be moved to another one
    question: str
    #: SHA-256 of each file beside it, by kind
    files: dict[FileKind, Digest]
    #: of ``document``, letter by letter
    digest: Digest
    #: of the report
    document: msgspec.Raw


class _Input(msgspec.Struct):
    exported: str
    digest: str


class _Document(msgspec.Struct):
    """What is relied on here; the rest is as it was written, by its digest."""

    input: _Input
    records: dict[str, Any]


def find(records: Path, question: str) -> Answer | Refused | None:
    """The stored answer to a question; None if there is none, and ``Refused`` if it is not what was stored."""
    folder = records / _FOLDER
    try:
        with opened_folder(folder) as answers:
            folder = folder / question
            with opened_folder(question, answers) as descriptor:
                return _read(descriptor, question)
    except OddError as odd:
        return Refused(folder, odd.reason, odd.remedy)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Refused(folder, f"it can't be read ({error.strerror})")


def written_files(files: Mapping[str, Path], library_sha256: str) -> dict[FileKind, bytes]:
    """The contents of a winner's files. ``library_sha256`` is that of the library as it was written.

    Raises ResourceError if one can't be read, or if another result has taken their place.
    """
    remedy = "write each result to a folder of its own"
    try:
        # While the library is there, which is read last, no file has been replaced.
        contents = {kind: files[kind].read_bytes() for kind in sorted(FILE_KINDS, key=_library_last) if kind in files}
    except OSError as error:
        text = f"the result is not kept: {error.strerror}"
        raise ResourceError(text, file=error.filename, remedy=remedy) from None
    if _digest(contents.get("library", b"")) != library_sha256:
        text = "the result is not kept: another has taken its place"
        raise ResourceError(text, file=str(files.get("library", "")), remedy=remedy)
    return contents


def _library_last(kind: FileKind) -> bool:
    """The key of the order in which files are written together."""
    return kind == "library"


def keep(records: Path, question: str, answer: Answer) -> None:
    """Store an answer in place of an older one. Raises ResourceError."""
    folder = records / _FOLDER
    measured = answer.document["records"]["measured"] or now()
    document = {**answer.document, "records": {**answer.document["records"], "measured": measured}}
    try:
        # Nobody else may write it, whatever the user's mask.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with opened_folder(folder) as answers:
            sweep(answers, _UNFINISHED)
            with _unfinished(question, answers) as (name, descriptor):
                for kind, content in answer.files.items():
                    _write(kind, content, descriptor)
                _write(_DOCUMENT, _encoded(question, document, answer.files), descriptor)
                os.fsync(descriptor)
                _put(name, question, answers)
            os.fsync(answers)
    except OddError as odd:
        raise ResourceError(
            f"the result is not kept: {odd.reason}", file=str(folder), remedy=odd.remedy or "remove it"
        ) from None
    except OSError as error:
        raise ResourceError(
            f"the result is not kept: {error.strerror}",
            file=str(folder),
            remedy="free some space, or name another directory (--records)",
        ) from None


def restore(answer: Answer, directory: Path) -> dict[FileKind, Path]:
    """Write the winner's files into a directory, in place of older ones. Their paths. Raises ResourceError."""
    names = emitted_names(answer.function, directory)
    kinds = sorted(answer.files, key=_library_last)
    write_together({names[kind]: answer.files[kind] for kind in kinds})
    return {kind: names[kind] for kind in answer.files}


def forget(records: Path, nests: Iterable[str]) -> None:
    """Remove the answers for ``nests``, whose records have changed, and what is no answer."""
    gone = set(nests)
    with suppress(OSError, OddError), opened_folder(records / _FOLDER) as answers:
        for name in os.listdir(answers):
            if re.fullmatch(_QUESTION, name) and _nest(name, answers) in {None, *gone}:
                shutil.rmtree(name, ignore_errors=True, dir_fd=answers)


def _nest(question: str, answers: int) -> str | None:
    """The nest of an answer; None if it is none."""
    with suppress(OSError, OddError), opened_folder(question, answers) as descriptor:
        return str(_read(descriptor, question).document["input"]["digest"])
    return None


def _read(folder: int, question: str) -> Answer:
    """Raises OddError, OSError."""
    try:
        stored = msgspec.json.decode(content_of(_DOCUMENT, folder), type=_Stored)
        raw = bytes(stored.document)
        if stored.question != question or _digest(raw) != stored.digest:
            raise OddError("its document is not the one that was stored")
        relied_on = msgspec.json.decode(raw, type=_Document)
        document: dict[str, Any] = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise OddError(f"its document is none ({error})") from None
    if not _FUNCTION.fullmatch(relied_on.input.exported):
        raise OddError("it is of no function")
    if not set(stored.files) >= set(FILE_KINDS) - OPTIONAL_FILES:
        raise OddError("it lacks one of its files")
    files = {kind: content_of(kind, folder) for kind in stored.files}
    for kind, content in files.items():
        if _digest(content) != stored.files[kind]:
            raise OddError(f"its {kind} has changed since it was stored")
    return Answer(document, files)


@contextmanager
def _unfinished(question: str, answers: int) -> Iterator[tuple[str, int]]:
    """The name and a descriptor of a new folder in ``answers``, which is removed unless it is renamed."""
    name, descriptor = _new_folder(question, answers)
    try:
        yield name, descriptor
    finally:
        os.close(descriptor)
        shutil.rmtree(name, ignore_errors=True, dir_fd=answers)


def _new_folder(question: str, answers: int) -> tuple[str, int]:
    """An empty folder that this process has locked, so that it is swept only once the process has ended."""
    while True:
        name = f".{question}.{secrets.token_hex(4)}"
        os.mkdir(name, mode=0o700, dir_fd=answers)
        # Another process may sweep it before it is locked.
        with suppress(FileNotFoundError):
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=answers)
            with suppress(OSError):  # where there are no locks, nobody sweeps
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(descriptor), os.stat(name, dir_fd=answers)):
                return name, descriptor


def _put(name: str, question: str, answers: int) -> None:
    """Rename a finished folder to its question; whatever has this name goes away. Raises OSError."""
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(question, dir_fd=answers, follow_symlinks=False).st_mode):
                # A rename replaces no folder that isn't empty.
                with _unfinished(question, answers) as (old, _):
                    os.rename(question, old, src_dir_fd=answers, dst_dir_fd=answers)
            else:
                os.unlink(question, dir_fd=answers)
        try:
            os.rename(name, question, src_dir_fd=answers, dst_dir_fd=answers)
            return
        except OSError as error:
            # Another process has just stored the same answer.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _write(name: str, content: bytes, folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _encoded(question: str, document: Mapping[str, Any], files: Mapping[FileKind, bytes]) -> bytes:
    raw = json.dumps(document).encode()
    digests = {kind: _digest(content) for kind, content in files.items()}
    return msgspec.json.encode(_Stored(3, question, digests, _digest(raw), msgspec.Raw(raw)))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

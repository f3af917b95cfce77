"""Compilation of a peer's library, once, into the user's cache directory."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import platformdirs

from polydl.records.own_files import OddError, content_of, opened_folder
from polydl.system.files import temporary_directory, write_together
from polydl.system.process_group import run_in_group

_TIMEOUT_SECONDS = 120
_KEPT_LINES = 8
HERE = Path(__file__).parent


class UnavailableError(Exception):
    """A component that a peer needs is missing, or its compilation failed; the message says which and why."""


def library(
    compiler: str, sources: Sequence[Path], flags: Sequence[str], link: Sequence[str] = (), processor: str = ""
) -> Path:
    """The shared library compiled from ``sources``, whose folders are searched for headers. Raises UnavailableError.

    An earlier library is reused if sources, headers of this folder, compiler, flags and ``processor``, which
    ``-march=native`` stands for, are the same, and if nobody but this user can have written it.
    """
    path = shutil.which(compiler)
    if path is None:
        raise UnavailableError(f"there is no {compiler}")
    headers = sorted(HERE.glob("*.h"))
    content = [file.read_bytes() for file in (*sources, *headers)]
    content.append(shlex.join([os.path.realpath(path), *flags, *link, processor]).encode())
    digest = hashlib.sha256(b"\0".join(content)).hexdigest()[:16]
    directory = platformdirs.user_cache_path("polydl") / "peers"
    target = directory / f"{sources[0].stem}-{digest}.so"
    _make_own(directory)
    if _is_own(target):
        return target
    with temporary_directory() as workplace:
        unfinished = workplace / target.name
        command = [path, *flags, "-shared", "-fPIC", f"-I{HERE}", *map(str, sources), "-o", str(unfinished), *link]
        done = run_in_group(command, workplace, timeout_seconds=_TIMEOUT_SECONDS)
        if done.returncode:
            raise UnavailableError("\n".join([shlex.join(command), *done.stderr.splitlines()[:_KEPT_LINES]]))
        # In place of a link, too, which is not followed.
        write_together({target: unfinished.read_bytes()})
    return target


def _make_own(directory: Path) -> None:
    """Make the folder, in place of one that others may write and of a link. Raises UnavailableError."""
    try:
        with suppress(OddError, FileNotFoundError), opened_folder(directory):
            return
        if directory.is_dir() and not directory.is_symlink():
            shutil.rmtree(directory)
        else:
            directory.unlink(missing_ok=True)
        directory.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise UnavailableError(f"{directory} can't be made anew: {error.strerror}; remove what is there") from None


def _is_own(target: Path) -> bool:
    """Whether a library is there that this user alone may write; anything else is removed. Raises UnavailableError."""
    if not os.path.lexists(target):
        return False
    try:
        with opened_folder(target.parent) as folder:
            content_of(target.name, folder)
        return True
    except (OddError, OSError):
        pass
    try:
        target.unlink(missing_ok=True)
    except OSError as error:
        raise UnavailableError(f"{target} can't be compiled anew: {error.strerror}; remove what is there") from None
    return False

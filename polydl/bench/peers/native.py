"""Compilation of a peer's library, once, into the user's cache directory."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from polydl.system.files import temporary_directory, write_atomically
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
    ``-march=native`` stands for, are the same.
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
    if target.exists():
        return target
    directory.mkdir(parents=True, exist_ok=True)
    with temporary_directory() as workplace:
        unfinished = workplace / target.name
        command = [path, *flags, "-shared", "-fPIC", f"-I{HERE}", *map(str, sources), "-o", str(unfinished), *link]
        done = run_in_group(command, workplace, timeout_seconds=_TIMEOUT_SECONDS)
        if done.returncode:
            raise UnavailableError("\n".join([shlex.join(command), *done.stderr.splitlines()[:_KEPT_LINES]]))
        write_atomically(target, unfinished.read_bytes())
    return target

"""What determines the result of an optimization, as one digest.

That is the text of the source file and of the files it includes, the options, the machine, the compiler, and the files
of polydl and its plug-ins.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from polydl.inclusions import SYSTEM_FOLDERS, environment_folders, inclusions
from polydl.machine import Machine
from polydl.registry import GROUPS

_FORM = 1
# Environment variables that change which headers and libraries a compilation uses.
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_PRELOAD", "LD_LIBRARY_PATH")
_SPLICE = re.compile(rb"\\\r?\n")


def question(
    source: bytes,
    *,
    directory: Path,
    include_directories: Sequence[str | Path],
    machine: Machine,
    compilers: Sequence[Path],
    options: Mapping[str, Any],
    installed: Sequence[str] | None = None,
) -> str | None:
    """The digest of a question; None if the files that determine the result can't be listed quickly.

    ``directory`` is that of the source file. ``compilers`` are all that may be chosen. ``options`` are all further
    options, as JSON values. ``installed`` is what ``installation`` returned, where many questions are asked at once.
    """
    searched = [*include_directories, *environment_folders(), *SYSTEM_FOLDERS[:1]]
    headers = _headers(source, directory, [Path(path) for path in searched])
    installed = installation() if installed is None else installed
    if headers is None or installed is None:
        return None
    content = [
        _FORM,
        hashlib.sha256(source).hexdigest(),
        headers,
        # In their order, by which the compiler takes one of several headers of a name.
        [str(Path(path).absolute()) for path in include_directories],
        # The size of the memory changes no result, and calls that were timed since are no reason to search anew.
        asdict(replace(machine, memory_bytes=1, call_times=())),
        [_identity(path.resolve()) for path in compilers],
        {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        dict(options),
        list(installed),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def installation() -> list[str] | None:
    """What identifies Python, polydl and its plug-ins, with digests of their files; None if one can't be found."""
    plug_ins = _plug_ins()
    return None if plug_ins is None else [sys.version, sys.prefix, *own_files(), *plug_ins]


def _headers(source: bytes, directory: Path, others: Sequence[Path]) -> list[list[str]] | None:
    """[path, digest] of all files that the source includes, directly or not.

    None if the name of an included file is computed by a macro. Headers in none of the directories are the compiler's,
    which is identified anyway, or the system's, which are taken to stay as they are.
    """
    digests: list[list[str]] = []
    seen: set[Path] = set()
    left = [(source, directory)]
    while left:
        text, including = left.pop()
        for inclusion in inclusions(_SPLICE.sub(b"", text).decode("latin-1")):
            if inclusion.name is None:
                return None
            name = os.fsdecode(inclusion.name.encode("latin-1"))
            # All files of this name: which one is included may depend on the file that includes it.
            for path in dict.fromkeys(searched / name for searched in (including, directory, *others)):
                if path in seen or not path.is_file():
                    continue
                seen.add(path)
                try:
                    content = path.read_bytes()
                except OSError:
                    return None
                digests.append([str(path.absolute()), hashlib.sha256(content).hexdigest()])
                left.append((content, path.parent))
    return sorted(digests)


def own_files() -> list[str]:
    """Folders of this installation of polydl, each followed by a digest of its files."""
    folders = [Path(__file__).parents[1]]
    for part in ("variants", "microkernels", "ranking", "fusion", "native"):
        spec = find_spec(f"polydl.{part}")
        folders_of_part = (
            [Path(candidate) for candidate in (spec.submodule_search_locations or ())] if spec is not None else []
        )
        folders += [
            candidate for candidate in folders_of_part if not any(candidate.is_relative_to(other) for other in folders)
        ]
    return [text for folder in folders for text in (str(folder), _tree(folder))]


def _plug_ins() -> list[str] | None:
    """Names and versions of all plug-ins, with digests of the packages that they are in; None if one can't be found."""
    content: list[str] = []
    for point in chain.from_iterable(entry_points(group=f"polydl.{group}") for group in GROUPS):
        try:
            spec = find_spec(point.module.partition(".")[0])
        except (ImportError, ValueError):
            return None
        if spec is None or spec.origin is None:
            return None
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        version = point.dist.version if point.dist is not None else ""
        content += [point.group, point.name, point.value, version, *map(_tree, folders)]
        if not folders:
            content.append(_digest(Path(spec.origin)))
    return content


def _tree(folder: Path) -> str:
    """A digest of all files below a folder except Python's caches. Large libraries count by size and time of change."""
    digest = hashlib.sha256()
    for path in sorted(_files(folder)):
        digest.update(os.fsencode(path.relative_to(folder)) + b"\0")
        digest.update((_identity(path) if path.suffix == ".so" else _digest(path)).encode())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(Path(entry.path))
            elif not entry.name.endswith(".pyc"):
                yield Path(entry.path)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _identity(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"

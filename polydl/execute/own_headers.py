"""The headers that the user's C includes: those of the user's own, and those of the system."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from polydl.inclusions import environment_folders, inclusions


def own_headers(texts: Iterable[str], flags: Iterable[str]) -> dict[str, str]:
    """The text of each header in a folder of ``-I`` or of the environment, by its path there, whoever includes it.

    What is included by a path that leaves the folder, or by a name that a macro computes, is not among them.
    """
    folders = [*(flag.removeprefix("-I") for flag in flags if flag.startswith("-I")), *environment_folders()]
    result: dict[str, str] = {}
    left = [("", text) for text in texts]
    while left:
        including, text = left.pop()
        for inclusion in inclusions(text):
            name = inclusion.name
            if name is None or inclusion.kind != "include":
                continue
            beside = os.path.normpath(os.path.join(os.path.dirname(including), name))
            for path in (beside, name) if inclusion.quoted else (name,):
                content = _content(path, folders)
                if content is not None:
                    if path not in result:
                        result[path] = content
                        left.append((path, content))
                    break
    return result


def system_headers(texts: Iterable[str], others: Collection[str]) -> tuple[str, ...]:
    """What texts include in angle brackets, but for the ``others``, which are the user's own."""
    every = (inclusion for text in texts for inclusion in inclusions(text))
    names = (each.name for each in every if each.kind == "include" and each.name and not each.quoted)
    return tuple(dict.fromkeys(name for name in names if name not in others))


def write_copies(headers: Mapping[str, str], change: Callable[[str], str], folder: Path) -> str:
    """Write changed copies of headers to a folder, and return the flag by which they are found before the others.

    Nothing is written outside of the folder, whatever the names are.
    """
    for name, text in headers.items():
        if _leaves(name):
            continue
        path = folder / name
        # As it is written: the compiler goes through each folder of ``sub/../name.h``.
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change(text), encoding="utf-8", errors="surrogateescape")
    return f"-I{folder}"


def _content(name: str, folders: Sequence[str]) -> str | None:
    if _leaves(name):
        return None
    for folder in folders:
        try:
            return Path(folder, name).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            continue
    return None


def _leaves(name: str) -> bool:
    """Whether a path leads out of the folder that it begins in, as ``sub/../../name.h`` does."""
    path = os.path.normpath(name)
    return os.path.isabs(path) or path.split(os.sep, 1)[0] == os.pardir

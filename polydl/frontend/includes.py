"""Included files that aren't files: at a pipe Clang would wait for ever, and a device may have no end."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from polydl.errors import SourceError
from polydl.frontend.source import MOST_BYTES, line_of, not_a_file, one_line
from polydl.inclusions import inclusions


def check_includes(text: str, file: str, directories: Sequence[str]) -> None:
    """Check what the text, that of ``file``, includes from its folder and from ``directories``, directly or not.

    A name that a macro computes isn't seen here. Raises SourceError.
    """
    left = [(text, file)]
    seen: set[Path] = set()
    while left:
        content, including = left.pop()
        for inclusion in inclusions(content):
            if inclusion.name is None:
                continue
            name = os.fsdecode(inclusion.name.encode("latin-1"))
            for folder in (str(Path(including).parent), *directories):
                path = Path(folder, name)
                if path in seen:
                    continue
                seen.add(path)
                try:
                    status = path.stat()
                except (OSError, ValueError):
                    continue
                kind = not_a_file(status.st_mode)
                if kind is not None:
                    raise SourceError(
                        f"this includes {kind}",
                        file=including,
                        line=line_of(content, inclusion.start),
                        construct=one_line(inclusion.text),
                        remedy="include a file, such as one with what was read from there",
                    )
                if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES and os.access(path, os.R_OK):
                    left.append((path.read_bytes().decode("latin-1"), str(path)))

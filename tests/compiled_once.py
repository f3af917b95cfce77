"""Puts ``compiled_once.c`` before the compilers on the path: half of what tests compile they compile again."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_SOURCE = Path(__file__).with_suffix(".c")
_NAMES = ("gcc", "g++", "clang", "clang++")


def before_compilers() -> Path | None:
    """The folder that the path of this process and of those that it starts begins with now; None without a gcc."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="polydl-tests-"))
    (folder / "kept").mkdir()
    program = folder / _SOURCE.stem
    subprocess.run([compiler, "-O2", str(_SOURCE), "-o", str(program)], check=True)
    for name in _NAMES:
        if shutil.which(name) is not None:
            (folder / name).symlink_to(program)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return folder

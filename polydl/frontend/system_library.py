"""Shared libraries of the system.

``ctypes.util.find_library`` makes a temporary file, which nobody removes if the process is killed just then.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

_LDCONFIG = "/sbin/ldconfig"
_ELF = b"\x7fELF"


def system_library(name: str) -> str | None:
    """The name by which the loader opens a library, as libpet.so.10 for ``pet``; None if there is none.

    It is in the loader's cache, or the C compiler or the linker finds it, as in LIBRARY_PATH and LD_LIBRARY_PATH. These
    are the places where ``find_library`` looks.
    """
    return _cached(name) or _soname(_found_by_compiler(name)) or _soname(_found_by_linker(name))


def _cached(name: str) -> str | None:
    kind = "libc6,x86-64" if os.uname().machine == "x86_64" else "libc6"
    known = re.search(rf"\s(lib{re.escape(name)}\.\S+)\s+\({kind}", _printed(_LDCONFIG, "-p"))
    return known[1] if known is not None else None


def _found_by_compiler(name: str) -> str | None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    # Without a folder in front if it finds none.
    path = _printed(compiler, f"-print-file-name=lib{name}.so").strip()
    return path if os.path.isabs(path) and _is_library(path) else None


def _found_by_linker(name: str) -> str | None:
    folders = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    # With -t it prints the files that it reads.
    printed = _printed("ld", "-t", *(f"-L{folder}" for folder in folders), "-o", os.devnull, f"-l{name}")
    paths: list[str] = re.findall(rf"[^()\s]*lib{re.escape(name)}\.[^()\s]*", printed)
    return next(filter(_is_library, paths), None)


def _is_library(path: str) -> bool:
    """False for what is not there, and for a linker's script."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def _soname(path: str | None) -> str | None:
    name = re.search(r"\sSONAME\s+(\S+)", _printed("objdump", "-p", "-j", ".dynamic", path)) if path else None
    return name[1] if name is not None else None


def _printed(*command: str) -> str:
    """What a program prints on standard output; nothing if it isn't there."""
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"LC_ALL": "C"},
        )
    except OSError:
        return ""
    return os.fsdecode(ended.stdout)

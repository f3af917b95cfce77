"""Finding libpet and its dependencies, and opening them without affecting the process.

There are two sources, in this order: the library that the caller names or the system's loader finds, and the wheel of
``tadashi``, which contains libpet with the LLVM, Clang and isl that it needs. That isl is another copy than islpy's,
and libpet's objects may only be passed to functions of that copy.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from polydl.errors import MissingComponentError

# Dependencies first. Each one is opened by its path, so that the loader searches for none.
_BUNDLED = ("gmp", "ffi", "tinfo", "LLVM", "clang-cpp", "isl", "pet")
_RTLD_NOW_LOCAL = 2
INSTALL_REMEDY = "pip install tadashi (its wheel carries libpet), or name your own libpet with library="


@dataclass(frozen=True)
class PetLibrary:
    """A libpet with its dependencies."""

    #: in the order in which they are opened, libisl and libpet last
    paths: tuple[str, ...]
    #: where it comes from, in words
    origin: str

    @property
    def pet(self) -> str:
        """The path of libpet itself."""
        return self.paths[-1]


def find_pet_library(library: str | Path | None = None) -> PetLibrary:
    """Find libpet. Raises MissingComponentError if there is none."""
    if library is not None:
        path = Path(library)
        if not path.is_file():
            raise MissingComponentError(f"there is no library {path}", remedy=INSTALL_REMEDY)
        return PetLibrary((str(path),), "named by the user")
    system = _system_library()
    if system is not None:
        return PetLibrary((system,), "system")
    folder = _tadashi_folder("tadashi.libs")
    if folder is None:
        raise MissingComponentError("libpet, which reads the C loop nests, is not installed", remedy=INSTALL_REMEDY)
    paths: list[str] = []
    for name in _BUNDLED:
        matches = sorted(glob.glob(f"{folder}/lib{name}-*.so*"))
        if not matches and name in ("isl", "pet"):
            raise MissingComponentError(f"{folder} holds no lib{name}", remedy=INSTALL_REMEDY)
        paths += matches[:1]
    return PetLibrary(tuple(paths), "tadashi wheel")


def builtin_headers() -> Path | None:
    """The folder of Clang's own headers (``stddef.h`` …), which neither libclang nor libpet's wheel can find."""
    folder = _tadashi_folder("tadashi")
    candidates = [folder / "include"] if folder is not None else []
    for pattern in ("/usr/lib/llvm-*/lib/clang/*/include", "/usr/lib/clang/*/include", "/usr/lib/gcc/*/*/include"):
        candidates += [Path(match) for match in sorted(glob.glob(pattern), reverse=True)]
    return next((candidate for candidate in candidates if (candidate / "stddef.h").is_file()), None)


def open_libraries(ffi: Any, paths: Sequence[str]) -> tuple[Any, Any]:
    """Open ``paths`` in order. Returns the handles of isl and of pet.

    A single path is a libpet that its distribution linked; its isl is found through it.
    """
    handles = [ffi.dlopen(path, _RTLD_NOW_LOCAL) for path in paths]
    return (handles[-2] if len(handles) > 1 else handles[-1]), handles[-1]


@cache
def _system_library() -> str | None:
    # Imported here, as below, since the child process that opens the library needs neither module.
    from polydl.frontend.system_library import system_library

    return system_library("pet")


def _tadashi_folder(name: str) -> Path | None:
    """A folder beside or in tadashi, which isn't imported, since its extension modules open libpet globally."""
    from importlib.util import find_spec

    spec = find_spec("tadashi")
    if spec is None or not spec.submodule_search_locations:
        return None
    package = Path(spec.submodule_search_locations[0])
    folder = package if name == "tadashi" else package.with_name(name)
    return folder if folder.is_dir() else None

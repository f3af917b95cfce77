"""Libraries of the system are found as ``ctypes.util.find_library`` finds them, and no temporary file is made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from polydl.frontend.system_library import system_library


@pytest.mark.native
@pytest.mark.parametrize("name", ["c", "m", "z", "stdc++", "gomp", "gcc_s", "pet", "of_no_name"])
def test_what_is_found_is_what_python_finds(name: str) -> None:
    assert system_library(name) == find_library(name)


@pytest.mark.native
@pytest.mark.parametrize("variable", ["LIBRARY_PATH", "LD_LIBRARY_PATH"])
def test_libraries_elsewhere(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.c").touch()
    library = tmp_path / "libof_mine.so"
    build = ["gcc", "-shared", "-o", str(library), str(tmp_path / "empty.c")]
    subprocess.run([*build, "-Wl,-soname,libof_mine.so.77"], check=True)
    assert system_library("of_mine") is None
    monkeypatch.setenv(variable, f"{tmp_path}:/nowhere")
    assert system_library("of_mine") == find_library("of_mine") == "libof_mine.so.77"
    library.write_text("INPUT(-lm)\n")
    assert system_library("of_mine") is None


@pytest.mark.parametrize("program", ["gcc", "ld"])
def test_a_process_that_is_killed_meanwhile_leaves_nothing(program: str, tmp_path: Path) -> None:
    commands, temporary = tmp_path / "commands", tmp_path / "temporary"
    commands.mkdir()
    temporary.mkdir()
    killing = commands / program
    killing.write_text(f"#!/bin/sh\nkill -{signal.SIGKILL.value} $PPID\n")
    killing.chmod(0o755)
    # Nor does the loader know a libpet, wherever this runs.
    code = (
        "from polydl.frontend import pet_library, system_library\n"
        "system_library._LDCONFIG = '/nowhere'\npet_library.find_pet_library()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PATH": str(commands), "TMPDIR": str(temporary)},
        timeout=120,
    )
    assert ended.returncode == -signal.SIGKILL
    assert list(temporary.iterdir()) == []

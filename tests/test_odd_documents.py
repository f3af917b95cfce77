"""Documents that are pipes and devices, and a standard error that takes nothing: one clear answer each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from marks import parametrized
from test_odd_inputs import GOOD, command

import polydl
from polydl import errors

DOCUMENTS = {
    "machine": ("optimize", "nest.c", "--no-run", "--machine", "PIPE.toml"),
    "variant": ("optimize", "nest.c", "--no-run", "--variant", "PIPE.json"),
    "model": ("model", "PIPE.onnx"),
    "replay": ("fuzz", "--replay", "PIPE.json"),
    "merge": ("fuzz", "--merge", "PIPE.json"),
    "show": ("bench", "--show", "--out", "PIPE.json"),
    "results": ("bench", "--suite", "gemm-paper", "--out", "PIPE.json"),
    "suite": ("bench", "--suite", "PIPE.csv"),
}


@pytest.mark.native
@parametrized("name", DOCUMENTS, quick=2)
def test_documents_are_files(name: str, tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    if name == "model":
        pytest.importorskip("onnx")
    for kind in ("pipe", "zero"):
        arguments = [word.replace("PIPE", kind) for word in DOCUMENTS[name]]
        document = tmp_path / next(word for word in arguments if word.startswith(kind))
        if kind == "pipe":
            os.mkfifo(document)
        else:
            document.symlink_to("/dev/zero")
        ended = command(*arguments, cwd=tmp_path)
        assert ended.returncode == 2
        assert f"{document.name}: " in ended.stderr
        assert "it is no ordinary file" in ended.stderr
        assert "Errno" not in ended.stderr
        assert "\n  remedy: " in ended.stderr


def test_a_document_has_a_limit(tmp_path: Path) -> None:
    with (tmp_path / "machine.toml").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(errors.MachineError, match="it has more than 64 MiB"):
        polydl.Machine.load(tmp_path / "machine.toml")


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("shell", ['"$@" 2>&-', '"$@" 2>/dev/full'])
def test_nothing_is_lost_where_standard_error_takes_nothing(shell: str, tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    assert command("rank", "nest.c", cwd=tmp_path, shell=shell).stdout
    assert command("optimize", "nest.c", "--no-run", "--out", "ranked", cwd=tmp_path, shell=shell).returncode == 0
    ended = command("optimize", "nest.c", "--threads", "1", "--budget", "3s", "--out", "out", cwd=tmp_path, shell=shell)
    assert ended.returncode == 0
    assert (tmp_path / "out" / "f_polydl.c").exists()
    assert command("parse", "none.c", cwd=tmp_path, shell=shell).returncode == 2

"""What an answer from the records depends on: two questions are one only if nothing of it differs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sized_matmul import MATMUL, write_matmul

from polydl.execute.toolchain import found_compilers
from polydl.machine import Machine
from polydl.records.questions import installation, own_files, question


@pytest.fixture
def matmul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_matmul(tmp_path)


def asked(source: str = MATMUL, **changes: Any) -> str | None:
    arguments: dict[str, Any] = {
        "directory": Path(),
        "include_directories": (),
        "machine": Machine.detect(threads=1),
        "compilers": found_compilers(),
        "options": {"seed": 0},
        **changes,
    }
    return question(source.encode(), **arguments)


def test_what_a_question_depends_on(matmul: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine.detect(threads=1)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "sizes.h").write_text("#define M 32\n")
    found = [
        asked(),
        asked(MATMUL + "\n"),
        asked(machine=machine.with_cache_sizes([1 << 15, 1 << 20])),
        asked(machine=replace(machine, cpu_id="another")),
        asked(compilers=[Path(sys.executable)]),
        asked(options={"seed": 1}),
        asked(include_directories=["more"]),
    ]
    monkeypatch.setenv("CPATH", str(tmp_path / "more"))
    found.append(asked())
    monkeypatch.delenv("CPATH")
    monkeypatch.setattr("polydl.records.questions.own_files", lambda: ["another polydl"])
    found.append(asked())
    assert None not in found
    assert len(set(found)) == len(found)


def test_the_order_of_folders_of_headers_is_part_of_a_question(matmul: Path, tmp_path: Path) -> None:
    """Also where a header of the first folder has found both before."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "size.h").write_text(f"#define SIZE {ord(name)}\n")
    (tmp_path / "a" / "first.h").write_text('#include "size.h"\n')
    for text in ("#include <size.h>\n", "#include <first.h>\n#include <size.h>\n"):
        assert asked(text, include_directories=["a", "b"]) != asked(text, include_directories=["b", "a"])


def test_many_questions_look_at_the_installation_once(matmul: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, installed = asked(), installation()
    monkeypatch.setattr("polydl.records.questions.own_files", lambda: ["another polydl"])
    assert asked(installed=installed) == alone
    assert asked() != alone


def test_the_memory_that_is_free_is_no_part_of_a_question(matmul: Path) -> None:
    assert asked(machine=replace(Machine.detect(threads=1), memory_bytes=1 << 30)) == asked()


def test_headers_of_headers_count_and_computed_names_are_refused(matmul: Path, tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text('#include \\\n  "deeper.h"\n#define M 96\n')
    before = asked()
    (tmp_path / "deeper.h").write_text("int x;\n")
    assert asked() != before
    assert asked("#define FILE_NAME <a.h>\n#include FILE_NAME\n") is None


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_headers_that_the_environment_names_count(
    variable: str, matmul: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    monkeypatch.setenv(variable, f"/usr/include:{tmp_path / 'more'}")
    (tmp_path / "more" / "far.h").write_text("#define FAR 3\n")
    before = asked("#include <far.h>\n")
    (tmp_path / "more" / "far.h").write_text("#define FAR 4\n")
    assert asked("#include <far.h>\n") != before


def test_polydls_own_files_are_those_of_every_part() -> None:
    found = own_files()
    folders = [Path(text) for text in found if "/" in text]
    assert any((folder / "optimization" / "optimize.py").exists() for folder in folders)
    for name in ("variants/space.py", "microkernels/libxsmm.py", "native/libpolydl_runtime.so"):
        assert any((folder.parent / name).exists() or (folder / name).exists() for folder in folders), name

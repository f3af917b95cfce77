"""Copies of the user's headers, which are written to a folder of their own and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.execute.own_headers import own_headers, write_copies


@pytest.fixture
def headers(tmp_path: Path) -> Path:
    """A folder of headers, beside which another one lies."""
    (tmp_path / "outside.h").write_text("int outside;\n")
    folder = tmp_path / "headers"
    (folder / "sub").mkdir(parents=True)
    (folder / "inside.h").write_text("int inside;\n")
    return folder


@pytest.mark.parametrize("name", ["../outside.h", "sub/../../outside.h", "sub/../../headers/inside.h"])
def test_a_path_that_leaves_the_folder_is_neither_read_nor_written(name: str, headers: Path, tmp_path: Path) -> None:
    assert own_headers([f"#include <{name}>\n"], [f"-I{headers}"]) == {}
    copies = tmp_path / "far" / "copies"
    copies.mkdir(parents=True)
    write_copies({name: "changed"}, str, copies)
    assert [path for path in (tmp_path / "far").rglob("*") if path.is_file()] == []
    assert (tmp_path / "outside.h").read_text() == "int outside;\n"


def test_a_path_through_another_folder_leads_to_the_copy(headers: Path, tmp_path: Path) -> None:
    read = own_headers(["#include <sub/../inside.h>\n"], [f"-I{headers}"])
    assert read == {"sub/../inside.h": "int inside;\n"}
    copies = tmp_path / "copies"
    assert write_copies(read, str.upper, copies) == f"-I{copies}"
    # As the compiler opens it.
    assert (copies / "sub" / ".." / "inside.h").read_text() == "INT INSIDE;\n"

"""Libraries of the benchmark's peers that another user may have put into the cache: none of them is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from marks import parametrized

from polydl.bench.peers import native


@pytest.mark.native
@parametrized("planted", ["a link", "written by others", "a folder of others", "a linked folder"], quick=2)
def test_a_library_that_others_may_have_written_is_compiled_anew(
    planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "answer.c"
    source.write_text("int answer(void) { return 42; }\n")
    library = native.library("gcc", [source], ["-O1"])
    elsewhere = tmp_path / "planted"
    if planted == "a link":
        elsewhere.write_bytes(b"planted")
        library.unlink()
        library.symlink_to(elsewhere)
    elif planted == "written by others":
        library.write_bytes(b"planted")
        library.chmod(0o666)
    elif planted == "a folder of others":
        library.write_bytes(b"planted")
        library.parent.chmod(0o777)
    else:
        library.write_bytes(b"planted")
        library.parent.rename(elsewhere)
        library.parent.symlink_to(elsewhere)
    assert native.library("gcc", [source], ["-O1"]) == library
    assert library.read_bytes().startswith(b"\x7fELF")
    assert not library.is_symlink()
    assert not library.parent.is_symlink()
    assert not (library.stat().st_mode | library.parent.stat().st_mode) & 0o022
    if "link" in planted:
        kept = elsewhere if elsewhere.is_file() else elsewhere / library.name
        assert kept.read_bytes() == b"planted", "what a link leads to is not written"

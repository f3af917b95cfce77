"""The folder of a kernel: what is replaced there, linked from there, or put there by others at once."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polydl
from polydl.emission import emit
from polydl.report.documents import write_report
from polydl.system.files import write_together
from polydl.system.process_group import run_in_group
from polydl.system.shared_library import loaded_library

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("variants_win")]


def optimized(path: Path, out: Path, **options: object) -> polydl.Optimization:
    quick = {"top_k": 1, "max_variants": 3, "microkernel": "c", "records": False}
    return polydl.optimize(path, out=out, **{**quick, **options})  # type: ignore[arg-type]


def filled(folder: Path, value: str) -> polydl.Optimization:
    """A nest that sets an array, emitted to a folder of another nest's."""
    source = "void fill(float a[64]) {\n#pragma scop\nfor (int i = 0; i < 64; i++) a[i] = VALUE;\n#pragma endscop\n}\n"
    (folder / "fill.c").write_text(source.replace("VALUE", value), encoding="utf-8")
    return optimized(folder / "fill.c", folder / "out", threads=1)


@pytest.mark.slow
def test_a_kernel_takes_the_place_of_another_whole_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.zeros(64, np.float32)
    first = filled(tmp_path, "1.0f")
    first.best(a=array)
    assert (array == 1).all()
    second = filled(tmp_path, "2.0f")
    second.best(a=array)
    assert (array == 2).all()
    with pytest.raises(polydl.PolydlError, match="not the library that was written there"):
        _ = first.best
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    calls = []

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        calls.append(run_in_group(*arguments, **keywords))
        raise KeyboardInterrupt

    monkeypatch.setattr(emit, "run_in_group", interrupted)
    with pytest.raises(KeyboardInterrupt):
        filled(tmp_path, "3.0f")
    assert calls
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.slow
def test_a_failed_compile_leaves_its_c_and_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, "1.0f")
    monkeypatch.setattr(emit, "run_in_group", lambda *_, **__: subprocess.CompletedProcess([], 1, "", "no"))
    with pytest.raises(polydl.PolydlError, match="does not compile"):
        filled(tmp_path, "2.0f")
    assert "2.0f" in (tmp_path / "out" / "fill_polydl.c").read_text(encoding="utf-8")
    assert not (tmp_path / "out" / "libfill_polydl.so").exists()


@pytest.mark.slow
def test_links_in_the_folder_of_a_kernel_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    for name in ("libfill_polydl.so", "fill_polydl.h", "report.json"):
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
    array = np.zeros(64, np.float32)
    result = filled(tmp_path, "1.0f")
    write_report(result, tmp_path / "out")
    result.best(a=array)
    assert (array == 1).all()
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())


@pytest.mark.slow
def test_what_another_process_puts_there_at_once_is_not_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = filled(tmp_path, "1.0f").files["library"].read_bytes()

    def replaced(files: dict[Path, str | bytes], *stale: Any) -> None:
        write_together(files, *stale)
        list(files)[-1].write_bytes(other)

    monkeypatch.setattr(emit, "write_together", replaced)
    result = filled(tmp_path, "2.0f")
    assert result.files["library"].read_bytes() == other
    with pytest.raises(polydl.PolydlError, match="not the library that was written there") as raised:
        _ = result.best
    assert raised.value.remedy == "build the kernel again, in a folder of its own"


@pytest.mark.slow
def test_threads_that_load_a_library_at_once_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = filled(tmp_path, "1.0f").files["library"], []
    content = path.read_bytes()

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.05)
        opened.append(arguments)
        return object()

    monkeypatch.setattr("ctypes.CDLL", slow)
    with ThreadPoolExecutor(4) as threads:
        loaded = set(threads.map(lambda _: loaded_library(path, content), range(4)))
    assert (len(opened), len(loaded)) == (1, 1)


@pytest.mark.slow
def test_a_copy_where_nothing_can_be_run_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path, "1.0f").files["library"]
    content = path.read_bytes()
    status = os.statvfs(tmp_path)
    fields = [*status[:8], status.f_flag | os.ST_NOEXEC, status.f_namemax]
    monkeypatch.setattr("os.statvfs", lambda _: os.statvfs_result(fields))
    with pytest.raises(polydl.PolydlError, match="mounted noexec") as raised:
        loaded_library(path, content)
    assert "TMPDIR" in (raised.value.remedy or "")

"""Files of inputs that are none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from command_line import matmul, polydl

__all__ = ["matmul", "polydl"]


@pytest.mark.parametrize("more", [(), ("--no-run",)])
@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_inputs_that_are_no_file_are_refused_and_not_waited_for(
    polydl: Any, matmul: str, tmp_path: Path, kind: str, more: tuple[str, ...]
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    ended = polydl(
        "optimize", matmul, "--threads", "1", "--inputs", str(path) if kind == "a pipe" else "/dev/zero", *more
    )
    assert ended.status == 2
    assert "it is no ordinary file" in ended.err
    assert "name a file that numpy.savez wrote" in ended.err

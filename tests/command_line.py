"""The command ``polydl`` within this process, on files of a folder of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from polydl.cli import main

MATMUL = """\
#ifndef N
#define N 64
#endif
void matmul(float C[96][N], float A[96][80], float B[80][N]) {
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < 80; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
STENCIL = """\
void stencil(double out[130][258], double in[130][258]) {
  for (int i = 1; i < 129; ++i)
    for (int j = 1; j < 257; ++j)
      out[i][j] = 0.25 * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
}
"""


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def matmul(tmp_path: Path) -> str:
    path = tmp_path / "matmul.c"
    path.write_text(MATMUL)
    return str(path)


@pytest.fixture
def polydl(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        status = main.main(list(arguments), standalone_mode=False)
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return run

"""The nests of models as they are written, compiled in little time, for tests that need no search."""

from __future__ import annotations

import pytest

from polydl.models import kernels, program


def keep_nests_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = tuple("-O1" if flag == "-O3" else flag for flag in kernels._FLAGS)
    monkeypatch.setattr(kernels, "_FLAGS", flags)
    monkeypatch.setattr(program, "kernel", lambda nest, *_: kernels.as_written(nest, "a test"))

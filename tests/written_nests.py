"""The nests of models as they are written, compiled in little time, for tests that need no search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polydl.models import kernels, optimized_kernels
from polydl.models.kernels import OperatorKernel, OperatorNest


def replace_kernels(monkeypatch: pytest.MonkeyPatch, new: Callable[[OperatorNest], OperatorKernel]) -> None:
    """Each nest gets the kernel that ``new`` makes of it, and nothing is optimized."""
    monkeypatch.setattr(optimized_kernels, "stored_kernel", lambda *_: None)
    monkeypatch.setattr(optimized_kernels, "new_kernels", lambda nests, _: ((nest, new(nest)) for nest in nests))


def keep_nests_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = tuple("-O1" if flag == "-O3" else flag for flag in kernels._FLAGS)
    monkeypatch.setattr(kernels, "_FLAGS", flags)
    replace_kernels(monkeypatch, lambda nest: kernels.as_written(nest, "a test"))

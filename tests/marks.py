"""Marks that come with a parameter of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet

NEEDED = {
    "c-amx": pytest.mark.amx,
    "libxsmm-bf16": pytest.mark.avx512,
    "libxsmm-int8": pytest.mark.avx512,
    "onednn": pytest.mark.peers,
    "onednn-direct": pytest.mark.peers,
    "onnxruntime": pytest.mark.peers,
    "openblas": pytest.mark.peers,
    "openvino": pytest.mark.peers,
    "torch": pytest.mark.peers,
}


def marked(*cases: tuple[str, ...]) -> list[object]:
    """Cases for ``parametrize``, each with the marks of the microkernels and peers that it names."""
    return [pytest.param(*case, marks=[NEEDED[value] for value in case if value in NEEDED]) for case in cases]


def parametrized(
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    *,
    quick: int,
    ids: Sequence[str] | Callable[[Any], object] | None = None,
) -> pytest.MarkDecorator:
    """``pytest.mark.parametrize`` with all cases but the first ``quick`` ones marked slow."""
    chosen = []
    for number, case in enumerate(cases):
        known = case if isinstance(case, ParameterSet) else None
        values = known.values if known is not None else case if isinstance(names, tuple) else (case,)
        marks = [*(known.marks if known is not None else ()), *([pytest.mark.slow] if number >= quick else [])]
        chosen.append(pytest.param(*values, marks=marks, id=known.id if known is not None else None))
    return pytest.mark.parametrize(names, chosen, ids=ids)

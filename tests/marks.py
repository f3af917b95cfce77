"""Marks that come with a parameter of a test."""

from __future__ import annotations

import pytest

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

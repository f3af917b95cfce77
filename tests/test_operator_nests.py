"""The operators that results are measured of: each is a nest that polydl takes, with variants of its own."""

from __future__ import annotations

from pathlib import Path

from machines import machine_with
from marks import parametrized

import polydl

FILES = sorted(Path(__file__).parents[1].glob("experiments/operators/*.c"))


def test_there_are_some() -> None:
    assert len(FILES) > 20


@parametrized("file", FILES, ids=lambda file: file.stem, quick=5)
def test_operators_are_taken(file: Path) -> None:
    nest = polydl.parse(file)
    assert nest.function.name == file.stem
    assert polydl.generate_variants(nest, machine=machine_with(1, 64), max_variants=2)

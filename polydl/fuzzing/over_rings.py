"""Variants of one nest over a ring, many in one program, so that a compiler reads the original and starts only once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from polydl.execute.exactness import compare_unit_exactly, estimated_seconds, ring_of
from polydl.execute.rings import Ring
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing.unit import suffix, together
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.scop import Scop

# Of a nest as many variants are compared as one program compares in less than so many seconds by estimate; of one where
# that is none, one variant, but only of this part of such nests.
_QUICK_SECONDS, _SLOW = 2.0, 0.12


def to_compare(scop: Scop, kernels: Sequence[KernelSource], draw: Random) -> list[int]:
    """Numbers of kernels, from a drawn one on, for as long as that is quick. Estimates change nothing that is drawn."""
    lucky, first = draw.random() < _SLOW, draw.randrange(len(kernels))
    numbers = [*range(first, len(kernels)), *range(first)]
    ordered = [kernels[number] for number in numbers]
    several = range(1, len(numbers) + 1)
    quick = sum(estimated_seconds(scop, *ordered[:count]) < _QUICK_SECONDS for count in several)
    return numbers[: quick or lucky]


def over_rings(
    scop: Scop, numbered: Sequence[tuple[int, KernelSource]], toolchain: Toolchain, folder: Path, seed: int
) -> list[tuple[int, Exactness]]:
    """The verdict on each kernel by its number, with which it was generated. Each ring has a program in the folder."""
    units: dict[Ring, list[tuple[int, KernelSource]]] = {}
    for number, kernel in numbered:
        units.setdefault(ring_of(scop, kernel), []).append((number, kernel))
    return [verdict for unit in units.values() for verdict in _verdicts(scop, unit, toolchain, folder, seed)]


def _verdicts(
    scop: Scop, numbered: Sequence[tuple[int, KernelSource]], toolchain: Toolchain, folder: Path, seed: int
) -> list[tuple[int, Exactness]]:
    """Of all kernels in one program; where that says nothing of any, of each in one."""
    unit = together(numbered, scop.function.name, "exact")
    endings = [suffix(number) for number, _ in numbered]
    place = folder / f"exact{endings[0]}-{len(numbered)}"
    results = compare_unit_exactly(scop, unit, endings, toolchain, place, seed=seed)
    if len(numbered) > 1 and all(result.verdict == "not applicable" for result in results):
        return [verdict for each in numbered for verdict in _verdicts(scop, [each], toolchain, folder, seed)]
    return [(number, result) for (number, _), result in zip(numbered, results, strict=True)]

"""Comparison of a kernel's result with that of the original nest (norm, tolerance: docs/guide/measuring.md).

Imported by the child processes: NumPy and the standard library only. Arrays are compared in chunks, without copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polydl.execute.arrays import Buffer, Data, Values, element_dtype, is_floating, numbers
from polydl.ir.measurement import Accuracy


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison."""

    #: relative norm-wise error; None where the expected result gives nothing to scale it by
    error: float | None
    #: why the result is wrong, in words; None if it is right
    wrong: str | None


def changed(buffer: Buffer, data: Data) -> bool:
    """Whether any element differs from the array's initial contents."""
    chunks = data.chunks(buffer.stream, buffer.dtype, buffer.elements)
    return any(bool(np.any(buffer.values[at : at + chunk.size] != chunk)) for at, chunk in chunks)


def first_not_finite(buffer: Buffer) -> int | None:
    """The index of the first NaN or infinity."""
    if not is_floating(buffer.dtype):
        return None
    indices = np.flatnonzero(~np.isfinite(numbers(buffer.values, buffer.dtype)))
    return int(indices[0]) if indices.size else None


def store(buffers: Iterable[Buffer], data: Data, path: Path) -> dict[str, int]:
    """Write the arrays that changed to a file. Returns ``{array: offset}`` in bytes."""
    offsets: dict[str, int] = {}
    with path.open("wb") as file:
        for buffer in buffers:
            if changed(buffer, data):
                offsets[buffer.name] = file.tell()
                # Not ndarray.tofile: it does not notice that the disk is full.
                file.write(buffer.values.view(np.uint8).data)
    return offsets


def compare(buffers: Iterable[Buffer], data: Data, path: Path, offsets: Mapping[str, int], tolerance: float) -> Verdict:
    """Compare every element of every array with the result of the original nest, stored at ``offsets`` in a file.

    Arrays that the original nest didn't change must have their initial contents, bit for bit.
    """
    worst = 0.0
    for buffer in buffers:
        damage = buffer.damage()
        if damage is not None:
            return Verdict(None, damage)
        if buffer.name not in offsets:
            wrong = _untouched(buffer, data)
            if wrong is not None:
                return Verdict(None, wrong)
            continue
        expected = np.memmap(path, buffer.dtype, "r", offsets[buffer.name], (buffer.elements,))
        floating = is_floating(buffer.dtype)
        verdict = _close(buffer, data, expected, tolerance) if floating else _equal(buffer, expected)
        if verdict.wrong is not None or verdict.error is None:
            return verdict
        worst = max(worst, verdict.error)
    return Verdict(worst, None)


def distances(
    buffers: Iterable[Buffer], data: Data, path: Path, offsets: Mapping[str, int], elements: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Two relative errors of each floating-point array against results in a wider type: of the norm, and the largest.

    The largest is relative to the largest element. The results in the wider type are stored at ``offsets`` in a file,
    as elements of the types ``elements``. Arrays of zeros are left out.
    """
    errors: dict[str, tuple[float, float]] = {}
    for buffer in buffers:
        if buffer.name not in offsets or not is_floating(buffer.dtype):
            continue
        dtype = element_dtype(elements[buffer.name])
        exact = np.memmap(path, dtype, "r", offsets[buffer.name], (buffer.elements,))
        squares = squared_differences = largest = largest_difference = 0.0
        for start, initial in data.chunks(buffer.stream, buffer.dtype, buffer.elements):
            end = start + initial.size
            want = numbers(exact[start:end], dtype).astype(np.longdouble)
            written: Values = want[want != numbers(initial, buffer.dtype)]
            difference: Values = numbers(buffer.values[start:end], buffer.dtype) - want
            squares += float(np.dot(written, written))
            squared_differences += float(np.dot(difference, difference))
            largest = max(largest, float(np.max(np.abs(written), initial=0.0)))
            largest_difference = max(largest_difference, float(np.max(np.abs(difference), initial=0.0)))
        if squares:
            errors[buffer.name] = math.sqrt(squared_differences / squares), largest_difference / largest
    return errors


def worst(errors: Mapping[str, float], source_errors: Mapping[str, float]) -> Accuracy | None:
    """Of all arrays, the errors with the largest ratio; none of the source's is zero."""
    pairs = [Accuracy(errors[name], own) for name, own in source_errors.items() if name in errors]
    return max(pairs, key=lambda pair: pair.ratio, default=None)


def _untouched(buffer: Buffer, data: Data) -> str | None:
    for start, chunk in data.chunks(buffer.stream, buffer.dtype, buffer.elements):
        differing = np.flatnonzero(buffer.values[start : start + chunk.size] != chunk)
        if differing.size:
            return f"it changes `{buffer.element(start + int(differing[0]))}`, and the original nest does not"
    return None


def _equal(buffer: Buffer, expected: Values) -> Verdict:
    differing = np.flatnonzero(buffer.values != expected)
    if not differing.size:
        return Verdict(0.0, None)
    at = int(differing[0])
    where = _disagreement(buffer, at, expected[at])
    return Verdict(None, f"{where}; {differing.size} of {buffer.elements} elements differ")


def _close(buffer: Buffer, data: Data, expected: Values, tolerance: float) -> Verdict:
    wide = np.dtype(np.longdouble) if buffer.dtype.itemsize > 8 else np.dtype(np.float64)
    largest = largest_difference = squares = squared_differences = 0.0
    at = 0
    for start, initial in data.chunks(buffer.stream, buffer.dtype, buffer.elements):
        end = start + initial.size
        got, want, before = (
            numbers(part, buffer.dtype).astype(wide)
            for part in (buffer.values[start:end], expected[start:end], initial)
        )
        broken = np.flatnonzero(~np.isfinite(got))
        if broken.size:
            return Verdict(None, _disagreement(buffer, start + int(broken[0]), want[broken[0]]))
        written = want[want != before]
        if written.size:
            largest = max(largest, float(np.max(np.abs(written))))
            squares += float(np.dot(written, written))
        difference: Values = np.abs(np.subtract(got, want))
        peak = int(np.argmax(difference))
        if difference[peak] > largest_difference:
            largest_difference, at = float(difference[peak]), start + peak
        squared_differences += float(np.dot(difference, difference))
    if largest_difference == 0.0:
        return Verdict(0.0, None)
    if largest == 0.0:
        return Verdict(None, _disagreement(buffer, at, expected[at]))
    error = max(largest_difference / largest, math.sqrt(squared_differences / squares))
    if error <= tolerance:
        return Verdict(error, None)
    where = _disagreement(buffer, at, expected[at])
    return Verdict(error, f"{where}; the norm-wise error {error:.3g} exceeds {tolerance:.3g}")


def _disagreement(buffer: Buffer, index: int, expected: Any) -> str:
    both = np.array([buffer.values[index], expected], buffer.values.dtype)
    got, want = numbers(both, buffer.dtype)
    return f"`{buffer.element(index)}` is {got!s}, and the original nest gives {want!s}"

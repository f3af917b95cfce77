"""Comparison of a kernel's result with that of the original nest (norm, tolerance: docs/guide/measuring.md).

Imported by the child processes: NumPy and the standard library only. Arrays are compared in parts, without copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polydl.element_types import Values, element_dtype, is_floating, numbers
from polydl.execute.arrays import Buffer, Data
from polydl.ir.measurement import Accuracy

# Where more of the elements with one subscript than this part are rounding errors, all of them count as such.
_MOST_OF_A_SLICE = 0.5
# Elements that are compared at once: what is computed of them stays in the second cache, in memory that is used again.
_PART = 1 << 15


@dataclass(frozen=True)
class Verdict:
    """The result of a comparison."""

    #: relative norm-wise error; None where the expected result gives nothing to scale it by
    error: float | None
    #: why the result is wrong, in words; None if it is right
    wrong: str | None


@dataclass(frozen=True)
class Noise:
    """The elements of an array in which the source has nothing but rounding errors."""

    array: str
    #: of the marks in their file, bytes
    offset: int
    #: how many elements are marked, of those that the source changes
    marked: int
    #: how many the source changes
    changed: int
    #: the largest error of the other elements, relative to the largest element
    error: float


def changed(buffer: Buffer, data: Data) -> bool:
    """Whether any element differs from the array's initial contents."""
    return any(bool(np.any(buffer.values[at : at + part.size] != part)) for at, part in _initial_parts(buffer, data))


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


def compare(
    buffers: Iterable[Buffer],
    data: Data,
    path: Path,
    offsets: Mapping[str, int],
    tolerance: float,
    noise: Mapping[str, tuple[str, int]] | None = None,
) -> Verdict:
    """Compare every element of every array with the result of the original nest, stored at ``offsets`` in a file.

    Arrays that the original nest didn't change must have their initial contents. Elements that ``noise``
    marks (``mark_noise``: file and offset by array) need only be finite.
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
        marked = _marked(noise[buffer.name], buffer.elements) if noise and buffer.name in noise else None
        verdict = _close(buffer, data, expected, tolerance, marked) if floating else _equal(buffer, expected)
        if verdict.wrong is not None or verdict.error is None:
            return verdict
        worst = max(worst, verdict.error)
    return Verdict(worst, None)


def distances(
    buffers: Iterable[Buffer], data: Data, path: Path, offsets: Mapping[str, int], elements: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Two relative errors of each floating-point array against results in a wider type: of the norm, and the largest.

    The largest is relative to the largest element. The results in the wider type are stored at ``offsets`` in a file,
    as elements of the types ``elements``. Arrays of zeros are left out; on neighbours
    of the data, so are elements that are not written.
    """
    given = replace(data, neighbours=0)
    errors: dict[str, tuple[float, float]] = {}
    for buffer in buffers:
        if buffer.name not in offsets or not is_floating(buffer.dtype):
            continue
        dtype = element_dtype(elements[buffer.name])
        exact = np.memmap(path, dtype, "r", offsets[buffer.name], (buffer.elements,))
        squares = squared_differences = largest = largest_difference = 0.0
        for start, initial in _initial_parts(buffer, given):
            end = start + initial.size
            want = numbers(exact[start:end], dtype).astype(_at_least_double(dtype), copy=False)
            is_written = want != numbers(initial, buffer.dtype)
            written = _where(is_written, want)
            difference: Values = numbers(buffer.values[start:end], buffer.dtype) - want
            if data.neighbours:
                difference = _where(is_written, difference)
            squares += float(np.dot(written, written))
            squared_differences += float(np.dot(difference, difference))
            largest = max(largest, float(np.max(np.abs(written), initial=0.0)))
            largest_difference = max(largest_difference, float(np.max(np.abs(difference), initial=0.0)))
        if squares:
            errors[buffer.name] = math.sqrt(squared_differences / squares), largest_difference / largest
    return errors


def mark_noise(
    buffers: Iterable[Buffer],
    data: Data,
    path: Path,
    offsets: Mapping[str, int],
    elements: Mapping[str, str],
    most: float,
    marks: Path,
) -> list[Noise]:
    """Find the elements of a result that are nothing but rounding errors, by results in a wider type, as ``distances``.

    Those that are off by more than ``most``, relative to the largest element of their array, and all with the same
    subscript in a dimension if most of these are: in such a column, a few are right by chance. A byte of each element
    of an array that has any goes to the file ``marks``. Arrays whose elements are all determined are left out.
    """
    result: list[Noise] = []
    with marks.open("wb") as file:
        for buffer in buffers:
            if buffer.name not in offsets or not is_floating(buffer.dtype):
                continue
            dtype = element_dtype(elements[buffer.name])
            exact = np.memmap(path, dtype, "r", offsets[buffer.name], (buffer.elements,))
            written = np.zeros(buffer.elements, np.bool_)
            off = np.zeros(buffer.elements, np.float64)
            largest = 0.0
            for start, initial in data.chunks(buffer.stream, buffer.dtype, buffer.elements):
                end = start + initial.size
                want = numbers(exact[start:end], dtype).astype(_at_least_double(dtype), copy=False)
                written[start:end] = want != numbers(initial, buffer.dtype)
                largest = max(largest, float(np.max(np.abs(want[written[start:end]]), initial=0.0)))
                off[start:end] = np.abs(numbers(buffer.values[start:end], buffer.dtype) - want)
            marked = off > most * largest
            if not marked.any():
                continue
            for dimension in range(len(buffer.extents)):
                others = tuple(place for place in range(len(buffer.extents)) if place != dimension)
                shaped = marked.reshape(buffer.extents)
                shaped |= shaped.mean(axis=others, keepdims=True) > _MOST_OF_A_SLICE
            error = float(np.max(off[~marked], initial=0.0)) / largest if largest else 0.0
            result.append(Noise(buffer.name, file.tell(), int(np.sum(marked & written)), int(np.sum(written)), error))
            file.write(marked.view(np.uint8).data)
    return result


def worst(errors: Mapping[str, float], source_errors: Mapping[str, float]) -> Accuracy | None:
    """The errors of the array where they are largest over the source's, none of which is zero; None for no array."""
    pairs = [Accuracy(errors[name], own) for name, own in source_errors.items() if name in errors]
    return max(pairs, key=lambda pair: pair.ratio, default=None)


def _where(kept: Values, values: Values) -> Values:
    """The values that are kept; all of them at no cost."""
    return values if kept.all() else values[kept]


def _initial_parts(buffer: Buffer, data: Data) -> Iterator[tuple[int, Values]]:
    """The initial contents of an array in parts: (index of the first element, values)."""
    for start, chunk in data.chunks(buffer.stream, buffer.dtype, buffer.elements):
        for place in range(0, chunk.size, _PART):
            yield start + place, chunk[place : place + _PART]


def _untouched(buffer: Buffer, data: Data) -> str | None:
    for start, part in _initial_parts(buffer, data):
        differing = np.flatnonzero(buffer.values[start : start + part.size] != part)
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


def _marked(place: tuple[str, int], elements: int) -> Values:
    path, offset = place
    return np.memmap(path, np.bool_, "r", offset, (elements,))


def _at_least_double(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which errors of elements are added up: ``long double``, which is slow, for ``long double`` alone."""
    return np.dtype(np.longdouble) if dtype.itemsize > 8 else np.dtype(np.float64)


def _close(buffer: Buffer, data: Data, expected: Values, tolerance: float, marked: Values | None = None) -> Verdict:
    wide = _at_least_double(buffer.dtype)
    largest = largest_difference = squares = squared_differences = 0.0
    at = 0
    for start, initial in _initial_parts(buffer, data):
        end = start + initial.size
        got, want, before = (
            numbers(part, buffer.dtype).astype(wide)
            for part in (buffer.values[start:end], expected[start:end], initial)
        )
        broken = np.flatnonzero(~np.isfinite(got))
        if broken.size:
            return Verdict(None, _disagreement(buffer, start + int(broken[0]), want[broken[0]]))
        if marked is not None:
            got = np.where(marked[start:end], want, got)
        written = _where(want != before, want)
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
    # Squares of numbers below 1e-162 are zero.
    of_norm = math.sqrt(squared_differences / squares) if squares else 0.0
    error = max(largest_difference / largest, of_norm)
    if error <= tolerance:
        return Verdict(error, None)
    where = _disagreement(buffer, at, expected[at])
    return Verdict(error, f"{where}; the norm-wise error {error:.3g} exceeds {tolerance:.3g}")


def _disagreement(buffer: Buffer, index: int, expected: Any) -> str:
    both = np.array([buffer.values[index], expected], buffer.values.dtype)
    got, want = numbers(both, buffer.dtype)
    return f"`{buffer.element(index)}` is {got!s}, and the original nest gives {want!s}"

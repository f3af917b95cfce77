"""The contents of arrays, and when two results are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from execute_nests import array, matmul, scop, statement

from polydl.element_types import element_dtype
from polydl.errors import UnsupportedConstructError
from polydl.execute.arrays import CHUNK, GUARD_BYTES, Buffer, Data
from polydl.execute.comparison import Verdict, compare, distances, store
from polydl.execute.tolerance import roundings, tolerance

SIGNED = Data(7, signed=True)


def filled(element: str, *extents: int, data: Data = SIGNED) -> Buffer:
    buffer = Buffer("x", element_dtype(element), extents, stream=3)
    buffer.fill(data)
    return buffer


@pytest.mark.parametrize("element", ["float", "double", "long double", "_Float16"])
def test_floating_point_data(element: str) -> None:
    values = filled(element, 1000).values.astype(np.float64)
    assert -1 <= values.min() < -0.9 < 0.9 < values.max() <= 1
    positive = filled(element, 1000, data=Data(7, signed=False)).values.astype(np.float64)
    assert 0.5 <= positive.min() < 0.55 < 0.95 < positive.max() <= 1


@pytest.mark.parametrize(("element", "lowest"), [("signed char", -8), ("unsigned char", 1), ("int", -8), ("long", -8)])
def test_small_integer_data(element: str, lowest: int) -> None:
    values = filled(element, 1000, data=Data(7, signed=True, integers="small")).values
    assert (int(values.min()), int(values.max())) == (lowest, 8)
    assert not np.any(values == 0)


def test_data_depend_on_the_seed_and_the_array_alone() -> None:
    first, again = filled("float", CHUNK + 5), filled("float", CHUNK + 5)
    assert np.array_equal(first.values, again.values)
    assert not np.array_equal(first.values, filled("float", CHUNK + 5, data=Data(8, signed=True)).values)
    assert not np.array_equal(first.values[:5], first.values[CHUNK:])


def test_buffers_are_aligned_and_apart() -> None:
    buffers = [Buffer("x", np.dtype(np.float32), (100,), stream) for stream in range(4)]
    assert all(buffer.address % 64 == 0 for buffer in buffers)
    assert len({buffer.address % 4096 for buffer in buffers}) == 4


@pytest.mark.parametrize("offset", [-GUARD_BYTES, -1, 12, 12 + GUARD_BYTES - 1])
def test_guards_see_every_byte(offset: int) -> None:
    import ctypes

    buffer = Buffer("x", np.dtype(np.float32), (3,), 0)
    assert buffer.damage() is None
    byte = ctypes.c_ubyte.from_address(buffer.address + offset)
    byte.value ^= 1
    damage = buffer.damage()
    assert damage is not None
    assert ("before" in damage) == (offset < 0)


def judged(element: str, change: dict[int, float], tolerated: float, directory: Path, size: int = 100) -> Verdict:
    """The verdict on an array of which the original nest wrote all but the first element, with changes made to it."""
    buffer = filled(element, size)
    buffer.values[1:] *= 2
    offsets = store([buffer], SIGNED, directory / "original")
    for index, value in change.items():
        buffer.values[index] += value
    return compare([buffer], SIGNED, directory / "original", offsets, tolerated)


def test_small_errors_pass(tmp_path: Path) -> None:
    assert judged("float", {}, 0.0, tmp_path) == Verdict(0.0, None)
    verdict = judged("float", {5: 1e-5}, 1e-4, tmp_path)
    assert verdict.wrong is None
    assert verdict.error is not None
    assert 1e-6 < verdict.error < 1e-4


@pytest.mark.parametrize("change", [{5: 1e-3}, {0: 1e-3}, {99: float("nan")}, {0: float("inf")}])
def test_large_errors_anywhere_do_not(tmp_path: Path, change: dict[int, float]) -> None:
    verdict = judged("float", change, 1e-4, tmp_path)
    assert verdict.wrong is not None
    assert f"x[{next(iter(change))}]" in verdict.wrong


def test_numbers_whose_squares_are_zero_have_an_error(tmp_path: Path) -> None:
    buffer = filled("double", 10)
    buffer.values[:] = 1e-173
    offsets = store([buffer], SIGNED, tmp_path / "original")
    buffer.values[3] *= 1 + 1e-9
    verdict = compare([buffer], SIGNED, tmp_path / "original", offsets, 1e-6)
    assert verdict.wrong is None
    assert verdict.error == pytest.approx(1e-9, rel=1e-3)


@pytest.mark.parametrize("written", [slice(0, 90_000, 3), slice(0, 90_000), slice(40_000, 40_001)])
def test_an_error_is_that_of_what_was_written(tmp_path: Path, written: slice) -> None:
    """Of all elements, of every third, and of one in a part of which the others stay as they were."""
    buffer = filled("float", 90_000)
    buffer.values[written] *= 2
    original = buffer.values.astype(np.float64)
    offsets = store([buffer], SIGNED, tmp_path / "original")
    buffer.values[40_000] += 1e-3
    verdict = compare([buffer], SIGNED, tmp_path / "original", offsets, 1.0)
    assert verdict.error == pytest.approx(1e-3 / np.abs(original[written]).max(), rel=1e-2)
    (tmp_path / "wide").write_bytes(original.tobytes())
    ((of_norm, largest),) = distances([buffer], SIGNED, tmp_path / "wide", {"x": 0}, {"x": "double"}).values()
    assert of_norm == pytest.approx(1e-3 / np.linalg.norm(original[written]), rel=1e-2)
    assert largest == pytest.approx(1e-3 / np.abs(original[written]).max(), rel=1e-2)


def test_all_chunks_are_compared(tmp_path: Path) -> None:
    verdict = judged("float", {CHUNK + 3: 1.0}, 1e-4, tmp_path, size=CHUNK + 10)
    assert verdict.wrong is not None
    assert f"x[{CHUNK + 3}]" in verdict.wrong


def test_integers_are_exact(tmp_path: Path) -> None:
    assert judged("int", {}, 0.0, tmp_path) == Verdict(0.0, None)
    assert judged("int", {7: 1}, 1.0, tmp_path).wrong is not None


def test_small_results_are_not_measured_by_large_inputs(tmp_path: Path) -> None:
    """What the nest left alone does not set the scale: here it is a million times what was written."""
    buffer = filled("float", 10)
    buffer.values[1] = 1e-6
    offsets = store([buffer], SIGNED, tmp_path / "original")
    buffer.values[1] = 2e-6
    assert compare([buffer], SIGNED, tmp_path / "original", offsets, 1e-4).wrong is not None


def test_unknown_types() -> None:
    with pytest.raises(UnsupportedConstructError, match="struct pair"):
        element_dtype("struct pair")


def test_roundings_of_a_product() -> None:
    assert roundings(matmul()) == 16
    assert tolerance(matmul()) == pytest.approx(16 * 2.0**-23 * 4)


def test_roundings_of_an_accumulation_in_a_scalar() -> None:
    """A local sum, set to zero for each of 6 elements, of 50 terms each."""
    nest = scop(
        "sums",
        [array("y", "double", 6), array("x", "double", 6, 50), array("s", "double", storage="local")],
        [
            statement("S0", "i", (6,), [("write", "s", "")]),
            statement("S1", "ik", (6, 50), [("read", "s", ""), ("write", "s", ""), ("read", "x", "i, k")]),
            statement("S2", "i", (6,), [("write", "y", "i"), ("read", "s", "")]),
        ],
    )
    assert roundings(nest) == 50 + 1 + 1
    assert tolerance(nest) == pytest.approx(16 * 2.0**-52 * 52**0.5)


def test_roundings_where_few_elements_of_an_array_are_reached() -> None:
    nest = scop(
        "column",
        [array("y", "float", 1000, 1000), array("x", "float", 1000)],
        [statement("S0", "ik", (10, 100), [("read", "y", "i, 0"), ("write", "y", "i, 0"), ("read", "x", "k")])],
    )
    assert roundings(nest) == 100


def test_integers_tolerate_nothing() -> None:
    nest = scop("f", [array("y", "int", 6)], [statement("S0", "i", (6,), [("write", "y", "i")])])
    assert tolerance(nest) == 0.0

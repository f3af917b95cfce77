"""Convolutions of any size with fewer products: what is one, how it rounds, and right answers at all sizes."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from subprocess import run

import numpy as np
import pytest
from convolution_libraries import (
    CONVOLUTION,
    IMAGES,
    STRIDED,
    compiled_convolution,
    convolution_of,
    wrong_convolutions,
)
from machines import machine_with
from symbolic_nests import product, symbolic

from polydl.errors import IllegalVariantError
from polydl.libraries.blocking import Blocking, BlockingLoop
from polydl.libraries.candidates import product_code, usual_candidates
from polydl.libraries.convolutions import SymbolicConvolution, symbolic_convolution, tiles_that_round_well
from polydl.libraries.kernel import Kernel, planned

TILES = (BlockingLoop("n", 11), BlockingLoop("m", 19), BlockingLoop("k", 6))
ON_THREADS = (BlockingLoop("m", 9, parallel=True), BlockingLoop("n", 40), BlockingLoop("k", 30))
CHANNELS = ("N=1..3", "C=64..512", "F=1..40", "H=1..20", "W=1..40")


def blocking(outputs: int, tiles: tuple[BlockingLoop, ...] = TILES) -> Blocking:
    return Blocking(tiles, 2, 3, ("a", "b"), outputs=outputs)


@pytest.mark.parametrize(
    ("text", "taps"),
    [
        (CONVOLUTION, (3, 3)),
        (CONVOLUTION.replace("[3][3]", "[5][3]").replace("p < 3", "p < 5").replace("[H + 2]", "[H + 4]"), (5, 3)),
        (CONVOLUTION.replace("float", "double"), (3, 3)),
        # Steps of two, filters that are turned around, a scaled product, and sums that go on from the result's.
        (STRIDED, None),
        (CONVOLUTION.replace("[x + q]", "[x + 2 - q]"), None),
        (CONVOLUTION.replace("* filter", "* 0.5f * filter"), None),
        (CONVOLUTION.replace("          out[n][f][y][x] = 0;\n", ""), None),
        (CONVOLUTION.replace("out[n][f][y][x] = 0;", "out[n][f][y][x] *= 2;"), None),
    ],
)
def test_a_pixel_and_a_tap_move_the_image_by_as_much(tmp_path: Path, text: str, taps: tuple[int, int] | None) -> None:
    conv = symbolic_convolution(convolution_of(symbolic(text, tmp_path, IMAGES)))
    assert conv == (None if taps is None else SymbolicConvolution(("o2", "m"), ("o3", "o4"), taps, ("o1",)))


def test_a_product_is_no_convolution(tmp_path: Path) -> None:
    nest = symbolic(product(before="C[i][j] = 0;"), tmp_path)
    form = convolution_of(nest)
    assert form.start is not None
    assert symbolic_convolution(form) is None
    with pytest.raises(IllegalVariantError, match="no convolution"):
        planned(nest, form, Kernel(blocking=blocking(4)))


def test_tiles_are_as_large_as_the_channels_of_the_ranges_allow(tmp_path: Path) -> None:
    """Few channels have few roundings of their own, beside which those of transforms count."""
    machine = machine_with(1, 32)
    for ranges, outputs in ((IMAGES, {2}), (CHANNELS, {2, 4})):
        nest = symbolic(CONVOLUTION, tmp_path, ranges)
        form = convolution_of(nest)
        assert {each for each in (2, 4, 6) if tiles_that_round_well(nest, form, each)} == outputs
        _, kernels = usual_candidates(nest, machine)
        assert {each.blocking.outputs for each in kernels if each.blocking is not None} == {0, *outputs}
        assert any("; Winograd F(2x2, 3x3)" in each.words(nest, form) for each in kernels)
        _, kernels = usual_candidates(nest, machine, fewer_products=False)
        assert {each.blocking.outputs for each in kernels if each.blocking is not None} == {0}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("vector_bytes", [16, 64])
def test_what_is_transformed_is_small_enough_to_copy(tmp_path: Path, threads: int, vector_bytes: int) -> None:
    nest, machine = symbolic(CONVOLUTION, tmp_path, CHANNELS), machine_with(threads, vector_bytes)
    form, kernels = usual_candidates(nest, machine)
    assert form is not None
    ways = [each.blocking for each in kernels if each.blocking is not None and each.blocking.outputs]
    assert len(ways) == (4 if threads == 1 else 12)
    assert any(each.on_threads for each in ways) == (threads > 1)
    for each in ways:
        memory = [line for line in product_code(nest, form, (each,), machine).definitions() if "polydl_panel_" in line]
        arrays = [line for line in memory if line.startswith("static _Thread_local")]
        assert len(arrays) == 3
        elements = [int(line.split("[")[1].split("]")[0]) for line in arrays]
        assert max(elements) * 4 <= machine.core.packed_tile_bytes


@pytest.mark.native
@pytest.mark.parametrize("tiles", [TILES, ON_THREADS], ids=["one-thread", "threads"])
@pytest.mark.parametrize("outputs", [2, 3, 4])
@pytest.mark.parametrize("vector_bytes", [8, 32])
def test_tiles_are_right_at_all_sizes_and_read_nothing_behind_the_image(
    tmp_path: Path, outputs: int, tiles: tuple[BlockingLoop, ...], vector_bytes: int
) -> None:
    function = compiled_convolution(tmp_path, CONVOLUTION, blocking(outputs, tiles), vector_bytes=vector_bytes)
    assert wrong_convolutions(function, 40) == []


@pytest.mark.native
def test_doubles_are_transformed_in_doubles(tmp_path: Path) -> None:
    function = compiled_convolution(tmp_path, CONVOLUTION.replace("float", "double"), blocking(4))
    assert wrong_convolutions(function, 20, dtype=np.float64) == []
    random = np.random.default_rng(3)
    image, filters = random.random((2, 7, 9, 11)), random.random((5, 7, 3, 3))
    out = np.zeros((2, 5, 7, 9))
    function(**{"out": out, "in": image, "filter": filters})
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    assert np.allclose(out, np.einsum("nchwpq,fcpq->nfhw", windows, filters), rtol=1e-12)


@pytest.mark.native
@pytest.mark.parametrize("outputs", [2, 4])
def test_no_compiler_warns_of_the_transforms(tmp_path: Path, outputs: int) -> None:
    nest = symbolic(CONVOLUTION, tmp_path, IMAGES)
    code = product_code(nest, convolution_of(nest), (blocking(outputs),), machine_with(1, 32))
    path = tmp_path / "functions.c"
    path.write_text("\n".join([*code.definitions(), ""]), encoding="utf-8")
    for compiler in ("gcc", *(["clang"] if which("clang") else [])):
        command = [compiler, "-O2", "-c", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-o", "/dev/null"]
        # Those that nothing calls here are no concern of this test.
        run([*command, "-Wno-unused-function", str(path)], check=True)

"""The model that a library learns from its measurements, on times that are computed."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chance import picks_by_lot
from library_kernels import ALONG_TERMS, SMALL, library_of
from machines import machine_with
from symbolic_nests import product, symbolic

from polydl.errors import OptionError
from polydl.learning.metrics import geomean
from polydl.libraries.chosen import ChosenLibrary
from polydl.libraries.configurations import Configurations, drawn_configurations, every_configuration
from polydl.libraries.decision import Condition, Decision, Leaf
from polydl.libraries.kernel import Kernel
from polydl.libraries.learned import Selected
from polydl.libraries.product import symbolic_product
from polydl.libraries.ranges import size_ranges
from polydl.libraries.refine import measured_further
from polydl.libraries.regression import fitted
from polydl.libraries.shapes import Shape, sampled_shapes
from polydl.libraries.unit import ORIGINAL

RANGES = ("M=1..512", "N=16..512", "K=8..512")


def seconds(kernel: Kernel, shape: Shape) -> float:
    """Time by remainders of register blocks, starts of tiles and copies."""
    blocking = kernel.blocking
    assert blocking is not None
    m, n, k = shape["N"], shape["M"], shape["K"]
    tile_m, tile_n, tile_k = (min(blocking.innermost(role), size) for role, size in zip("mnk", (m, n, k), strict=True))
    rows = ceil(tile_m / (8 * blocking.vectors)) * 8 * blocking.vectors / tile_m
    columns = ceil(tile_n / blocking.columns) * blocking.columns / tile_n
    starts = ceil(m / tile_m) * ceil(n / tile_n) * ceil(k / tile_k)
    return (m * n * k * rows * columns + 2000 * starts + 40 * len(blocking.packed) * (m + n) * k) * 1e-10


@pytest.mark.slow
def test_what_it_selects_at_new_shapes_is_close_to_the_best(tmp_path: Path) -> None:
    nest, machine = symbolic(product(), tmp_path, RANGES), machine_with(1, 32)
    form = symbolic_product(nest)
    assert form is not None
    every = every_configuration(nest, form, machine)
    assert len(set(every)) == len(every) > 1000
    draw = np.random.default_rng(2)
    measured = [every[place] for place in draw.choice(len(every), 40, replace=False)]
    shapes = sampled_shapes(size_ranges(RANGES), 60, seed=0)
    table = Configurations.of(nest, form, machine, (), measured)
    features = np.concatenate([table.features(shape) for shape in shapes[:40]])
    times = np.array([seconds(kernel, shape) for shape in shapes[:40] for kernel in measured])
    model = fitted(features, times, [number for number in range(40) for _ in measured])
    assert np.median(np.abs(np.log(model.seconds(features) / times))) < 0.15
    all_of_them = Configurations.of(nest, form, machine, (), every)
    computed = [[seconds(kernel, shape) for kernel in every] for shape in shapes[40:]]
    picks = [int(np.argmin(model.seconds(all_of_them.features(shape)))) for shape in shapes[40:]]
    reached = geomean([min(times) / times[pick] for times, pick in zip(computed, picks, strict=True)])
    # Of ten picks by lot one is close to the best as well.
    assert reached > max(0.9, picks_by_lot(computed).max())


def at_one_shape(directory: Path, decision: Decision, shape: Shape) -> ChosenLibrary:
    """The library of a product, which was measured at one shape."""
    return library_of(symbolic(product(), directory, RANGES), decision, [(shape, {"original": 1.0})])


def test_products_of_numpys_integers_do_not_wrap_around(tmp_path: Path) -> None:
    """In eight bits 2000 would be -48."""
    library = at_one_shape(tmp_path, Condition(("M", "N"), 100, Leaf("few"), Leaf("many")), {"M": 1, "N": 16, "K": 8})
    sizes = {"M": np.int8(50), "N": np.int8(40), "K": np.int8(8)}
    assert library.chosen(**sizes) == "many"  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [5.5, "5", 0, -3])
def test_what_is_no_size_is_refused(tmp_path: Path, size: Any) -> None:
    shape = {"M": 1, "N": 16, "K": 8}
    library = at_one_shape(tmp_path, Leaf("original"), shape)
    wrong = {**shape, "M": size}
    with pytest.raises(OptionError, match="select: the size M is"):
        library.select(**wrong)
    with pytest.raises(OptionError, match="select: most is 0"):
        library.select(0, **shape)
    with pytest.raises(OptionError, match="refine: "):
        measured_further(library, [wrong], top_k=1, progress=None)
    if isinstance(size, int):
        assert library.chosen(**wrong) == "original"
    else:
        with pytest.raises(OptionError, match="chosen: the size M is"):
            library.chosen(**wrong)


def test_the_original_is_selected_where_it_runs(tmp_path: Path) -> None:
    shape, other = {"M": 1, "N": 16, "K": 8}, {"M": 40, "N": 30, "K": 8}
    kernels = {each.id: each for each in (Kernel(blocking=SMALL), Kernel(blocking=ALONG_TERMS))}
    first, second = kernels
    times = [(shape, {ORIGINAL: 1e-6, first: 2e-6, second: 3e-6}), (other, {ORIGINAL: 5e-6, first: 2e-6, second: 3e-6})]
    nest = symbolic(product(), tmp_path, RANGES)
    library = library_of(nest, Condition(("M",), 20, Leaf(ORIGINAL), Leaf(first)), times, kernels)
    at_small = library.select(3, **shape)
    assert at_small[0].id == library.chosen(**shape) == ORIGINAL
    assert (at_small[0].kernel, at_small[0].seconds) == (None, 1e-6)
    assert len(at_small) == 3
    assert all(each.kernel is not None and each.id == each.kernel.id for each in at_small[1:])
    # Its time is known where it was measured alone.
    assert library.select(1, **{**shape, "M": 2}) == (Selected(None, None),)
    assert ORIGINAL not in {each.id for each in library.select(5, **other)}
    # Beyond the ranges no kernel runs.
    assert library.select(5, **{**other, "M": 513}) == (Selected(None, None),)


def test_without_a_kernel_that_has_a_time_the_original_alone_is_selected(tmp_path: Path) -> None:
    shape = {"M": 1, "N": 16, "K": 8}
    library = at_one_shape(tmp_path, Leaf(ORIGINAL), shape)
    assert library.model is None
    assert library.select(**shape) == (Selected(None, 1.0),)


def test_a_loop_without_iterations_has_finite_features(tmp_path: Path) -> None:
    nest, machine = symbolic(product().replace("k < K;", "k < K - 1;"), tmp_path, RANGES), machine_with(1, 32)
    form = symbolic_product(nest)
    assert form is not None
    table = Configurations.of(nest, form, machine, (), every_configuration(nest, form, machine)[:5])
    assert np.isfinite(table.features({"M": 4, "N": 16, "K": 1})).all()


def test_configurations_are_drawn_from_all_that_the_model_knows(tmp_path: Path) -> None:
    nest, machine = symbolic(product(), tmp_path, RANGES), machine_with(1, 32)
    form = symbolic_product(nest)
    assert form is not None
    first, again, other = (drawn_configurations(nest, form, machine, 20, seed) for seed in (0, 0, 1))
    assert first == again != other
    assert len({each.id for each in first}) == 20
    assert set(first) < set(every_configuration(nest, form, machine))
    assert drawn_configurations(nest, form, machine, 0, 0) == ()
    assert drawn_configurations(nest, None, machine, 20, 0) == ()


def test_kernels_without_a_product_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    text = (
        "void gemm(int M, int N, float C[M][N])\n{\n#pragma scop\n  for (int i = 0; i < M; ++i)\n"
        "    for (int j = 0; j < N; ++j)\n      C[i][j] = 1;\n#pragma endscop\n}\n"
    )
    nest = symbolic(text, tmp_path, RANGES[:2])
    table = Configurations.of(nest, None, machine_with(1, 32), ["other", Kernel().id], [Kernel()])
    assert table.features({"M": 4, "N": 16}).tolist() == [[2.0, 4.0, 0.0, 1.0]]

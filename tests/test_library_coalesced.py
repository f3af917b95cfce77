"""Loops of a product that run as one with its rows or its terms: convolutions as products of copied tiles."""

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
from symbolic_nests import symbolic

from polydl.errors import IllegalVariantError
from polydl.ir.scop import SharedLoops
from polydl.libraries.blocking import Blocking, BlockingLoop
from polydl.libraries.candidates import product_code, usual_candidates
from polydl.libraries.coalescing import Coalesced
from polydl.libraries.configurations import Configurations, every_configuration
from polydl.libraries.kernel import Kernel, broken, planned
from polydl.libraries.product import symbolic_product

# Of each pixel, what three taps of the result get: they add to the same elements as its neighbours do.
SPREAD = """\
void spread(int C, int D, int F, int W, float out[F][W + 2], const float in[C][D][W], const float filter[F][3][C][D])
{
#pragma scop
  for (int f = 0; f < F; ++f)
    for (int x = 0; x < W; ++x)
      for (int p = 0; p < 3; ++p)
        for (int c = 0; c < C; ++c)
          for (int d = 0; d < D; ++d)
            out[f][x + p] += in[c][d][x] * filter[f][p][c][d];
#pragma endscop
}
"""

TILES = (BlockingLoop("o1", 1), BlockingLoop("m", 40), BlockingLoop("k", 25), BlockingLoop("n", 5))
OTHER_TILES = (BlockingLoop("n", 9, True), BlockingLoop("o1", 1), BlockingLoop("k", 4), BlockingLoop("m", 99))
SMALL = Blocking(TILES, 2, 3, ("a",), coalesced=True)


@pytest.mark.parametrize(
    ("text", "coalesced"),
    [
        (CONVOLUTION, Coalesced(("m", "o2"), ("o4", "o3", "k"))),
        (STRIDED, Coalesced(("m", "o2"), ("o4", "o3", "k"))),
        # Rows of the result end before their memory does.
        (CONVOLUTION.replace("out[N][F][H][W]", "out[N][F][H][W + 1]"), Coalesced(("m",), ("o4", "o3", "k"))),
        # Taps are not as far apart as they are many.
        (CONVOLUTION.replace("filter[F][C][3][3]", "filter[F][C][3][4]"), None),
        # Backwards.
        (CONVOLUTION.replace("[x + q]", "[x + 2 - q]"), None),
        # The copy is one of elements as they are.
        (CONVOLUTION.replace("const float in", "const unsigned short in"), None),
    ],
)
def test_loops_coalesce_that_pass_over_neighbours_in_memory(
    tmp_path: Path, text: str, coalesced: Coalesced | None
) -> None:
    form = symbolic_product(symbolic(text, tmp_path, IMAGES))
    assert (None if form is None else form.coalesced) == coalesced


@pytest.mark.parametrize("threads", [1, 4])
def test_usual_kernels_coalesce_and_are_proved(tmp_path: Path, threads: int) -> None:
    nest = symbolic(CONVOLUTION, tmp_path, IMAGES)
    form, kernels = usual_candidates(nest, machine_with(threads, 32))
    words = [each.words(nest, form) for each in kernels if each.blocking is not None and each.blocking.coalesced]
    assert len(words) >= 4
    assert all("y-x by" in text and "c-p-q by" in text and "packed in" in text for text in words)
    dealt = [text for text in words if "on threads" in text]
    assert bool(dealt) == (threads > 1)
    if dealt:
        assert all(any(f"{loop} on threads" in text for text in dealt) for loop in ("n", "y-x by 64"))


def test_elements_that_need_each_other_are_not_coalesced(tmp_path: Path) -> None:
    """Tiles run over elements in any order: none may be added to another one."""
    nest = symbolic(SPREAD, tmp_path, ("C=1..20", "D=1..20", "F=1..40", "W=1..40"))
    form = symbolic_product(nest)
    assert form is not None
    assert form.coalesced == Coalesced(("m",), ("o2", "k"))
    tiles = (BlockingLoop("o1", 1), *TILES[1:])
    assert broken(planned(nest, form, Kernel(blocking=Blocking(tiles, 2, 3, ("a",), coalesced=True))))


def test_a_loop_that_others_share_is_not_coalesced(tmp_path: Path) -> None:
    nest = symbolic(CONVOLUTION, tmp_path, IMAGES)
    form = symbolic_product(nest)
    assert form is not None
    shared = SharedLoops(("S0", "S1"), 3, fixed=True)
    with pytest.raises(IllegalVariantError):
        planned(nest, form, Kernel(shared=(shared,), blocking=SMALL))


@pytest.mark.native
@pytest.mark.parametrize(("text", "step"), [(CONVOLUTION, 1), (STRIDED, 2)], ids=["by-vectors", "strided"])
@pytest.mark.parametrize(
    "blocking",
    [
        SMALL,
        Blocking(TILES, 2, 3, ("a", "b"), coalesced=True),
        Blocking(OTHER_TILES, 3, 2, ("a",), coalesced=True),
    ],
    ids=["a", "both", "threads"],
)  # fmt: skip
def test_convolutions_are_right_at_all_sizes_and_read_nothing_behind_the_image(
    tmp_path: Path, text: str, step: int, blocking: Blocking
) -> None:
    function = compiled_convolution(tmp_path, text, blocking)
    assert wrong_convolutions(function, 40, step=step) == []


@pytest.mark.native
@pytest.mark.parametrize("text", [CONVOLUTION, STRIDED], ids=["by-vectors", "strided"])
def test_no_compiler_warns_of_the_copy(tmp_path: Path, text: str) -> None:
    nest = symbolic(text, tmp_path, IMAGES)
    blockings = (SMALL, Blocking(TILES, 2, 3, ("a", "b"), coalesced=True))
    code = product_code(nest, convolution_of(nest), blockings, machine_with(1, 32))
    functions = "\n".join(code.definitions())
    assert functions.count("void polydl_pack_coalesced(") == 1
    path = tmp_path / "functions.c"
    # Those that nothing calls here are no concern of this test.
    path.write_text(f"{functions}\n", encoding="utf-8")
    for compiler in ("gcc", *(["clang"] if which("clang") else [])):
        command = [compiler, "-fsyntax-only", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
        run([*command, "-Wno-unused-function", str(path)], check=True)


def test_the_model_sees_the_loops_as_one(tmp_path: Path) -> None:
    nest, machine = symbolic(CONVOLUTION, tmp_path, IMAGES), machine_with(1, 32)
    form = convolution_of(nest)
    every = every_configuration(nest, form, machine)
    pair = [Kernel(blocking=SMALL), next(each for each in every if each.blocking and not each.blocking.coalesced)]
    assert any(each.blocking and each.blocking.coalesced for each in every)
    table = Configurations.of(nest, form, machine, (), pair)
    together, alone = table.features({"N": 2, "C": 16, "F": 8, "H": 4, "W": 8})
    # Iterations of m, n and k and of the loops around, as logarithms.
    assert together[-4:].tolist() == [5.0, 3.0, pytest.approx(np.log2(16 * 9)), 1.0]
    assert alone[-4:].tolist() == [3.0, 3.0, 4.0, pytest.approx(np.log2(2 * 4 * 9))]

"""What is said of a library: on the screen, in its manifest, in its C and header, and as a figure."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from xml.etree import ElementTree

import pytest
from library_kernels import SMALL, library_of
from symbolic_nests import product, symbolic

from polydl.emission.replaced import check_replaced
from polydl.errors import ExecutionError, OptionError, PolydlError, ResourceError
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import SharedLoops
from polydl.libraries.chosen import ChosenLibrary
from polydl.libraries.decision import Leaf
from polydl.libraries.emit import emitted, library_document
from polydl.libraries.kernel import Kernel
from polydl.libraries.slowdown_plot import slowdown_plot
from polydl.libraries.unit import ORIGINAL
from polydl.presentation.library import library_text

SVG = "{http://www.w3.org/2000/svg}"
SHAPE = {"M": 3, "N": 7}
SUM = """\
void sum(int M, int N, TYPE x[M][N], TYPE s[M])
{
#pragma scop
  for (int i = 0; i < M; ++i) {
    s[i] = 0;
    for (int j = 0; j < N; ++j)
      s[i] += x[i][j];
  }
#pragma endscop
}
"""


def words(text: str) -> str:
    """A text whose lines are parts of a comment, or indented, as one line."""
    return " ".join(text.replace("\n *", " ").split())


def fixed(directory: Path, times: dict[str, float], *, compiled: bool = False) -> ChosenLibrary:
    """The library of a product with K = 6, which has the one kernel that has a time, if one has."""
    nest = symbolic(product(), directory, ("M=1..60", "N=2..50"), {"K": 6})
    kernels = {name: Kernel(blocking=SMALL) for name in times if name != ORIGINAL}
    decision = Leaf(next(iter(kernels), ORIGINAL))
    toolchain = Toolchain.find("gcc").cautious if compiled else None
    return library_of(nest, decision, [(SHAPE, times)], kernels, toolchain)


@pytest.mark.native
def test_sizes_that_are_fixed_are_told_wherever_ranges_are(tmp_path: Path) -> None:
    library = fixed(tmp_path, {ORIGINAL: 2.0, "small": 1.0}, compiled=True)
    files = emitted(library, tmp_path / "out").paths
    head = words(files["c"].read_text(encoding="utf-8").partition("*/")[0])
    assert "For M=1..60, N=2..50; right for any size. Fixed for the whole library: -D K=6 Tuned for" in head
    assert "1 kernel, chosen at 1 shape: at most 1.00 times the time of the fastest" in head
    header = words(files["header"].read_text(encoding="utf-8"))
    assert "Rows of C, with K = 6: C is C[M][N], A is A[M][6]" in header
    assert "largest of M=1..60, N=2..50, with K = 6, a kernel runs, proved right" in header
    assert "K must be 6 (-D K=6)." in header
    assert library_document(library)["defines"] == {"K": "6"}
    shown = library_text(replace(library, files=files), verbose=False)
    assert "gemm for M=1..60, N=2..50, with -D K=6: 1 kernel" in words(shown)
    pytest.importorskip("matplotlib")
    assert "slowdown.svg" in library_text(replace(library, files=files), verbose=True)


def test_one_kernel_and_one_shape_are_no_plurals(tmp_path: Path) -> None:
    library = fixed(tmp_path, {ORIGINAL: 2.0, "small": 1.0})
    assert repr(library).endswith("N=2..50: 1 kernel, at most 1.00 times the fastest at 1 shape>")


@pytest.mark.native
@pytest.mark.parametrize(
    ("kernel_seconds", "reason"),
    [
        (None, "none of those that were tried could be run with right results"),
        (0.95, "none that was right at all of 1 measured shape is enough faster than these, which take at most 1.05"),
    ],
)
def test_a_library_without_kernels_says_so_and_why(tmp_path: Path, kernel_seconds: float | None, reason: str) -> None:
    times = {ORIGINAL: 1.0} if kernel_seconds is None else {ORIGINAL: 1.0, "small": kernel_seconds}
    library = replace(fixed(tmp_path, times, compiled=True), kernels={}, decision=Leaf(ORIGINAL))
    files = emitted(library, tmp_path / "out").paths
    assert library_document(library)["without_kernels"].startswith(reason)
    head = words(files["c"].read_text(encoding="utf-8").partition("*/")[0])
    assert f"No kernels: at all sizes the loops run as they were written. Of kernels, {reason}" in head
    header = words(files["header"].read_text(encoding="utf-8"))
    assert "For all of them the loops run as they were written: there is no kernel." in header
    assert "Sums are added up in the source's order" in header
    shown = words(library_text(replace(library, files=files), verbose=False))
    assert f"no kernels: at all sizes the loops run as they were written of kernels, {reason}" in shown
    assert "Kernels" not in shown


def test_a_library_with_kernels_has_no_reason_for_having_none(tmp_path: Path) -> None:
    library = fixed(tmp_path, {ORIGINAL: 2.0, "small": 1.0})
    assert library.without_kernels == ""
    assert "without_kernels" not in library_document(library)


@pytest.mark.native
@pytest.mark.parametrize(
    ("element", "told"),
    [("int", "Integers alone, of which nothing is rounded."), ("float", "Sums may be added up in another order")],
)
def test_integers_have_no_rounding(tmp_path: Path, element: str, told: str) -> None:
    nest = symbolic(SUM.replace("TYPE", element), tmp_path, ("M=1..60", "N=2..50"))
    kernel = Kernel(shared=(SharedLoops(tuple(each.name for each in nest.scop.statements), 1),))
    toolchain = Toolchain.find("gcc").cautious
    library = library_of(nest, Leaf("one"), [(SHAPE, {ORIGINAL: 2.0, "one": 1.0})], {"one": kernel}, toolchain)
    header = words(emitted(library, tmp_path / "out").paths["header"].read_text(encoding="utf-8"))
    assert f"Numerics {told}" in header
    assert ("fuse" in header) is (element == "float")


def test_kernels_are_told_in_the_words_of_the_field(tmp_path: Path) -> None:
    nest = symbolic(SUM.replace("TYPE", "float"), tmp_path, ("M=1..60", "N=2..50"))
    names = tuple(each.name for each in nest.scop.statements)
    assert Kernel(shared=(SharedLoops(names, 1),)).words(nest, None) == "2 statements fused in loop i"
    threads = SharedLoops(names, 1, parallel=True)
    assert Kernel(shared=(threads,)).words(nest, None) == "2 statements fused in parallel loop i"
    inner = SharedLoops(names[1:], 2, parallel=True, parallel_loop=1)
    assert Kernel(shared=(inner,)).words(nest, None) == "loop i, parallel loop j"


def figure(slowdowns: list[float], bound: float = 1.1) -> ElementTree.Element:
    drawn = slowdown_plot([{"M": number + 1, "N": 8} for number in range(len(slowdowns))], slowdowns, bound)
    assert drawn is not None
    return ElementTree.fromstring(drawn)


def points(root: ElementTree.Element, name: str) -> int:
    """How many points of a line are marked."""
    (line,) = (each for each in root.iter(f"{SVG}g") if each.get("id") == name)
    return sum(1 for _ in line.iter(f"{SVG}use"))


@pytest.mark.parametrize("slowdowns", [[1.0], [1.0, 1.3, 1.05, 1.2], [1.0, 40.0, 1.7], [1.0] * 200])
def test_the_figure_has_a_point_for_each_shape_and_names_the_worst(slowdowns: list[float]) -> None:
    pytest.importorskip("matplotlib")
    root = figure(slowdowns)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert points(root, "slowdowns") == len(slowdowns)
    assert points(root, "worst") == 1
    assert f"worst: M={slowdowns.index(max(slowdowns)) + 1}, N=8, {max(slowdowns):.2f}" in texts
    assert "--max-slowdown 1.1" in texts
    assert f"share of {len(slowdowns)} measured shapes" in texts


def test_shapes_at_which_the_kernel_failed_have_no_point(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert points(figure([1.0, inf, 1.2]), "slowdowns") == 2
    assert slowdown_plot([SHAPE], [inf], 1.1) is not None


@pytest.mark.native
@pytest.mark.parametrize(("error", "kept"), [(ResourceError("the disk is full"), True), (ExecutionError("gcc"), False)])
def test_the_figure_of_an_earlier_library_goes_with_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: PolydlError, kept: bool
) -> None:
    """Where nothing could be written, the earlier library is whole; where nothing compiled, it is gone."""
    library = fixed(tmp_path, {ORIGINAL: 2.0, "small": 1.0})
    plot = tmp_path / "out" / "slowdown.svg"
    plot.parent.mkdir()
    plot.write_text("made by polydl")

    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("polydl.libraries.emit.write_unit", refused)
    with pytest.raises(type(error)):
        emitted(library, plot.parent)
    assert plot.exists() == kept


def test_a_figure_that_a_person_drew_is_not_replaced(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "slowdown.svg"
    path.write_text("<svg/>", encoding="utf-8")
    with pytest.raises(OptionError, match=r"slowdown\.svg in the folder of the results was not written by polydl"):
        check_replaced(tmp_path, "library.json")
    check_replaced(tmp_path, "report.json")
    path.write_text(slowdown_plot([SHAPE], [1.0], 1.1) or "", encoding="utf-8")
    check_replaced(tmp_path, "library.json")

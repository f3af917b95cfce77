"""Sums over triangles as squares along the diagonal."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from computed import parse
from marks import parametrized

import polydl
from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.rewriting import rewritten
from polydl.poly.counting import count
from polydl.rewrite_contract import Request
from polydl.variants.rewrites.cut_triangle import CUT_TRIANGLE, CutTriangle

MACHINE = polydl.Machine.detect(cache_sizes="32K,1M", threads=1)
LOWER = """void f(double c[48][48], double a[48][20], double alpha) {
  for (int i = 0; i < 48; i++)
    for (int k = 0; k < 20; k++)
      for (int j = 0; j <= i; j++)
        c[i][j] += alpha * a[i][k] * a[j][k];
}
"""
# Strictly above the diagonal, whose square begins at 1.
UPPER = """void f(double c[50][50], double a[20][50]) {
  for (int i = 1; i < 48; i++)
    for (int j = i + 1; j < 49; j++)
      for (int k = 0; k < 20; k++)
        c[i][j] += a[k][i] * a[k][j];
}
"""
JOINED = """void f(double b[48][20], double a[48][48]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 20; j++)
      for (int k = i + 1; k < 48; k++)
        b[i][j] += a[k][i] * b[k][j];
}
"""


def written(scop: Scop, name: str) -> isl.Set:
    return isl.Map(scop.statement(name).writes[0].relation).range()


@pytest.mark.parametrize(("text", "rows", "columns"), [(LOWER, "i", "j"), (UPPER, "j", "i")])
def test_every_instance_is_in_one_part(tmp_path: Path, text: str, rows: str, columns: str) -> None:
    nest = parse(tmp_path, text)
    (before,) = nest.statements
    for size in (24, 12, 6):
        cut = rewritten(nest, (CutTriangle("S0", rows, columns, size),)).scop
        *squares, triangles = cut.statements
        assert len(squares) == {24: 1, 12: 2, 6: 3}[size]
        assert all(each.box is not None for each in squares)
        assert triangles.box is None
        assert sum(each.instances for each in cut.statements) == before.instances
        assert [count(each.domain) for each in cut.statements] == [each.instances for each in cut.statements]
        together = isl.Set.empty(written(cut, "S0").get_space())
        for each in cut.statements:
            part = written(cut, each.name)
            assert part.is_disjoint(together)
            together = together.union(part)
        assert together.is_equal(written(nest, "S0"))


def test_other_sizes_and_loops_are_refused(tmp_path: Path) -> None:
    nest = parse(tmp_path, LOWER)
    for step in (
        CutTriangle("S0", "i", "j", 5),
        CutTriangle("S0", "j", "i", 12),
        CutTriangle("S0", "i", "k", 12),
        CutTriangle("S0", "i", "none", 12),
    ):
        with pytest.raises(IllegalVariantError):
            rewritten(nest, (step,))


def test_triangles_of_one_row_are_refused(tmp_path: Path) -> None:
    nest = parse(tmp_path, UPPER.replace("i < 48", "i < 16").replace("j < 49", "j < 17"))
    assert len(rewritten(nest, (CutTriangle("S0", "j", "i", 2),)).scop.statements) == 4
    with pytest.raises(IllegalVariantError, match="no squares down to 1 rows"):
        rewritten(nest, (CutTriangle("S0", "j", "i", 1),))


def test_dependences_between_parts_forbid_it(tmp_path: Path) -> None:
    nest = parse(tmp_path, JOINED)
    with pytest.raises(IllegalVariantError, match=r"dependence on `b` .* joins the parts"):
        rewritten(nest, (CutTriangle("S0", "k", "i", 12),))


@pytest.mark.parametrize("text", [JOINED, LOWER.replace("j <= i", "j < 48"), LOWER.replace("j <= i", "j <= i / 2")])
def test_what_is_no_such_triangle_is_left_alone(tmp_path: Path, text: str) -> None:
    left = rewritten(parse(tmp_path, text), ())
    request = Request(left.scop, left.scop.statements[0], left.dependences, MACHINE)
    try:
        assert list(CUT_TRIANGLE.propose(request)) == []
    except IllegalVariantError:
        assert text == JOINED


@pytest.mark.parametrize("text", [LOWER, UPPER])
def test_microkernels_take_the_squares(tmp_path: Path, text: str) -> None:
    space = pipeline.space_on(parse(tmp_path, text), MACHINE, microkernel="c")
    cut = [each for each in space.alternatives if any(isinstance(step, CutTriangle) for step in each.rewrites)]
    assert cut
    for each in cut:
        kernels = {name: report.kernel for report in each.reports for name in report.nest.statements}
        boxes = {s.name: s.box for s in each.scop.statements if s.name.startswith("S0")}
        assert all((kernels[name] == "c") == (box is not None) for name, box in boxes.items())
        assert "cut_triangle" in {step["step"] for step in Variant(each.rewrites).to_json()}


@pytest.mark.native
@parametrized("text", [LOWER, UPPER], quick=1)
def test_results_are_right(tmp_path: Path, text: str) -> None:
    nest = parse(tmp_path, text)
    space = pipeline.space_on(nest, MACHINE, microkernel="c")
    cut = next(each for each in space.alternatives if any(isinstance(step, CutTriangle) for step in each.rewrites))
    (first, *_) = pipeline.generate(cut, max_variants=1).variants
    result = polydl.optimize(nest, machine=MACHINE, microkernel="c", variants=[first], records=False)
    (tried,) = result.tried
    assert tried.measurement.status == "ok", tried.measurement.message
    assert result.exactness is not None
    assert result.exactness.verdict != "differs"


def test_statements_without_loops_beside_it_change_nothing(tmp_path: Path) -> None:
    """A correlation sets its last element of the diagonal behind all loops."""
    nest = parse(tmp_path, f"{LOWER.rstrip().removesuffix('}')}  c[0][47] = 1;\n}}\n")
    assert [statement.depth for statement in nest.statements] == [3, 0]
    cut = rewritten(nest, (CutTriangle("S0", "i", "j", 12),)).scop
    assert cut.statements[-1].name == "S1"
    space = pipeline.space_on(nest, MACHINE, microkernel="c")
    assert any(isinstance(step, CutTriangle) for each in space.alternatives for step in each.rewrites)

"""Arrays that each iteration of outer loops writes before it reads them, with elements for each iteration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from computed import check_kernels, parse
from frontend_interpreter import DTYPES, Interpreter, points, table
from marks import parametrized

import polydl
from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import LIMITS
from polydl.plan.apply import apply
from polydl.plan.rewriting import rewritten
from polydl.variants.rewrites import expand
from polydl.variants.rewrites.expand import Expand

MACHINE = polydl.Machine.detect(cache_sizes="32K,1M", threads=1)
# The product of PolyBench's doitgen: a row is multiplied by a matrix, in a vector of its own, and takes its place.
ROWS = """void f(double a[2][3][8], double b[8][8], double row[8]) {
  for (int r = 0; r < 2; r++)
    for (int q = 0; q < 3; q++) {
      for (int p = 0; p < 8; p++) {
        row[p] = 0;
        for (int s = 0; s < 8; s++)
          row[p] += a[r][q][s] * b[s][p];
      }
      for (int p = 0; p < 8; p++)
        a[r][q][p] = row[p];
    }
}
"""
LONG = ROWS.replace("8", "48").replace("[2]", "[4]").replace("r < 2", "r < 4").replace("3", "20")
LOCAL = ROWS.replace(", double row[8]) {", ") {\n  double row[8];")
BACKWARDS = ROWS.replace("int q = 0; q < 3; q++", "int q = 2; q >= 0; q--")
# Another loop reads the row before it has values of its own.
USED_BEFORE = ROWS.replace(") {\n", ") {\n  for (int p = 0; p < 8; p++)\n    a[0][0][p] += row[p];\n", 1)
CARRIED = ROWS.replace("row[p] = 0;", "row[p] *= 0.5;")
# The first element is set in the first iteration alone.
FIRST_ONLY = ROWS.replace("row[p] = 0;", "if (p > 0 || q == 0) row[p] = 0;")
# Later iterations write fewer elements, so that what is left comes from several of them.
TRIANGLE = """void f(double a[12][12], double row[12]) {
  for (int i = 0; i < 12; i++) {
    for (int j = i; j < 12; j++)
      row[j] = a[i][j] * 2;
    for (int j = i; j < 12; j++)
      a[i][j] = row[j] + row[i];
  }
}
"""
GROWING = TRIANGLE.replace("j = i; j < 12", "j = 0; j <= i")


def extents(scop: Scop) -> dict[str, tuple[int, ...]]:
    return {array.name: array.extents for array in scop.arrays}


def after_run(scop: Scop, seed: int) -> dict[str, np.ndarray]:
    """The arrays after a run on random data; what is local begins as NaN."""
    draw = np.random.default_rng(seed)
    memory = {
        array.name: draw.integers(-3, 4, array.extents).astype(DTYPES[array.element])
        for array in scop.arrays
        if array.storage == "parameter"
    }
    memory |= {each.name: np.full(each.extents, np.nan) for each in scop.arrays if each.storage == "local"}
    Interpreter(scop, memory, {}).run()
    return {name: memory[name] for name in memory if scop.array(name).storage == "parameter"}


def same(before: Scop, after: Scop) -> bool:
    first, second = after_run(before, 1), after_run(after, 1)
    assert first.keys() == second.keys()
    assert not any(np.isnan(values).any() for values in first.values())
    return all(np.array_equal(values, second[name]) for name, values in first.items())


@pytest.mark.parametrize("text", [ROWS, LOCAL, BACKWARDS, USED_BEFORE])
@parametrized("loops", [("q",), ("r", "q"), ("r",)], quick=1)
def test_it_computes_the_same(tmp_path: Path, text: str, loops: tuple[str, ...]) -> None:
    nest = parse(tmp_path, text)
    step = Expand(nest.statements[-1].name, "row", loops)
    after = rewritten(nest, (step,)).scop
    sizes = {"r": 2, "q": 3}
    assert extents(after)["row_expanded"] == (*(sizes[loop] for loop in loops), 8)
    # A local array is gone, and what it holds in the end with it.
    assert ("row" in extents(after)) == (text != LOCAL)
    assert len(after.statements) == len(nest.statements) + (text != LOCAL)
    assert same(nest, after)


def test_loops_are_common_no_more(tmp_path: Path) -> None:
    nest = parse(tmp_path, ROWS)
    depths = {
        loops: [each.depth for each in rewritten(nest, (Expand("S0", "row", loops),)).nests]
        for loops in (("q",), ("r", "q"))
    }
    assert [each.depth for each in rewritten(nest, ()).nests] == [2, 2, 2]
    assert depths == {("q",): [1, 1, 1, 0], ("r", "q"): [0, 0, 0, 0]}


@pytest.mark.parametrize(
    ("text", "loops", "why"),
    [
        (CARRIED, ("q",), "what the loops around it have not written"),
        (FIRST_ONLY, ("q",), "leads from one iteration of q to another"),
        (TRIANGLE, ("i",), "is not that of one iteration"),
        (ROWS, ("q", "r"), "no loops of S0"),
        (ROWS, ("q", "q"), "no loops of S0"),
        (ROWS, (), "no loops of S0"),
        (ROWS, ("z",), "no loops of S0"),
        (ROWS, ("q", "p"), "does not share the loops"),
    ],
)
def test_what_it_refuses(tmp_path: Path, text: str, loops: tuple[str, ...], why: str) -> None:
    nest = parse(tmp_path, text)
    with pytest.raises(IllegalVariantError, match=why):
        rewritten(nest, (Expand("S0", "row", loops),))


def test_other_arrays_are_refused(tmp_path: Path) -> None:
    nest = parse(tmp_path, ROWS)
    for statement, array in (("S0", "a"), ("S0", "b"), ("S0", "none"), ("none", "row")):
        with pytest.raises(IllegalVariantError):
            rewritten(nest, (Expand(statement, array, ("q",)),))


def test_what_grows_is_left_by_the_last_iteration(tmp_path: Path) -> None:
    nest = parse(tmp_path, GROWING)
    after = rewritten(nest, (Expand("S0", "row", ("i",)),)).scop
    copy = after.statement("copy_row")
    assert copy.access("copy_row_from").relation.count("11") >= 1
    assert same(nest, after)


def test_large_arrays_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nest = parse(tmp_path, ROWS)
    monkeypatch.setattr(expand, "LIMITS", replace(LIMITS, expanded_bytes=2 * 3 * 8 * 8))
    rewritten(nest, (Expand("S0", "row", ("r", "q")),))
    monkeypatch.setattr(expand, "LIMITS", replace(LIMITS, expanded_bytes=2 * 3 * 8 * 8 - 1))
    # The same question would be answered from memory.
    with pytest.raises(IllegalVariantError, match="would take more than"):
        expand.expand(nest, Expand("S0", "row", ("r", "q")))


def proposed(scop: Scop, microkernel: str = "c") -> list[list[Expand]]:
    """The expansions with which alternatives of a scop begin."""
    space = pipeline.space_on(scop, MACHINE, microkernel=microkernel)
    steps = [[step for step in each.rewrites if isinstance(step, Expand)] for each in space.alternatives]
    return [each for number, each in enumerate(steps) if each and each not in steps[:number]]


def test_it_is_proposed_along_few_loops_first(tmp_path: Path) -> None:
    assert proposed(parse(tmp_path, ROWS)) == [[Expand("S0", "row", ("q",))], [Expand("S0", "row", ("r", "q"))]]


@pytest.mark.parametrize(
    "text",
    [
        CARRIED,
        # Each sum takes the sum before it, so that no more loops can be taken apart.
        ROWS.replace("row[p] += a[r][q][s]", "row[p] += a[r][q ? q - 1 : 0][s]"),
        # All is apart already.
        "void f(double a[40][40], double b[40]) { for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) {"
        " b[j] = a[i][j]; a[i][j] = b[j] * b[j]; } }",
    ],
)
def test_it_is_not_proposed_in_vain(tmp_path: Path, text: str) -> None:
    assert proposed(parse(tmp_path, text)) == []


def test_two_arrays_are_expanded_together(tmp_path: Path) -> None:
    second = "{ next[p] = 0; for (int s = 0; s < 8; s++) next[p] += row[s] * b[s][p]; }"
    text = ROWS.replace("double row[8]", "double row[8], double next[8]").replace(
        "a[r][q][p] = row[p];", f"{second}\n      for (int p = 0; p < 8; p++) a[r][q][p] = next[p];"
    )
    first, *_ = proposed(parse(tmp_path, text))
    assert [(step.array, step.loops) for step in first] == [("row", ("q",)), ("next", ("q",))]


def test_other_rewrites_follow(tmp_path: Path) -> None:
    space = pipeline.space_on(parse(tmp_path, LONG.replace("+= a", "+= 3 * a")), MACHINE, microkernel="c")
    kinds = {tuple(step["step"] for step in Variant(each.rewrites).to_json()) for each in space.alternatives}
    assert ("expand", "materialize") in kinds


@pytest.mark.native
def test_a_microkernel_takes_the_rows(tmp_path: Path) -> None:
    nest = parse(tmp_path, LONG)
    space = pipeline.space_on(nest, MACHINE, microkernel="c")
    kernels = []
    for each in space.alternatives:
        if any(isinstance(step, Expand) for step in each.rewrites):
            assert [report.kernel for report in each.reports if "S1" in report.nest.statements] == ["c"]
            (variant,) = pipeline.generate(each, max_variants=1).variants
            assert "use_microkernel" in {step["step"] for step in variant.to_json()}
            kernels.append(pipeline.kernel(each.apply(variant), 32))
    assert len(kernels) >= 2
    check_kernels(tmp_path, nest, kernels, threads=1)


# ----------------------------------------------------------------------------------
# Random nests


def drawn_nest(draw: Random) -> str:
    """Two or three loops in two outer ones, over arrays that some write before they read them."""
    lines = ["void f(double a[7][7], double u[7], double v[7], double w[2][7]) {"]
    lines.append("for (int t = 0; t < 3; t++)")
    lines.append(draw.choice(["for (int i = 0; i < 5; i++) {", "for (int i = 4; i >= 0; i--) {"]))
    for number in range(draw.choice((2, 3, 3))):
        low, high = draw.choice(("0", "1", "i")), draw.choice(("4", "6", "i"))
        low = "0" if (low, high) == ("i", "4") and draw.random() < 0.5 else low
        to = draw.choice(("u[j]", "v[j]", "w[0][j]", "a[i][j]", "u[6 - j]", "w[1][j]"))
        terms = [draw.choice(("u[j]", "v[j]", "a[i][j]", "a[t][j]", "u[6 - j]", "w[0][j]", "w[1][6 - j]", "1.0"))]
        terms.append(draw.choice(("u[j]", "a[i][6 - j]", "2.0", "v[6 - j]")))
        operator = draw.choice(("=", "=", "=", "+="))
        factor = " * 0.5" if number else ""
        lines.append(f"for (int j = {low}; j <= {high}; j++) {to} {operator} ({' - '.join(terms)}){factor};")
    return "\n".join([*lines, "}", "}"]) + "\n"


def reads_own_writes(scop: Scop, step: Expand) -> bool:
    """Whether every read of the array finds what the same iteration of the step's loops wrote; instance by instance."""
    places = [scop.statement(step.statement).iterators.index(loop) for loop in step.loops]
    found = []
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array == step.array:
                elements = table(access.relation)
                for point in points(statement.domain):
                    time = [statement.betas[0]]
                    for number, value in enumerate(point):
                        time += [statement.directions[number] * value, statement.betas[number + 1]]
                    iteration = tuple(point[place] for place in places)
                    found.append(((*time, access.kind == "write"), elements[point], iteration))
    written: dict[tuple[int, ...], tuple[int, ...]] = {}
    for (*_, is_write), element, iteration in sorted(found):
        if is_write:
            written[element] = iteration
        elif written.get(element) != iteration:
            return False
    return True


def steps_of(scop: Scop) -> Iterator[Expand]:
    for array in ("u", "v", "w"):
        users = [s for s in scop.statements if any(access.array == array for access in s.accesses)]
        for loops in (("i",), ("t",), ("t", "i")) if users else ():
            yield Expand(users[0].name, array, loops)


@parametrized("seed", range(4), quick=1)
def test_random_nests_compute_the_same(tmp_path: Path, seed: int) -> None:
    draw = Random(seed)
    legal = refused = left = 0
    for _ in range(12):
        nest = parse(tmp_path, drawn_nest(draw))
        for step in steps_of(nest):
            try:
                after = expand.expand(nest, step)
            except IllegalVariantError as error:
                if "have not written" in str(error) or "leads from one iteration" in str(error):
                    assert not reads_own_writes(nest, step)
                    refused += 1
                else:
                    left += 1
                continue
            legal += 1
            assert reads_own_writes(nest, step)
            assert same(nest, after)
            apart = rewritten(nest, (step,)).scop
            assert same(nest, apart)
            assert math.prod(extents(after)[f"{step.array}_expanded"]) > nest.array(step.array).elements
            apply(nest, Variant((step,)), ()).prove()
    assert legal > 3
    assert refused > 3

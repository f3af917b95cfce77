"""The check over rings: every variant agrees with its nest bit for bit, and the smallest mistake is seen."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from computed import parse
from golden_code import Case, generated, parsed
from machines import machine_with
from marks import parametrized
from test_golden import FILES, named

import polydl
from polydl import optimize, pipeline
from polydl.codegen.original import original
from polydl.execute.exactness import compare_exactly, estimated_seconds
from polydl.execute.rings import FIELD, INTEGERS, has_fractions, over, rewritten_for
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing.over_rings import over_rings
from polydl.fuzzing.unit import suffix
from polydl.ir.ingredients import Ingredients, VectorType
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.scop import Scop
from polydl.optimization.exact_winner import with_exactness
from polydl.presentation.answer import answer_text
from polydl.report.documents import optimization_document
from polydl.workloads import workload

pytestmark = pytest.mark.native

NAMES = list(map(named, FILES))
# A few ways to write code; the rest is for ``make test-slow``.
QUICK = (
    "conv_relu/c-winograd-first-after-prepared",
    "matmul/c-strassen-first-inner",
    "matmul_bfloat16/c",
    "softmax/loops-fuse",
)


def case_of(name: str) -> Case:
    file = Path(__file__).with_name("golden") / f"{name}.json"
    return Case.from_json(file.with_name("nest.c"), json.loads(file.read_text(encoding="utf-8")))


def checked(scop: Scop, kernel: KernelSource, directory: Path) -> Exactness:
    return compare_exactly(scop, kernel, Toolchain.find("gcc"), directory)


@parametrized("name", [*QUICK, *(name for name in NAMES if name not in QUICK)], quick=len(QUICK))
def test_every_golden_variant_agrees(name: str, tmp_path: Path) -> None:
    case = case_of(name)
    result = checked(parsed(case), generated(case), tmp_path)
    assert (result.verdict, result.reason) == ("agrees", "")
    assert result.ring == (FIELD if needs_a_field(name) else INTEGERS)


def test_temporary_files_of_the_compiler_go_with_the_folder(tmp_path: Path) -> None:
    """A compiler that is killed leaves them behind."""
    toolchain, compiler = Toolchain.find("gcc"), tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$TMPDIR" > {tmp_path}/places\nexec {toolchain.path} "$@"\n')
    compiler.chmod(0o755)
    scop = parse(tmp_path, SMALL)
    result = compare_exactly(scop, original(scop), replace(toolchain, path=compiler), tmp_path / "program")
    assert result.verdict == "agrees", result.reason
    assert (tmp_path / "places").read_text().strip() == str(tmp_path / "program")


def test_a_main_of_the_source_does_not_take_the_place_of_the_driver(tmp_path: Path) -> None:
    scop = parse(tmp_path, SMALL)
    plain = original(scop)
    other = 'int printf(const char *, ...);\nint main(void) { return printf("%g %g\\n", 1.0, 2.0); }\n'
    assert checked(scop, replace(plain, c=plain.c + other), tmp_path / "program").verdict == "agrees"


@pytest.mark.parametrize("ends", ["", "\\n"])
def test_what_the_source_prints_is_no_answer_of_the_driver(tmp_path: Path, ends: str) -> None:
    """Behind its loops a function may print, with or without the end of the line."""
    behind = f'#pragma endscop\n  printf("%g %g{ends}", 1.0, 2.0);'
    scop = parse(tmp_path, "#include <stdio.h>\n" + SMALL.replace("#pragma endscop", behind))
    assert checked(scop, original(scop), tmp_path / "right").verdict == "agrees"
    wrong = checked(scop, replace(original(scop), c=original(scop).c.replace("+=", "-=")), tmp_path / "wrong")
    assert (wrong.verdict, "elements differ" in wrong.reason) == ("differs", True)


@pytest.mark.parametrize("scale", ["", "0.25f * "])
def test_a_source_that_takes_the_time_is_checked(scale: str, tmp_path: Path) -> None:
    """Over either ring; a time is no number of theirs."""
    text = SMALL.replace("+= ", f"+= {scale}").replace("#pragma scop", "double t = omp_get_wtime();\n#pragma scop")
    text = text.replace("#pragma endscop", '#pragma endscop\n  printf("%g", omp_get_wtime() - t);')
    scop = parse(tmp_path, f"#include <omp.h>\n#include <stdio.h>\n{text}")
    result = checked(scop, original(scop), tmp_path / "right")
    assert (result.verdict, result.ring) == ("agrees", FIELD if scale else INTEGERS), result.reason


def test_a_program_that_ends_otherwise_than_the_driver_does_not_tell_apart(tmp_path: Path) -> None:
    """Here what runs at the exit of the process ends it with another status."""
    scop = parse(tmp_path, SMALL)
    plain = original(scop)
    ending = "void _exit(int);\n__attribute__((destructor)) static void at_the_end(void) { _exit(5); }\n"
    result = checked(scop, replace(plain, c=plain.c + ending), tmp_path / "program")
    assert (result.verdict, "status 5" in result.reason) == ("not applicable", True)


def _of_unit(kernel: KernelSource, number: int) -> tuple[int, KernelSource]:
    """A kernel of the nest ``product`` as it is generated for a unit."""
    c, harness = (text.replace("product(", f"product{suffix(number)}(") for text in (kernel.c, kernel.harness))
    return number, replace(kernel, c=c, harness=harness)


@pytest.mark.parametrize("scale", ["", "0.25f * "])
def test_kernels_of_one_program_have_verdicts_of_their_own(scale: str, tmp_path: Path) -> None:
    """Over either ring; one that ends the program ends nothing of the others."""
    scop = parse(tmp_path, SMALL.replace("+= ", f"+= {scale}"))
    plain = original(scop)
    leaving, other = plain.c.replace("+=", "+= *(float *)8 *"), plain.c.replace("+=", "-=")
    assert len({plain.c, leaving, other}) == 3
    kernels = [_of_unit(replace(plain, c=text), n) for n, text in enumerate((plain.c, leaving, other, plain.c))]
    results = dict(over_rings(scop, kernels[::-1], Toolchain.find("gcc"), tmp_path / "unit", 5))
    assert [results[number].verdict for number in range(4)] == ["agrees", "differs", "differs", "agrees"]
    assert "ends its program with status" in results[1].reason
    assert "elements differ" in results[2].reason
    assert {each.ring for each in results.values()} == {FIELD if scale else INTEGERS}


def test_one_kernel_that_is_no_c_leaves_the_others_of_its_program_their_verdicts(tmp_path: Path) -> None:
    scop = parse(tmp_path, SMALL)
    plain = original(scop)
    kernels = [_of_unit(plain, 0), _of_unit(replace(plain, c="no C"), 1)]
    results = dict(over_rings(scop, kernels, Toolchain.find("gcc"), tmp_path / "unit", 5))
    assert (results[0].verdict, results[1].verdict) == ("agrees", "not applicable")
    assert "it can't be compiled over the ring" in results[1].reason


VECTORS = """\
typedef float polydl_one __attribute__((vector_size(4), aligned(4)));
static polydl_one polydl_tripled(polydl_one polydl_element) { return polydl_element * 3.0f * (polydl_one){0.25f}; }
"""


def test_vectors_of_one_lane_and_a_local_element_are_taken_over_the_field(tmp_path: Path) -> None:
    """The classes of the field have names that generated code does not have."""
    scop = parse(tmp_path, SMALL.replace("+= ", "+= 0.25f * "))
    plain = original(scop)
    ingredients = Ingredients(vector_types=(VectorType("polydl_one", "float", 1, VECTORS.splitlines()[0]),))
    kernel = replace(plain, c=VECTORS + plain.c, ingredients=ingredients)
    result = checked(scop, kernel, tmp_path / "program")
    assert (result.verdict, result.reason) == ("agrees", "")


def needs_a_field(name: str) -> bool:
    """Whether the variant divides, or multiplies by fractions."""
    return "winograd" in name or name.startswith(
        ("softmax", "bnorm_train", "instance_norm", "stencil", "sweep", "upscale")
    )


PRODUCT = """\
void product(float c[8][32], const float a[8][10000], const float b[10000][32])
{
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 10000; k++)
      for (int j = 0; j < 32; j++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


SMALL = PRODUCT.replace("10000", "10")
WITHOUT_PRAGMAS = PRODUCT.replace("#pragma scop\n", "")


def written(scop: Scop, text: str, *factors: Fraction) -> KernelSource:
    """A kernel in words of its own, with these constants."""
    return replace(original(scop), id="kernel", c=text, ingredients=Ingredients(factors=factors))


def test_a_mistake_below_every_tolerance_is_seen(tmp_path: Path) -> None:
    """One term of ten thousand counts twice, with a weight of a hundredth of a millionth."""
    scop = parse(tmp_path, PRODUCT)
    text = WITHOUT_PRAGMAS.replace("#pragma endscop", "c[3][5] += 1e-8f * a[3][77] * b[77][5];")
    kernel = written(scop, text, Fraction(1, 10**8))
    result = checked(scop, kernel, tmp_path / "work")
    assert (result.verdict, result.ring) == ("differs", FIELD)
    assert "`c[3][5]` is " in result.reason
    assert "1 of 256 elements differ" in result.reason


def test_a_term_that_is_lost_is_seen(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    text = WITHOUT_PRAGMAS.replace("#pragma endscop", "").replace("k < 10000", "k < 9999 + (i > 0)")
    result = checked(scop, written(scop, text), tmp_path / "work")
    assert (result.verdict, result.ring) == ("differs", INTEGERS)
    assert "32 of 256 elements differ" in result.reason


def test_what_is_kept_from_an_earlier_call_is_seen(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    text = WITHOUT_PRAGMAS.replace("#pragma endscop", "").replace("a[i][k] *", "kept[i][k] *")
    keeps = "static float kept[8][10000]; static int full;\n  if (!full) memcpy(kept, a, sizeof kept);\n  full = 1;"
    text = "#include <string.h>\n" + text.replace("{\n", "{\n" + keeps, 1)
    result = checked(scop, written(scop, text), tmp_path / "work")
    assert result.verdict == "differs"


def test_reading_outside_of_an_array_is_seen(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    text = WITHOUT_PRAGMAS.replace("#pragma endscop", "volatile float x = b[10000][0]; (void)x;")
    result = checked(scop, written(scop, text), tmp_path / "work")
    assert result.verdict == "differs"
    assert "leaves an array" in result.reason


def test_floats_may_become_doubles_before_they_are_multiplied(tmp_path: Path) -> None:
    scop = parse(tmp_path, SMALL.replace("float c", "double c"))
    text = WITHOUT_PRAGMAS.replace("10000", "10").replace("float c", "double c").replace("#pragma endscop", "")
    result = checked(scop, written(scop, text.replace("a[i][k] *", "(double)a[i][k] *")), tmp_path / "work")
    assert (result.verdict, result.ring) == ("agrees", FIELD)


def test_the_largest_number_is_the_same_by_its_name_and_in_digits(tmp_path: Path) -> None:
    text = """\
#include <float.h>
void least(float m[64], int at[64], const float x[64][2]) {
  for (int i = 0; i < 64; ++i) {
    m[i] = LARGEST;
    at[i] = -1;
    for (int j = 0; j < 2; ++j)
      if (x[i][j] < m[i]) {
        m[i] = x[i][j];
        at[i] = j;
      }
  }
}
"""
    scop = parse(tmp_path, text.replace("LARGEST", "FLT_MAX"))
    for number, digits in enumerate(("3.40282347E+38F", "3.40282346638528859811704183484516925440e+38F")):
        result = checked(scop, written(scop, text.replace("LARGEST", digits)), tmp_path / str(number))
        assert (result.verdict, result.ring) == ("agrees", INTEGERS)
    wrong = written(scop, text.replace("LARGEST", "-FLT_MAX").replace("[j] <", "[j] >"))
    assert checked(scop, wrong, tmp_path / "wrong").verdict == "differs"


def test_integers_wrap_and_are_drawn_from_their_whole_range(tmp_path: Path) -> None:
    text = "void f(int c[64], const int a[64], const signed char b[64]) {{{0}for (int i = 0; i < 64; i++) {1};{2}}}"
    scop = parse(tmp_path, text.format("\n#pragma scop\n", "c[i] += a[i] * b[i]", "\n#pragma endscop\n"))
    same = written(scop, text.format("", "c[i] = (b[i] * a[i]) + c[i]", ""))
    assert checked(scop, same, tmp_path / "same").verdict == "agrees"
    narrow = written(scop, text.format("", "c[i] += (short)a[i] * b[i]", ""))
    assert checked(scop, narrow, tmp_path / "narrow").verdict == "differs"


def test_a_shift_is_that_of_bfloat16_where_code_names_the_type_alone() -> None:
    assert rewritten_for(INTEGERS, "bfloat16 x; y = x << 16;") == "bfloat16 x; y = x << 0;"
    for text in ("// bfloat16\ny = x << 16;", 's = "bfloat16"; y = x << 16;'):
        assert rewritten_for(INTEGERS, text) == text


def test_comments_and_strings_stay_as_they_are() -> None:
    text = '/* 0.5f */ s = "1.5"; // 2.0'
    assert rewritten_for(FIELD, text) == text


def test_literals() -> None:
    assert not has_fractions("x * 2.0f + 1e3 + y[10] + 0x1f + 1.0e2f")
    assert has_fractions("x * 0.5f")
    assert has_fractions("2.5e-3")
    assert has_fractions("0x1p-1f")
    assert rewritten_for(INTEGERS, "0x1.8p1f * x") == "((float)3u) * x"
    (text,) = over(INTEGERS, ["a = 3.0f * b;"], ())
    assert text.endswith("a = ((float)3u) * b;")
    (text,) = over(FIELD, ["a = 0.79012346f * b;"], ())
    residue = 64 * pow(81, -1, 2**31 - 1) % (2**31 - 1)
    assert text.endswith(f"a = (float({residue})) * b;")


def test_headers_of_the_source_see_its_macros_and_are_over_the_ring_too(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    sizes = '#include <stdint.h>\n#include "factor.h"\n#if SMALL\n#define LENGTH 8\n#else\n#define LENGTH n\n#endif\n'
    (tmp_path / "sub" / "sizes.h").write_text(sizes)
    (tmp_path / "sub" / "factor.h").write_text("#define FACTOR 1.5\n")
    (tmp_path / "nest.c").write_text("""\
#include <sub/sizes.h>
void scaled(int n, double y[8], const double x[8]) {
  for (int i = 0; i < LENGTH; ++i)
    y[i] = FACTOR * x[i];
}
""")
    # Where a header doesn't see SMALL, loops end at any n.
    scop = polydl.parse(tmp_path / "nest.c", defines={"SMALL": 1}, include_directories=[tmp_path])
    plain = original(scop)
    result = checked(scop, plain, tmp_path / "same")
    assert (result.verdict, result.ring) == ("agrees", FIELD)
    other = replace(plain, c=plain.c.replace("FACTOR * x[i]", "x[i] * 1.25 + x[i] * 0.25"))
    assert checked(scop, other, tmp_path / "other").verdict == "agrees"
    wrong = replace(plain, c=plain.c.replace("FACTOR * x[i]", "FACTOR * x[i] * FACTOR"))
    assert checked(scop, wrong, tmp_path / "wrong").verdict == "differs"


def test_headers_that_the_environment_names_are_over_the_ring_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "factor.h").write_text("#define FACTOR 1.5\n")
    (tmp_path / "nest.c").write_text("""\
#include <factor.h>
void scaled(int n, double y[8], const double x[8]) {
  for (int i = 0; i < 8; ++i)
    y[i] = FACTOR * x[i];
}
""")
    scop = polydl.parse(tmp_path / "nest.c", defines={"n": 8}, include_directories=[tmp_path / "headers"])
    monkeypatch.setenv("CPATH", f"/usr/include:{tmp_path / 'headers'}")
    plain = original(scop)
    other = replace(plain, c=plain.c.replace("FACTOR * x[i]", "x[i] * 1.25 + x[i] * 0.25"), compile_flags=())
    assert checked(scop, other, tmp_path / "other").verdict == "agrees"


def test_other_elements_are_not_applicable(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    wide = replace(scop, arrays=tuple(replace(array, element="long double") for array in scop.arrays))
    result = checked(wide, original(scop), tmp_path / "work")
    assert result.verdict == "not applicable"
    assert "long double" in result.reason


def test_a_reason_of_the_compiler_has_no_path_of_a_file_that_is_gone(tmp_path: Path) -> None:
    """The field needs C++, which has no arrays of variable length as parameters."""
    (tmp_path / "nest.c").write_text("""\
void scaled(int n, double y[n][n], const double x[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      y[i][j] = x[i][j] / 3.0;
}
""")
    scop = polydl.parse(tmp_path / "nest.c", defines={"n": 8})
    result = checked(scop, original(scop), tmp_path / "work")
    assert result.verdict == "not applicable"
    assert result.reason.startswith("it can't be compiled over the ring: ")
    assert str(tmp_path) not in result.reason


def test_long_texts_and_many_instances_are_estimated_to_take_long() -> None:
    short, long = (case_of(name) for name in ("matmul_relu/c", "conv_relu/libxsmm-winograd-first-after"))
    assert estimated_seconds(parsed(short), generated(short)) < 0.3
    assert estimated_seconds(parsed(long), generated(long)) > 0.3
    panels = case_of("matmul_panels/c-pack-panels")
    assert estimated_seconds(parsed(panels), generated(panels)) > 0.3


@pytest.mark.slow
def test_winograd_is_checked_where_a_layer_is_of_middling_size(tmp_path: Path) -> None:
    """Of 64 channels and 28 x 28 pixels, not of 56 x 56; vectors of the field compute what the plain nest does."""
    machine = machine_with(1, 64)
    seconds = []
    for size in (8, 28, 56):
        layer = workload(f"conv_64x64x{size}x{size}x3x3s1p1")
        scop = parse(tmp_path, layer.source)
        space = pipeline.space_on(scop, machine, microkernel="c")
        applied = next(
            applied
            for applied in map(space.apply, pipeline.generate(space, max_variants=600).variants)
            if any("Winograd F(4x4" in method for method in applied.rounding.methods)
        )
        kernel = pipeline.kernel(applied, machine.vector_bytes)
        assert kernel.ingredients.vector_types
        seconds.append(estimated_seconds(scop, kernel))
        if size == 8:
            result = checked(scop, kernel, tmp_path / "work")
            assert (result.verdict, result.ring) == ("agrees", FIELD), result.reason
            spoilt = replace(kernel, c=re.sub(r"\b0\.\d*[1-9]\d*f\b", "3.0f", kernel.c, count=1))
            assert spoilt.c != kernel.c
            assert checked(scop, spoilt, tmp_path / "spoilt").verdict == "differs"
    assert seconds[1] < 1 < seconds[2]


@pytest.mark.slow
def test_a_winner_that_differs_over_the_ring_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def differs_at_first(scop: Scop, kernel: KernelSource, *_: object, **__: object) -> Exactness:
        asked.append(kernel.id)
        return Exactness("differs" if len(asked) == 1 else "agrees", INTEGERS, "`c[0][0]` is 1, not 2")

    monkeypatch.setattr("polydl.execute.exactness.compare_exactly", differs_at_first)
    monkeypatch.setattr("polydl.optimization.exact_winner._MOST_SECONDS", {INTEGERS: 100.0})
    small = PRODUCT.replace("10000", "100")
    result = optimize(parse(tmp_path, small), top_k=2, max_variants=10, out=tmp_path, records=False)
    first, second = asked
    assert result.winner is not None
    assert result.winner.kernel.id == second
    status = {each.kernel.id: each.measurement for each in result.tried}
    assert status[first].status == "wrong"
    assert "over the integers modulo 2^32 another result: `c[0][0]`" in status[first].message
    shown = " ".join(answer_text(optimization_document(result), verbose=True).split())
    assert "over the integers modulo 2^32 it agrees" in shown
    monkeypatch.setattr("polydl.optimization.exact_winner._MOST_SECONDS", {INTEGERS: 0.0})
    unasked = optimization_document(with_exactness(result, 0))
    assert unasked["best"]["exactness"]["verdict"] == "not applicable"
    shown = " ".join(answer_text(unasked, verbose=True).split())
    assert re.search(r"not computed over a ring: it would take about 0\.[1-9] s", shown)
    assert len(asked) == 2

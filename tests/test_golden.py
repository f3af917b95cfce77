"""The C that polydl generates for variants of many kinds, letter by letter.

``tests/golden`` has a folder for each nest: ``nest.c``, and for each variant its steps (``<variant>.json``) and the C
expected of them (``<variant>.c``). ``pytest tests/test_golden.py --update-golden`` writes what is generated now.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from golden_code import Case, different_c, generated, parsed
from marks import parametrized

from polydl import registry
from polydl.bfloat16 import with_header
from polydl.c_tokens import floating, tokens
from polydl.codegen import team
from polydl.inclusions import inclusions
from polydl.ir.ingredients import Ingredients
from polydl.ir.kernel import KernelSource
from polydl.ir.variant import Attach, Parallel
from polydl.variant_json import step_kinds
from polydl.variants.rewrites.winograd import Winograd

GOLDEN = Path(__file__).with_name("golden")
FILES = sorted(GOLDEN.glob("*/*.json"))


def named(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@cache
def case_of(file: Path) -> Case:
    return Case.from_json(file.with_name("nest.c"), json.loads(file.read_text(encoding="utf-8")))


@cache
def kernel_of(file: Path) -> KernelSource:
    return generated(case_of(file))


def expected(file: Path) -> str:
    return file.with_suffix(".c").read_text(encoding="utf-8")


@parametrized("file", FILES, ids=named, quick=34)
def test_the_generated_c_is_the_expected_one(file: Path, pytestconfig: pytest.Config) -> None:
    text = different_c(kernel_of(file))
    path = file.with_suffix(".c")
    if pytestconfig.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    if not path.exists():
        pytest.fail(f"there is no {path}: write it with --update-golden", pytrace=False)
    if text != expected(file):
        lines = difflib.unified_diff(
            expected(file).splitlines(), text.splitlines(), str(path.relative_to(GOLDEN)), "generated", lineterm=""
        )
        pytest.fail("\n".join(["other C than expected (--update-golden accepts it):", *lines]), pytrace=False)


@parametrized("file", FILES, ids=named, quick=34)
def test_the_ingredients_are_what_stands_in_the_generated_c(file: Path) -> None:
    kernel, source = kernel_of(file), with_header(parsed(case_of(file)).source)
    ingredients = kernel.ingredients
    included = {each.name for each in inclusions(kernel.c)}
    assert included == {*ingredients.includes, *(each.name for each in inclusions(source))}
    vectors = re.findall(r"\btypedef (?:float|double) (\w+)\s+__attribute__\(\(vector_size", kernel.c)
    real = [each for each in ingredients.vector_types if each.element in ("float", "double")]
    # Functions that add up lanes name their types alike.
    assert {*vectors} == {each.name for each in real}
    declarations = [each.declaration for each in ingredients.vector_types]
    declarations += [each.declaration for each in ingredients.dispatch_functions]
    assert [kernel.c.count(each) for each in declarations] == [1] * len(declarations)
    assert {each.name for each in ingredients.dispatch_functions} == {*re.findall(r"\blibxsmm_\w+(?=\()", kernel.c)}
    assert ingredients.chooses_threads == (team.support() in kernel.c)
    combined = re.search(r"#pragma omp (?!simd).* reduction\(", kernel.c)
    assert ingredients.combines_sums == (combined is not None)
    literals = [floating(token) for token in tokens(kernel.c.replace(team.support(), "").replace(source, ""))]
    fractions = {each[0] for each in literals if each is not None and each[0].denominator != 1}
    written = {each[0] for each in map(floating, tokens(source)) if each is not None}
    factors = [Fraction(repr(float(each))) for each in ingredients.factors]
    assert fractions - written == {each for each in factors if each.denominator != 1} - written


def test_there_are_ingredients_of_every_kind() -> None:
    missed = {field.name for field in fields(Ingredients)}
    for file in FILES:
        missed -= {name for name in missed if getattr(kernel_of(file).ingredients, name)}
        if not missed:
            break
    assert missed == set()


def missing(wanted: Iterable[object], present: Iterable[object]) -> list[object]:
    there = set(present)
    return [each for each in wanted if each not in there]


def test_every_expected_file_is_of_a_variant() -> None:
    written = {path.with_suffix(".json") for path in GOLDEN.glob("*/*.c") if path.name != "nest.c"}
    assert len(FILES) >= 40
    assert sorted(written) == FILES


def test_the_variants_use_every_step_and_every_microkernel() -> None:
    steps = [step for file in FILES for step in case_of(file).variant.steps]
    assert missing(step_kinds(), map(type, steps)) == []
    assert (
        missing(registry.GROUPS["microkernels"], (name for file in FILES for name in case_of(file).microkernels)) == []
    )
    threads = [step for step in steps if isinstance(step, Parallel)]
    assert any(step.combined for step in threads)
    assert any(step.inner for step in threads)
    assert any(step.dynamic for step in threads)
    assert missing(("strict", "fast"), (case_of(file).numerics for file in FILES)) == []


def test_the_variants_finish_their_output_in_every_way() -> None:
    steps = [step for file in FILES for step in case_of(file).variant.steps]
    assert missing(("first", "last"), (step.place for step in steps if isinstance(step, Attach))) == []
    assert any(step.after for step in steps if isinstance(step, Winograd))
    finished = [case_of(file) for file in FILES if "_operands *" in expected(file)]
    kernels = [(name, case.numerics) for case in finished for name in case.microkernels]
    assert missing([("c", "fast"), ("c", "strict"), ("c-amx", "fast"), ("c-int8", "bounded")], kernels) == []


@pytest.mark.parametrize(
    "text",
    [
        "pragma omp parallel for",
        "collapse(2)",
        "schedule(dynamic)",
        "reduction(+",
        "polydl_stream(",  # stores past the caches
        "__builtin_prefetch",
        ", ahead)",  # what later calls need
        "_part(",  # the next tile, copied in calls
        "== 0, ",  # the first call on a tile overwrites it
        "#pragma omp declare simd",  # functions with vectors
        "_mm512_dpbusd_epi32",
        "tdpbf16ps",
        "bfloat16_to_float",
        "libxsmm_smmdispatch_reducebatch_offs",
        "if (n == 50)",  # sizes that are parameters
    ],
)
def test_the_expected_code_has(text: str) -> None:
    assert any(text in expected(file) for file in FILES)


def test_the_expected_code_is_of_no_machine() -> None:
    folders = (str(Path.home()), str(GOLDEN.parents[1]), "/usr/", "/tmp/")
    assert [file for file in FILES if any(folder in expected(file) for folder in folders)] == []

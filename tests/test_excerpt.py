"""What generated code takes over of a file: what the function needs, in a form that links with the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.codegen.function_text import head, parameter_list
from polydl.ir.scop import Scop
from polydl.pipeline import parse

PROGRAM = """\
/* About the whole file. */
#include <stdio.h>
#define N 8
/* About what comes next. */
void *polybench_alloc_data(unsigned long long n, int size);
typedef struct { int verbose; } options; /* beside it */
static options chosen;
typedef float real;
static real A[N][N], B[N][N], C[N][N];
struct unused_before;
real bias[N];
static real table[N];
static const float LOWEST = -1;
const float weights[3] = {1.f, 2.f, 3.f};
extern double factors[N];
enum { SIZE = N, OTHER = 3 };
#pragma omp declare simd
static float unused_helper(float x) { return x; }
float low(float x);
static void kernel(real c[N][N], real a[N][N], real b[N][N]);
#define HALF(x) half(x)

static void init(void) {
#ifdef ONES
  A[0][0] = 1;
#else
  A[0][0] = 2;
#endif
#define LATER 5
}

static inline float half(float x) { return x * 0.5f; }
float low(float x) { return x < LOWEST ? LOWEST : x; }

/* The product. */
static void kernel(real c[N][N], real a[N][N], real b[N][N]) {
#pragma scop
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < N; ++j) {
      c[i][j] = low(bias[j]) + HALF(table[j]) * weights[1] + factors[j];
      for (int k = 0; k < N; ++k)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}

int main(void) {
  float *extra = polybench_alloc_data(N, 4);
  init();
  kernel(C, A, B);
  printf("%g %p %d %g\\n", C[1][2], (void *)extra, chosen.verbose, unused_helper(1));
  return 0;
}
"""


def nest(folder: Path, text: str, function: str = "kernel", **defines: int) -> Scop:
    path = folder / "program.c"
    path.write_text(text)
    return parse(path, function=function, defines=defines)


def test_what_only_others_need_is_left_out(tmp_path: Path) -> None:
    source = nest(tmp_path, PROGRAM).source
    for word in ("main", "polybench_alloc_data", "options", "A[N]", "unused", "init(", "simd", "next", "beside"):
        assert word not in source, word
    for word in ("About the whole file.", "#include <stdio.h>", "typedef float real;", "SIZE = N", "The product."):
        assert word in source, word
    # Directives stay, in pairs, since others may depend on them.
    assert source.count("#ifdef ONES") == source.count("#endif") == source.count("#define LATER 5") == 1


def test_the_region_and_the_definition_are_found_in_what_is_left(tmp_path: Path) -> None:
    scop = nest(tmp_path, PROGRAM)
    start, body, end = scop.definition
    assert scop.source[slice(*scop.region)].startswith("#pragma scop\n  for (int i")
    assert scop.source[start:body] == "static void kernel(real c[N][N], real a[N][N], real b[N][N]) {"
    assert scop.source[body:end].endswith("#pragma endscop\n}")
    assert PROGRAM.splitlines()[scop.line - 1] == "#pragma scop"


def test_helpers_and_constants_are_static_and_variables_are_weak(tmp_path: Path) -> None:
    scop = nest(tmp_path, PROGRAM)
    source = scop.source
    assert "static float low(float x);" in source
    assert "static const float weights[3]" in source
    assert "#pragma weak bias\nreal bias[N];" in source
    assert "#pragma weak factors\ndouble factors[8];\nstatic void kernel" in source
    assert scop.private == ("table",)
    storage = {array.name: array.storage for array in scop.arrays}
    assert storage["weights"] == "constant"
    assert storage["bias"] == storage["table"] == storage["factors"] == "global"


def test_a_function_without_anything_else_stays_as_it_is(tmp_path: Path) -> None:
    text = "// Nothing else.\nvoid f(float a[8]) {\n  for (int i = 0; i < 8; ++i)\n    a[i] = 0;\n}\n"
    assert nest(tmp_path, text, "f").source == text


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ("__attribute__((noinline)) static void other(void) {}", ""),
        ("int first, second[4] __attribute__((aligned(64))); /* of nobody */", ""),
        ("#define PAIR(name) static int name(int x) { return x; }\nPAIR(one)\nPAIR(two)", "#define PAIR"),
        ("static const int numbers[] = {\n#include \"numbers.h\"\n};", "numbers[] = {"),
        ("enum kind { FEW = 3 };\nstatic float scale(float x) { return x * FEW; }\n#define a(i) scale(b[i])", "FEW"),
        ("_Static_assert(sizeof(float) == 4, \"; }\");", "_Static_assert"),
        ("static float late(float x);\nfloat early(float x) { return late(x); }\n#define a(i) early(b[i])", "late("),
    ],
)  # fmt: skip
def test_declarations_of_many_kinds(declared: str, kept: str, tmp_path: Path) -> None:
    (tmp_path / "numbers.h").write_text("1, 2,\n")
    end = "static float late(float x) { return x; }\n" if "late" in declared else ""
    value = "a(i)" if "define a(" in declared else "b[i]"
    body = f"  for (int i = 0; i < 8; ++i)\n    c[i] = {value};\n"
    text = f"{declared}\nvoid f(float c[8], float b[8]) {{\n{body}}}\n{end}"
    source = nest(tmp_path, text, "f").source
    assert parse_again(tmp_path, source)
    if kept:
        assert kept in source
    else:
        assert source.lstrip().startswith("void f(")


def parse_again(folder: Path, source: str) -> bool:
    again = folder / "again.c"
    again.write_text(source)
    return parse(again, function="f").source == source


@pytest.mark.parametrize(
    ("specifiers", "kept"),
    [
        ("static inline __attribute__((always_inline)) void", "void"),
        ('__attribute__((visibility("hidden"))) void', "void"),
        ("extern inline __attribute__((noinline, gnu_inline)) void", "__attribute__((noinline, )) void"),
        ("__attribute__((__always_inline__, cold)) inline void", "__attribute__((cold)) void"),
        ("__attribute__((unused)) static void", "__attribute__((unused)) void"),
    ],
)
def test_nothing_keeps_other_files_from_calling_the_function(specifiers: str, kept: str, tmp_path: Path) -> None:
    nest = "f(float a[8])\n{\n#pragma scop\n  for (int i = 0; i < 8; i++)\n    a[i] += 1;\n#pragma endscop\n}\n"
    (tmp_path / "nest.c").write_text(f"{specifiers} {nest}")
    assert head(parse(tmp_path / "nest.c")).startswith(f"{kept} f(")


@pytest.mark.parametrize("name", ["(f)", "((f) /* ( */ )"])
def test_the_name_may_be_in_parentheses(name: str, tmp_path: Path) -> None:
    nest = f"static void {name}(float a[8])\n{{\n  for (int i = 0; i < 8; i++)\n    a[i] += 1;\n}}\n"
    (tmp_path / "nest.c").write_text(nest)
    scop = parse(tmp_path / "nest.c")
    assert head(scop) == f"void {name}(float a[8])\n{{"
    assert parameter_list(scop) == "(float a[8])\n{"


def test_what_clang_would_refuse_is_not_left_out(tmp_path: Path) -> None:
    # A header that is included later needs what comes before it.
    (tmp_path / "later.h").write_text("static inline number twice(number x) { return x + x; }\n")
    text = """\
typedef float number;
#include "later.h"
void f(float a[8]) {
  for (int i = 0; i < 8; ++i)
    a[i] = 2;
}
"""
    assert nest(tmp_path, text, "f").source == text

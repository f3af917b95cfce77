"""Emitted code in programs of others: it brings what it needs, and nothing that the program has itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

import polydl
from polydl.cli import main
from polydl.emitted_names import Naming
from polydl.errors import ExecutionError, OptionError, UnsupportedConstructError
from polydl.execute.toolchain import Toolchain
from polydl.microkernels.libxsmm import LIBXSMM

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("variants_win")]
ROOT = Path(__file__).parents[1]
NEWCOMER = Path(__file__).parent / "newcomer"
needs_libxsmm = pytest.mark.skipif(LIBXSMM.static_library() is None, reason="LIBXSMM is not installed")

PROGRAM = """\
#include <stdio.h>
#define N 32
void *polybench_alloc_data(unsigned long long n, int size);
static float A[N][N], B[N][N], C[N][N];
float bias[N];
float half(float x) { return x * 0.5f; }
#ifdef FAST
#include "kernel_polydl.h"
#else
static void kernel(float c[N][N], float a[N][N], float b[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      c[i][j] = half(bias[j]);
      for (int k = 0; k < N; ++k)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
#endif
int main(void)
{
  float *ones = polybench_alloc_data(N, sizeof(float));
  for (int i = 0; i < N; ++i) {
    bias[i] = 2 * i;
    for (int j = 0; j < N; ++j) {
      A[i][j] = ones[j];
      B[i][j] = i + j;
    }
  }
  kernel(C, A, B);
  printf("%g %g %g\\n", C[0][0], C[3][5], half(1));
  return 0;
}
"""
ALLOCATION = """\
#include <stdlib.h>
void *polybench_alloc_data(unsigned long long n, int size) {
  float *made = malloc(n * size);
  for (unsigned long long i = 0; i < n; ++i)
    made[i] = 1;
  return made;
}
"""


def optimized(path: Path, out: Path, **options: object) -> polydl.Optimization:
    quick = {"top_k": 1, "max_variants": 3, "microkernel": "c", "records": False}
    return polydl.optimize(path, out=out, **{**quick, **options})  # type: ignore[arg-type]


def ran(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_program_with_main_and_an_external_runs_with_the_kernel(tmp_path: Path) -> None:
    program, compiler = tmp_path / "program.c", str(Toolchain.find().path)
    program.write_text(PROGRAM)
    (tmp_path / "allocation.c").write_text(ALLOCATION)
    result = optimized(program, tmp_path, function="kernel")
    exported = ran(tmp_path, "nm", "-D", "--defined-only", str(result.files["library"]))
    names = {line.split()[-1] for line in exported.splitlines()}
    assert names == {"kernel", "kernel_release", "kernel_missing", "__tvm_ffi_kernel", "bias"}
    ran(tmp_path, compiler, "program.c", "allocation.c", "-o", "plain")
    ran(tmp_path, compiler, "-O2", "-march=native", "-fopenmp", "-c", "kernel_polydl.c")
    sources = ("program.c", "allocation.c", "kernel_polydl.o")
    ran(tmp_path, compiler, "-DFAST", "-fopenmp", *sources, "-o", "fast", "-lm")
    # bias[j] is what main has stored, since the kernel's own is weak.
    assert ran(tmp_path, "./fast") == ran(tmp_path, "./plain") == "496 661 0.5\n"


@pytest.mark.slow
def test_a_newcomers_program_runs_with_the_kernel_once_its_arrays_are_shared(tmp_path: Path) -> None:
    """As the header says of its static arrays, which the kernel would have copies of."""
    program, compiler = (NEWCOMER / "program.c").read_text(), str(Toolchain.find().path)
    (tmp_path / "static.c").write_text(program)
    alone = optimized(tmp_path / "static.c", tmp_path / "alone", function="multiply")
    told = re.sub(r"\s+[*]?\s*", " ", alone.files["header"].read_text())
    assert "c, a, b: static in the source" in told, told
    assert "To share them, leave out static." in told
    shared = program.replace("static float", "float")
    (tmp_path / "shared.c").write_text(shared)
    optimized(tmp_path / "shared.c", tmp_path, function="multiply")
    begin, end = shared.index("static void multiply"), shared.index("int main")
    (tmp_path / "main.c").write_text(f'{shared[:begin]}#include "multiply_polydl.h"\n{shared[end:]}')
    ran(tmp_path, compiler, "-O2", "-march=native", "-fopenmp", "main.c", "multiply_polydl.c", "-o", "fast", "-lm")
    ran(tmp_path, compiler, "static.c", "-o", "plain")
    assert float(ran(tmp_path, "./fast")) == pytest.approx(float(ran(tmp_path, "./plain")), rel=1e-5)


@pytest.mark.slow
def test_the_header_says_what_callers_have_to_know(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    result = optimized(tmp_path / "product.c", tmp_path, defines={"n": 24})
    text = re.sub(r"\s+[*]?\s*", " ", result.files["header"].read_text())
    for clause in (
        "Made for n = 24. For other values the loops run as they were written.",
        "For these sizes that takes ", "Other sizes are a run of polydl of their own, with --name",
        "Alignment That of each element's type suffices.",
        "Overlap What is written (c) must share no memory with any other array.",
        "Threads ", "Memory ", "Numerics bounded", "product_release",
    ):  # fmt: skip
        assert clause in text, clause


PRODUCT = """\
void product(int n, float c[8][n], const float a[8][8], const float b[8][n])
{
#pragma scop
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < 8; ++k)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
# Calls both functions, each for its own size and for another.
CALLS = """\
#include <stdio.h>
#include "small_polydl.h"
#include "my_large_polydl.h"
static float c[8][64], a[8][8], b[8][64];
static float largest(void (*function)(int n, float (*)[], const float[8][8], const float (*)[]), int n)
{
  for (int i = 0; i < 512; ++i)
    c[0][i] = 0, b[0][i] = 2, a[0][i % 64] = 1;
  function(n, (void *)c, a, (void *)b);
  return c[0][n - 1];
}
int main(void)
{
  printf("%g %g ", largest((void *)small, 16), largest((void *)small, 24));
  printf("%g %g\\n", largest((void *)my_large, 64), largest((void *)my_large, 16));
  small_release();
  my_large_release();
  return small_missing() || my_large_missing();
}
"""


@needs_libxsmm
@pytest.mark.slow
def test_two_shapes_of_one_function_in_one_program_built_with_cmake(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    folders = tmp_path / "small folder", tmp_path / "large"
    common: dict[str, object] = {"microkernel": "libxsmm", "max_variants": 1}
    small = optimized(tmp_path / "product.c", folders[0], name="small", defines={"n": 16}, **common)
    large = optimized(tmp_path / "product.c", folders[1], name="large", prefix="my_", defines={"n": 64}, **common)
    assert "libpolydl_xsmm.a" in (folders[0] / "README.txt").read_text()
    assert "Made for n = 16. For other values the loops run as they were written." in small.files["header"].read_text()
    # Nothing there names a place outside of the folder.
    for kind in ("c", "header", "readme", "cmake"):
        assert "site-packages" not in large.files[kind].read_text()
        assert str(tmp_path) not in large.files[kind].read_text()
    program = tmp_path / "program"
    program.mkdir()
    (program / "main.c").write_text(CALLS)
    (program / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.20)
project(both LANGUAGES C)
find_package(small_polydl REQUIRED PATHS "{folders[0]}" NO_DEFAULT_PATH)
find_package(my_large_polydl REQUIRED PATHS "{folders[1]}" NO_DEFAULT_PATH)
add_executable(both main.c)
target_link_libraries(both PRIVATE polydl::small polydl::my_large)
""")
    ran(program, "cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={Toolchain.find().path}")
    ran(program, "cmake", "--build", "build")
    assert ran(program, "build/both") == "16 16 16 16\n"
    # In Python each is called by its own name.
    assert repr(large.best) == "<compiled kernel my_large(n, c, a, b)>"


@pytest.mark.slow
def test_the_example_in_cpp_links_two_by_pkg_config_and_by_cmake(tmp_path: Path) -> None:
    for name, sizes in (("first", {"M": 32, "N": 128, "K": 64}), ("second", {"M": 32, "N": 16, "K": 128})):
        optimized(ROOT / "examples" / "matmul.c", tmp_path / name, name=name, defines=sizes, max_variants=1)
    example = ROOT / "examples" / "linking"
    wanted = "PKG_CONFIG_PATH=first:second pkg-config --cflags --libs first_polydl second_polydl"
    ran(tmp_path, "sh", "-c", f"g++ {example}/program.cpp $({wanted}) -o program")
    assert ran(tmp_path, "./program") == "right\n"
    compilers = (f"-DCMAKE_C_COMPILER={Toolchain.find().path}", "-DCMAKE_CXX_COMPILER=g++")
    ran(tmp_path, "cmake", "-S", str(example), "-B", "build", f"-DKERNELS={tmp_path}", *compilers)
    ran(tmp_path, "cmake", "--build", "build")
    assert ran(tmp_path, "build/program") == "right\n"


@pytest.mark.slow
def test_the_line_for_pkg_config_works_in_a_folder_with_blanks(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT.replace("int n, ", ""))
    folder = tmp_path / "a folder"
    optimized(tmp_path / "product.c", folder, max_variants=1, defines={"n": 16})
    text = (folder / "README.txt").read_text()
    assert "Where the path of this folder has blanks, with `eval` before that line." in text
    (line,) = (line for line in text.splitlines() if "pkg-config --cflags" in line)
    (folder / "program.c").write_text(
        "#include <product_polydl.h>\nint main(void) {\n  static float c[8][16], a[8][8], b[8][16];\n"
        "  a[7][7] = b[7][15] = 2;\n  product(c, a, b);\n  return c[7][15] != 4;\n}\n"
    )
    ran(folder, "sh", "-c", f"eval {line}")
    ran(tmp_path, str(folder / "program"))


@needs_libxsmm
def test_the_lines_that_are_shown_work_in_the_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT.replace("int n, ", ""))
    folder = tmp_path / "out"
    result = optimized(tmp_path / "product.c", folder, microkernel="libxsmm", max_variants=1, defines={"n": 16})
    text = (folder / "README.txt").read_text()
    assert "the function, for a C compiler and libpolydl_xsmm.a" in text
    lines = [line.strip() for line in text.splitlines() if line.startswith(("  gcc ", "  clang ", "  cc "))]
    assert len(lines) == 4
    *lines, with_pkg_config = lines
    assert all(f" *   {line}\n" in result.files["c"].read_text() for line in lines)
    (folder / "program.c").write_text(
        '#include "product_polydl.h"\n#include <stdlib.h>\n'
        "int main(void) {\n  static float c[8][16], a[8][8], b[8][16];\n  a[7][7] = b[7][15] = 2;\n"
        '  product(c, a, b);\n  return c[7][15] == 4 && !getenv("OMP_PROC_BIND") ? 0 : 1;\n}\n'
    )
    alone = ("env", "-u", "OMP_PROC_BIND")
    ran(folder, *alone, "sh", "-c", with_pkg_config)
    ran(tmp_path, *alone, str(folder / "program"))
    (folder / "program").unlink()
    result.files["library"].unlink()
    for line in lines:
        ran(folder, *alone, "sh", "-c", line)
    ran(folder, *alone, "./program")
    exported = ran(folder, "nm", "-D", "--defined-only", str(result.files["library"]))
    assert {line.split()[-1] for line in exported.splitlines()} == {
        "product", "product_missing", "product_release", "__tvm_ffi_product",
    }  # fmt: skip


def test_headers_of_the_source_are_named_where_the_function_needs_them(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sizes.h").write_text("#define N 16\n")
    source = PRODUCT.replace("int n, ", "").replace("void product", '#include "sizes.h"\nvoid product')
    (tmp_path / "product.c").write_text(source.replace("[n]", "[N]").replace("< n", "< N"))
    options = {"include_directories": [tmp_path / "own"], "microkernel": "c", "max_variants": 1}
    result = optimized(tmp_path / "product.c", tmp_path / "out", **options)
    text, declared = ((tmp_path / "out" / name).read_text() for name in ("README.txt", "product_polydl.h"))
    assert "the function, for a C compiler and headers of the source (-I)" in text
    assert text.count(f"-I{tmp_path / 'own'}") == 2
    assert "Tuned for" in declared
    assert str(tmp_path) not in declared
    assert result.files["c"].exists()


SGEMM = """\
void sgemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float *c, int ldc)
{
#pragma scop
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int p = 0; p < k; ++p)
        c[i * ldc + j] += alpha * a[i * lda + p] * b[p * ldb + j];
#pragma endscop
}
"""
BOTH = """\
#include <math.h>
#include "conv_polydl.h"
#include "sgemm_polydl.h"
static float a[16][24], b[20][32], c[16][40], out[1][1][6][6][16], weights[1][1][3][3][16][16], in[1][1][8][8][16];
int main(void)
{
  for (int i = 0; i < 16 * 24; ++i)
    a[0][i] = i % 7 - 3;
  for (int i = 0; i < 20 * 32; ++i)
    b[0][i] = i % 5 - 2;
  for (int i = 0; i < 9 * 16 * 16; ++i)
    ((float *)weights)[i] = i % 3 - 1;
  for (int i = 0; i < 64 * 16; ++i)
    ((float *)in)[i] = i % 11 - 5;
  sgemm(16, 32, 20, 0.5f, a[0], 24, b[0], 32, c[0], 40);
  conv(out, weights, in);
  float sum = 0, pixel = 0;
  for (int p = 0; p < 20; ++p)
    sum += 0.5f * a[5][p] * b[p][7];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x)
      for (int i = 0; i < 16; ++i)
        pixel += weights[0][0][y][x][i][9] * in[0][0][2 + y][4 + x][i];
  return fabsf(c[5][7] - sum) < 1e-3f && fabsf(out[0][0][2][4][9] - pixel) < 1e-3f && pixel ? 0 : 1;
}
"""


@pytest.mark.slow
def test_a_product_and_a_convolution_are_built_with_cmake_without_polydl(tmp_path: Path) -> None:
    made, alone = tmp_path / "made", tmp_path / "alone"
    (tmp_path / "sgemm.c").write_text(SGEMM)
    sizes = {"m": 16, "n": 32, "k": 20, "lda": 24, "ldb": 32, "ldc": 40}
    optimized(tmp_path / "sgemm.c", made / "sgemm", defines=sizes)
    small = {"nImg": 1, "nOfm": 16, "nIfm": 16, "ofh": 6, "ofw": 6, "kh": 3, "kw": 3, "GEMM_BLOCK": 16}
    optimized(ROOT / "examples" / "conv.c", made / "conv", defines=small)
    shutil.copytree(made, alone / "libraries")
    shutil.rmtree(made)
    (alone / "main.c").write_text(BOTH)
    (alone / "CMakeLists.txt").write_text("""\
cmake_minimum_required(VERSION 3.20)
project(both LANGUAGES C)
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_SOURCE_DIR}/libraries/conv" "${CMAKE_SOURCE_DIR}/libraries/sgemm")
find_package(conv_polydl REQUIRED)
find_package(sgemm_polydl REQUIRED)
add_executable(both main.c)
target_link_libraries(both PRIVATE polydl::conv polydl::sgemm)
""")
    ran(alone, "cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={Toolchain.find().path}")
    ran(alone, "cmake", "--build", "build")
    ran(alone, "build/both")


@pytest.mark.parametrize(
    ("name", "prefix", "reason"),
    [("two words", "", "no C identifier"), ("", "1", "no C identifier"), ("int", "", "reserved"),
     ("x", "polydl_", "reserved"), ("", "__", "reserved"), ("printf", "", "printf is a name of the C library"),
     ("class", "", "reserved"), ("asm", "", "reserved"), ("ptr", "null", "reserved"), ("typeof", "", "reserved"),
     ("polydl", "", "reserved"), ("_init", "", "reserved"), ("bss_start", "__", "reserved"),
     ("tanh", "", "of the C library"), ("cpy", "mem", "of the C library"), ("size_t", "", "of the C library")],
)  # fmt: skip
def test_names_that_c_or_cpp_can_not_have(name: str, prefix: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason) as raised:
        Naming(name, prefix).of("product")
    assert raised.value.remedy == ("write --name fast_product" if name else "write --prefix fast_")
    assert Naming("fast_product").of("product") == Naming("", "fast_").of("product") == "fast_product"


def test_names_that_headers_define_are_refused(tmp_path: Path) -> None:
    headers = ("math.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/mman.h", "time.h")
    (tmp_path / "all.c").write_text("".join(f"#include <{header}>\n" for header in headers))
    macros, types = (
        subprocess.check_output([Toolchain.find().path, "-E", option, "all.c"], cwd=tmp_path, text=True)
        for option in ("-dM", "-P")
    )
    defined = {line.split()[1].split("(")[0] for line in macros.splitlines()}
    defined |= set(re.findall(r"^typedef [^;{]*?\b(\w+);", types, re.MULTILINE))
    defined = {name for name in defined if not name.startswith("_")}
    assert {"FILE", "BUFSIZ", "time_t", "M_PI"} < defined
    allowed = set()
    for name in defined:
        with suppress(OptionError):
            allowed.add(Naming(name).of("product"))
    assert not allowed


@pytest.mark.slow
def test_the_source_may_not_have_the_emitted_name(tmp_path: Path) -> None:
    path = tmp_path / "product.c"
    path.write_text(
        "static inline float twice(float x) { return 2 * x; }\n" + PRODUCT.replace("b[k]", "twice(1) * b[k]")
    )
    with pytest.raises(UnsupportedConstructError, match="can't be called twice: the source has that name"):
        optimized(path, tmp_path, defines={"n": 8}, name="twice")
    with pytest.raises(UnsupportedConstructError, match="called a: a parameter of the source has that name") as raised:
        optimized(path, tmp_path, defines={"n": 8}, name="a")
    assert "rename the source's parameter a" in (raised.value.remedy or "")


def test_an_external_of_the_function_itself_is_named(tmp_path: Path) -> None:
    path = tmp_path / "timed.c"
    path.write_text("""\
void polybench_start_instruments(void);
void f(float a[8])
{
  polybench_start_instruments();
#pragma scop
  for (int i = 0; i < 8; ++i)
    a[i] = 0;
#pragma endscop
}
""")
    with pytest.raises(ExecutionError, match="polybench_start_instruments is in another file") as caught:
        optimized(path, tmp_path)
    assert "move the loops to a function" in (caught.value.remedy or "")


@pytest.mark.slow
def test_constants_keep_their_values_while_a_kernel_is_tried(tmp_path: Path) -> None:
    path = tmp_path / "filter.c"
    path.write_text("""\
static const float weights[3] = {1, 2, 3};
void f(float a[8], const float b[10])
{
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k)
      a[i] += weights[k] * b[i + k];
}
""")
    best = optimized(path, tmp_path).best
    assert "weights" not in repr(best)


@pytest.mark.slow
@pytest.mark.native
def test_a_fused_function_has_the_name_and_the_processors_that_are_asked_for(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "examples" / "sequences" / "waxpby.c"
    out = tmp_path / "made"
    arguments = ["fuse", str(source), "-D", "N=4096", "--threads", "1", "--top-k", "1", "--max-variants", "2"]
    arguments += ["--name", "sum", "--prefix", "my_", "--march", "x86-64-v3", "--out", str(out)]
    ended = CliRunner().invoke(main, arguments, standalone_mode=False)
    assert (ended.exception, ended.return_value) == (None, 0), ended.output
    assert (out / "libmy_sum_polydl.so").is_file()
    assert "-march=x86-64-v3" in (out / "README.txt").read_text(encoding="utf-8")

"""What the front-end makes of files that are as they should be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import islpy as isl
import pytest
from frontend_interpreter import points

from polydl.errors import AnalysisError, OptionError
from polydl.frontend import model
from polydl.frontend.pet import parse
from polydl.frontend.pet_library import find_pet_library
from polydl.ir.affine import Affine
from polydl.ir.calls import AnnotatedCall
from polydl.ir.scop import Array, Scop

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NESTS = Path(__file__).parent / "nests"


def written(folder: Path, text: str, name: str = "nest.c") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


# -- the examples -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "statements", "flops"),
    [
        ("conv", 1, 2 * 28 * 64 * 64 * 56 * 56 * 9),
        ("conv_plain", 1, 2 * 28 * 64 * 64 * 56 * 56 * 9),
        ("conv_1x1", 1, 2 * 28 * 64 * 256 * 56 * 56),
        ("matmul", 1, 2 * 1024**3),
        ("stencil", 2, 2 * 10 * 1022 * 1022 * 5),
        ("bnorm_relu", 2, 28 * 64 * 56 * 56 * 2),
    ],
)
def test_the_examples_are_read_exactly(name: str, statements: int, flops: int) -> None:
    scop = parse(EXAMPLES / f"{name}.c")
    assert scop.function.name == name
    assert len(scop.statements) == statements
    assert scop.flops == flops
    assert all(statement.box is not None for statement in scop.statements)
    assert all(array.storage == "parameter" for array in scop.arrays)
    assert all(access.subscripts is not None for s in scop.statements for access in s.accesses)


def test_the_border_of_an_image_is_a_condition() -> None:
    scop = parse(EXAMPLES / "conv_same.c", defines={"channels": 32, "filters": 16})
    zeros, product = scop.statements
    assert zeros.box is not None
    assert product.box is None
    # Of three rows of the filter on each of 14 rows, two are beyond the border; so for columns.
    assert scop.flops == 2 * 32 * 16 * (3 * 14 - 2) ** 2


def test_the_examples_take_sizes() -> None:
    scop = parse(EXAMPLES / "conv.c", defines={"nImg": 1, "STRIDE_H": 2, "STRIDE_W": "2", "nOfm": 128})
    assert scop.array("input").extents == (1, 1, 113, 113, 64)
    assert scop.statements[0].instances == 128 * 64 * 56 * 56 * 9
    assert scop.defines == (("nImg", "1"), ("STRIDE_H", "2"), ("STRIDE_W", "2"), ("nOfm", "128"))


def test_figure_8_in_full() -> None:
    scop = parse(EXAMPLES / "conv.c")
    (statement,) = scop.statements
    assert statement.name == "S0"
    assert statement.iterators == ("img", "ofm_tile", "ifm_tile", "oj", "kj", "ki", "oi", "ofm", "ifm")
    assert statement.box == ((0, 27), (0, 0), (0, 0), (0, 55), (0, 2), (0, 2), (0, 55), (0, 63), (0, 63))
    assert statement.betas == (0,) * 10
    assert statement.directions == (1,) * 9
    assert statement.text == (
        "output[img][ofm_tile][oj][oi][ofm] += "
        "filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][ij + kj][ii + ki][ifm];"
    )
    assert scop.source.splitlines()[statement.line - 1].strip() == "output[img][ofm_tile][oj][oi][ofm] +="
    assert scop.arrays == (
        Array("output", "float", 4, (28, 1, 56, 56, 64), "parameter"),
        Array("filter", "float", 4, (1, 1, 3, 3, 64, 64), "parameter"),
        Array("input", "float", 4, (28, 1, 58, 58, 64), "parameter"),
    )
    target, source = statement.body.arguments
    assert (statement.body.kind, statement.body.text, source.text) == ("op", "+=", "*")
    assert {access.kind for access in statement.accesses if access.reference == target.text} == {"read", "write"}
    image = statement.access(source.arguments[1].text)
    assert image.array == "input"
    assert image.subscripts is not None
    assert image.subscripts[2] == Affine((0, 0, 0, 1, 1, 0, 0, 0, 0))
    assert image.subscripts[3] == Affine((0, 0, 0, 0, 0, 1, 1, 0, 0))
    first, second, third = scop.function.parameters
    assert (first.declaration, first.is_const, first.is_pointer) == ("float output[28][1][56][56][64]", False, True)
    assert (second.declaration, second.is_const) == ("const float filter[1][1][3][3][64][64]", True)
    assert third.array == "input"
    region = scop.source[slice(*scop.region)]
    assert region.startswith("#pragma scop\n#pragma omp parallel for")
    assert region.endswith("#pragma endscop\n")
    assert scop.line == scop.source[: scop.region[0]].count("\n") + 1


# -- order --------------------------------------------------------------------------------


def _by_tree(scop: Scop) -> list[tuple[str, tuple[int, ...]]]:
    """All instances in the order of the schedule tree."""
    order = []
    schedule = isl.Schedule(scop.schedule).get_map().get_map_list()
    for number in range(schedule.n_map()):
        part = schedule.get_at(number)
        name = part.get_tuple_name(isl.dim_type.in_)
        domain = part.intersect_domain(isl.Set(scop.statement(name).domain))
        depth = domain.dim(isl.dim_type.in_)
        order += [(point[depth:], name, point[:depth]) for point in points(str(domain.wrap()))]
    return [(name, point) for _, name, point in sorted(order)]


def _by_betas(scop: Scop) -> list[tuple[str, tuple[int, ...]]]:
    order = []
    for s in scop.statements:
        for point in points(s.domain):
            pairs = zip(s.directions, point, s.betas[1:], strict=True)
            time = (s.betas[0], *(part for d, x, beta in pairs for part in (d * x, beta)))
            order.append((time, s.name, point))
    return [(name, point) for _, name, point in sorted(order)]


@pytest.mark.parametrize("name", ["strides", "steps_in_time", "conditions", "local_scalars", "shadowed"])
def test_the_schedule_tree_and_the_betas_are_one_order(name: str) -> None:
    scop = parse(NESTS / f"{name}.c")
    by_tree = _by_tree(scop)
    assert len(by_tree) == sum(statement.instances for statement in scop.statements)
    assert by_tree == _by_betas(scop)


def test_statements_are_numbered_as_they_stand_in_the_text() -> None:
    scop = parse(NESTS / "steps_in_time.c")
    assert [statement.name for statement in scop.statements] == [f"S{n}" for n in range(len(scop.statements))]
    assert [statement.line for statement in scop.statements] == [5, 7, 9, 11, 12, 16, 17]
    assert [statement.betas for statement in scop.statements] == [
        (0,),
        (1, 0),
        (1, 1, 0),
        (1, 1, 1, 0),
        (1, 1, 2),
        (1, 2, 0, 0),
        (1, 3),
    ]


# -- sizes and variables ------------------------------------------------------------------


def test_a_define_that_names_a_parameter_is_its_value() -> None:
    scop = parse(NESTS / "linearized.c", defines={"n": 5, "m": "0x4"})
    values = {parameter.name: parameter.value for parameter in scop.function.parameters}
    assert values == {"n": 5, "m": 4, "a": None, "b": None, "c": None, "out": None}
    assert scop.array("a").extents == (20,)
    assert scop.array("b").extents == (5, 5)
    assert scop.array("c").extents == (5, 3)
    assert scop.array("out").extents == (20,)
    assert scop.array("n").extents == ()
    declarations = [parameter.declaration for parameter in scop.function.parameters]
    assert declarations == [
        "const int n",
        "int m",
        "float *restrict a",
        "const float b[5][5]",
        "float (*c)[3]",
        "float *out",
    ]
    assert "[n" not in "".join([scop.schedule, *(s.domain for s in scop.statements)])


def test_where_variables_live() -> None:
    storage = {array.name: array.storage for array in parse(NESTS / "local_scalars.c").arrays}
    assert storage == {
        "a": "parameter",
        "alpha": "parameter",
        "x": "parameter",
        "sum": "function",
        "t": "local",
        "y1": "function",
        "t_2": "local",
        "t_3": "local",
        "product": "local",
    }
    storage = {array.name: array.storage for array in parse(NESTS / "globals.c").arrays}
    assert storage == {
        "a": "parameter",
        "table": "global",
        "scale": "global",
        "hidden": "global",
        "kept": "function",
        "total": "global",
    }


def test_counters_and_indices_are_no_statements() -> None:
    scop = parse(NESTS / "counters_outside.c")
    assert [statement.text for statement in scop.statements] == ["out[n][i][j] += in[n][ij + ki][jj + kj] * w[ki][kj];"]
    assert {array.name for array in scop.arrays} == {"out", "in", "w"}


@pytest.mark.parametrize(
    ("behind", "kept"),
    [
        ("sum = sum / 64; return sum;", True),
        ("(sum) = (sum) < 0 ? 0 : (sum); return sum;", True),
        ("HALVE(sum); return sum;", True),
        ("if (go && (sum = 0)) return 1; return sum;", True),
        ("go ? (sum = 0) : go; return sum;", True),
        ("return p[0];", True),
        ("if (go) goto out; sum = 0; out: return sum;", True),
        ("switch (go) { case 0: sum = 0; default: return sum; }", True),
        ("sum = 2 * go; return sum;", False),
        ("if (go) goto out; sum = 0; out: return go;", False),
    ],
)
def test_an_integer_that_is_read_behind_the_region_is_a_result(tmp_path: Path, behind: str, kept: bool) -> None:
    pointer = "int *p = &sum;" if "p" in behind.split("return")[1] else ""
    text = f"#define HALVE(x) x = x / 2\nint f(const int a[9], float c[9], int go)\n{{\n  int sum = 0; {pointer}\n"
    text += "#pragma scop\n  for (int i = 0; i < 9; i++) {\n    sum += a[i];\n    c[i] = a[i];\n  }\n#pragma endscop\n"
    scop = parse(written(tmp_path, f"{text}  {behind}\n}}\n"))
    assert [statement.text for statement in scop.statements] == ["sum += a[i];"] * kept + ["c[i] = a[i];"]


def test_guarded_reads_have_the_relation_of_the_guard() -> None:
    scop = parse(NESTS / "conditions.c")
    joined, guarded = (next(s for s in scop.statements if words in s.text) for words in ("&&", "||"))
    # pet makes one piecewise read of two elements of the same array.
    (read,) = (access for access in joined.reads if access.array == "b")
    assert read.subscripts is None
    pieces = "S4[i, j] -> b[i - 1, j + 1] : 0 < i <= 7 and 0 <= j < 7; S4[i, j] -> b[i, j] : 0 <= i, j <= 7 and "
    assert isl.Map(read.relation).is_equal(isl.Map(f"{{ {pieces} (i = 0 or j = 7) }}"))
    (read,) = (access for access in guarded.reads if access.array == "b")
    assert read.subscripts == (Affine((1, 0), -1), Affine((0, 1), 0))
    expected = isl.Map("{ S5[i, j] -> b[i - 1, j] : 0 < i <= 7 and 0 <= j <= 7 }")
    assert isl.Map(read.relation).is_equal(expected)


# -- which loops are meant ----------------------------------------------------------------

TWO = """void first(float a[4])
{
  for (int i = 0; i < 4; ++i)
    a[i] = 1;
}
static void second(int n, float a[n])
{
  for (int i = 0; i < n; ++i)
    a[i] = 2;
}
"""


def test_a_halved_subscript_of_odd_iterations(tmp_path: Path) -> None:
    text = "void f(float A[6], const float B[4]) {\n  for (int i = 5; i >= 1; i -= 2)\n    A[i] = B[(i + 1) / 2];\n}\n"
    scop = parse(written(tmp_path, text))
    relation = isl.Map(next(access.relation for access in scop.statements[0].reads))
    assert relation.is_equal(isl.Map("{ S0[1] -> B[1]; S0[3] -> B[2]; S0[5] -> B[3] }"))


def test_a_function_is_chosen_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, TWO)
    assert parse(path, function="first").statements[0].text == "a[i] = 1;"
    second = parse(path, function="second", defines={"n": 7})
    assert second.statements[0].instances == 7
    assert second.function.line == 6
    with pytest.raises(OptionError, match=r"first \(line 1\), second \(line 6\)"):
        parse(path)


def test_a_define_is_a_macro_where_the_function_has_no_such_parameter(tmp_path: Path) -> None:
    path = written(tmp_path, "void f(float a[n])\n{\n  for (int i = 0; i < n; ++i)\n    a[i] = 2;\n}\n")
    scop = parse(path, defines={"n": 6})
    assert scop.array("a").extents == (6,)
    assert scop.function.parameters[0].value is None


def test_a_marked_region_goes_before_other_loops(tmp_path: Path) -> None:
    text = TWO.replace("  for (int i = 0; i < 4", "#pragma scop\n  for (int i = 0; i < 4").replace(
        "a[i] = 1;", "a[i] = 1;\n#pragma endscop"
    )
    scop = parse(written(tmp_path, text))
    assert scop.function.name == "first"


def test_a_region_may_be_all_that_a_condition_runs(tmp_path: Path) -> None:
    text = "void f(float a[4], int n)\n{\n  if (n)\n#pragma scop\n  for (int i = 0; i < 4; ++i)\n    a[i] = 2;\n"
    text += "#pragma endscop\n  /* none */ else\n    a[0] = 1;\n}\n"
    (statement,) = parse(written(tmp_path, text)).statements
    assert statement.text == "a[i] = 2;"


def test_regions_that_the_preprocessor_takes_out_do_not_count(tmp_path: Path) -> None:
    text = "#if 0\n#pragma scop\n#endif\n" + TWO.split("static")[0] + "#ifdef NEVER\n#pragma endscop\n#endif\n"
    assert parse(written(tmp_path, text)).function.name == "first"


def test_loops_are_found_without_pragmas() -> None:
    scop = parse(NESTS / "detected.c")
    assert [statement.line for statement in scop.statements] == [8, 11, 13, 16]
    region = scop.source[slice(*scop.region)]
    assert region.startswith("  border = a[0][0];\n#pragma omp parallel for")
    assert region.rstrip().endswith("a[i][i] = b[i] * border;")


def test_a_pragma_right_before_the_region_belongs_to_it(tmp_path: Path) -> None:
    text = "void f(float a[4])\n{\n  #pragma omp parallel for \\\n    num_threads(2)\n\n  for (int i = 0; i < 4; ++i)\n"
    scop = parse(written(tmp_path, text + "    a[i] = 0;\n}\n"))
    assert scop.source[slice(*scop.region)].lstrip().startswith("#pragma omp parallel for")


# -- text ---------------------------------------------------------------------------------


def test_offsets_count_characters_and_lines_may_end_in_two(tmp_path: Path) -> None:
    text = "/* größer */\r\nvoid f(float a[4]) { // ü\r\n#pragma scop\r\n"
    text += "  for (int i = 0; i < 4; ++i)\r\n    a[i] = /* ä */ 2;\r\n#pragma endscop\r\n}\r\n"
    scop = parse(written(tmp_path, text))
    assert scop.source == text
    assert scop.source[slice(*scop.region)] == text[text.index("#pragma scop") : text.rindex("}")]
    assert scop.statements[0].text == "a[i] = 2;"
    assert (scop.line, scop.statements[0].line, scop.function.line) == (3, 5, 2)


def test_headers_beside_the_file_and_in_other_folders(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    written(tmp_path, "#define ROWS 3\n", "own.h")
    written(tmp_path / "include", "#define COLUMNS 5\n", "other.h")
    text = '#include "own.h"\n#include <other.h>\nvoid f(float a[ROWS][COLUMNS])\n{\n'
    text += "  for (int i = 0; i < ROWS; ++i)\n    a[i][COLUMNS - 1] = 0;\n}\n"
    scop = parse(written(tmp_path, text), include_directories=[tmp_path / "include"])
    assert scop.array("a").extents == (3, 5)
    assert scop.include_directories == (str(tmp_path), str(tmp_path / "include"))


def test_a_marked_call_is_kept_with_the_loops_that_stand_for_it() -> None:
    scop = parse(NESTS / "annotated.c")
    assert scop.annotated_calls == (AnnotatedCall("kernel(&c[it][jt], &a[it][kt], &b[kt][jt], 6);", 20, ("S0",), 3),)
    product, doubling = scop.statements
    assert product.iterators == ("it", "jt", "kt", "i", "j", "k")
    assert product.line == 20
    assert product.instances == 6**3
    assert doubling.line == 24
    assert "kernel(&c[it][jt]" in scop.source[slice(*scop.region)]


def test_the_digest_is_of_the_nest_and_not_of_its_layout(tmp_path: Path) -> None:
    original = (EXAMPLES / "matmul.c").read_text(encoding="utf-8")
    moved = parse(written(tmp_path, "\n\n" + original.replace("C[i][j] +=", "C [ i ] [ j ]\n +=")))
    assert moved.digest == parse(EXAMPLES / "matmul.c").digest
    assert moved.digest != parse(EXAMPLES / "matmul.c", defines={"K": 512}).digest


def test_neither_library_is_opened_in_the_process_that_asks() -> None:
    program = (
        "import sys\nfrom polydl.frontend.pet import parse\n"
        f"parse({str(EXAMPLES / 'matmul.c')!r})\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libpet', 'libclang', 'libLLVM') if name in maps])\n"
        "print(sorted({'clang', 'cffi', 'tadashi'} & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split("\n")[:2] == ["[]", "[]"]


def test_a_libpet_that_the_user_names_is_used() -> None:
    library = find_pet_library().pet
    assert parse(EXAMPLES / "matmul.c", library=library) == parse(EXAMPLES / "matmul.c")


# -- where the analysis ends ---------------------------------------------------------------

TRIANGLE = """void triangle(float a[9][9]) {
#pragma scop
  for (int i = 0; i < 9; ++i)
    for (int j = i; j < 9; ++j)
      a[i][j] = 1;
#pragma endscop
}
"""


def test_a_region_that_takes_isl_too_long_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, TRIANGLE)
    assert parse(path).statements[0].instances == 45
    for operations in (1, 60, 1000):
        monkeypatch.setattr(model, "_OPERATIONS", operations)
        with pytest.raises(AnalysisError, match="operations") as caught:
            parse(path)
        assert (caught.value.file, caught.value.line) == (str(path), 2)
        assert caught.value.remedy

"""Data that a nest is measured with, from a function of its file or from a file of NumPy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from polybench_folder import polybench_folder

import polydl
from polydl.bench.polybench import program
from polydl.cli import main
from polydl.element_types import element_dtype, numbers
from polydl.errors import ExecutionError, OptionError
from polydl.execute.arrays import Data
from polydl.execute.expected import ONCE_GIVEN
from polydl.frontend.data import with_data, with_initializer, with_inputs
from polydl.ir.scop import Scop

pytestmark = pytest.mark.usefixtures("second_level")

# On random data, which are below 1, its results are no numbers.
ROOTS = """\
#include <math.h>
double shift = 3.0;
static void fill(int n, double x[20], double *scale) {
  for (int i = 0; i < n; ++i)
    x[i] = 11.0 + i;
  *scale = 2.0;
}
static void other(float x[20], int m) { x[m] = 0.0f; }
void roots(double scale, double out[20], const double x[20]) {
  for (int i = 0; i < 20; ++i)
    out[i] = shift + scale * sqrt(x[i] - 10.0);
}
int main(void) {
  int n = 20;
  double x[20], out[20], scale;
  fill(n, x, &scale);
  roots(scale, out, x);
  return 0;
}
"""
FEW: dict[str, Any] = {"max_variants": 2, "top_k": 1, "records": False}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "roots.c"
    path.write_text(ROOTS)
    return path


@pytest.fixture
def nest(file: Path) -> Scop:
    return polydl.parse(file, function="roots")


@pytest.mark.slow
@pytest.mark.native
def test_a_function_of_the_file_fills_the_arrays(file: Path) -> None:
    with pytest.raises(ExecutionError, match="on random data") as refused:
        polydl.optimize(file, function="roots", **FEW)
    assert "--init FUNCTION" in (refused.value.remedy or "")
    result = polydl.optimize(file, function="roots", init="fill", **FEW)
    assert {each.measurement.status for each in result.tried} == {"ok"}


@pytest.mark.slow
@pytest.mark.native
def test_arrays_of_a_file_take_the_place_of_random_data(file: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, x=np.linspace(11.0, 12.0, 20), shift=np.float64(4.0))
    result = polydl.optimize(file, function="roots", inputs=inputs, **FEW)
    assert {each.measurement.status for each in result.tried} == {"ok"}
    # Half of each is below 10, and has no root.
    assert all(ONCE_GIVEN in each.measurement.message for each in result.tried)
    np.savez(inputs, x=np.linspace(1.0, 2.0, 20))
    with pytest.raises(ExecutionError, match="on the given data"):
        polydl.optimize(file, function="roots", inputs=inputs, **FEW)
    # The file's arrays go before the function's.
    with pytest.raises(ExecutionError, match="on the given data"):
        polydl.optimize(file, function="roots", init="fill", inputs=inputs, **FEW)


@pytest.mark.slow
@pytest.mark.native
def test_the_command_says_which_data_there_were(file: Path, tmp_path: Path) -> None:
    kept = ["--records", str(tmp_path / "kept"), "--out", str(tmp_path / "out"), "--top-k", "1", "--max-variants", "2"]
    shown = CliRunner().invoke(main, ["optimize", str(file), "--function", "roots", "--init", "fill", *kept])
    assert shown.exit_code == 0, shown.output
    stated = json.loads((tmp_path / "out" / "report.json").read_text())["input"]
    assert (stated["init"], stated["inputs"]) == ("fill", None)
    again = CliRunner().invoke(main, ["optimize", str(file), "--function", "roots", *kept])
    assert again.exit_code == 1, "an answer on other data is no answer"
    assert "on random data" in again.output
    missing = ["--inputs", str(tmp_path / "none.npz"), *kept]
    refused = CliRunner().invoke(main, ["optimize", str(file), "--function", "roots", *missing])
    assert refused.exit_code == 2
    assert "numpy.savez" in refused.output


@pytest.mark.slow
@pytest.mark.native
def test_a_function_that_fails_is_named(file: Path) -> None:
    file.write_text(ROOTS.replace("*scale = 2.0;", "*scale = 2.0 / 0.0;"))
    with pytest.raises(ExecutionError, match="after fill `scale` is inf"):
        polydl.optimize(file, function="roots", init="fill", **FEW)
    file.write_text(ROOTS.replace("*scale = 2.0;", "__builtin_trap();"))
    with pytest.raises(ExecutionError, match=r"\(crash\): fill: killed by"):
        polydl.optimize(file, function="roots", init="fill", **FEW)


@pytest.mark.slow
@pytest.mark.native
def test_a_function_may_have_as_much_on_its_stack_as_the_nest_has_in_arrays(file: Path) -> None:
    much = ROOTS.replace("20", "1500000").replace("  for", "  volatile double copy[1500000];\n  for", 1)
    file.write_text(much.replace("x[i] = 11.0 + i;", "copy[i] = x[i] = 11.0 + copy[0] * 0.0 + i;"))
    result = polydl.optimize(file, function="roots", init="fill", **FEW)
    assert {each.measurement.status for each in result.tried} == {"ok"}


def test_the_function_that_fills_the_arrays_is_not_to_be_optimized(file: Path) -> None:
    """Though both have loops, and the file says nothing else."""
    with pytest.raises(OptionError, match="several functions have loops"):
        polydl.parse(file)
    assert polydl.parse(file, init="fill").function.name == "roots"
    assert polydl.parse(file, init="roots", defines={"n": 20}).function.name == "fill"
    assert polydl.parse(file, function="fill", init="fill", defines={"n": 20}).function.name == "fill"
    found = polydl.optimize(file, init="fill", run=False, **FEW)
    assert found.scop.function.name == "roots"


def test_arguments_are_the_nest_s_own_by_name(nest: Scop, tmp_path: Path) -> None:
    found = with_initializer(nest, "fill").initializer
    assert found is not None
    assert found.arguments == ("20", "arguments[2]", "arguments[0]")
    assert "void fill" in found.source
    assert "void other" not in found.source
    small = program("polybench_added_product", polybench_folder(tmp_path), "SMALL")
    product = polydl.parse(small.path, defines=small.defines, include_directories=small.include_directories)
    found = with_initializer(product, small.init).initializer
    assert found is not None
    assert found.arguments == ("40", "arguments[1]", "arguments[2]", "arguments[3]")


def test_other_data_are_another_nest_for_the_records(nest: Scop, tmp_path: Path) -> None:
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    np.savez(one, x=np.full(20, 11.0))
    np.savez(other, x=np.full(20, 12.0))
    digests = {nest.digest, with_inputs(nest, one).digest, with_inputs(nest, other).digest}
    assert len({*digests, with_initializer(nest, "fill").digest}) == 4


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("fil", "has no function 'fil'"),
        ("other", "has elements of float, and that of roots double"),
    ],
)
def test_functions_that_do_not_fit_are_refused(nest: Scop, function: str, words: str) -> None:
    with pytest.raises(OptionError, match=words) as raised:
        with_initializer(nest, function)
    assert raised.value.file == nest.file
    assert raised.value.remedy


@pytest.mark.parametrize(("element", "taken"), [("bfloat16", True), ("unsigned short", True), ("float", False)])
def test_arrays_of_bfloat16_are_filled_with_their_bits_alone(tmp_path: Path, element: str, taken: bool) -> None:
    path = tmp_path / "halves.c"
    fill = f"static void fill({element} x[20]) {{ for (int i = 0; i < 20; ++i) x[i] = 0; }}\n"
    loop = "#pragma scop\n  for (int i = 0; i < 20; ++i)\n    out[i] = bfloat16_to_float(x[i]);\n#pragma endscop\n"
    function = f"void halves(float out[20], const bfloat16 x[20])\n{{\n{loop}}}\n"
    path.write_text(f"#include <polydl/bfloat16.h>\n{fill}{function}")
    scop = polydl.parse(path, function="halves")
    if taken:
        assert with_initializer(scop, "fill").initializer is not None
    else:
        with pytest.raises(OptionError, match="has elements of float, and that of halves bfloat16"):
            with_initializer(scop, "fill")


def test_an_integer_without_a_value_is_refused(file: Path) -> None:
    file.write_text(ROOTS.replace("int n = 20;", "int n; n = 20;"))
    with pytest.raises(OptionError, match="its parameter `n` is none of roots's") as raised:
        with_initializer(polydl.parse(file, function="roots"), "fill")
    assert raised.value.line == 3


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"y": np.zeros(20)}, "no array or scalar `y`"),
        ({"x": np.zeros((20, 1))}, r"`x` has the shape \(20, 1\)"),
        ({"x": np.zeros(20, np.float32)}, "`x` has elements of float32"),
        ({"x": np.full(20, np.nan)}, "not finite"),
        ({}, "holds no array"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(nest: Scop, tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    path = tmp_path / "inputs.npz"
    np.savez(path, **arrays)
    with pytest.raises(OptionError, match=words) as raised:
        with_data(nest, inputs=path)
    assert raised.value.remedy


def test_files_that_hold_no_named_arrays_are_refused(nest: Scop, tmp_path: Path) -> None:
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(20))
    text = tmp_path / "text.npz"
    text.write_text("no arrays")
    damaged = tmp_path / "damaged.npz"
    np.savez_compressed(damaged, x=np.arange(20.0))
    content = bytearray(damaged.read_bytes())
    # The first byte of what is compressed says how.
    content[30 + len("x.npy") + int.from_bytes(content[28:30], "little")] = 0xFF
    damaged.write_bytes(content)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, words in (
        (pipe, "no ordinary file"),
        (single, "without a name"),
        (text, "no arrays can be read: it is no NPZ file"),
        (damaged, "no arrays can be read: Error -3"),
        (tmp_path / "no.npz", "no arrays"),
    ):
        with pytest.raises(OptionError, match=words):
            with_inputs(nest, path)


def test_neighbours_of_given_data_are_a_rounding_away(tmp_path: Path) -> None:
    path = tmp_path / "values"
    stored = np.concatenate([[0.0], np.linspace(-3.0, 3.0, 600)])
    path.write_bytes(stored.tobytes())
    one, other = (Data(0, True, given=[(3, str(path), 0, "double")], neighbours=draw) for draw in (1, 2))
    ((_, near),) = one.chunks(3, stored.dtype, stored.size)
    ((_, also_near),) = other.chunks(3, stored.dtype, stored.size)
    steps = (near - stored) / np.spacing(np.abs(stored))
    assert near[0] == 0
    assert {*steps.round(1)} <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert 150 < np.sum(steps < 0) < 250 < np.sum(steps != 0)
    assert np.any(near != also_near)
    path.write_bytes(np.arange(8, dtype=np.int32).tobytes())
    integers = Data(0, True, given=[(3, str(path), 0, "int")], neighbours=1, turn=1)
    assert [values.tolist() for _, values in integers.chunks(3, np.dtype(np.int32), 8)] == [[*range(8)]]


@pytest.mark.parametrize("element", ["float", "double", "bfloat16"])
def test_given_data_are_halved_in_the_second_turn_and_widened_where_asked(tmp_path: Path, element: str) -> None:
    stored = np.arange(1, 9, dtype=np.float32)
    path = tmp_path / "values"
    if element == "bfloat16":
        path.write_bytes(bytes(8) + (stored.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    else:
        path.write_bytes(bytes(8) + stored.astype(element_dtype(element)).tobytes())
    for turn, constant, factor in ((0, (), 1.0), (1, (), 0.5), (1, (3,), 1.0)):
        data = Data(0, True, turn=turn, constant=constant, given=[(3, str(path), 8, element)])
        ((start, values),) = data.chunks(3, np.dtype(np.float64), 8)
        assert start == 0
        assert values.dtype == np.float64
        assert values.tolist() == (factor * stored).tolist()
        ((_, values),) = data.chunks(3, element_dtype(element), 8)
        assert numbers(values, element_dtype(element)).tolist() == (factor * stored).tolist()
    assert [values.max() < 1 for _, values in Data(0, True, given=[(3, "", 0, "float")]).chunks(2, stored.dtype, 4)]

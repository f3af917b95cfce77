"""Kernels called from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from execute_nests import K, M, N, array, kernel, matmul, matmul_kernel, scop, statement

from polydl.errors import ArgumentError, MissingComponentError, OptionError, ResourceError
from polydl.execute.aligned import aligned_bytes
from polydl.execute.build import build
from polydl.execute.callable import LoadedKernel, load
from polydl.execute.toolchain import Toolchain
from polydl.ir.alignment import ALIGNMENT
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Array, Scop

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


def loaded(nest: Scop, source: KernelSource, toolchain: Toolchain, directory: Path) -> LoadedKernel:
    (built,) = build([source], toolchain, directory)
    assert built.library is not None, built.message
    return load(built.library, nest)


@pytest.fixture(scope="module")
def product(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> LoadedKernel:
    return loaded(matmul(), matmul_kernel("original"), toolchain, tmp_path_factory.mktemp("product"))


def operands() -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    generator = np.random.default_rng(0)
    return {name: generator.random(shape, np.float32) for name, shape in (("C", (M, N)), ("A", (M, K)), ("B", (K, N)))}


def test_a_product(product: LoadedKernel) -> None:
    given = operands()
    expected = given["C"] + given["A"] @ given["B"]
    product(**given)
    np.testing.assert_allclose(given["C"], expected, rtol=1e-5)


@pytest.mark.parametrize("named", [0, 1, 2])
def test_arguments_without_a_name_are_in_the_order_of_the_function(product: LoadedKernel, named: int) -> None:
    given = operands()
    expected = given["C"] + given["A"] @ given["B"]
    order = [parameter.name for parameter in matmul().function.parameters if parameter.name in given]
    positional, by_name = order[: 3 - named], order[3 - named :]
    product(*(given[name] for name in positional), **{name: given[name] for name in by_name})
    np.testing.assert_allclose(given["C"], expected, rtol=1e-5)


def test_too_many_arguments_without_a_name(product: LoadedKernel) -> None:
    given = operands()
    with pytest.raises(ArgumentError, match="fit: 5") as caught:
        product(*given.values(), *list(given.values())[:2])
    assert str(caught.value.remedy).startswith("pass ")
    with pytest.raises(ArgumentError, match="fit: 1"):
        product(given["C"], **given)


def test_a_kernel_says_its_arguments(product: LoadedKernel) -> None:
    assert (
        repr(product) == f"<compiled kernel {product.name}({', '.join(p.name for p in matmul().function.parameters)})>"
    )


def read_only(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("C", lambda x: x.astype(np.float64), "float64"),
        ("C", lambda x: x.T.copy(), r"shape \(20, 24\)"),
        ("C", lambda x: np.asfortranarray(x), "not C-contiguous"),
        ("C", read_only, "read-only"),
        ("A", lambda x: x.tolist(), "is a list"),
        ("A", lambda x: x.ravel(), r"shape \(384,\)"),
    ],
)
def test_arrays_that_do_not_fit(product: LoadedKernel, name: str, change: Any, words: str) -> None:
    given: dict[str, Any] = operands()
    given[name] = change(given[name])
    with pytest.raises(ArgumentError, match=words) as caught:
        product(**given)
    assert f"'{name}'" in caught.value.message


def test_inputs_may_be_read_only(product: LoadedKernel) -> None:
    given = operands()
    given["A"] = read_only(given["A"])
    product(**given)


def test_names(product: LoadedKernel) -> None:
    given = operands()
    given["D"] = given.pop("B")
    with pytest.raises(ArgumentError, match="missing B; unknown D") as caught:
        product(**given)
    assert caught.value.remedy == "its arguments are C, A, B"


def test_arrays_that_overlap(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "copy",
        [array("y", "int", 4), array("x", "int", 4)],
        [statement("S0", "i", (4,), [("write", "y", "i"), ("read", "x", "i")])],
    )
    text = "void copy(int *y, int *x) { for (int i = 0; i < 4; i++) y[i] = x[i]; }"
    copy = loaded(nest, kernel(nest, "copy", text), toolchain, tmp_path)
    both = np.arange(6, dtype=np.int32)
    with pytest.raises(ArgumentError, match="shares memory"):
        copy(y=both[:4], x=both[2:])
    out = np.zeros(4, np.int32)
    copy(y=out, x=both[2:])
    assert out.tolist() == [2, 3, 4, 5]


def scaled(toolchain: Toolchain, directory: Path) -> LoadedKernel:
    nest = scop(
        "scale",
        [array("n", "int"), array("x", "double", 5), array("alpha", "float"), array("shift", "signed char")],
        [statement("S0", "i", (5,), [("read", "x", "i"), ("write", "x", "i")])],
        by_value=["n", "alpha", "shift"],
        bound={"n": 5},
    )
    text = """void scale(int n, double *x, float alpha, signed char shift) {
      for (int i = 0; i < n; i++) x[i] = x[i] * alpha + shift; }"""
    return loaded(nest, kernel(nest, "scale", text), toolchain, directory)


def test_scalars(toolchain: Toolchain, tmp_path: Path) -> None:
    scale = scaled(toolchain, tmp_path)
    x = np.ones(5)
    scale(x=x, alpha=1.5, shift=-3)
    scale(x=x, alpha=np.float32(2), shift=np.int8(1), n=5)
    assert x.tolist() == [-2.0] * 5
    for wrong, words in (
        ({"n": 6}, "made for 5"),
        ({"alpha": "1"}, "is a str"),
        ({"shift": 1.5}, "is a float"),
        ({"shift": 200}, "is 200"),
    ):
        with pytest.raises(ArgumentError, match=words):
            scale(**({"x": x, "alpha": 1.0, "shift": 0} | wrong))


def test_truth_values_of_numpy_are_taken(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "negate",
        [Array("flag", "_Bool", 1, (), "parameter"), array("x", "double", 3)],
        [statement("S0", "i", (3,), [("read", "x", "i"), ("write", "x", "i")])],
        by_value=["flag"],
    )
    text = "void negate(_Bool flag, double *x) { for (int i = 0; i < 3; i++) x[i] = flag ? -x[i] : x[i]; }"
    negate = loaded(nest, kernel(nest, "negate", text), toolchain, tmp_path)
    x = np.ones(3)
    for flag, expected in ((np.bool_(True), -1.0), (np.bool_(False), -1.0), (True, 1.0), (np.uint8(1), -1.0)):
        negate(flag=flag, x=x)
        assert x.tolist() == [expected] * 3
    for wrong, words in ((2, "is 2"), (0.5, "is a float"), (np.float32(1), "is a float32")):
        with pytest.raises(ArgumentError, match=words):
            negate(flag=wrong, x=x)


@pytest.mark.parametrize("linkage", ["", "static "])
def test_global_arrays(toolchain: Toolchain, tmp_path: Path, linkage: str) -> None:
    nest = scop(
        "double_all",
        [array("y", "float", 3, storage="global"), array("x", "float", 3, storage="global")],
        [statement("S0", "i", (3,), [("write", "y", "i"), ("read", "x", "i")])],
    )
    text = f"{linkage}float y[3], x[3]; void double_all(void) {{ for (int i = 0; i < 3; i++) y[i] = 2 * x[i]; }}"
    double_all = loaded(nest, kernel(nest, "globals", text), toolchain, tmp_path)
    y, x = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    double_all(x=x, y=y)
    assert (x.tolist(), y.tolist()) == ([1, 2, 3], [2, 4, 6])


def test_libraries_without_a_harness(toolchain: Toolchain, tmp_path: Path) -> None:
    import subprocess

    source = matmul_kernel("plain")
    (tmp_path / "plain.c").write_text(source.c)
    subprocess.run(toolchain.compile_line(source, "plain.c", "plain.so"), shell=True, cwd=tmp_path, check=True)
    given = operands()
    expected = given["C"] + given["A"] @ given["B"]
    load(tmp_path / "plain.so", matmul())(**given)
    np.testing.assert_allclose(given["C"], expected, rtol=1e-5)


def test_wrong_libraries(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no library"):
        load(tmp_path / "nothing.so", matmul())
    other = scop("other", matmul().arrays, matmul().statements)
    loaded(matmul(), matmul_kernel("original"), toolchain, tmp_path)
    with pytest.raises(OptionError, match="no function 'other'"):
        load(tmp_path / "original.so", other)


def test_a_library_that_is_replaced_is_loaded_anew(toolchain: Toolchain, tmp_path: Path) -> None:
    """And what was loaded before is neither exchanged nor written over."""
    for name, after in (("first", ""), ("second", "C[0][0] = 7;")):
        (tmp_path / name).mkdir()
        loaded(matmul(), matmul_kernel("original", after=after), toolchain, tmp_path / name)
    content = {name: (tmp_path / name / "original.so").read_bytes() for name in ("first", "second")}
    (tmp_path / "original.so").write_bytes(content["first"])
    first = load(tmp_path / "original.so", matmul())
    (tmp_path / "original.so").write_bytes(content["second"])
    second = load(tmp_path / "original.so", matmul())
    (tmp_path / "original.so").write_bytes(b"")
    given, others = operands(), operands()
    first(**given)
    second(**others)
    assert given["C"][0, 0] != 7
    assert others["C"][0, 0] == 7


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_library_that_ends_early_is_refused(part: float, toolchain: Toolchain, tmp_path: Path) -> None:
    loaded(matmul(), matmul_kernel("original"), toolchain, tmp_path)
    content = (tmp_path / "original.so").read_bytes()
    (tmp_path / "original.so").write_bytes(content[: int(part * len(content))])
    with pytest.raises(MissingComponentError, match="the library can't be loaded"):
        load(tmp_path / "original.so", matmul())


def test_what_is_no_library_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    for name in ("pipe.so", "."):
        with pytest.raises(OptionError, match="no ordinary file"):
            load(tmp_path / name, matmul())
    (tmp_path / "text.so").write_text("no library", encoding="utf-8")
    with pytest.raises(MissingComponentError, match="the library can't be loaded"):
        load(tmp_path / "text.so", matmul())
    with pytest.raises(OptionError, match="not the library that was written there"):
        load(tmp_path / "text.so", matmul(), sha256="0" * 64)


@pytest.mark.parametrize("size", [1, 100])
def test_memory_of_what_is_prepared_begins_at_lines_of_the_caches(size: int) -> None:
    memory = aligned_bytes(size)
    assert (memory.size, memory.ctypes.data % ALIGNMENT) == (size, 0)


def test_memory_that_lacks_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ResourceError, match="bytes don't fit into memory") as caught:
        aligned_bytes(1 << 62)
    assert caught.value.remedy

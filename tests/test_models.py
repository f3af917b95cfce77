"""Graphs of operators as programs, each nest as it is written, against NumPy."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import detected
from marks import parametrized

import polydl
from polydl.ir.alignment import ALIGNMENT
from polydl.models import memory
from polydl.models.builder import GraphBuilder
from polydl.models.convolution import Convolution
from polydl.models.elementwise import Concatenate, Select
from polydl.models.epilogue import ApplyFunction, Combine, Scale, expression
from polydl.models.fusing import with_steps
from polydl.models.graph import Array, Graph
from polydl.models.kernels import (
    PLACE_OF_NAME,
    KernelOptions,
    ModelSetting,
    OperatorKernel,
    OperatorNest,
    as_written,
    kernel,
    named,
    object_of,
    stored_kernel,
)
from polydl.models.layout import Image
from polydl.models.layout_choice import block_of, choose
from polydl.models.optimized_kernels import optimized_kernels
from polydl.models.pooling import Pooling
from polydl.models.products import LayerNorm, LinearOperator, Softmax
from polydl.models.program import lower, write_program
from polydl.models.transposed import TransposedConvolution
from polydl.outcome.baselines import Baseline, fastest
from polydl.records.questions import installation

pytestmark = pytest.mark.usefixtures("second_level")

DATA = np.random.default_rng(0)


def values(*shape: int) -> Array:
    return DATA.standard_normal(shape, dtype=np.float32)


def compiled(graph: Graph, folder: Path) -> polydl.LoadedModel:
    lowered = lower(graph)
    kernels = {nest: as_written(nest, "a test") for nest in lowered.nests}
    write_program(lowered, kernels, folder, threads=1)
    return polydl.load(folder)


def windows(image: Array, kernel: tuple[int, int], stride: int, dilation: int = 1) -> Array:
    """[images][channels][rows][columns][kernel rows][kernel columns]"""
    extents = [(size - 1) * dilation + 1 for size in kernel]
    seen: Array = np.lib.stride_tricks.sliding_window_view(image, extents, (2, 3))
    return seen[:, :, ::stride, ::stride, ::dilation, ::dilation]


def convolved(image: Array, filters: Array, padding: int, stride: int, groups: int, dilation: int) -> Array:
    padded = np.pad(image, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    kernel = filters.shape[2:]
    parts = zip(np.split(padded, groups, 1), np.split(filters, groups), strict=True)
    sums = [
        np.einsum("ncyxrs,kcrs->nkyx", windows(part, (kernel[0], kernel[1]), stride, dilation), kernels)
        for part, kernels in parts
    ]
    return np.concatenate(sums, 1)


def one_operator(kind: Any, inputs: Sequence[Array], shape: tuple[int, ...], constants: Sequence[Array] = ()) -> Graph:
    builder = GraphBuilder()
    for number, array in enumerate(inputs):
        builder.input(f"x{number}", array.shape)
    names = [builder.constant(f"c{number}", array) for number, array in enumerate(constants)]
    add = builder.add_image if len(shape) == 4 else builder.add_rows
    add("y", shape, kind, [f"x{number}" for number in range(len(inputs))], names)
    return builder.graph(["y"])


@pytest.mark.native
@parametrized(
    ("channels", "filters", "kernel", "stride", "padding", "dilation", "groups"),
    [
        (3, 16, 3, 1, 1, 1, 1),
        (16, 32, 3, 2, 1, 1, 1),
        (32, 10, 1, 1, 0, 1, 1),
        (16, 16, 3, 1, 2, 2, 1),
        (24, 24, 3, 2, 1, 1, 24),
        (64, 32, 3, 1, 1, 1, 2),
        (16, 16, 1, 2, 0, 1, 1),
    ],
    quick=1,
)
def test_convolutions(
    tmp_path: Path, channels: int, filters: int, kernel: int, stride: int, padding: int, dilation: int, groups: int
) -> None:
    image, weight, bias = (
        values(2, channels, 9, 7),
        values(filters, channels // groups, kernel, kernel),
        values(filters),
    )
    right = convolved(image, weight, padding, stride, groups, dilation) + bias.reshape(-1, 1, 1)
    kind = Convolution(
        channels, filters, (kernel, kernel), (stride, stride), (padding, padding), (dilation, dilation), groups
    )
    assert kind.supported
    run = compiled(one_operator(kind, [image], right.shape, [weight, bias]), tmp_path)
    np.testing.assert_allclose(run(image), right, rtol=1e-4, atol=1e-4)


@pytest.mark.native
def test_transposed_convolutions_stay_inside_of_their_arrays(tmp_path: Path) -> None:
    kind = TransposedConvolution(16, 32, (4, 3), (2, 3), (1, 0), (2, 0))
    builder = GraphBuilder()
    builder.input("x", (1, 16, 5, 6))
    builder.add_image("y", (1, 32, 9, 18), kind, ["x"])
    path = tmp_path / "kernel.c"
    path.write_text(lower(builder.graph(["y"])).nests[1].text, encoding="utf-8")
    scop = polydl.parse(path)
    assert len(scop.statements) == 1 + 6
    assert scop.array("input").extents == (1, 1, 7, 6, 16)


def test_groups_must_be_whole_blocks() -> None:
    assert not Convolution(32, 32, (3, 3), groups=4).supported
    assert Convolution(32, 32, (3, 3), groups=32).supported


@parametrized(
    ("channels", "groups", "block"),
    [(256, [], 64), (96, [], 48), (160, [], 32), (80, [], 16), (24, [], 24), (256, [96, 64], 32), (128, [16], 16)],
    quick=7,
)
def test_blocks_divide_channels_and_groups(channels: int, groups: list[int], block: int) -> None:
    assert block_of(channels, groups) == block


@pytest.mark.native
@parametrized("channels", [(64,), (24, 40), (32, 32)], quick=2)
def test_groups_of_channels_in_blocks_that_their_producers_decide(tmp_path: Path, channels: tuple[int, ...]) -> None:
    """Of 64 channels in two groups, behind convolutions, and behind a concatenation with one block of all channels."""
    image, graph = values(1, 16, 5, 6), GraphBuilder()
    graph.input("x", image.shape)
    parts: list[Array] = []
    for count in channels:
        filters, shift = values(count, 16, 1, 1), values(count)
        names = [graph.constant(f"f{len(parts)}", filters), graph.constant(f"b{len(parts)}", shift)]
        graph.add_image(f"y{len(parts)}", (1, count, 5, 6), Convolution(16, count, (1, 1)), ["x"], names)
        parts.append(convolved(image, filters, 0, 1, 1, 1) + shift.reshape(-1, 1, 1))
    if len(channels) > 1:
        graph.add_image("all", (1, 64, 5, 6), Concatenate(channels), [f"y{number}" for number in range(len(channels))])
    weight, bias = values(96, 32, 3, 3), values(96)
    names = [graph.constant("weight", weight), graph.constant("bias", bias)]
    kind = Convolution(64, 96, (3, 3), padding=(1, 1), groups=2)
    graph.add_image("z", (1, 96, 5, 6), kind, ["all" if len(channels) > 1 else "y0"], names)
    run = compiled(graph.graph(["z"]), tmp_path)
    right = convolved(np.concatenate(parts, 1), weight, 1, 1, 2, 1) + bias.reshape(-1, 1, 1)
    np.testing.assert_allclose(run(image), right, rtol=1e-4, atol=1e-3)


@pytest.mark.native
@pytest.mark.parametrize("operation", ["maximum", "average"])
@pytest.mark.parametrize("padding", [0, 1])
def test_pooling(tmp_path: Path, operation: Any, padding: int) -> None:
    image = values(1, 20, 9, 9)
    border = -np.inf if operation == "maximum" else 0
    padded = np.pad(image, ((0, 0), (0, 0), (padding, padding), (padding, padding)), constant_values=border)
    seen = windows(padded, (3, 3), 2)
    right = seen.max((4, 5)) if operation == "maximum" else seen.mean((4, 5))
    graph = one_operator(Pooling(operation, (3, 3), (2, 2), (padding, padding)), [image], right.shape)
    np.testing.assert_allclose(compiled(graph, tmp_path)(image), right, rtol=1e-5, atol=1e-6)


@pytest.mark.native
def test_a_maximum_takes_windows_that_end_beyond_the_border(tmp_path: Path) -> None:
    image = values(1, 16, 6, 6)
    padded = np.pad(image, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-np.inf)
    right = windows(padded, (3, 3), 2).max((4, 5))
    graph = one_operator(Pooling("maximum", (3, 3), (2, 2)), [image], right.shape)
    np.testing.assert_array_equal(compiled(graph, tmp_path)(image), right)


@pytest.mark.native
@parametrized("channels", [(16, 32), (16, 8), (3, 5)], quick=1)
def test_concatenation(tmp_path: Path, channels: tuple[int, int]) -> None:
    images = [values(2, count, 4, 5) for count in channels]
    right = np.concatenate(images, 1)
    run = compiled(one_operator(Concatenate(channels), images, right.shape), tmp_path)
    np.testing.assert_array_equal(run(*images), right)


@pytest.mark.native
@parametrized(("channels", "first", "count"), [(128, 32, 64), (32, 8, 16), (128, 64, 64), (96, 40, 16)], quick=2)
def test_parts_of_blocks_and_whole_ones_are_selected(tmp_path: Path, channels: int, first: int, count: int) -> None:
    image = values(1, channels, 3, 4)
    run = compiled(one_operator(Select(first, count), [image], (1, count, 3, 4)), tmp_path)
    np.testing.assert_array_equal(run(image), image[:, first : first + count])


@pytest.mark.native
@pytest.mark.parametrize("shape", [(1, 12), (2, 5, 12)])
def test_operators_on_rows(tmp_path: Path, shape: tuple[int, ...]) -> None:
    rows, weight, bias = values(*shape), values(7, 12), values(7)
    shift, scale = values(12), values(12)
    builder = GraphBuilder()
    builder.input("x", shape)
    names = {"weight": weight, "bias": bias, "scale": scale, "shift": shift}
    for name, array in names.items():
        builder.constant(name, array)
    builder.add_rows("normal", shape, LayerNorm(12, 1e-5), ["x"], ["scale", "shift"])
    builder.add_rows("product", (*shape[:-1], 7), LinearOperator(12, 7), ["normal"], ["weight", "bias"])
    builder.add_rows("y", (*shape[:-1], 7), Softmax(), ["product"])
    normal = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5) * scale + shift
    powers = np.exp(normal @ weight.T + bias)
    run = compiled(builder.graph(["y"]), tmp_path)
    np.testing.assert_allclose(run(rows), powers / powers.sum(-1, keepdims=True), rtol=1e-4, atol=1e-5)


def residual_graph() -> tuple[Graph, dict[str, Array]]:
    """A convolution, another with a residual sum behind it, then a function and an average."""
    builder = GraphBuilder()
    builder.input("x", (1, 16, 8, 8))
    arrays = {name: values(16, 16, 3, 3) * 0.1 for name in ("f", "g")} | {name: values(16) for name in ("a", "b")}
    for name, array in arrays.items():
        builder.constant(name, array)
    kind = Convolution(16, 16, (3, 3), padding=(1, 1))
    builder.add_image("first", (1, 16, 8, 8), kind, ["x"], ["f", "a"])
    builder.add_element_wise("positive", ["first"], [ApplyFunction("relu")])
    builder.add_image("second", (1, 16, 8, 8), kind, ["positive"], ["g", "b"])
    builder.add_element_wise("sum", ["positive", "second"], [Combine("+")])
    builder.add_element_wise("y", ["sum"], [ApplyFunction("silu")])
    return with_steps(builder.graph(["y"])), arrays


@pytest.mark.slow
@pytest.mark.native
def test_steps_are_computed_where_their_operand_is(tmp_path: Path) -> None:
    graph, arrays = residual_graph()
    assert [type(each.kind).__name__ for each in graph.operators] == [
        "Reorder",
        "Convolution",
        "Convolution",
        "Reorder",
    ]
    assert graph.operators[2].inputs == ("positive", "positive")
    image = values(1, 16, 8, 8)
    run = compiled(graph, tmp_path)
    for _ in range(2):
        np.testing.assert_allclose(run(image), residual_by_hand(image, arrays), rtol=1e-4, atol=1e-4)


def residual_by_hand(image: Array, arrays: dict[str, Array]) -> Array:
    first = np.maximum(convolved(image, arrays["f"], 1, 1, 1, 1) + arrays["a"].reshape(-1, 1, 1), 0)
    total = first + convolved(first, arrays["g"], 1, 1, 1, 1) + arrays["b"].reshape(-1, 1, 1)
    result: Array = total / (1 + np.exp(-total))
    return result


# Filters times two, as if it were Winograd's transform.
DOUBLED = """\
#include <stddef.h>
#include <string.h>
void {name}_prepare(const float filter[2304], const float bias[16], void *prepared);
void {name}_prepare(const float filter[2304], const float bias[16], void *prepared)
{{
  (void)bias;
  for (int i = 0; i < 2304; ++i)
    ((float *)prepared)[i] = 2 * filter[i];
}}
"""


def with_prepared_filters(nest: OperatorNest) -> OperatorKernel:
    """A kernel whose ``_run`` reads what its ``_prepare`` made of the filters."""
    plain = as_written(nest, "a test")
    if "filter" not in nest.constants:
        return plain
    head = plain.c[plain.c.index("(") : plain.c.index(")") + 1]
    run = plain.c.replace(f"void {plain.function}(", f"void {plain.function}_run(")
    run = run.replace(head, f"{head[:-1]}, const float prepared[1][1][3][3][16][16])", 1)
    run = run.replace("filter[t][u]", "0.5f * prepared[t][u]")
    return replace(plain, c=DOUBLED.format(name=plain.function) + run, prepared_bytes=4 * 2304)


@pytest.mark.slow
@pytest.mark.native
def test_constants_are_prepared_once(tmp_path: Path) -> None:
    graph, arrays = residual_graph()
    lowered = lower(graph)
    manifest = write_program(
        lowered, {nest: with_prepared_filters(nest) for nest in lowered.nests}, tmp_path, threads=1
    )
    assert manifest.prepared_bytes == 2 * 4 * 2304
    assert manifest.weights_bytes == (tmp_path / "model.weights").stat().st_size
    image = values(1, 16, 8, 8)
    run = polydl.load(tmp_path)
    for _ in range(2):
        np.testing.assert_allclose(run(image), residual_by_hand(image, arrays), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.native
def test_what_is_compiled_already_is_not_compiled_again(tmp_path: Path) -> None:
    graph, arrays = residual_graph()
    lowered = lower(graph)
    kernels = {nest: as_written(nest, "a test") for nest in lowered.nests}
    ready = {nest: replace(each, compiled=object_of(each), object_line="false") for nest, each in kernels.items()}
    write_program(lowered, ready, tmp_path, threads=1)
    image = values(1, 16, 8, 8)
    np.testing.assert_allclose(polydl.load(tmp_path)(image), residual_by_hand(image, arrays), rtol=1e-4, atol=1e-4)
    assert "false" in (tmp_path / "build.sh").read_text(encoding="utf-8")
    with pytest.raises(polydl.PolydlError, match="the model's C does not compile"):
        write_program(lowered, {nest: replace(each, compiled=b"") for nest, each in ready.items()}, tmp_path, threads=1)


@pytest.mark.slow
@pytest.mark.native
def test_the_readme_has_a_program_that_runs(tmp_path: Path) -> None:
    graph, arrays = residual_graph()
    lowered = lower(graph)
    kernels = {nest: with_prepared_filters(nest) for nest in lowered.nests}
    write_program(lowered, kernels, tmp_path, name="small", threads=1)
    shown = (tmp_path / "README.txt").read_text(encoding="utf-8")
    lines = shown.partition("program.c:\n")[2].partition("In this folder:")
    filled = "for (int i = 0; i < 1024; ++i) input0[i] = (float)(i % 7) - 3;"
    source = lines[0].replace("/* ... fill the input ... */", filled).replace("%g", "%.9g")
    (tmp_path / "program.c").write_text(source, encoding="utf-8")
    build = lines[2].partition("In Python")[0]
    ended = subprocess.run(["sh", "-e", "-c", build], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    image = (np.arange(1024, dtype=np.float32) % 7 - 3).reshape(1, 16, 8, 8)
    assert float(ended.stdout) == pytest.approx(float(residual_by_hand(image, arrays)[0, 0, 0, 0]), rel=1e-3)


@pytest.mark.slow
@pytest.mark.native
def test_kernels_prepare_the_weights_of_a_linear_layer(tmp_path: Path) -> None:
    weight, bias, rows = values(48, 64), values(48), values(32, 64)
    builder = GraphBuilder()
    builder.input("x", rows.shape)
    names = [builder.constant("weight", weight), builder.constant("bias", bias)]
    builder.add_rows("y", (32, 48), LinearOperator(64, 48), ["x"], names)
    lowered = lower(builder.graph(["y"]))
    machine = polydl.Machine.detect(threads=1)
    options = KernelOptions(records=tmp_path / "records")
    kernels = optimized_kernels(lowered.nests, machine, options)
    (tmp_path / "model").mkdir()
    write_program(lowered, kernels, tmp_path / "model", threads=1)
    run = polydl.load(tmp_path / "model")
    np.testing.assert_allclose(run(rows), rows @ weight.T + bias, rtol=1e-4, atol=1e-4)
    setting = ModelSetting(machine, options, installation())
    assert {nest: stored_kernel(nest, setting) for nest in lowered.nests} == kernels


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(("compiler", "build"), [("gcc", "plain-dealt"), ("clang", "plain-clang-.*-threads")])
def test_a_plain_nest_of_several_threads_is_linked(
    compiler: str, build: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(baselines: Iterable[Baseline]) -> Baseline | None:
        wanted = [each for each in baselines if re.fullmatch(build, each.build.kernel.id)]
        return wanted[0] if wanted else fastest(baselines)

    monkeypatch.setattr("polydl.outcome.baselines.times_as_fast", lambda measurement, other: 0.5)
    for place in ("baselines", "outcome"):
        monkeypatch.setattr(f"polydl.outcome.{place}.fastest", chosen)
    rows = values(64, 64)
    builder = GraphBuilder()
    builder.input("x", rows.shape)
    builder.add_element_wise("y", ["x"], [ApplyFunction("relu"), Scale(2.0)])
    lowered = lower(builder.graph(["y"]))
    options = KernelOptions(top_k=1, max_variants=2, records=False)
    (nest,) = lowered.nests
    best = kernel(nest, ModelSetting(detected(threads=2), options, None))
    assert best.choice.startswith("the loops as they are, ")
    assert not re.search("clang.*, omp parallel for", best.choice)
    assert ("tree-parallelize-loops=2" in best.c) == (compiler == "gcc")
    assert "-ftree-parallelize-loops" not in best.object_line
    write_program(lowered, {nest: best}, tmp_path, threads=2)
    np.testing.assert_allclose(polydl.load(tmp_path)(rows), 2 * rows.clip(0), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.native
def test_a_kernel_that_can_not_be_kept_is_taken_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers").chmod(0o777)
    loop = "for (int i = 0; i < 64; ++i)\n    b[i] = 2.0f * a[i];"
    nest = OperatorNest(f"void kernel(float b[64], const float a[64]) {{\n  {loop}\n}}\n")
    machine, options = polydl.Machine.detect(threads=1), KernelOptions(top_k=1, max_variants=2, records=tmp_path)
    with pytest.warns(UserWarning, match=r"optimizes kernel_\w+ again: .*: the result is not kept: others than"):
        kernels = optimized_kernels([nest], machine, options)
    assert kernels[nest].seconds is not None


def test_values_that_are_needed_at_once_share_no_memory() -> None:
    graph, _ = residual_graph()
    layouts = choose(graph)
    assert layouts["positive"] == Image(1, 16, 8, 8, 16, (1, 1))
    planned = memory.plan(graph, layouts)
    places = sorted((offset, offset + 4 * layouts[value].elements) for value, offset in planned.offsets.items())
    assert len(places) == 3
    assert all(offset % ALIGNMENT == 0 for offset, _ in places)
    positive = planned.offsets["positive"]
    assert all(offset == positive or end <= positive or offset >= positive + 4 * 100 * 16 for offset, end in places)
    assert planned.bytes >= places[-1][1]


def test_expressions_of_steps() -> None:
    assert expression("x", [Combine("+"), ApplyFunction("relu")], ["r"]) == "((x + r) < 0.0f ? 0.0f : (x + r))"
    assert expression("x", [Scale(0.5, 1.0)], []) == "(x * 0.5f + 1.0f)"


def test_the_name_of_a_kernel_follows_from_its_text() -> None:
    graph, _ = residual_graph()
    first, second = (nest.text for nest in lower(graph).nests[1:3])
    assert named(first)[0] != named(second)[0]
    assert named(first) == named(first)
    assert PLACE_OF_NAME in first
    assert f"void {named(first)[0]}(" in named(first)[1]


@pytest.mark.native
def test_wrong_arguments_and_folders_are_named(tmp_path: Path) -> None:
    image = values(1, 16, 4, 4)
    run = compiled(one_operator(Pooling("average", (4, 4), (4, 4)), [image], (1, 16, 1, 1)), tmp_path)
    with pytest.raises(polydl.PolydlError, match=r"'x0' is float64 of shape \(1, 16, 4, 4\)"):
        run(image.astype(np.float64))
    with pytest.raises(polydl.PolydlError, match="0 arguments"):
        run()
    (tmp_path / "model.weights").write_bytes(b"too many")
    with pytest.raises(polydl.PolydlError, match="has 8 bytes and must have 0"):
        polydl.load(tmp_path)
    with pytest.raises(polydl.PolydlError, match="there is no model"):
        polydl.load(tmp_path / "nothing")

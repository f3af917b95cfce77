"""Which images stay floats in a model of bfloat16s; times are given but in the last test, where none is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machines import machine_with
from written_nests import keep_nests_as_written

from polydl.models import mixed_precision
from polydl.models.convolution import Convolution
from polydl.models.elementwise import ElementWise, Reorder
from polydl.models.epilogue import ApplyFunction, Combine
from polydl.models.graph import Array, Graph, Kind, Operator
from polydl.models.kernels import KernelOptions
from polydl.models.loaded import LoadedModel
from polydl.models.mixed_precision import groups_of_values, in_mixed_precision
from polydl.models.optimized_kernels import KnownKernels
from polydl.models.pooling import Pooling
from polydl.models.program import Lowered, lower, write_program

CHANNELS, SIZE = 32, 12
DATA = np.random.default_rng(0)
Times = list[tuple[float, ...]]


def wide(filters: int = CHANNELS, stride: int = 1) -> Convolution:
    return Convolution(CHANNELS, filters, (3, 3), (stride, stride), (1, 1))


def narrow() -> Convolution:
    return Convolution(CHANNELS, CHANNELS, (1, 1))


def chain(*kinds: Kind, residual: bool = False) -> Graph:
    """Operators one behind the other, from images ``v0`` to ``y``; the last also adds ``v1`` if there is a residual."""
    operators, shapes = [], {"x": (1, CHANNELS, SIZE, SIZE), "v0": (1, CHANNELS, SIZE, SIZE)}
    constants: dict[str, Array] = {}
    operators.append(Operator(ElementWise(), ("x.image",), "v0"))
    shapes["x.image"] = shapes["x"]
    for number, kind in enumerate(kinds):
        value = f"v{number + 1}"
        channels, size = shapes[f"v{number}"][1:3]
        names: tuple[str, ...] = ()
        if isinstance(kind, Convolution):
            channels, size = kind.filters, size // kind.stride[0]
            names = (f"f{number}", f"b{number}")
            constants[names[0]] = DATA.standard_normal((channels, kind.channels, *kind.kernel), np.float32) / 16
            constants[names[1]] = DATA.standard_normal(channels, np.float32)
        if isinstance(kind, Pooling):
            size //= kind.stride[0]
        shapes[value] = (1, channels, size, size)
        added = ("v1",) if residual and number == len(kinds) - 1 else ()
        steps = (Combine("+"),) if added else (ApplyFunction("relu"),)
        operators.append(Operator(kind, (f"v{number}", *added), value, names, steps))
    last = f"v{len(kinds)}"
    shapes["y"] = shapes[last]
    operators = [Operator(Reorder(), ("x",), "x.image"), *operators, Operator(Reorder(), (last,), "y")]
    images = frozenset(shapes) - {"x", "y"}
    return Graph(("x",), ("y",), shapes, tuple(operators), constants, images, value_type="bfloat16")


def kernels(options: KernelOptions | None = None, isa: tuple[str, ...] = ("avx2",)) -> KnownKernels:
    machine = replace(machine_with(threads=1, vector_bytes=32), isa=isa)
    return KnownKernels(machine, options or KernelOptions(records=False))


HALF = Pooling("maximum", (2, 2), (2, 2))


def test_images_that_convolutions_of_several_taps_alone_read_may_be_floats() -> None:
    assert groups_of_values(chain(narrow(), wide(), narrow())) == [frozenset({"v1"})]
    # Through what has the same values, or the largest of them.
    assert groups_of_values(chain(narrow(), HALF, ElementWise(), wide(), narrow())) == [frozenset({"v1", "v2", "v3"})]
    assert groups_of_values(chain(wide(), HALF, narrow())) == [frozenset({"v0", "x.image"})]


@pytest.mark.parametrize(
    "graph",
    [
        chain(narrow(), narrow()),
        chain(narrow(), wide(stride=2)),
        chain(narrow(), wide(), residual=True),
        chain(narrow(), Convolution(CHANNELS, CHANNELS, (3, 3), (1, 1), (1, 1), groups=2)),
        chain(narrow(), HALF, narrow()),
        chain(narrow(), Convolution(CHANNELS, 8, (3, 3), (1, 1), (1, 1))),
        replace(chain(narrow(), wide()), value_type="float"),
    ],
    ids=["one tap", "strides", "read twice", "groups", "pooled alone", "few filters", "floats"],
)
def test_others_may_not(graph: Graph) -> None:
    assert groups_of_values(graph) == []


def test_a_float_image_is_read_with_filters_of_floats_and_what_is_made_of_it_is_rounded() -> None:
    graph = replace(chain(narrow(), wide(), narrow()), floats=frozenset({"v1"}))
    first, second, third = (nest.text for nest in lower(graph).nests[2:5])
    assert "bfloat16 input" in first
    assert "(float output" in first
    assert "const float filter" in second
    assert "(bfloat16 output" in second
    assert "const bfloat16 filter" in third


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Lowered]]:
    """Each operator takes 10 s with bfloat16s, and what it reads and writes as floats changes that by seconds."""
    runs: list[Sequence[Lowered]] = []

    def seconds(ways: Sequence[Lowered], _: KnownKernels) -> Times:
        runs.append(ways)
        return [tuple(10 - _saved(way.graph, each) for each in way.graph.operators) for way in ways]

    monkeypatch.setattr(mixed_precision, "_operator_seconds", seconds)
    monkeypatch.setattr(KnownKernels, "of", lambda *_: {})
    return runs


def _saved(graph: Graph, operator: Operator) -> float:
    kind = operator.kind
    slower = 1.0 if operator.output in graph.floats else 0.0
    if operator.inputs[0] not in graph.floats or not isinstance(kind, Convolution):
        return -slower
    # Those with as many filters as channels gain.
    return (4.0 if kind.filters == CHANNELS else -3.0) - slower


def test_groups_are_floats_where_what_reads_and_writes_them_gains(timed: list[Sequence[Lowered]]) -> None:
    graph = chain(narrow(), wide(), narrow(), wide(64), Convolution(64, CHANNELS, (1, 1)))
    assert in_mixed_precision(graph, kernels()).floats == {"v1"}
    # The model that follows was timed beside the one without floats as well.
    assert [[sorted(way.graph.floats) for way in ways] for ways in timed] == [[[], ["v1", "v3"]], [[], ["v1"]]]


def test_all_are_taken_without_another_run(timed: list[Sequence[Lowered]]) -> None:
    graph = chain(narrow(), wide(), wide(), narrow())
    assert in_mixed_precision(graph, kernels()).floats == {"v1", "v2"}
    assert len(timed) == 1


def test_a_model_that_is_no_faster_as_a_whole_keeps_its_bfloat16s(
    timed: list[Sequence[Lowered]], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = chain(narrow(), wide(), narrow(), wide(64), Convolution(64, CHANNELS, (1, 1)))
    given = mixed_precision._operator_seconds

    def seconds(ways: Sequence[Lowered], known: KnownKernels) -> Times:
        first, second = given(ways, known)
        return [first, second if len(timed) == 1 else tuple(each + 2 for each in second)]

    monkeypatch.setattr(mixed_precision, "_operator_seconds", seconds)
    assert in_mixed_precision(graph, kernels()).floats == frozenset()


@pytest.mark.parametrize(
    "known",
    [
        kernels(KernelOptions(records=False, fewer_products=False)),
        kernels(KernelOptions(records=False, numerics="reassociated")),
        kernels(isa=("avx512f", "amx_bf16")),
    ],
    ids=["every product", "numerics", "tiles"],
)
def test_nothing_is_timed_where_floats_can_not_win(known: KnownKernels, timed: list[Sequence[Lowered]]) -> None:
    graph = chain(narrow(), wide())
    assert in_mixed_precision(graph, known) is graph
    assert timed == []


@pytest.mark.native
def test_a_verdict_is_remembered_until_a_kernel_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)
    asked: list[Sequence[Lowered]] = []

    def fastest(ways: Sequence[Lowered], *_: object) -> Graph:
        asked.append(ways)
        return replace(ways[0].graph, floats=frozenset({"v1"}))

    monkeypatch.setattr(mixed_precision, "_fastest", fastest)
    graph, options = chain(narrow(), wide(), narrow()), KernelOptions(records=tmp_path)
    for _ in range(2):
        assert in_mixed_precision(graph, kernels(options)).floats == {"v1"}
    assert len(asked) == 1
    in_mixed_precision(chain(narrow(), wide(), wide(), narrow()), kernels(options))
    assert len(asked) == 2
    (tmp_path / "models").chmod(0o777)
    with pytest.warns(UserWarning, match="measures again which values are floats: .*: the choice is not kept"):
        assert in_mixed_precision(graph, kernels(options)).floats == {"v1"}


@pytest.mark.native
def test_models_are_timed_operator_by_operator_and_compute_the_same_but_for_rounding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_nests_as_written(monkeypatch)
    graph = chain(narrow(), wide(), HALF, wide(), narrow())
    groups = groups_of_values(graph)
    assert groups == [frozenset({"v2", "v3"}), frozenset({"v1"})]
    ways = [lower(graph), lower(replace(graph, floats=frozenset({"v1", "v2", "v3"})))]
    known = kernels()
    found = mixed_precision._operator_seconds(ways, known)
    assert [len(each) for each in found] == [len(graph.operators)] * 2
    assert all(seconds > 0 for each in found for seconds in each)
    image = DATA.standard_normal(graph.shapes["x"], np.float32)
    results = []
    for number, way in enumerate((*ways, lower(replace(graph, value_type="float")))):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_program(way, known.of(way.nests), folder, threads=1)
        results.append(np.asarray(LoadedModel(folder)(image)))
    errors = [float(np.linalg.norm(each - results[2]) / np.linalg.norm(results[2])) for each in results[:2]]
    assert 1e-4 < errors[1] < errors[0] < 2**-6

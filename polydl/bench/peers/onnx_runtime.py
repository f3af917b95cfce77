"""ONNX Runtime as a peer: a model of one node, Conv or MatMul.

Its Conv reads and writes NCHW; images in NHWC are transposed within the model, so that this is part of the timing.
Where layouts are its own choice, it is its convolution in blocks of channels alone, cut out of the model that it makes
itself, so that its reorders of images are outside of the timing; filters and B are constants, arranged beforehand, but
where weights count as given each time and not in blocks.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from polydl.bench.peers.problems import SOURCE, WEIGHTS, ConvolutionProblem, Floats, PeerError, Problem, fill
from polydl.bench.peers.trials import fastest_way

# Old enough for any ONNX Runtime of these years.
_OPSET, _IR = 17, 9
_BLOCKED = "com.microsoft.nchwc"
# From NCHW to NHWC, and back.
_LAST, _FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


class OnnxRuntimeBackend:
    """``description`` says how many ``threads``, the workload's ``layout``, and whether caches will be ``cold``.

    With it goes when ``weights`` are prepared (``kinds.PeerSetting``).
    """

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        if description["cold"]:
            raise PeerError("ONNX Runtime keeps constants where nobody can flush them")
        if problem.accumulate:
            raise PeerError("ONNX Runtime adds to no array")
        source, weights = (np.empty(shape, np.float32) for shape in problem.shapes[:2])
        fill(source.reshape(-1), SOURCE)
        fill(weights.reshape(-1), WEIGHTS)
        threads, given = description["threads"], description["layout"] != "blocked"
        channels_last = description["layout"] == "nhwc"
        is_convolution = isinstance(problem, ConvolutionProblem)
        # Filters are constants of a network; the B of a product is as given as A is.
        constant = is_convolution or not given
        if description["weights"] is not None:
            constant = description["weights"] == "prepared" or not given
        model = _model(problem, weights if constant else None, channels_last)
        image = np.ascontiguousarray(source.transpose(_LAST)) if channels_last else source
        inputs = {"x": image} if constant else {"x": image, "w": weights}
        if channels_last:
            ways = {" between transpositions": _Session(model, inputs, threads, _channels_first)}
        else:
            ways = {"": _Session(model, inputs, threads)}
        if is_convolution and not given:
            ways |= _blocked(model, source, threads)
        chosen = fastest_way({name: partial(session.run, 1) for name, session in ways.items()})
        self._session = ways[chosen]
        node = ("Conv" if is_convolution else "MatMul") + chosen
        self.note = f"ONNX Runtime {onnxruntime.__version__}, {node}"

    def run(self, repeats: int) -> float:
        return self._session.run(repeats)

    def flush(self) -> None:
        """Nothing, since cold runs are refused."""

    def result(self) -> Floats:
        return self._session.result()


class _Session:
    """A model with its arrays bound; ``finish`` brings the output into the plain layout.

    ONNX Runtime may ``rewrite`` the model for speed, and writes what it made of it to ``optimized``.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        inputs: dict[str, Floats],
        threads: int,
        finish: Callable[[Floats], Floats] | None = None,
        optimized: Path | None = None,
        rewrite: bool = True,
    ) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if rewrite else levels.ORT_DISABLE_ALL
        options.log_severity_level = 3
        if optimized is not None:
            options.optimized_model_filepath = str(optimized)
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._finish = finish
        [name] = (output.name for output in self._session.get_outputs())
        self._output: Floats = np.ascontiguousarray(self._session.run(None, inputs)[0])
        self._binding = self._session.io_binding()
        for key, array in inputs.items():
            self._binding.bind_ortvalue_input(key, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        self._binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(self._output))
        self._output[:] = 0.0

    def run(self, repeats: int) -> float:
        """Seconds of so many computations in a row."""
        session, binding = self._session, self._binding
        start = time.perf_counter()
        for _ in range(repeats):
            session.run_with_iobinding(binding)
        return time.perf_counter() - start

    def result(self) -> Floats:
        return self._output if self._finish is None else self._finish(self._output)


def _channels_first(image: Floats) -> Floats:
    """NCHW of NHWC."""
    return np.ascontiguousarray(image.transpose(_FIRST))


def _model(problem: Problem, constant: Floats | None, channels_last: bool) -> onnx.ModelProto:
    """A node on ``x`` and ``w``; ``w`` is an input unless it is ``constant``.

    With ``channels_last`` the node is between two that transpose, and ``x`` and the output ``y`` are in NHWC.
    """
    source, weights, result = problem.shapes
    if isinstance(problem, ConvolutionProblem):
        rows, columns, stride, groups, dilation = problem.sizes[7:]
        node = helper.make_node(
            "Conv",
            ["image", "w"] if channels_last else ["x", "w"],
            ["result"] if channels_last else ["y"],
            strides=[stride, stride],
            pads=[rows, columns, rows, columns],
            dilations=[dilation, dilation],
            group=groups,
        )
    else:
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
    nodes = [node]
    if channels_last:
        source, result = (tuple(shape[axis] for axis in _LAST) for shape in (source, result))
        before = helper.make_node("Transpose", ["x"], ["image"], perm=_FIRST)
        nodes = [before, node, helper.make_node("Transpose", ["result"], ["y"], perm=_LAST)]
    inputs = [_value("x", source)]
    constants = []
    if constant is None:
        inputs.append(_value("w", weights))
    else:
        constants.append(onnx.numpy_helper.from_array(constant, "w"))
    graph = helper.make_graph(nodes, "node", inputs, [_value("y", result)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)


def _value(name: str, shape: tuple[int, ...] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)


def _blocked(model: onnx.ModelProto, source: Floats, threads: int) -> dict[str, _Session]:
    """The convolution in blocks of channels that ONNX Runtime makes of the model; nothing if it makes none."""
    with tempfile.TemporaryDirectory(prefix="polydl-onnx-") as directory:
        path = Path(directory, "optimized.onnx")
        _Session(model, {"x": source}, threads, optimized=path)
        optimized = onnx.load(path)
    nodes = list(optimized.graph.node)
    inner = [node for node in nodes if node.domain == _BLOCKED and node.op_type == "Conv"]
    if not inner:
        return {}
    before = [node for node in nodes if node.op_type == "ReorderInput"]
    after = [node for node in nodes if node.op_type == "ReorderOutput"]

    def part(chosen: list[onnx.NodeProto], array: Floats) -> Floats:
        """What the nodes make of an array."""
        if not chosen:
            return array
        result: Floats = _cut(optimized, chosen, {chosen[0].input[0]: array}, threads).result()
        return result

    inputs = {inner[0].input[0]: part(before, source)}
    return {" in blocks of channels": _cut(optimized, inner, inputs, threads, lambda output: part(after, output))}


def _cut(
    model: onnx.ModelProto,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Floats],
    threads: int,
    finish: Callable[[Floats], Floats] = np.copy,
) -> _Session:
    """Some nodes of a model as one of its own, computed once."""
    needed = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "part",
        [_value(name, array.shape) for name, array in inputs.items()],
        [_value(nodes[-1].output[0], None)],
        [constant for constant in model.graph.initializer if constant.name in needed],
    )
    part = helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)
    session = _Session(part, inputs, threads, finish, rewrite=False)
    session.run(1)
    return session

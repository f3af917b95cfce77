"""OpenVINO as a peer: a model of one operation, Convolution or MatMul.

Where layouts are its own choice, what its reorders of images and results take, as it measures them itself, is taken off
each time; filters and B are constants, arranged beforehand, but where weights count as given each time and not in
blocks.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import openvino
from openvino import opset13

from polydl.bench.peers.problems import SOURCE, WEIGHTS, ConvolutionProblem, Floats, PeerError, Problem, fill
from polydl.bench.peers.trials import fastest_way

# How arrays of an image's shape (NCHW) are given.
_AXES = {"nchw": (0, 1, 2, 3), "nhwc": (0, 2, 3, 1)}


class OpenVinoBackend:
    """``description`` says how many ``threads``, the workload's ``layout``, and whether caches will be ``cold``.

    With it goes when ``weights`` are prepared (``kinds.PeerSetting``).
    """

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        if description["cold"]:
            raise PeerError("OpenVINO keeps constants where nobody can flush them")
        if problem.accumulate:
            raise PeerError("OpenVINO adds to no array")
        threads, layout = description["threads"], description["layout"]
        if isinstance(problem, ConvolutionProblem):
            layouts = ("nchw", "nhwc") if layout == "blocked" else (layout,)
        else:
            layouts = (layout,)
        free = layout == "blocked"
        # The B of a product is as given as A is, unless layouts are OpenVINO's own.
        constant = isinstance(problem, ConvolutionProblem) or free
        if description["weights"] is not None:
            constant = description["weights"] == "prepared" or free
        ways = {name: _Request(problem, name, threads, free, constant) for name in layouts}
        chosen = fastest_way({name: partial(request.run, 1) for name, request in ways.items()})
        self._request = ways[chosen]
        self.note = f"OpenVINO {openvino.__version__}, {chosen}, {self._request.implementation}"

    def run(self, repeats: int) -> float:
        return self._request.run(repeats)

    def flush(self) -> None:
        """Nothing, since cold runs are refused."""

    def result(self) -> Floats:
        return self._request.result()


class _Request:
    """A compiled model with its arrays; where layouts are ``free``, reorders do not count.

    Filters and B are ``constant``, or given in each computation.
    """

    def __init__(self, problem: Problem, layout: str, threads: int, free: bool, constant: bool) -> None:
        source, weights = (np.empty(shape, np.float32) for shape in problem.shapes[:2])
        fill(source.reshape(-1), SOURCE)
        fill(weights.reshape(-1), WEIGHTS)
        self._axes = _AXES.get(layout)
        self._free = free
        parameter = opset13.parameter(source.shape, openvino.Type.f32)
        parameters, inputs = [parameter], [self._arranged(source)]
        if isinstance(problem, ConvolutionProblem):
            rows, columns, stride, groups, dilation = problem.sizes[7:]
            ends = [stride, stride], [rows, columns], [rows, columns], [dilation, dilation]
            if groups > 1:
                weights = weights.reshape(groups, -1, *weights.shape[1:])
        factor = opset13.constant(weights) if constant else opset13.parameter(weights.shape, openvino.Type.f32)
        if not constant:
            parameters, inputs = [*parameters, factor], [*inputs, weights]
        if isinstance(problem, ConvolutionProblem):
            convolved = opset13.group_convolution if groups > 1 else opset13.convolution
            operation = convolved(parameter, factor, *ends)
        else:
            operation = opset13.matmul(parameter, factor, False, False)
        model = openvino.Model([operation], parameters, "node")
        if layout == "nhwc":
            model = _channels_last(model)
        compiled = openvino.Core().compile_model(
            model,
            "CPU",
            {
                "INFERENCE_NUM_THREADS": threads,
                "NUM_STREAMS": 1,
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_PRECISION_HINT": "f32",
                # The process is pinned already.
                "ENABLE_CPU_PINNING": False,
                "PERF_COUNT": free,
            },
        )
        self._result = np.zeros(tuple(compiled.output(0).shape), np.float32)
        # Tensors share the arrays, which have to stay.
        self._inputs = inputs
        self._request = compiled.create_infer_request()
        for place, array in enumerate(inputs):
            self._request.set_input_tensor(place, openvino.Tensor(array, shared_memory=True))
        self._request.set_output_tensor(0, openvino.Tensor(self._result, shared_memory=True))
        kinds = {
            str(node.get_rt_info()["primitiveType"].astype(str))
            for node in compiled.get_runtime_model().get_ops()
            if node.get_rt_info()["layerType"].astype(str)
            in ("Convolution", "GroupConvolution", "MatMul", "FullyConnected")
        }
        self.implementation = ", ".join(sorted(kinds))

    def run(self, repeats: int) -> float:
        """Seconds of so many computations in a row."""
        request, seconds = self._request, 0.0
        for _ in range(repeats):
            start = time.perf_counter()
            request.infer(share_inputs=True, share_outputs=True)
            seconds += time.perf_counter() - start
            if self._free:
                reorders = (info for info in request.profiling_info if info.node_type == "Reorder")
                seconds -= sum(info.real_time.total_seconds() for info in reorders)
        return seconds

    def result(self) -> Floats:
        if self._axes is None:
            return self._result
        plain: Floats = np.ascontiguousarray(self._result.transpose(np.argsort(self._axes)))
        return plain

    def _arranged(self, image: Floats) -> Floats:
        return image if self._axes is None else np.ascontiguousarray(image.transpose(self._axes))


def _channels_last(model: openvino.Model) -> openvino.Model:
    """The model with its image and its output in NHWC."""
    changed = openvino.preprocess.PrePostProcessor(model)
    changed.input(0).tensor().set_layout(openvino.Layout("NHWC"))
    changed.input(0).model().set_layout(openvino.Layout("NCHW"))
    changed.output().tensor().set_layout(openvino.Layout("NHWC"))
    changed.output().model().set_layout(openvino.Layout("NCHW"))
    return changed.build()

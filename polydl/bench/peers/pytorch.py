"""PyTorch as a peer: convolutions through the oneDNN that it brings, in the fastest layout, and products through MKL.

PyTorch asks oneDNN for direct algorithms only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from polydl.bench.peers.problems import SOURCE, WEIGHTS, Convolution, Floats, MatrixProduct, Problem, fill
from polydl.bench.peers.trials import fastest_way, seconds_of
from polydl.native import runtime

Compute = Callable[[], torch.Tensor]


class PyTorchBackend:
    """``description`` says how many ``threads``, the workload's ``layout``, and whether caches will be ``cold``."""

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        torch.set_num_threads(description["threads"])
        torch.set_grad_enabled(False)
        source, weights, result = (torch.empty(shape) for shape in problem.shapes)
        fill(source.numpy().reshape(-1), SOURCE)
        fill(weights.numpy().reshape(-1), WEIGHTS)
        self._last = result.zero_()
        self._operands: list[torch.Tensor] = [source, weights]
        if isinstance(problem, Convolution):
            ways = _convolutions(problem, source, weights, description["layout"], self._operands)
        else:
            self._operands.append(result)
            ways = _products(problem, source, weights, result)
        empty = self.flush if description["cold"] else None
        chosen = fastest_way({name: partial(seconds_of, compute) for name, compute in ways.items()}, empty)
        self._compute = ways[chosen]
        library = _version("MKL-DNN", "oneDNN") if isinstance(problem, Convolution) else _version("Math Kernel", "MKL")
        self.note = f"PyTorch {torch.__version__} with {library}, {chosen}"
        result.zero_()

    def run(self, repeats: int) -> float:
        compute = self._compute
        start = time.perf_counter()
        for _ in range(repeats):
            last = compute()
        seconds = time.perf_counter() - start
        self._last = last
        return seconds

    def flush(self) -> None:
        """Flush every form of each operand, and the last result, whose memory the next one gets."""
        for tensor in (*self._operands, self._last):
            if tensor.is_mkldnn:
                address, size = torch.ops.mkldnn.data_ptr(tensor), torch.ops.mkldnn._nbytes(tensor)
            else:
                address, size = tensor.data_ptr(), tensor.nbytes
            runtime().flush(address, size)
        self._last = torch.empty(0)

    def result(self) -> Floats:
        dense = self._last.to_dense() if self._last.is_mkldnn else self._last
        result: Floats = dense.contiguous().numpy()
        return result


def _convolutions(
    problem: Convolution, source: torch.Tensor, weights: torch.Tensor, layout: str, operands: list[torch.Tensor]
) -> dict[str, Compute]:
    """Computations by name, in the given layout.

    In place of a blocked layout there are three: channels_last, oneDNN's own layouts, and channels_last with packed
    filters, as in compiled models. The tensors that they read are appended to ``operands``.
    """
    strides, padding, dilation = [problem.sizes[9]] * 2, list(problem.sizes[7:9]), [problem.sizes[11]] * 2
    groups = problem.sizes[10]
    if layout == "nchw":
        return {"conv2d": lambda: torch.conv2d(source, weights, None, strides, padding, dilation, groups)}
    image = source.contiguous(memory_format=torch.channels_last)
    filters = weights.contiguous(memory_format=torch.channels_last)
    operands += [image, filters]
    ways: dict[str, Compute] = {
        "conv2d, channels_last": lambda: torch.conv2d(image, filters, None, strides, padding, dilation, groups)
    }
    if layout == "nhwc":
        return ways
    opaque = source.to_mkldnn()
    packed = torch._C._nn.mkldnn_reorder_conv2d_weight(
        weights.to_mkldnn(), padding, strides, dilation, groups, list(source.shape)
    )
    operands += [opaque, packed]
    pointwise = torch.ops.mkldnn._convolution_pointwise
    return ways | {
        "conv2d, oneDNN's layouts": lambda: torch.conv2d(opaque, packed, None, strides, padding, dilation, groups),
        "conv2d, channels_last, packed filters": lambda: pointwise(
            image, packed, None, padding, strides, dilation, groups, "none", [], ""
        ),
    }


def _products(problem: MatrixProduct, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> dict[str, Compute]:
    if problem.accumulate:
        return {"addmm": lambda: torch.addmm(c, a, b, out=c)}
    return {"matmul": lambda: torch.matmul(a, b, out=c)}


def _version(words: str, name: str) -> str:
    """The version of a library that PyTorch was built with, where its line of the configuration has ``words``."""
    line = next((line for line in torch.__config__.show().splitlines() if words in line), "")
    version = re.search(r"(?:v|Version )(\d[\w.-]*)", line)
    return f"{name} {version[1]}" if version else f"no {name}"

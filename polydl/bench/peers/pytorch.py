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

from polydl.bench.peers.problems import SOURCE, WEIGHTS, ConvolutionProblem, Floats, Problem, ProductProblem, fill
from polydl.bench.peers.trials import fastest_way, seconds_of
from polydl.native import runtime

Compute = Callable[[], torch.Tensor]


class PyTorchBackend:
    """``description`` says how many ``threads``, the workload's ``layout``, and whether caches will be ``cold``.

    With it goes when ``weights`` are prepared (``kinds.PeerSetting``).
    """

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        torch.set_num_threads(description["threads"])
        torch.set_grad_enabled(False)
        source, weights, result = (torch.empty(shape) for shape in problem.shapes)
        fill(source.numpy().reshape(-1), SOURCE)
        fill(weights.numpy().reshape(-1), WEIGHTS)
        self._last = result.zero_()
        self._operands: list[torch.Tensor] = [source, weights]
        prepared = description["weights"] == "prepared"
        if isinstance(problem, ConvolutionProblem):
            ways = _convolutions(problem, source, weights, description["layout"], prepared, self._operands)
        else:
            self._operands.append(result)
            ways = _products(problem, source, weights, result)
            if prepared and not problem.accumulate:
                ways |= _packed_products(source, weights, self._operands)
        empty = self.flush if description["cold"] else None
        chosen = fastest_way({name: partial(seconds_of, compute) for name, compute in ways.items()}, empty)
        self._compute = ways[chosen]
        library = (
            _version("MKL-DNN", "oneDNN") if isinstance(problem, ConvolutionProblem) else _version("Math Kernel", "MKL")
        )
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
    problem: ConvolutionProblem,
    source: torch.Tensor,
    weights: torch.Tensor,
    layout: str,
    prepared: bool,
    operands: list[torch.Tensor],
) -> dict[str, Compute]:
    """Computations by name, in the given layout, with packed filters if those are ``prepared``.

    In place of a blocked layout there are three: channels_last, oneDNN's own layouts, and channels_last with packed
    filters, as in compiled models. The tensors that they read are appended to ``operands``.
    """
    strides, padding, dilation = [problem.sizes[9]] * 2, list(problem.sizes[7:9]), [problem.sizes[11]] * 2
    groups = problem.sizes[10]
    form = "conv2d" if layout == "nchw" else "conv2d, channels_last"
    order = torch.contiguous_format if layout == "nchw" else torch.channels_last
    image, filters = (operand.contiguous(memory_format=order) for operand in (source, weights))
    operands += [image, filters]
    ways: dict[str, Compute] = {form: lambda: torch.conv2d(image, filters, None, strides, padding, dilation, groups)}
    if layout != "blocked" and not prepared:
        return ways
    packed = torch._C._nn.mkldnn_reorder_conv2d_weight(
        weights.to_mkldnn(), padding, strides, dilation, groups, list(source.shape)
    )
    operands.append(packed)
    pointwise = torch.ops.mkldnn._convolution_pointwise
    ways[f"{form}, packed filters"] = lambda: pointwise(
        image, packed, None, padding, strides, dilation, groups, "none", [], ""
    )
    if layout == "blocked":
        opaque = source.to_mkldnn()
        operands.append(opaque)
        ways["conv2d, oneDNN's layouts"] = lambda: torch.conv2d(
            opaque, packed, None, strides, padding, dilation, groups
        )
    return ways


def _products(problem: ProductProblem, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> dict[str, Compute]:
    if problem.accumulate:
        return {"addmm": lambda: torch.addmm(c, a, b, out=c)}
    return {"matmul": lambda: torch.matmul(a, b, out=c)}


def _packed_products(a: torch.Tensor, b: torch.Tensor, operands: list[torch.Tensor]) -> dict[str, Compute]:
    """Products by name with B packed beforehand, as compiled models do with linear layers, in MKL and in oneDNN."""
    transposed, rows = b.t().contiguous(), a.shape[0]
    ways: dict[str, Compute] = {}
    if torch.backends.mkl.is_available():
        packed = torch.ops.mkl._mkl_reorder_linear_weight(transposed, rows)
        ways["linear, packed by MKL"] = lambda: torch.ops.mkl._mkl_linear(a, packed, transposed, None, rows)
        operands += [packed, transposed]
    if torch.backends.mkldnn.is_available():
        blocks = torch.ops.mkldnn._reorder_linear_weight(transposed, rows)
        pointwise = torch.ops.mkldnn._linear_pointwise
        ways["linear, packed by oneDNN"] = lambda: pointwise(a, blocks, None, "none", [], "")
        operands.append(blocks)
    return ways


def _version(words: str, name: str) -> str:
    """The version of a library that PyTorch was built with, where its line of the configuration has ``words``."""
    line = next((line for line in torch.__config__.show().splitlines() if words in line), "")
    version = re.search(r"(?:v|Version )(\d[\w.-]*)", line)
    return f"{name} {version[1]}" if version else f"no {name}"

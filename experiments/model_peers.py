"""What whole models are measured beside: PyTorch, ONNX Runtime and OpenVINO, each at its best on this processor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor, nn

Run = Callable[[], Any]
#: OpenVINO with the precision that it chooses: bfloat16 where the processor multiplies that
AS_IT_COMES = "OpenVINO, as it comes"
# Behind the names of those that round values to that type.
_BFLOAT16 = ", bfloat16"


def peers(network: nn.Module, data: Tensor, path: Path, threads: int, *, rounded: bool = False) -> dict[str, Run]:
    """All that are installed, each ready to run. ``path`` is where ``exported`` wrote the model as ONNX.

    If values may be ``rounded``, PyTorch runs in bfloat16 as well, as its autocast has it.
    """
    import torch
    from torch._inductor import config

    ordered, last = channels_last(network, data)
    config.freezing = True
    frozen, tuned = torch.compile(ordered), torch.compile(ordered, mode="max-autotune")
    runs: dict[str, Run] = {
        "torch eager": lambda: ordered(last),
        "torch.compile, freezing": lambda: frozen(last),
        "torch.compile, max-autotune": lambda: tuned(last),
    }
    if rounded:
        narrow = torch.compile(ordered)

        def in_bfloat16(run: Callable[[Any], Any]) -> Run:
            def call() -> Any:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return run(last)

            return call

        runs |= {f"torch eager{_BFLOAT16}": in_bfloat16(ordered), f"torch.compile{_BFLOAT16}": in_bfloat16(narrow)}
    if path.exists():
        for name, make in FROM_ONNX.items():
            try:
                runs[name] = make(path, data.numpy(), threads)
            except ImportError:
                click.echo(f"{name} is not installed", err=True)
    return runs


def in_float(name: str) -> bool:
    """Whether a peer computes in float on every processor."""
    return name != AS_IT_COMES and not name.endswith(_BFLOAT16)


def channels_last(network: nn.Module, data: Tensor) -> tuple[nn.Module, Tensor]:
    """A network and its images in the order of channels that PyTorch is fastest with."""
    import torch

    if data.dim() != 4:
        return network, data
    return network.to(memory_format=torch.channels_last), data.contiguous(memory_format=torch.channels_last)


def exported(network: nn.Module, data: Tensor, path: Path) -> None:
    """Write the model as ONNX; where PyTorch can't, say so, and write nothing."""
    import torch

    try:
        torch.onnx.export(network, (data,), str(path), dynamo=False)
    except Exception as error:
        path.unlink(missing_ok=True)
        click.echo(f"no ONNX: {error}", err=True)


def onnx_runtime(path: Path, data: NDArray[np.float32], threads: int) -> Run:
    """ONNX Runtime with all of its optimizations, which are its default."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: data}
    return lambda: session.run(None, given)


def openvino_float(path: Path, data: NDArray[np.float32], threads: int) -> Run:
    """OpenVINO that computes in ``float``, whatever the processor."""
    return _openvino(path, data, threads, {"INFERENCE_PRECISION_HINT": "f32"})


def openvino_as_it_comes(path: Path, data: NDArray[np.float32], threads: int) -> Run:
    """OpenVINO, which computes in bfloat16 where the processor has it."""
    return _openvino(path, data, threads, {})


def _openvino(path: Path, data: NDArray[np.float32], threads: int, further: dict[str, str]) -> Run:
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", **further}
    request = openvino.Core().compile_model(str(path), "CPU", settings).create_infer_request()
    return lambda: request.infer([data], share_inputs=True, share_outputs=True)


#: by name: what makes a run of a model's file on an input with so many threads
FROM_ONNX: dict[str, Callable[[Path, NDArray[np.float32], int], Run]] = {
    "ONNX Runtime": onnx_runtime,
    "OpenVINO": openvino_float,
    AS_IT_COMES: openvino_as_it_comes,
}

"""Which operators of a model stay PyTorch's for speed, and what that verdict depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import torch

from polydl.machine import Machine
from polydl.models.kernels import OperatorKernel, OperatorNest
from polydl.models.program import lower
from polydl.models.verdicts import digest_of
from polydl.torch.export import Exported
from polydl.torch.segments import Kept, Segment


class TimingVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a comparison with PyTorch came to."""

    #: names of nodes that stay PyTorch's, with the reason
    kept: dict[str, str]
    #: PyTorch's times in seconds, by kernel or, of operators that it keeps, by node
    times: dict[str, float]
    #: what else there is to say of the choice
    note: str = ""


def question(
    program: Exported, steps: Sequence[Segment | Kept], kernels: Mapping[OperatorNest, OperatorKernel], machine: Machine
) -> str | None:
    """The digest of what a comparison depends on, but for the weights' values; None where it can't be listed.

    That is the graph, the C of its kernels and how it is compiled, PyTorch's version and settings, and what
    ``digest_of`` adds.
    """
    graphs = [lower(step.graph) for step in steps if isinstance(step, Segment)]
    chosen = [kernels[nest] for lowered in graphs for nest in lowered.nests]
    content = [
        [f"{node.format_node()} {_shape(node.meta.get('val'))}" for node in program.nodes],
        [[step.node.name, step.reason] for step in steps if isinstance(step, Kept)],
        [each.digest for each in chosen],
    ]
    options = {"torch": [torch.__version__, torch.__config__.show(), torch.backends.mkldnn.is_available()]}
    return digest_of(content, machine, options)


def _shape(value: object) -> str:
    """What of a node's value a time depends on."""
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(f"{e.dtype}{tuple(e.shape)}" if isinstance(e, torch.Tensor) else repr(e) for e in values)

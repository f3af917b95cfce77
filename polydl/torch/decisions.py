"""Which operators of a model stay PyTorch's for speed: measured once, and remembered beside the records of kernels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import torch

from polydl.files import write_atomically
from polydl.machine import Machine
from polydl.models.kernels import Kernel, Nest
from polydl.models.program import lower
from polydl.records.questions import installation
from polydl.torch.export import Exported
from polydl.torch.segments import Kept, Segment

_FOLDER = "models"


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a comparison with PyTorch came to."""

    #: names of nodes that stay PyTorch's, with the reason
    kept: dict[str, str]
    #: PyTorch's times in seconds, by kernel or, of operators that it keeps, by node
    times: dict[str, float]
    #: what else there is to say of the choice
    note: str = ""


def question(
    program: Exported, steps: Sequence[Segment | Kept], kernels: Mapping[Nest, Kernel], machine: Machine
) -> str | None:
    """The digest of all that a comparison depends on, but for the weights' values; None where it can't be listed.

    That is the graph, its kernels, the machine, and the versions of PyTorch and polydl.
    """
    installed = installation()
    if installed is None:
        return None
    graphs = [lower(step.graph) for step in steps if isinstance(step, Segment)]
    content = [
        [f"{node.format_node()} {_shape(node.meta.get('val'))}" for node in program.nodes],
        [[step.node.name, step.reason] for step in steps if isinstance(step, Kept)],
        [[_digest(nest.text), _digest(kernels[nest].c)] for lowered in graphs for nest in lowered.nests],
        # The size of the memory changes no result, and calls that were timed since are no reason to compare anew.
        asdict(replace(machine, memory_bytes=1, call_times=())),
        [torch.__version__, torch.__config__.show()],
        installed,
    ]
    return _digest(json.dumps(content, sort_keys=True, default=str))[:24]


def find(records: Path, digest: str) -> Decision | None:
    """The decision that was kept in a directory of records; None if there is none, or none that can be read."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((records / _FOLDER / f"{digest}.json").read_bytes(), type=Decision)
    return None


def keep(records: Path, digest: str, decision: Decision) -> None:
    """Raises ResourceError if the directory can't be written."""
    folder = records / _FOLDER
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{digest}.json", msgspec.json.encode(decision))


def _shape(value: object) -> str:
    """What of a node's value a time depends on."""
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(f"{e.dtype}{tuple(e.shape)}" if isinstance(e, torch.Tensor) else repr(e) for e in values)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

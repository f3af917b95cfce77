"""What an optimized model says of itself: a line for each operator, and its rounding errors beside PyTorch's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import torch
from torch.utils import _pytree as pytree

from polydl.models.layout import ValueType
from polydl.models.manifest import Manifest, memory_in_words, milliseconds
from polydl.torch.export import Arguments
from polydl.torch.segments import Kept


@dataclass(frozen=True)
class Accuracy:
    """Norm-wise relative errors against the model in double, on the example inputs: the worst of all outputs."""

    #: of the optimized model
    error: float
    #: of PyTorch's own run, in float or, where the model's values are bfloat16s, within ``torch.autocast``
    library_error: float


@dataclass(frozen=True)
class OperatorReport:
    """An operator, with the kernel that takes its place if there is one."""

    #: what it is, in words or as PyTorch names it
    operator: str
    #: names of its nodes
    sources: tuple[str, ...]
    #: name of the kernel's function; "" where the operator stays PyTorch's
    kernel: str
    #: median time of the kernel alone, at optimize time; None where it was not timed
    seconds: float | None
    #: the same of PyTorch's operator
    library_seconds: float | None
    #: what was chosen, or why the operator stays PyTorch's, in words
    reason: str


@dataclass(frozen=True)
class Report:
    """All operators in the order in which they run, and how right the results are."""

    #: those that have kernels
    operators: tuple[OperatorReport, ...]
    #: those that stay PyTorch's
    kept: tuple[OperatorReport, ...]
    #: of the native calls, in words
    memory: str
    #: on the example inputs; None for a model that can't be computed in double
    accuracy: Accuracy | None = None
    #: what else there is to say of the choice
    note: str = ""

    @staticmethod
    def of(manifests: Sequence[Manifest], kept: Sequence[Kept], times: Mapping[str, float], note: str = "") -> Report:
        """``times`` are PyTorch's, by kernel or, of operators that it keeps, by node."""
        native = tuple(
            OperatorReport(e.operator, tuple(e.sources), e.kernel, e.seconds, times.get(e.kernel), e.choice)
            for manifest in manifests
            for e in manifest.operators
        )
        foreign = tuple(
            OperatorReport(
                getattr(each.node.target, "__name__", str(each.node.target)).removesuffix(".default"),
                (each.node.name,), "", None, times.get(each.node.name), each.reason,
            )
            for each in kept
        )  # fmt: skip
        return Report(native, foreign, memory_in_words(manifests), note=note)

    def __str__(self) -> str:
        rows = [("operator", "kernel ms", "PyTorch ms", "chosen")]
        rows += [
            (each.operator, milliseconds(each.seconds), milliseconds(each.library_seconds),
             each.reason if each.kernel else f"PyTorch: {each.reason}")
            for each in (*self.operators, *self.kept)
        ]  # fmt: skip
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [
            f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in rows
        ]  # fmt: skip
        lines += [self.note] if self.note else []
        lines.append(self.memory)
        if self.accuracy is not None:
            lines.append(
                f"error {self.accuracy.error:.2g}, PyTorch's {self.accuracy.library_error:.2g}, against double"
            )
        return "\n".join(lines)


def accuracy_of(
    model: torch.nn.Module, example: Arguments, fast: Callable[..., Any], value_type: ValueType = "float"
) -> Accuracy | None:
    """Errors of ``fast``, whose values are of that type, and of the model itself.

    None for a model that can't be computed in double.
    """

    def as_double(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    with torch.no_grad():
        try:
            positional, named = pytree.tree_map(as_double, (example.positional, example.named))
            exact = copy.deepcopy(model).double()(*positional, **named)
        except Exception:
            # Whatever it is that a model checks of its inputs, or that can't be copied.
            return None
        results = fast(*example.positional, **example.named)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=value_type == "bfloat16"):
            library = model(*example.positional, **example.named)
        return Accuracy(_error(results, exact), _error(library, exact))


def _error(results: Any, exact: Any) -> float:
    worst = 0.0
    for given, wanted in zip(pytree.tree_leaves(results), pytree.tree_leaves(exact), strict=True):
        if isinstance(wanted, torch.Tensor) and wanted.is_floating_point():
            # What is infinite or no number in both is no error; in one alone, it is the largest.
            alike = (given == wanted) | (given.isnan() & wanted.isnan())
            difference = torch.where(alike, 0.0, given.double() - wanted)
            norm = float(torch.linalg.vector_norm(wanted[wanted.isfinite()]))
            error = float(torch.linalg.vector_norm(difference)) / (norm or 1.0)
            worst = max(worst, error if isfinite(error) else inf)
    return worst

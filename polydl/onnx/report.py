"""What an optimized model says of itself: a line for each operator, and how right its results are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from polydl.ir.counts import counted
from polydl.models.manifest import Manifest, memory_in_words, milliseconds, operator_rows
from polydl.onnx.reference import Comparison


@dataclass(frozen=True)
class Report:
    """An optimized model: its operators, memory and results."""

    manifest: Manifest
    #: weights that were missing, and are random
    random: tuple[str, ...] = ()
    #: with another implementation, on random data; None if nothing was compared
    comparison: Comparison | None = None
    #: median time of a call on random data; None if nothing was run
    call_seconds: float | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The same as JSON has it."""
        shown = None if self.comparison is None else asdict(self.comparison)
        content = {"random_weights": list(self.random), "comparison": shown, "call_seconds": self.call_seconds}
        return {**msgspec.to_builtins(self.manifest), **content}

    def __str__(self) -> str:
        """The summary, then a table of all operators."""
        return "\n".join([self.summary, "", *operator_rows(self.manifest.operators)])

    @property
    def summary(self) -> str:
        """A few lines: the time of a call, sizes, how right it is, and what was not there."""
        manifest = self.manifest
        kernels = len({each.kernel for each in manifest.operators})
        lines = []
        if self.call_seconds is not None:
            lines.append(f"Call    {milliseconds(self.call_seconds)} ms, on random data")
        threads = counted(manifest.threads, "thread")
        lines += [
            f"Model   {len(manifest.operators)} operators, {kernels} distinct kernels, {threads}",
            f"Memory  {memory_in_words([manifest])}",
        ]
        if self.comparison is not None:
            lines.append(f"Right   {self.comparison.error:.1e} from {self.comparison.reference}, on random data")
        if self.random:
            names = ", ".join(self.random[:3]) + (", …" if len(self.random) > 3 else "")
            lines.append(f"Note    {len(self.random)} weights were missing, and are random: {names}")
        return "\n".join(lines)

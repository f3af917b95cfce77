"""The nests of a model, prepared side by side in several processes, and timed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from polydl.frontend.child import fork_server
from polydl.machine import Machine
from polydl.models.kernels import (
    KernelOptions,
    ModelSetting,
    OperatorKernel,
    OperatorNest,
    as_written,
    kernel,
    stored_kernel,
)
from polydl.records.questions import installation
from polydl.system.side_by_side import answers

Progress = Callable[[int, int], None]


def optimized_kernels(
    nests: Sequence[OperatorNest], machine: Machine, options: KernelOptions, progress: Progress | None = None
) -> dict[OperatorNest, OperatorKernel]:
    """The kernel of each distinct nest: the one that is stored, or else a new one. ``progress`` is told how many of
    all there are.

    A nest keeps its loops where the process that works on it ends, with that as the reason. Raises ResourceError if no
    process can be started, and OptionError as ``kernel`` does.
    """
    distinct = list(dict.fromkeys(nests))
    setting = ModelSetting(machine, options, installation() if distinct else None)
    stored = {nest: stored_kernel(nest, setting) for nest in distinct}
    kernels = {nest: best for nest, best in stored.items() if best is not None}
    missing = [nest for nest in distinct if nest not in kernels]
    if progress is not None:
        progress(len(kernels), len(distinct))
    for nest, best in new_kernels(missing, setting):
        kernels[nest] = best
        if progress is not None:
            progress(len(kernels), len(distinct))
    return {nest: kernels[nest] for nest in distinct}


class KnownKernels:
    """Kernels of the nests that were asked for so far, each of which is optimized once.

    ``progress`` is told how many of them all are ready, and of how many.
    """

    def __init__(self, machine: Machine, options: KernelOptions, progress: Progress | None = None) -> None:
        self.machine = machine
        self.options = options
        self._progress = progress
        self._kernels: dict[OperatorNest, OperatorKernel] = {}

    def of(self, nests: Sequence[OperatorNest]) -> Mapping[OperatorNest, OperatorKernel]:
        """The kernels of these nests and all earlier ones. Raises ResourceError as ``optimized_kernels`` does."""
        missing = [nest for nest in nests if nest not in self._kernels]
        if missing:
            before = len(self._kernels)
            progress = self._progress

            def counted(done: int, count: int) -> None:
                assert progress is not None
                progress(before + done, before + count)

            new = optimized_kernels(missing, self.machine, self.options, counted if progress is not None else None)
            self._kernels |= new
        return self._kernels


def new_kernels(nests: Sequence[OperatorNest], setting: ModelSetting) -> Iterator[tuple[OperatorNest, OperatorKernel]]:
    """Each nest with its kernel, as soon as it is there."""
    for nest, best in answers(partial(kernel, setting=setting), nests, (fork_server,)):
        yield nest, best or as_written(nest, "the process that optimized it ended")

"""A library at shapes that it wasn't made from, beside the kernel that is optimized for that very shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polydl.errors import ExecutionError
from polydl.ir.measurement import Sample
from polydl.libraries.candidates import proved
from polydl.libraries.measuring import ShapeMeasuring, medians
from polydl.libraries.shapes import Shape
from polydl.libraries.unit import ORIGINAL, alone
from polydl.optimization.optimize import optimize
from polydl.pipeline import ProgressCallback, Stage
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.libraries.build import Library


@dataclass(frozen=True)
class HeldOut:
    """What was measured at one shape, in the same interleaved rounds."""

    shape: Shape
    #: what the library chose, a kernel's id or "original"
    chosen: str
    #: of the library's function, its decision included
    seconds: float
    #: of the fastest variant that was found for this shape alone; the original nest's where none was faster
    tuned_seconds: float
    original_seconds: float
    #: those of the library's function, of the fastest variant for this shape and of the original nest
    samples: tuple[tuple[Sample, ...], tuple[Sample, ...], tuple[Sample, ...]]

    @property
    def slowdown(self) -> float:
        """How many times as long as the kernel for this very shape the library takes."""
        return self.seconds / self.tuned_seconds


@dataclass(frozen=True)
class Picks:
    """Seconds of what a library's model expects to be fastest at a shape, measured beside the library's function."""

    #: the shape
    shape: Shape
    #: of the library's function, its decision included
    seconds: float
    #: of the nest as it was written
    original_seconds: float
    #: of each configuration that is legal at all sizes of the ranges, the one expected to be fastest first; None for
    #: one that failed
    expected: tuple[float | None, ...]


def picks(library: Library, shape: Shape, most: int = 100) -> Picks:
    """Measure the ``most`` configurations that the library's model expects to be fastest at a shape.

    ISAAC compares its first pick with the best of 10 and of 100 so (Tillet and Cox, SC 2017). Raises ExecutionError if
    the library fails or is wrong at the shape.
    """
    machine, nest, product = library.machine, library.nest, library.product
    selected = [] if library.model is None else library.model.fastest(shape, most)
    kernels = proved(nest, product, [each.kernel for each in selected if each.kernel is not None], machine)
    sources = [alone(nest, product, kernel, machine) for kernel in kernels]
    scop = library.read(shape)
    with (
        temporary_directory() as directory,
        ShapeMeasuring(
            machine, library.toolchain, directory, seed=library.settings.seed, records=False,
            timeout_seconds=library.settings.timeout_seconds, shared_for=[scop],
        ) as measuring,
    ):  # fmt: skip
        times = measuring.times(scop, [library.kernel, *sources])
    if library.kernel.id not in times:
        raise _failed(shape)
    expected = tuple(times.get(kernel.id) for kernel in kernels)
    return Picks(shape, times[library.kernel.id], times[ORIGINAL], expected)


def _failed(shape: Shape) -> ExecutionError:
    sizes = ", ".join(f"{name}={size}" for name, size in shape.items())
    return ExecutionError(f"the library fails or is wrong at {sizes}", remedy="report it together with the C file")


def held_out(
    library: Library,
    shapes: Sequence[Shape],
    *,
    top_k: int = 5,
    records: str | Path | bool = True,
    timeout_seconds: float = 60.0,
    progress: ProgressCallback | None = None,
) -> tuple[HeldOut, ...]:
    """Measure the library at shapes, each beside the winner of an ``optimize`` for it alone.

    ``top_k``, ``records`` and ``timeout_seconds`` are those of ``optimize``. Raises ExecutionError if the library fails
    or is wrong at a shape.
    """
    results = []
    machine, toolchain, seed = library.machine, library.toolchain, library.settings.seed
    with temporary_directory() as directory:
        for number, shape in enumerate(shapes):
            scop = library.read(shape)
            tuned = optimize(
                scop, machine=machine, top_k=top_k, compiler=toolchain.command, seed=seed, records=records,
                timeout_seconds=timeout_seconds,
            )  # fmt: skip
            # In a folder of its own: the tuned kernels of several shapes may have the same id.
            folder = directory / str(number)
            folder.mkdir()
            winner = tuned.winner.kernel if tuned.winner is not None else None
            with ShapeMeasuring(
                machine, toolchain, folder, seed=seed, records=records, timeout_seconds=timeout_seconds
            ) as measuring:
                measured = measuring.measurements(scop, [library.kernel, *([winner] if winner is not None else [])])
            times = medians(measured)
            if library.kernel.id not in times:
                raise _failed(shape)
            best = min(times.keys() - {library.kernel.id}, key=lambda name: times[name])
            three = (library.kernel.id, best, ORIGINAL)
            whole, tuned_seconds, plain = (times[name] for name in three)
            first, second, third = (measured[name].samples for name in three)
            chosen = library.chosen(**shape)
            results.append(HeldOut(shape, chosen, whole, tuned_seconds, plain, (first, second, third)))
            if progress is not None:
                progress(Stage("held out", number + 1, len(shapes)))
    return tuple(results)

"""``optimize``: an ONNX model becomes kernels and one native call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from polydl.arguments import of_type, require_callable, truth_of
from polydl.emission.emit import own_directory
from polydl.emitted_names import Naming
from polydl.errors import ExecutionError
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.machine import Machine
from polydl.models.graph import Array
from polydl.models.kernels import KernelOptions, constants_are_cold
from polydl.models.loaded import LoadedModel, copied
from polydl.models.mixed_precision import in_mixed_precision
from polydl.models.optimized_kernels import KnownKernels
from polydl.models.program import lower, write_program
from polydl.models.rounding import value_type_named, with_values_of
from polydl.onnx.folding import shaped
from polydl.onnx.operators import graph_of
from polydl.onnx.reading import GivenShapes, input_shapes, read_model, require_shapes
from polydl.onnx.reference import compared, example_inputs
from polydl.onnx.report import Report

Progress = Callable[[int, int], None]
# More than rounding in another order leaves, whatever the depth of a network, or than rounding values to 8 bits.
_MOST_ERROR = {"float": 1e-2, "bfloat16": 1e-1}


class OptimizedModel:
    """A model for inputs of one shape. ``model(input, …)`` takes and gives NumPy arrays of ``float32``."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder = folder
        self._loaded = LoadedModel(folder)
        self._report = report

    def __repr__(self) -> str:
        return repr(self._loaded)

    def __call__(self, *inputs: Array) -> Array | tuple[Array, ...]:
        """The outputs, in the file's order. Raises ArgumentError for another number, type or shape of inputs."""
        return self._loaded(*inputs)

    def call_seconds(self, *inputs: Array) -> float:
        """The median time of a call. Raises ArgumentError as a call does."""
        return self._loaded.call_seconds(*inputs)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of what ``save`` writes, but for the C of the kernels."""
        kernels = {f"{each.kernel}_polydl.c" for each in self._loaded.manifest.operators}
        return tuple(sorted(path.name for path in self._folder.iterdir() if path.name not in kernels))

    def report(self) -> Report:
        """What was chosen for each operator and why, and how far the results are from another implementation's."""
        return self._report

    def save(self, folder: str | Path) -> None:
        """Write C, library, weights and manifest to a folder, which ``polydl.load`` and C programs take."""
        copied(self._folder, folder)


def optimize(
    source: Any,
    inputs: GivenShapes = None,
    *,
    name: str = "model",
    threads: int | None = None,
    budget: str | None = None,
    numerics: Numerics = DEFAULT_NUMERICS,
    fewer_products: bool = True,
    element: str = "float",
    records: str | Path | bool = True,
    compare: bool = True,
    progress: Progress | None = None,
) -> OptimizedModel:
    """The kernels of an ONNX model, a file or an ``onnx.ModelProto``, on ``threads`` threads (by default, all).

    ``inputs`` are the shapes of its inputs by name, or that of the only one; what the model fixes may be left out.
    ``name`` is that of the C function. ``budget``, ``numerics``, ``fewer_products`` and ``records`` are those of
    ``polydl.optimize``, for each distinct operator. With ``element="bfloat16"``, weights of products and what kernels
    pass on to others are rounded to that type, but where floats are faster; inputs, results and sums stay floats. With
    ``compare``, the result on random data is compared with that of ONNX Runtime, or of the package onnx itself.
    ``progress`` is told how many of the distinct operators are ready, and of how many.

    Raises SourceError for what is no ONNX model, OptionError for an option that is not valid, such as shapes that don't
    fit the model or a name that C can't have, UnsupportedConstructError for an operator that there is no kernel for,
    and ExecutionError if the results are others.
    """
    function = Naming(of_type("name", name, str, remedy="pass a C identifier")).of("model")
    truth_of("compare", compare)
    require_callable("progress", progress)
    require_shapes(inputs)
    value_type = value_type_named(element)
    options = KernelOptions(budget=budget, numerics=numerics, fewer_products=fewer_products, records=records)
    stored = read_model(source)
    shapes = input_shapes(stored, inputs)
    graph = graph_of(shaped(stored, shapes), stored.path)
    machine = Machine.detect(threads=threads)
    cold = constants_are_cold(sum(each.size for each in graph.constants.values()), value_type, machine)
    options = replace(options, cold_constants=cold)
    kernels = KnownKernels(machine, options, progress)
    lowered = lower(in_mixed_precision(with_values_of(graph, value_type), kernels))
    folder = own_directory()
    manifest = write_program(lowered, kernels.of(lowered.nests), folder, name=function, threads=machine.threads)
    model = OptimizedModel(folder, Report(manifest, stored.random))
    if not compare:
        return model
    data = example_inputs(shapes)
    results = model(*data.values())
    comparison = compared(stored, data, results if isinstance(results, tuple) else (results,))
    if not comparison.error <= _MOST_ERROR[value_type]:
        text = f"the results differ from those of {comparison.reference} by {comparison.error:.2g}"
        raise ExecutionError(text, file=stored.path, remedy="please report it, with the model")
    return OptimizedModel(folder, Report(manifest, stored.random, comparison, model.call_seconds(*data.values())))

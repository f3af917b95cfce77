"""Further shapes for a library: what its model expects to be fast there is measured beside all that it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from polydl.arguments import whole
from polydl.errors import OptionError
from polydl.frontend.child import fork_server
from polydl.libraries.candidates import proved
from polydl.libraries.chosen import ChosenLibrary, MeasuredShapes, integers
from polydl.libraries.measuring import ShapeMeasuring
from polydl.libraries.shapes import Shape
from polydl.libraries.unit import alone
from polydl.pipeline import ProgressCallback, Stage
from polydl.system.files import temporary_directory


def require_mapping(name: str, value: Any, *, remedy: str) -> None:
    """Raises OptionError for what is no dictionary, nor anything else that has values by name."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} has {value!r}, of type {type(value).__name__}", remedy=remedy)


def measured_further(
    library: ChosenLibrary, shapes: Sequence[Shape], *, top_k: int, progress: ProgressCallback | None
) -> MeasuredShapes:
    """What was measured for a library, and as much at further shapes, beside the ``top_k`` kernels expected there.

    Raises OptionError for a shape that lacks a size or lies outside of the ranges.
    """
    nest, product, machine, settings = library.nest, library.product, library.machine, library.settings
    form = f"pass a list of dictionaries, such as [{dict(library.shapes[0])}]"
    if isinstance(shapes, Mapping | str) or not isinstance(shapes, Iterable):
        raise OptionError(f"shapes is {shapes!r}, which is no list", remedy=form)
    shapes = list(shapes)
    for shape in shapes:
        require_mapping("shapes", shape, remedy=form)
    shapes = [_checked(library, shape) for shape in shapes]
    top_k = whole("top_k", top_k, 1)
    candidates = dict(library.candidates)
    for shape in shapes:
        fastest = () if library.model is None else library.model.fastest(shape, top_k)
        expected = [each.kernel for each in fastest if each.kernel is not None]
        for kernel in proved(nest, product, expected, machine):
            candidates.setdefault(kernel.id, kernel)
    new = [shape for shape in shapes if shape not in library.shapes]
    every = (*library.shapes, *(shape for number, shape in enumerate(new) if shape not in new[:number]))
    sources = [alone(nest, product, kernel, machine) for kernel in candidates.values()]
    times = []
    with fork_server():
        scops = [library.read(shape) for shape in every]
    with (
        temporary_directory() as directory,
        ShapeMeasuring(
            machine, library.toolchain, directory, seed=settings.seed, records=settings.records,
            timeout_seconds=settings.timeout_seconds, shared_for=scops,
        ) as measuring,
    ):  # fmt: skip
        for number, scop in enumerate(scops):
            # At some shapes of the library not all of its candidates were measured, and need not be now.
            known = library.times[number] if number < len(library.times) else candidates
            here = [each for each in sources if each.id in known or each.id not in library.candidates]
            times.append(measuring.times(scop, here))
            if progress is not None:
                progress(Stage("measure", number + 1, len(every)))
    return MeasuredShapes(every, tuple(times), candidates)


def _checked(library: ChosenLibrary, shape: Shape) -> Shape:
    """A shape of the library, in Python's own integers, which its manifest can hold."""
    shape = integers("refine", shape)
    names = [each.name for each in library.nest.ranges]
    wrong = [each for each in library.nest.ranges if not each.low <= shape.get(each.name, 0) <= each.high]
    if set(shape) != set(names) or wrong:
        raise OptionError(
            f"refine: {dict(shape)} is no shape of the library",
            remedy=f"give each size a value in its range: {', '.join(map(str, library.nest.ranges))}",
        )
    return shape

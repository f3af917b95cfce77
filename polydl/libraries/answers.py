"""A library's answers at random shapes, beside those of the loops as they were written."""

from __future__ import annotations

from random import Random

import numpy as np

from polydl.execute.build import build
from polydl.libraries.callable import AnySize
from polydl.libraries.chosen import ChosenLibrary
from polydl.libraries.decision import Leaf
from polydl.libraries.unit import ORIGINAL, alone, unit
from polydl.system.files import temporary_directory

# Element types that are filled with random numbers.
_TYPES = {"float": np.float32, "double": np.float64}
# Of shapes, the share with a size at a border of its range or just beyond, and how much longer rows are.
_AT_BORDERS = 0.3
_LONGER = (0, 0, 1, 5)


def wrong_shapes(library: ChosenLibrary, count: int, seed: int) -> list[dict[str, int]]:
    """The shapes, of so many random ones, at which the library or one of its candidates differs from the source.

    Sizes are within their ranges, at the borders, and just beyond. The library runs at all shapes, candidates in turn.
    """
    nest, product, machine = library.nest, library.product, library.machine
    draw, random = Random(seed), np.random.default_rng(seed)
    source = nest.source
    written = {access.array for statement in source.statements for access in statement.writes}
    with temporary_directory() as folder:
        plain = unit(nest, product, Leaf(ORIGINAL), {}, machine, identity="source")
        codes = [plain, *(alone(nest, product, kernel, machine) for kernel in library.candidates.values())]
        built = build(codes, library.toolchain, folder)
        reference, *kernels = (
            AnySize(nest, each.library, source.function.name) for each in built if each.library is not None
        )
        wrong = []
        for number in range(count):
            sizes = {
                each.name: draw.choice((each.low, each.high, each.high + 1))
                if draw.random() < _AT_BORDERS
                else round(each.low * (each.high / each.low) ** draw.random())
                for each in nest.ranges
            }
            sizes |= {each.name: sizes[each.least] + draw.choice(_LONGER) for each in nest.leading}
            factors = {
                each.name: draw.choice((0, 1, -0.5))
                for each in source.function.parameters
                if each.name not in nest.sizes and not each.is_pointer
            }
            given = {
                array: (random.random(extents) - 0.5).astype(_TYPES[source.array(array).element])
                for array, extents in nest.source_extents(sizes).items()
                if source.array(array).storage == "parameter"
            }
            answers = []
            for function in (reference, library.best, kernels[number % len(kernels)]):
                arrays = {name: value.copy() if name in written else value for name, value in given.items()}
                function(**sizes, **factors, **arrays)
                answers.append({name: arrays[name] for name in written & arrays.keys()})
            same = all(
                np.allclose(answer[name], answers[0][name], rtol=1e-4, atol=1e-5)
                for answer in answers[1:]
                for name in answer
            )
            if not same:
                wrong.append(sizes)
    return wrong

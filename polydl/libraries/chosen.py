"""A library as a value: its kernels, the decision between them, and all that was measured for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.libraries.callable import AnySize
from polydl.libraries.cover import slowdowns
from polydl.libraries.decision import Decision, Times, choose
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.unit import ORIGINAL, unit
from polydl.machine import Machine

if TYPE_CHECKING:
    from polydl.libraries.learned import LearnedModel, Selected


def integers(call: str, sizes: Mapping[str, SupportsIndex]) -> dict[str, int]:
    """The sizes of a call, which ``call`` names, as Python's own integers: products of NumPy's wrap around.

    Raises OptionError for one that is no integer.
    """
    for name, size in sizes.items():
        if not hasattr(size, "__index__"):
            raise OptionError(f"{call}: the size {name} is a {type(size).__name__}", remedy="pass an integer")
    return {name: index(size) for name, size in sizes.items()}


@dataclass(frozen=True)
class LibrarySettings:
    """How a library is measured and chosen: the arguments of ``library`` of these names."""

    #: at most so many are kept
    max_kernels: int
    #: by how many times the chosen kernel may be slower than the best at a shape
    max_slowdown: float
    #: of shapes and data
    seed: int
    #: directory of records, True for the user's, False for none
    records: str | Path | bool
    #: of one invocation
    timeout_seconds: float


@dataclass(frozen=True)
class MeasuredShapes:
    """Shapes, what was measured at them, and the kernels by their ids."""

    shapes: tuple[Shape, ...]
    #: of each shape, in their order
    times: tuple[Times, ...]
    candidates: Mapping[str, Kernel]

    def without(self, kernels: Collection[str]) -> MeasuredShapes:
        """The same without these kernels, which failed somewhere else."""
        times = [{name: seconds for name, seconds in at.items() if name not in kernels} for at in self.times]
        others = {name: each for name, each in self.candidates.items() if name not in kernels}
        return MeasuredShapes(self.shapes, tuple(times), others)


@dataclass(frozen=True, repr=False)
class ChosenLibrary:
    """A function for a range of sizes, and what was measured for it, as a value: ``Library`` can be refined as well."""

    nest: SymbolicNest
    #: what register blocks compute; None for a nest without a product
    product: SymbolicProduct | None
    machine: Machine
    #: that compiled them
    toolchain: Toolchain
    #: the kernels that were emitted, by id
    kernels: Mapping[str, Kernel]
    #: which of the kernels runs at which sizes
    decision: Decision
    #: that were measured
    shapes: tuple[Shape, ...]
    #: seconds of every kernel that was measured at each shape, emitted or not, and of the original nest; at further
    #: shapes those were measured that were in question still
    times: tuple[Times, ...]
    #: every kernel that was measured, by id
    candidates: Mapping[str, Kernel]
    settings: LibrarySettings
    #: the nest at a shape
    read: Callable[[Shape], Scop]
    #: by kind, as in ``Optimization.files``, and ``manifest``
    files: Mapping[str, Path] = field(default_factory=dict)
    #: of the library among ``files``
    library_sha256: str = ""
    #: what the emitted function is called
    exported: str = ""

    def __repr__(self) -> str:
        worst = max(self.slowdowns)
        ranges = ", ".join(map(str, self.nest.ranges))
        return (
            f"<{type(self).__name__} {self.exported} for {ranges}: {len(self.kernels)} kernels, "
            f"at most {worst:.2f} times the fastest at {len(self.shapes)} shapes>"
        )

    @property
    def slowdowns(self) -> list[float]:
        """How many times as long as the fastest kernel that was measured the chosen one takes, at each shape."""
        return [
            slowdowns([at], [choose(self.decision, shape)])[0]
            for shape, at in zip(self.shapes, self.times, strict=True)
        ]

    def chosen(self, **sizes: int) -> str:
        """What runs at a shape: the id of a kernel, or "original".

        Raises OptionError for a size that is missing or no integer.
        """
        names = [each.name for each in self.nest.ranges]
        if not set(names) <= set(sizes) <= set(self.nest.sizes):
            raise OptionError(
                f"chosen({', '.join(sizes)}): the sizes are {', '.join(names)}", remedy="give each of them"
            )
        sizes = integers("chosen", sizes)
        inside = all(each.low <= sizes[each.name] <= each.high for each in self.nest.ranges) and all(
            sizes.get(each.name, sizes[each.least]) >= sizes[each.least] for each in self.nest.leading
        )
        return choose(self.decision, sizes) if inside else ORIGINAL

    def select(self, most: int = 10, **sizes: int) -> tuple[Selected, ...]:
        """What a model learned from the library's measurements expects to be fastest at a shape, measured or not.

        Of all configurations, not of the library's kernels alone, the ``most`` fastest, the best first. Raises
        OptionError for a size that is missing, that has no range or that is none, and for a ``most`` below 1.
        """
        names = [each.name for each in self.nest.ranges]
        if set(names) != set(sizes):
            raise OptionError(
                f"select({', '.join(sizes)}): the sizes are {', '.join(names)}", remedy="give each of them"
            )
        sizes = integers("select", sizes)
        for name, size in sizes.items():
            if size < 1:
                raise OptionError(f"select: the size {name} is {size}", remedy="at least 1")
        if most < 1:
            raise OptionError(f"select: {most} configurations are none", remedy="at least 1")
        return self.model.fastest(sizes, most)

    @cached_property
    def model(self) -> LearnedModel:
        """The model that ``select`` asks."""
        from polydl.libraries.learned import learned

        measured = list(zip(self.shapes, self.times, strict=True))
        return learned(self.nest, self.product, self.machine, self.candidates, measured)

    @property
    def kernel(self) -> KernelSource:
        """The emitted function's C, without the head of the file."""
        return unit(
            self.nest, self.product, self.decision, self.kernels, self.machine, identity="library",
            exported=self.exported,
        )  # fmt: skip

    @property
    def best(self) -> AnySize:
        """The emitted function as a Python callable over NumPy arrays of any size."""
        return AnySize(self.nest, self.files["library"], self.exported, self.library_sha256)

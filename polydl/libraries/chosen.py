"""A library as a value: its kernels, the decision between them, and all that was measured for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

from polydl.arguments import whole
from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.counts import counted
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
    return {name: whole(f"{call}: the size {name}", size) for name, size in sizes.items()}


def _check_names(call: str, given: Collection[str], needed: Collection[str], known: Collection[str]) -> None:
    """Check the names of the sizes of a call, which ``call`` names. Raises OptionError."""
    for name in given:
        if name not in known:
            raise OptionError(f"{call}: {name} is no size of the library", remedy=f"the sizes are {', '.join(known)}")
    for name in needed:
        if name not in given:
            raise OptionError(f"{call}: the size {name} is missing", remedy=f"give each of {', '.join(needed)}")


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
            f"<{type(self).__name__} {self.exported} for {ranges}: {counted(len(self.kernels), 'kernel')}, "
            f"at most {worst:.2f} times the fastest at {counted(len(self.shapes), 'shape')}>"
        )

    @property
    def slowdowns(self) -> list[float]:
        """How many times as long as the fastest kernel that was measured the chosen one takes, at each shape."""
        return [
            slowdowns([at], [choose(self.decision, shape)])[0]
            for shape, at in zip(self.shapes, self.times, strict=True)
        ]

    @property
    def without_kernels(self) -> str:
        """Why it has no kernels, in words; "" for a library that has some."""
        if self.kernels:
            return ""
        if not any(identity != ORIGINAL for at in self.times for identity in at):
            return "none of those that were tried could be run with right results"
        return (
            f"none that was right at all of {counted(len(self.shapes), 'measured shape')} is enough faster than these, "
            f"which take at most {max(self.slowdowns):.2f} times as long as the fastest "
            f"(--max-slowdown {self.settings.max_slowdown:g})"
        )

    def chosen(self, **sizes: int) -> str:
        """What runs at a shape: the id of a kernel, or "original".

        Raises OptionError for a size that is missing or no integer.
        """
        names = [each.name for each in self.nest.ranges]
        _check_names("chosen", sizes, names, self.nest.sizes)
        sizes = integers("chosen", sizes)
        return choose(self.decision, sizes) if self._is_inside(sizes) else ORIGINAL

    def _is_inside(self, sizes: Mapping[str, int]) -> bool:
        """Whether the decision is asked at these sizes."""
        return all(each.low <= sizes[each.name] <= each.high for each in self.nest.ranges) and all(
            sizes.get(each.name, sizes[each.least]) >= sizes[each.least] for each in self.nest.leading
        )

    def select(self, most: int = 10, **sizes: int) -> tuple[Selected, ...]:
        """What a model learned from the library's measurements expects to be fastest at a shape, measured or not.

        Of all configurations, not of the library's kernels alone, the ``most`` fastest, the best first. Where
        ``chosen`` says "original", that is the first of them, and beyond the ranges, where no kernel runs, the only
        one. Raises OptionError for a size that is missing, that has no range or that is none, and for a ``most`` below
        1.
        """
        names = [each.name for each in self.nest.ranges]
        _check_names("select", sizes, names, names)
        sizes = integers("select", sizes)
        for name, size in sizes.items():
            if size < 1:
                raise OptionError(f"select: the size {name} is {size}", remedy="at least 1")
        most = whole("select: most", most, 1)
        first: tuple[Selected, ...] = ()
        if self.chosen(**sizes) == ORIGINAL:
            from polydl.libraries.learned import Selected

            at = dict(self.times[self.shapes.index(sizes)]) if sizes in self.shapes else {}
            first = (Selected(None, at.get(ORIGINAL)),)
            if not self._is_inside(sizes):
                return first
        if self.model is None:
            return first
        return (*first, *self.model.fastest(sizes, most - len(first)))

    @cached_property
    def model(self) -> LearnedModel | None:
        """The model that ``select`` asks; None where no kernel has a time to learn from."""
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

"""From a nest and ranges of its sizes to one library: search, measure, choose kernels, fit the decision, emit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from polydl.arguments import factor_of, listed, of_type, require_callable, seconds_of, seed_of, whole
from polydl.emission.replaced import check_replaced
from polydl.emitted_names import LIBRARY_FILE, Naming
from polydl.errors import OptionError, UnknownSizeError, UnsupportedConstructError, UserError
from polydl.execute.toolchain import Toolchain
from polydl.frontend.child import fork_server
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.libraries.accumulators import without_sums
from polydl.libraries.candidates import proved, searched_kernels, usual_candidates
from polydl.libraries.chosen import ChosenLibrary, LibrarySettings, MeasuredShapes
from polydl.libraries.configurations import drawn_configurations
from polydl.libraries.cover import smallest_cover
from polydl.libraries.decision import fitted, kernels_of
from polydl.libraries.emit import emitted
from polydl.libraries.kernel import Kernel
from polydl.libraries.measuring import ShapeMeasuring
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.ranges import (
    LeadingDimension,
    Size,
    SizeRange,
    check_parameters,
    every_size,
    leading_dimensions,
    not_a_parameter,
    size_ranges,
)
from polydl.libraries.refine import measured_further, require_mapping
from polydl.libraries.sampling import (
    ShapeLimits,
    ShapeReader,
    in_doubt,
    limits_of,
    read_shapes,
    timed_shape,
    unreadable,
)
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest, symbolic_nest
from polydl.libraries.unit import ORIGINAL, alone
from polydl.machine import Machine
from polydl.optimization.platform import machine_on
from polydl.pipeline import ProgressCallback, Stage, parse
from polydl.records.store import directory_of
from polydl.system.files import temporary_directory

# As many as a person waits some minutes for; the options of these names take others.
DEFAULT_SHAPES = 24
DEFAULT_MAX_KERNELS = 10
DEFAULT_MAX_SLOWDOWN = 1.10
DEFAULT_TOP_K = 3
DEFAULT_CONFIGURATIONS = 32
# Of the size of each range at which the nest is read.
_PLACE = 8
# Of the machine's memory, what the arrays of a shape that is measured take at most.
_MOST_MEMORY_PART = 1 / 8


class Library(ChosenLibrary):
    """A function for a range of sizes, and what was measured for it. ``best`` can be called."""

    def refine(
        self,
        shapes: Sequence[Shape],
        *,
        top_k: int = DEFAULT_TOP_K,
        out: str | Path | None = None,
        progress: ProgressCallback | None = None,
    ) -> Library:
        """The library made anew, with further shapes measured.

        At each of them, the ``top_k`` kernels that the model expects to be fastest join the candidates, and all are
        measured beside each other. Kernels and decision are then chosen from all measurements, and files are written to
        ``out`` as ``library`` does. Raises OptionError for a shape that lacks a size or lies outside of the ranges.
        """
        _check_folder(out)
        require_callable("progress", progress)
        measured = measured_further(self, shapes, top_k=top_k, progress=progress)
        return chosen_library(
            self.nest, self.product, self.machine, self.toolchain, measured, self.settings, self.read, self.exported,
            out,
        )  # fmt: skip


def library(
    path: str | Path,
    ranges: Sequence[str] | Mapping[str, str],
    *,
    out: str | Path | None = None,
    max_kernels: int = DEFAULT_MAX_KERNELS,
    max_slowdown: float = DEFAULT_MAX_SLOWDOWN,
    shapes: int = DEFAULT_SHAPES,
    top_k: int = DEFAULT_TOP_K,
    configurations: int = DEFAULT_CONFIGURATIONS,
    seed: int = 0,
    machine: Machine | None = None,
    compiler: str | None = None,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str | Path] = (),
    records: str | Path | bool = True,
    timeout_seconds: float = 60.0,
    fewer_products: bool = True,
    name: str = "",
    prefix: str = "",
    progress: ProgressCallback | None = None,
) -> Library:
    """One library that is right for every size and fast for those in the ranges.

    ``ranges`` are those of integer parameters of the function, ``{"M": "1..4096", "N": "64,256", "K": "64..4096:64"}``.
    A leading dimension, ``{"lda": "K.."}``, is at least a size, and has that value where shapes are measured.
    At each of ``shapes`` sampled shapes, which are not larger than the loops can be measured at, ``top_k`` variants of
    the nest are optimized; the winner's tiles, loop order and threads become a kernel for any size, which isl proves
    legal for all sizes of the ranges at once. So do ``configurations`` blockings of a product that are drawn from all
    that the learned model can be asked about. Each kernel is measured at all shapes. Of them, the fewest are taken, at
    most ``max_kernels``, of which one is within ``max_slowdown`` of the fastest at every shape. These, and kernels that
    only the caches decide, are measured at 25 times as many further shapes; kernels are then taken anew, and a
    decision between them is fitted, and fitted again once they are measured where it is in doubt, at 4 times as many
    shapes.

    With ``fewer_products``, convolutions may be computed in tiles by Winograd's algorithm, where that rounds within the
    level ``bounded`` for all channels of the ranges.

    With ``out``, the C, its header, a shared library and a manifest are written there once all is measured. What the
    ``records`` hold (a directory, True for the user's, False for none) is not measured again, so that the next call
    goes on after an interruption. Raises UserError for a mistake and for a nest that a library can't hold.
    """
    max_kernels, shapes, top_k = (
        whole(each, value, 1) for each, value in (("max_kernels", max_kernels), ("shapes", shapes), ("top_k", top_k))
    )
    configurations = whole("configurations", configurations, 0)
    seed, timeout_seconds = seed_of(seed), seconds_of("timeout_seconds", timeout_seconds)
    max_slowdown = factor_of(
        "max_slowdown", max_slowdown, remedy="pass a finite number of at least 1: 1.10 is 10 % slower than the fastest"
    )
    for argument, text in (("name", name), ("prefix", prefix)):
        of_type(argument, text, str, remedy="pass a text, or leave it out")
    if compiler is not None:
        of_type("compiler", compiler, str, remedy="pass the name or the path of a compiler as a text, or None")
    if defines is not None:
        require_mapping("defines", defines, remedy='write it as defines={"N": 64}, or leave it out')
    directory_of(records)
    _check_folder(out)
    require_callable("progress", progress)
    target = machine_on(machine, None)
    texts, leading = leading_dimensions(ranges if isinstance(ranges, Mapping) else listed("ranges", ranges, str))
    sizes = size_ranges(texts)
    _check_defines(defines or {}, every_size(sizes, leading))

    def read(shape: Shape) -> Scop:
        fixed = {**(defines or {}), **{each.name: shape[each.least] for each in leading}, **shape}
        return parse(path, function=function, defines=fixed, include_directories=include_directories)

    with fork_server():
        nest = read_symbolic(read, sizes, leading)
        toolchain = Toolchain.find(compiler)
        reader = ShapeReader(nest, read)
        limits = _limits(reader, target, toolchain, seed=seed, records=records, timeout_seconds=timeout_seconds)
        taken = read_shapes(reader, limits, shapes, seed)
    product, usual = usual_candidates(nest, target, fewer_products=fewer_products)
    exported = Naming(name, prefix).of(nest.scop.function.name)

    def tell(stage: str, done: int, total: int = len(taken.sampled)) -> None:
        if progress is not None:
            progress(Stage(stage, done, total))

    def code(kernel: Kernel) -> KernelSource:
        return alone(nest, product, kernel, target)

    settings = LibrarySettings(max_kernels, max_slowdown, seed, records, timeout_seconds)
    with (
        temporary_directory() as directory,
        ShapeMeasuring(
            target, toolchain, directory, seed=seed, records=records, timeout_seconds=timeout_seconds,
            shared_for=[*taken.scops, *taken.further_scops],
        ) as measuring,
    ):  # fmt: skip
        drawn = drawn_configurations(nest, product, target, configurations, seed)
        candidates = {each.id: each for each in (*usual, *proved(nest, product, drawn, target))}
        for number, scop in enumerate(taken.scops):
            winners = searched_kernels(
                scop, nest, product, target, top_k=top_k, seed=seed, records=records, compiler=compiler,
                timeout_seconds=timeout_seconds,
            )  # fmt: skip
            best = _fastest(proved(nest, product, winners, target), scop, code, measuring)
            if best is not None:
                candidates[best.id] = best
            tell("optimize", number + 1)
        if not candidates:
            raise UnsupportedConstructError(
                "no kernel for all of these sizes is legal", file=nest.scop.file, line=nest.scop.line,
                remedy="optimize it for one shape: polydl optimize FILE -D NAME=VALUE",
            )  # fmt: skip
        sources = [code(each) for each in candidates.values()]
        times = []
        for number, scop in enumerate(taken.scops):
            times.append(measuring.times(scop, sources))
            tell("measure", number + 1)
        covering = smallest_cover(times, list(candidates), max_kernels, max_slowdown, [ORIGINAL])
        finalists = [code(candidates[name]) for name in dict.fromkeys([*covering, *(each.id for each in usual)])]
        for number, scop in enumerate(taken.further_scops):
            times.append(measuring.times(scop, finalists))
            tell("decide", number + 1, len(taken.further))
        measured = MeasuredShapes((*taken.sampled, *taken.further), tuple(times), candidates)
        if taken.further:
            with fork_server():
                kept = _fast_enough(measured, settings)
                more = in_doubt(measured.shapes, measured.times, kept, reader, taken, seed)
            chosen, before = [code(candidates[name]) for name in kept], measured
            for number, (shape, scop) in enumerate(more, 1):
                here = measuring.times(scop, chosen)
                if failed := [name for name in kept if name not in here]:
                    # Others can take its place, which were measured at the shapes before these alone.
                    measured = before.without(failed)
                    break
                measured = replace(measured, shapes=(*measured.shapes, shape), times=(*measured.times, here))
                tell("doubt", number, len(more))
    return chosen_library(nest, product, target, toolchain, measured, settings, read, exported, out)


def _check_folder(out: Any) -> None:
    """Check that ``out`` is None or the path of a folder in which no other files are replaced. Raises OptionError."""
    if out is not None:
        of_type("out", out, str, Path, remedy="pass the path of a folder, or None")
        check_replaced(Path(out), LIBRARY_FILE)


def _check_defines(defines: Mapping[str, str | int], sizes: Sequence[Size]) -> None:
    """Check that no size that has a range has one value as well. Raises OptionError."""
    for each in sizes:
        if each.name in defines:
            raise OptionError(
                f"-D {each.name}={defines[each.name]} gives one value to a size that has a range",
                construct=f"--range {each}",
                remedy="leave out one of the two",
            )


def _limits(
    reader: ShapeReader,
    machine: Machine,
    toolchain: Toolchain,
    *,
    seed: int,
    records: str | Path | bool,
    timeout_seconds: float,
) -> ShapeLimits:
    """What a shape that is measured takes at most, by the time of the source's loops at one with few operations."""
    shape = timed_shape(reader)
    scop = reader.scop(shape)
    with (
        temporary_directory() as directory,
        ShapeMeasuring(
            machine, toolchain, directory, seed=seed, records=records, timeout_seconds=timeout_seconds,
            shared_for=[scop],
        ) as measuring,
    ):  # fmt: skip
        seconds = measuring.times(scop, [])[ORIGINAL]
    return limits_of(reader.operations(shape), seconds, timeout_seconds, _MOST_MEMORY_PART * machine.memory_bytes)


def _fastest(
    kernels: Sequence[Kernel], scop: Scop, code: Callable[[Kernel], KernelSource], measuring: ShapeMeasuring
) -> Kernel | None:
    """The fastest of some kernels at one shape, the nest of which is ``scop``; None if none has a time."""
    if not kernels:
        return None
    times = measuring.times(scop, [code(each) for each in kernels])
    return min((each for each in kernels if each.id in times), key=lambda kernel: times[kernel.id], default=None)


def _fast_enough(measured: MeasuredShapes, settings: LibrarySettings) -> tuple[str, ...]:
    """The fewest kernels of those measured at all shapes that are fast enough there, by their ids.

    Others were found slower before the last shapes were measured, or wrong at some.
    """
    times = measured.times
    everywhere = [identity for identity in measured.candidates if all(identity in at for at in times)]
    return smallest_cover(times, everywhere, settings.max_kernels, settings.max_slowdown, [ORIGINAL])


def chosen_library(
    nest: SymbolicNest,
    product: SymbolicProduct | None,
    machine: Machine,
    toolchain: Toolchain,
    measured: MeasuredShapes,
    settings: LibrarySettings,
    read: Callable[[Shape], Scop],
    exported: str,
    out: str | Path | None,
) -> Library:
    """The library with the fewest kernels that are fast enough, and the decision between them; written to ``out``."""
    candidates, times = measured.candidates, measured.times
    decision = fitted(measured.shapes, times, [*_fast_enough(measured, settings), ORIGINAL])
    kept = {identity: candidates[identity] for identity in kernels_of(decision) if identity != ORIGINAL}
    result = Library(
        nest, product, machine, toolchain, kept, decision, measured.shapes, times, candidates, settings, read,
        exported=exported,
    )  # fmt: skip
    files = emitted(result, Path(out) if out is not None else None)
    return replace(result, files=files.paths, library_sha256=files.library_sha256)


def read_symbolic(
    read: Callable[[Shape], Scop], ranges: Sequence[SizeRange], leading: Sequence[LeadingDimension] = ()
) -> SymbolicNest:
    """The nest that ``read`` returns for a shape, with parameters for its sizes.

    Raises UserError if a library can't hold it.
    """
    # Small, so that large arrays are no reason to refuse it, but not so small that loops have one iteration; different,
    # so that a size is told from a constant.
    shape = {each.name: each.small(_PLACE) for each in ranges}
    other: dict[str, int] = {}
    for number, sizes in enumerate(ranges):
        size = sizes.small(_PLACE + 3 + number)
        other[sizes.name] = size if size != shape[sizes.name] else sizes.low
        if sizes.count == 1:
            # Else a size that is written as an expression, such as N + 1, would be taken for a constant.
            other[sizes.name] += 1
    try:
        scop = read({**shape, **{each.name: shape[each.least] + 1 for each in leading}})
    except UserError as error:
        for each in every_size(ranges, leading):
            if error.message.startswith((f"-D {each.name}=", f"{each.name} is a parameter that isn't an integer")):
                raise not_a_parameter(each, error.file or "", None, "the function") from None
        smallest = {each.name: each.low for each in ranges}
        raise _first_reading(read, shape, other, smallest, error) from error
    check_parameters(scop, every_size(ranges, leading))
    return without_sums(symbolic_nest(scop, _read_elsewhere(read, other, ranges), ranges, leading))


def _read_elsewhere(read: Callable[[Shape], Scop], shape: Shape, ranges: Sequence[SizeRange]) -> Scop:
    """The nest at a second shape, beyond ranges of a single size. Raises OptionError where it can't be read there."""
    try:
        return read(shape)
    except UserError as error:
        single = next((sizes for sizes in ranges if sizes.count == 1), None)
        if single is None:
            raise unreadable(shape, error) from error
        raise OptionError(
            f"the range {single} has one size, and with {shape[single.name]} the nest can't be read: {error.message}",
            file=error.file, line=error.line, construct=error.construct,
            remedy=f"-D {single.name}={single.low} in place of the range",
        ) from error  # fmt: skip


def _first_reading(
    read: Callable[[Shape], Scop], shape: Shape, other: Shape, smallest: Shape, error: UserError
) -> UserError:
    """The error for a nest that can't be read at the first shape: that of its sizes if it can be at another one."""
    if isinstance(error, UnknownSizeError):
        values, _, others = (error.remedy or "").partition("; ")
        names = list(dict.fromkeys(re.findall(r"-D (\w+)=", values)))
        if names:
            return UnknownSizeError(
                error.message, file=error.file, line=error.line, construct=error.construct,
                remedy=f"give {'each' if len(names) > 1 else 'it'} a range, or one value for the whole library: "
                f"{' '.join(f'--range {name}=1..1024' for name in names)}, or "
                f"{' '.join(f'-D {name}=VALUE' for name in names)}{f'; {others}' if others else ''}",
            )  # fmt: skip
        return error
    if isinstance(error, OptionError):
        return error
    for elsewhere in (other, smallest):
        with suppress(UserError):
            read(elsewhere)
            return unreadable(shape, error)
    return error

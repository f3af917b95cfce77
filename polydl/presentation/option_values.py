"""What the options that several commands share come to: the nest, the machine, the variants to look at, the detail."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from polydl.errors import OptionError, PolydlError

if TYPE_CHECKING:
    from polydl.ir.numerics import Numerics
    from polydl.ir.scop import Scop
    from polydl.machine import Machine
    from polydl.pipeline import ApplyOptions
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace
    from polydl.workloads import Element, Layout, Padding, Workload

# Where results go unless the user names another place.
OUT = "polydl-out"


@dataclass(frozen=True)
class Source:
    """The nest to read: a file or a ready workload."""

    #: path of the C file; None for a workload
    file: str | None
    #: to read where the file has several; None for the only one
    function: str | None
    #: macros and parameters, as NAME=VALUE or NAME
    define: tuple[str, ...]
    #: searched for headers in this order
    include: tuple[str, ...]
    #: its name; None for a file
    workload: str | None
    #: of a workload's batch; None for its own number
    images: int | None
    #: of a workload's arrays; None for the usual one
    layout: str | None
    #: type of a workload's inputs; None for float
    element: str | None
    #: of a workload; None for the usual one
    padding: str | None
    #: arrays that hold the same at every call
    constant: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.file is None) == (self.workload is None):
            if self.file is not None:
                raise OptionError("both a FILE and a --workload are given", remedy="leave one of them out")
            remedy = "name a C file, or a workload such as resnet_03"
            raise OptionError("neither a FILE nor a --workload is given", remedy=remedy)
        if self.workload is None and (self.images, self.layout, self.element, self.padding) != (None,) * 4:
            raise OptionError(
                "--images, --layout, --element and --padding are for a --workload",
                remedy="leave them out, or name a workload",
            )

    def text(self) -> bytes:
        """The C text. Raises SourceError for an unreadable file, OptionError for an unknown workload."""
        if self.file is None:
            return self._workload().source.encode()
        from polydl.frontend.source import read_source

        return read_source(Path(self.file))

    @property
    def folder(self) -> Path:
        """The folder of the file, where its headers are. A workload includes polydl's header alone."""
        return Path(self.file or ".").parent

    def placed(self, directory: Path | None) -> Source:
        """The same source as a file. A workload is written to ``directory``, by default to its own below polydl-out."""
        if self.workload is None:
            return self
        nest = self._workload()
        path = nest.write(directory or Path(OUT, nest.function))
        return replace(self, file=str(path), workload=None, images=None, layout=None, element=None, padding=None)

    def parse(self, init: str = "") -> Scop:
        """The scop of the nest, which isn't that of the function ``init``.

        Raises PolydlError, as the front-end does, for what it can't read.
        """
        from polydl.frontend.constants import with_constants
        from polydl.reading import parse

        if self.file is None:
            from polydl.system.files import temporary_directory

            with temporary_directory() as directory:
                placed = self.placed(directory)
                name = Path(placed.file or "").name
                try:
                    return replace(placed.parse(), file=name)
                except PolydlError as error:
                    if error.file == placed.file:
                        # Which is gone when the error is read.
                        error.file = name
                    raise
        scop = parse(
            self.file,
            function=self.function,
            defines=macros_of(self.define),
            include_directories=self.include,
            init=init,
        )
        return with_constants(scop, self.constant) if self.constant else scop

    def _workload(self) -> Workload:
        from polydl.workloads import workload

        return workload(
            self.workload or "",
            images=self.images or 1,
            layout=cast("Layout | None", self.layout),
            element=cast("Element", self.element or "float"),
            padding=cast("Padding | None", self.padding),
        )


def macros_of(definitions: Sequence[str]) -> Mapping[str, str | int]:
    """Macros by name, from entries NAME=VALUE or NAME. Raises OptionError."""
    defines: dict[str, str | int] = {}
    for text in definitions:
        name, equals, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise OptionError(f"{text!r} defines no macro", construct=f"-D {text}", remedy="write -D NAME=VALUE")
        defines[name] = value if equals else "1"
    return defines


@dataclass(frozen=True)
class Target:
    """The machine to optimize for."""

    #: as they were written, innermost first: ``32K,1M``; None for the machine's own
    cache_sizes: str | None
    #: of the kernel; None for all cores
    threads: int | None
    #: a file that describes another machine, or the name of a processor; None for the machine at hand
    described: str | None

    def machine(self) -> Machine:
        """The machine of a description, or the one at hand, with the threads and cache sizes that were asked for."""
        from polydl.machine import Machine

        if self.described is not None:
            from polydl.machine import parse_cache_sizes
            from polydl.machine.elsewhere import machine_elsewhere

            machine = machine_elsewhere(self.described, threads=self.threads)
            sizes = self.cache_sizes
            return machine if sizes is None else machine.with_cache_sizes(parse_cache_sizes(sizes))
        return Machine.detect(cache_sizes=self.cache_sizes, threads=self.threads)


@dataclass(frozen=True)
class SearchOptions:
    """Which variants to look at."""

    #: one name, several with commas, ``auto`` or ``none``
    microkernel: str
    #: at most so many are ranked
    max_variants: int
    #: of the sample and of the data
    seed: int
    numerics: Numerics
    #: whether bilinear algorithms may be used
    fewer_products: bool
    #: decisions taken beforehand, as ``polydl.variants.pins`` reads them
    pins: tuple[str, ...]

    @property
    def options(self) -> ApplyOptions:
        """The options for applying the space's variants."""
        return {"microkernel": self.microkernel, "numerics": self.numerics}

    def space(self, scop: Scop, machine: Machine, *, fuse: bool = True) -> VariantSpace:
        """The space of a scop's variants with these options, with fusions where ``fuse`` says so."""
        from polydl.pipeline import space_on

        kept = self.fewer_products
        return space_on(scop, machine, **self.options, fuse=fuse, fewer_products=kept, pins=self.pins)

    def generate(self, space: VariantSpace) -> Generation:
        """Legal variants of the space, at most as many as were asked for: a sample of them if there are more."""
        from polydl.pipeline import generate

        return generate(space, max_variants=self.max_variants, seed=self.seed)


@dataclass(frozen=True)
class Detail:
    """How much is shown."""

    #: whether more is shown than by default
    verbose: bool
    #: whether less is shown, and no progress
    quiet: bool

    def __post_init__(self) -> None:
        if self.verbose and self.quiet:
            raise OptionError("both --verbose and --quiet are given", remedy="leave one of them out")

    def quieter(self, json_path: str | None) -> Detail:
        """The same, but quiet where standard output belongs to a document."""
        return Detail(False, True) if json_path == "-" else self

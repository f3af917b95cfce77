"""Options that several commands share, and the values that they make."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from polydl.errors import OptionError
from polydl.ir.numerics import DEFAULT_NUMERICS, MOST_ERROR, NUMERICS
from polydl.presentation.completion import (
    complete_directories,
    complete_files,
    complete_machines,
    complete_workloads,
    plug_ins,
)
from polydl.presentation.output_directory import out_option
from polydl.registry import GROUPS

if TYPE_CHECKING:
    from polydl.ir.numerics import Numerics
    from polydl.ir.scop import Scop
    from polydl.machine import Machine
    from polydl.optimization.shards import Shard
    from polydl.pipeline import ApplyOptions
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace
    from polydl.workloads import Element, Layout, Padding, Workload

Command = Callable[..., Any]
# Where results go unless the user names another place.
OUT = "polydl-out"
LAYOUTS = ("blocked", "nchw", "nhwc", "row-major")
ELEMENTS = ("float", "bfloat16")
PADDINGS = ("stored", "skipped")
WEIGHTS = ("prepared", "each-call")


@dataclass(frozen=True)
class Source:
    """The nest to read: a file or a ready workload."""

    file: str | None
    function: str | None
    #: macros and parameters, as NAME=VALUE or NAME
    define: tuple[str, ...]
    include: tuple[str, ...]
    workload: str | None
    #: of a workload's batch; None for its own number
    images: int | None
    layout: str | None
    element: str | None
    padding: str | None
    constant: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.file is None) == (self.workload is None):
            what = "neither a FILE nor a --workload" if self.file is None else "both a FILE and a --workload"
            raise OptionError(f"{what} is given", remedy="name a C file, or a workload such as resnet_03")
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

    def parse(self) -> Scop:
        """The scop of the nest. Raises PolydlError, as the front-end does, for what it can't read."""
        from polydl.frontend.constants import with_constants
        from polydl.reading import parse

        if self.file is None:
            from polydl.system.files import temporary_directory

            with temporary_directory() as directory:
                placed = self.placed(directory)
                return replace(placed.parse(), file=Path(placed.file or "").name)
        scop = parse(
            self.file, function=self.function, defines=macros_of(self.define), include_directories=self.include
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

    microkernel: str
    #: at most so many are ranked
    max_variants: int
    #: of the sample and of the data
    seed: int
    numerics: Numerics
    #: whether bilinear algorithms may be used
    fewer_products: bool
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


def _plug_in(group: str, *others: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Accepts the names of a group's plug-ins, and ``others`` that stand for a choice of polydl's own."""

    def known_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        from polydl import registry

        known = (*others, *registry.names(group))
        if value not in known:
            raise OptionError(f"{value!r} is not one of the known {group}", remedy=f"choose from {', '.join(known)}")
        return value

    return known_name


def _cache_sizes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from polydl.machine import parse_cache_sizes

        parse_cache_sizes(value)
    return value


def _gathered(name: str, kind: type[Any], *options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Decorator: adds ``options`` to a command, which gets their values as a ``kind`` in its parameter ``name``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_options(**values: Any) -> Any:
            gathered = {field.name: values.pop(field.name) for field in fields(kind)}
            return command(**values, **{name: kind(**gathered)})

        decorated: Command = with_options
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


include_option = click.option(
    "-I", "--include", metavar="DIR", multiple=True, shell_complete=complete_directories,
    help="Search there for #include files.",
)  # fmt: skip

source_options = _gathered(
    "source",
    Source,
    click.argument("file", type=click.Path(path_type=str), required=False),
    click.option("--function", metavar="NAME", help="The function whose nest is meant, where the file has several."),
    click.option(
        "-D", "--define", "define", metavar="NAME=VALUE", multiple=True,
        help="A macro, or the value of an integer parameter of the function. May be repeated.",
    ),
    include_option,
    click.option(
        "--workload", metavar="NAME", shell_complete=complete_workloads,
        help="Instead of FILE: a ready layer or product, as resnet_03, gemm_64x96x128.",
    ),
    click.option("--images", type=click.IntRange(min=1), metavar="N", help="Images of the workload (1)."),
    click.option(
        "--layout", type=click.Choice(LAYOUTS), metavar="NAME",
        help="Of the workload: blocked, nchw, nhwc or row-major (blocked; products row-major).",
    ),
    click.option("--element", type=click.Choice(ELEMENTS), help="Type of the workload's inputs (float)."),
    click.option("--padding", type=click.Choice(PADDINGS), help="Whether the nest goes over rows of padding."),
    click.option(
        "--constant", metavar="NAME", multiple=True,
        help="An array that holds the same at every call, such as a filter: what depends on constants alone is "
        "prepared once. May be repeated.",
    ),
)  # fmt: skip
target_options = _gathered(
    "target",
    Target,
    click.option(
        "--cache-sizes", metavar="SIZES", callback=_cache_sizes,
        help="Cache sizes instead of those found, innermost first: 32K,1M,36608K.",
    ),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use (all cores)."),
    click.option(
        "--machine", "described", metavar="FILE|NAME", shell_complete=complete_machines,
        help="Another machine, which polydl calibrate described in FILE, or a processor that polydl knows: "
        "xeon-amx, zen3, zen4, zen5. Nothing is run then.",
    ),
)  # fmt: skip
search_options = _gathered(
    "search",
    SearchOptions,
    click.option(
        "--microkernel", callback=_plug_in("microkernels", "auto", "none"), default="auto", show_default=True,
        shell_complete=plug_ins("microkernels", "auto", "none"),
        metavar="NAME",
        help="What computes the innermost loops: "
        f"{', '.join(GROUPS['microkernels'])}, auto (all that fit) or none.",
    ),
    click.option(
        "--max-variants", type=click.IntRange(min=1), default=400, show_default=True, metavar="N",
        help="Sample so many variants where there are more.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of sample and data."),
    click.option(
        "--numerics", type=click.Choice(NUMERICS), default=DEFAULT_NUMERICS, show_default=True,
        help="Floating point: strict (as the source), reassociated (sums in any order), bounded (errors at most "
        f"{MOST_ERROR:g} times the source's) or fast.",
    ),
    click.option(
        "--no-fewer-products", "fewer_products", flag_value=False, default=True,
        help="Compute every product of the source one by one, none in a transform domain.",
    ),
    click.option(
        "--pin", "pins", metavar="DECISION", multiple=True,
        help="Take a decision, leave the rest open: order=i,j,k; 'tile i=32'; microkernel=c; parallel=i; 'no packing'. "
        "May be repeated.",
    ),
)  # fmt: skip
name_option = click.option(
    "--name", default="", metavar="NAME", help="Call the emitted function so, in place of the source's."
)
prefix_option = click.option(
    "--prefix", default="", metavar="PREFIX", help="Put this before the names that the library exports."
)
march_option = click.option(
    "--march", default="", metavar="CPU",
    help="Make code for these processors, such as x86-64-v3, not for this one.",
)  # fmt: skip
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show nothing but warnings and errors.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Show details, and the reasons for what is not done."
)
detail_options = _gathered(
    "detail",
    Detail,
    click.option("-v", "--verbose", is_flag=True, help="Show the nest, the variants, the ranking and all figures."),
    quiet_option,
)
ranker_option = click.option(
    "--ranker", callback=_plug_in("rankers"), default="dnn", show_default=True, metavar="NAME",
    shell_complete=plug_ins("rankers"),
    help="What predicts which variant is fast.",
)  # fmt: skip
strategy_option = click.option(
    "--strategy", callback=_plug_in("strategies"), default="ranked", show_default=True, metavar="NAME",
    shell_complete=plug_ins("strategies"),
    help=f"What a search with a budget tries next: {', '.join(GROUPS['strategies'])}.",
)  # fmt: skip
json_option = click.option(
    "--json", "json_path", metavar="PATH", shell_complete=complete_files,
    help="Write a JSON document there; - is standard output.",
)  # fmt: skip
records_option = click.option(
    "--records", "records", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Measurements are kept there (in the user's data directory).",
)  # fmt: skip


def _shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Shard | None:
    from polydl.optimization.shards import Shard

    return None if value is None else Shard.parse(value)


shard_option = click.option(
    "--shard", metavar="I/N", callback=_shard,
    help="Do part I of N (2/4): together the N parts do the whole. Each needs --records of its own.",
)  # fmt: skip
cold_option = click.option("--cold", is_flag=True, help="Time with empty caches: flushed before each invocation.")


def require_own_records(shard: Shard | None, records: Path | None) -> None:
    """Raises OptionError for a part of a whole that would write where others write."""
    if shard is not None and records is None:
        raise OptionError(
            "parts of a whole may not write to the same records",
            construct=f"--shard {shard}",
            remedy=f"give each its own (--records records/{shard.number}), and join them with `polydl records merge`",
        )


def _enter_sandbox(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from polydl.system.sandbox import sandboxed

        context.with_resource(sandboxed())


sandbox_option = click.option(
    "--sandbox", is_flag=True, expose_value=False, callback=_enter_sandbox,
    help="Compile and run without network, and with nothing else to write to (bubblewrap).",
)  # fmt: skip
debug_option = click.option("--debug", is_flag=True, expose_value=False, help="Show the Python traceback of an error.")


def top_k_options(default: int, what: str) -> Callable[[Command], Command]:
    """``what`` is done with the first K of the ranking, or with all."""

    def decorate(command: Command) -> Command:
        many = click.option(
            "--top-k", type=click.IntRange(min=1), default=default, show_default=True, metavar="K",
            help=f"{what} the first K of the ranking.",
        )  # fmt: skip
        return many(click.option("--all", "everything", is_flag=True, help=f"{what} all of them.")(command))

    return decorate


def optimization_options(*others: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Decorator: the options of a command that searches for the fastest code, and ``others``."""
    options: tuple[Callable[[Command], Command], ...] = (
        source_options,
        target_options,
        search_options,
        ranker_option,
        top_k_options(5, "Compile, check and time"),
        click.option("--no-run", is_flag=True, help="Stop after ranking: compile and run nothing."),
        out_option(f"Write files there ({OUT}/FUNCTION)"),
        click.option("--compiler", metavar="NAME", help="gcc or clang, by name or path (the first that works)."),
        *others,
        click.option(
            "--no-calibration", is_flag=True, help="Time no calls of microkernels that are used for the first time."
        ),
        click.option("--fresh", is_flag=True, help="Measure again what the records hold."),
        sandbox_option,
        records_option,
        detail_options,
        json_option,
        debug_option,
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate

"""``polydl library``: one library for a range of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.destinations import check_destinations
from polydl.commands.storing import warn_of_directory
from polydl.emitted_names import LIBRARY_FILE
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.numbers import FiniteRange
from polydl.presentation.option_values import OUT, Detail, Source, Target, macros_of
from polydl.presentation.options import (
    debug_option,
    detail_options,
    fewer_products_option,
    measured_target_options,
    records_option,
    sandbox_option,
    seed_option,
    source_options,
)
from polydl.presentation.output_directory import out_option

if TYPE_CHECKING:
    from polydl.libraries.build import Library


@click.command(cls=CheckedCommand)
@source_options
@measured_target_options
@click.option(
    "--range", "ranges", metavar="NAME=SIZES", multiple=True,
    help="Sizes that an integer parameter may have: M=1..4096, K=64..4096:64 (in steps) or N=64,256,1024; lda=K.. for "
    "a leading dimension. Repeated.",
)  # fmt: skip
@click.option(
    "--max-kernels", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
    help="Choose among so many kernels at most.",
)  # fmt: skip
@click.option(
    "--max-slowdown", type=FiniteRange(min=1), default=1.10, show_default=True, metavar="FACTOR",
    help="With as few kernels as are within FACTOR of the fastest at every shape.",
)  # fmt: skip
@click.option(
    "--shapes", type=click.IntRange(min=1), default=24, show_default=True, metavar="N",
    help="Optimize at so many sampled shapes, and decide at 25 times as many more.",
)  # fmt: skip
@click.option(
    "--top-k", type=click.IntRange(min=1), default=3, show_default=True, metavar="K",
    help="Compile, check and time the first K of each shape's ranking.",
)  # fmt: skip
@click.option(
    "--configurations", type=click.IntRange(min=0), default=32, show_default=True, metavar="N",
    help="Measure N blockings that are drawn at random, too: what is slow, a model can only learn from such.",
)  # fmt: skip
@fewer_products_option
@seed_option("Seed of shapes, variants and data.")
@out_option(f"Write files there ({OUT}/FILE)")
@click.option("--name", default="", metavar="NAME", help="What the emitted function is called (as in the source).")
@click.option("--prefix", default="", metavar="PREFIX", help="Put before the names of all that is emitted.")
@click.option("--compiler", metavar="NAME", help="gcc or clang, by name or path (the first that works).")
@sandbox_option
@records_option
@detail_options
@debug_option
def library(
    source: Source,
    target: Target,
    ranges: tuple[str, ...],
    max_kernels: int,
    max_slowdown: float,
    shapes: int,
    top_k: int,
    configurations: int,
    fewer_products: bool,
    seed: int,
    out: Path | None,
    name: str,
    prefix: str,
    compiler: str | None,
    records: Path | None,
    detail: Detail,
) -> int:
    """Make one library of FILE's loops that is right for any sizes, and fast for those in the ranges."""
    from polydl.libraries.build import library as build
    from polydl.presentation.library import library_text
    from polydl.presentation.progress import progress_bar
    from polydl.records.store import default_directory

    if source.file is None:
        raise OptionError("a workload has known sizes", remedy="name a C file whose function has sizes as parameters")
    if source.constant:
        raise OptionError(
            "a library for a range of sizes prepares no constants",
            construct=f"--constant {source.constant[0]}",
            remedy="leave it out, or use `polydl optimize` for each of the sizes",
        )
    machine = target.machine()
    if not machine.at_hand:
        raise OptionError(
            "the kernels of a library are measured, and this is another machine",
            construct=f"--machine {target.described}",
            remedy="make the library there, or leave out --machine",
        )
    directory = out or Path(OUT, Path(source.file).stem)
    check_destinations(source, directory, None, document=LIBRARY_FILE)
    warn_of_directory(records or default_directory())
    with progress_bar(wanted=not detail.quiet) as progress:
        result: Library = build(
            source.file,
            ranges,
            out=directory,
            max_kernels=max_kernels,
            max_slowdown=max_slowdown,
            shapes=shapes,
            top_k=top_k,
            configurations=configurations,
            fewer_products=fewer_products,
            seed=seed,
            machine=machine,
            compiler=compiler,
            function=source.function,
            defines=macros_of(source.define),
            include_directories=source.include,
            records=records or True,
            name=name,
            prefix=prefix,
            progress=progress,
        )
    if not detail.quiet:
        click.echo(library_text(result, verbose=detail.verbose))
    return 0

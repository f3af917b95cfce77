"""``polydl model``: a whole model from an ONNX file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.destinations import require_places
from polydl.commands.output import STANDARD_OUTPUT, write_document
from polydl.commands.storing import warn_of_directory
from polydl.emitted_names import Naming
from polydl.errors import OptionError
from polydl.ir.numerics import DEFAULT_NUMERICS, NUMERICS
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.option_values import OUT
from polydl.presentation.options import debug_option, json_option, quiet_option, records_option
from polydl.presentation.output_directory import out_option

if TYPE_CHECKING:
    from polydl.ir.numerics import Numerics

Shapes = dict[str, tuple[int, ...]] | tuple[int, ...] | None


def _shapes(texts: Sequence[str]) -> Shapes:
    """Shapes of inputs from entries SHAPE or NAME=SHAPE. Raises OptionError."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, equals, extents = text.rpartition("=")
        try:
            shape = tuple(int(extent) for extent in extents.split(","))
        except ValueError:
            remedy = "write --input 1,3,224,224 or --input NAME=1,3,224,224"
            raise OptionError(f"{extents!r} is no shape", construct=f"--input {text}", remedy=remedy) from None
        if not equals:
            if len(texts) > 1:
                raise OptionError("several inputs need names", construct=f"--input {text}", remedy="write NAME=SHAPE")
            return shape
        if name in shapes:
            raise OptionError(
                f"the input {name!r} has a shape already", construct=f"--input {text}", remedy="give one shape for each"
            )
        shapes[name] = shape
    return shapes or None


@click.command(cls=CheckedCommand)
@click.argument("file", type=click.Path(path_type=str))
@click.option(
    "--input", "inputs", metavar="[NAME=]SHAPE", multiple=True,
    help="The shape of an input, such as 1,3,224,224. May be left out where the model fixes it, and repeated.",
)  # fmt: skip
@out_option(f"Write files there ({OUT}/FILE)")
@click.option("--name", default="", metavar="NAME", help="What the emitted function is called (model).")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use (all cores).")
@click.option("--budget", metavar="BUDGET", help="How long each distinct operator is searched: 30s, 200runs, 5%.")
@click.option(
    "--numerics", type=click.Choice(NUMERICS), default=DEFAULT_NUMERICS, show_default=True,
    help="What may be done to sums and products, as for polydl optimize.",
)  # fmt: skip
@click.option(
    "--no-fewer-products", "fewer_products", flag_value=False, default=True,
    help="Compute every product one by one, none in a transform domain.",
)  # fmt: skip
@click.option(
    "--element", type=click.Choice(("float", "bfloat16")), default="float", show_default=True,
    help="What kernels pass on to others, and multiply: floats, or those rounded to bfloat16.",
)  # fmt: skip
@click.option("--report", is_flag=True, help="Show every operator: its time alone, and what was chosen.")
@records_option
@quiet_option
@json_option
@debug_option
def model(
    file: str,
    inputs: tuple[str, ...],
    out: Path | None,
    name: str,
    threads: int | None,
    budget: str | None,
    numerics: Numerics,
    fewer_products: bool,
    element: str,
    report: bool,
    records: Path | None,
    quiet: bool,
    json_path: str | None,
) -> int:
    """Make one native call of the ONNX model in FILE: each distinct operator is optimized, and all become one library.

    The result on random data is compared with that of ONNX Runtime, if it is installed, or of the package onnx.
    """
    from polydl.onnx import optimize
    from polydl.pipeline import Stage
    from polydl.presentation import results
    from polydl.presentation.notation import wrapped
    from polydl.presentation.progress import progress_bar
    from polydl.records.store import default_directory

    function = Naming(name).of("model")
    shapes = _shapes(inputs)
    directory = out or Path(OUT, Path(file).stem)
    if json_path not in (None, STANDARD_OUTPUT) and Path(json_path).resolve() == Path(file).resolve():
        raise OptionError(
            "the document would be written over the model", construct=f"--json {json_path}", remedy="name another file"
        )
    require_places(directory, json_path)
    warn_of_directory(records or default_directory())
    with progress_bar(wanted=not quiet and json_path != STANDARD_OUTPUT) as show:
        fast = optimize(
            file,
            shapes,
            name=function,
            threads=threads,
            budget=budget,
            numerics=numerics,
            fewer_products=fewer_products,
            element=element,
            records=records or True,
            progress=None if show is None else lambda done, total: show(Stage("kernels", done, total)),
        )
    fast.save(directory)
    result = fast.report()
    if not quiet and json_path != STANDARD_OUTPUT:
        click.echo(result.summary)
        click.echo("\n".join([f"Files   {directory}", *wrapped("  ".join(fast.files), "  ")]))
        if report:
            click.echo(f"\n{results.operators_table(result.manifest.operators)}")
    if json_path is not None:
        write_document(result.document, json_path)
    return 0

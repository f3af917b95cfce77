"""Options that several commands share; what is gathered of them is a value of ``option_values``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from polydl.arguments import MOST_SEED
from polydl.errors import OptionError
from polydl.ir.numerics import DEFAULT_NUMERICS, MOST_ERROR, NUMERICS
from polydl.presentation.completion import (
    complete_directories,
    complete_files,
    complete_machines,
    complete_workloads,
    plug_ins,
)
from polydl.presentation.option_values import OUT, Detail, SearchOptions, Source, Target
from polydl.presentation.output_directory import out_option
from polydl.registry import DEFAULT_RANKER, DEFAULT_STRATEGY, GROUPS

if TYPE_CHECKING:
    from polydl.optimization.budget import Budget
    from polydl.optimization.shards import Shard

Command = Callable[..., Any]
LAYOUTS = ("blocked", "nchw", "nhwc", "row-major")
ELEMENTS = ("float", "bfloat16")
PADDINGS = ("stored", "skipped")
WEIGHTS = ("prepared", "each-call")
# Stand for all microkernels that fit, and for none.
_NO_NAMES = ("auto", "none")


def _plug_in(group: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Accepts the names of a group's plug-ins."""

    def known_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        _require_known((value,), group)
        return value

    return known_name


def _microkernels(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Accepts one, or several with commas between them."""
    names = value.split(",")
    _require_known(names, "microkernels", _NO_NAMES if len(names) == 1 else ())
    return value


def _require_known(names: Sequence[str], group: str, others: Sequence[str] = ()) -> None:
    """Raises OptionError for a name that is neither a plug-in's of the group nor one of the ``others``."""
    from polydl import registry

    known = (*others, *registry.names(group))
    for name in names:
        if name not in known:
            raise OptionError(f"{name!r} is not one of the known {group}", remedy=f"choose from {', '.join(known)}")


def known_cache_sizes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Accepts sizes that grow."""
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


def seed_option(what: str) -> Callable[[Command], Command]:
    """The seed of ``what`` is drawn by lot."""
    return click.option(
        "--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True, metavar="N", help=what
    )  # fmt: skip


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
_target = (
    click.option(
        "--cache-sizes", metavar="SIZES", callback=known_cache_sizes,
        help="Cache sizes instead of those found, innermost first: 32K,1M,36608K.",
    ),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use (all cores)."),
)  # fmt: skip
target_options = _gathered(
    "target",
    Target,
    *_target,
    click.option(
        "--machine", "described", metavar="FILE|NAME", shell_complete=complete_machines,
        help="Another machine, which polydl calibrate described in FILE, or a processor that polydl knows: "
        "xeon-amx, zen3, zen4, zen5. Nothing is run then, unless this machine is like it.",
    ),
)  # fmt: skip
# Of a command that has to measure.
measured_target_options = _gathered(
    "target",
    Target,
    *_target,
    click.option(
        "--machine", "described", metavar="FILE", shell_complete=complete_files,
        help="A description of this machine, which polydl calibrate wrote. Another machine is refused.",
    ),
)  # fmt: skip
fewer_products_option = click.option(
    "--no-fewer-products", "fewer_products", flag_value=False, default=True,
    help="Compute every product of the source one by one, none in a transform domain.",
)  # fmt: skip
search_options = _gathered(
    "search",
    SearchOptions,
    click.option(
        "--microkernel", callback=_microkernels, default="auto", show_default=True,
        shell_complete=plug_ins("microkernels", *_NO_NAMES),
        metavar="NAMES",
        help="What computes the innermost loops: "
        f"{', '.join(GROUPS['microkernels'])}, several with commas between them, auto (all that fit) or none.",
    ),
    click.option(
        "--max-variants", type=click.IntRange(min=1), default=400, show_default=True, metavar="N",
        help="Sample so many variants where there are more.",
    ),
    seed_option("Seed of sample and data."),
    click.option(
        "--numerics", type=click.Choice(NUMERICS), default=DEFAULT_NUMERICS, show_default=True,
        help="Floating point: strict (as the source), reassociated (sums in any order), bounded (errors at most "
        f"{MOST_ERROR:g} times the source's) or fast.",
    ),
    fewer_products_option,
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
    "--ranker", callback=_plug_in("rankers"), default=DEFAULT_RANKER, show_default=True, metavar="NAME",
    shell_complete=plug_ins("rankers"),
    help="What predicts which variant is fast.",
)  # fmt: skip
strategy_option = click.option(
    "--strategy", callback=_plug_in("strategies"), default=DEFAULT_STRATEGY, show_default=True, metavar="NAME",
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


def search_limit(budget: str | None, strategy: str) -> Budget | None:
    """How far a search goes; None for no search. Raises OptionError for no budget, and for a strategy without one."""
    from polydl.optimization.budget import Budget, require_budget

    limit = None if budget is None else Budget.parse(budget)
    if strategy != DEFAULT_STRATEGY:
        require_budget(strategy, limit)
    return limit


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


def require_alone(option: str, *others: str) -> None:
    """Raises OptionError if one of these parameters of the command is given beside an option that leaves it no part."""
    for given in _given(others):
        raise OptionError(f"both {option} and {given} are given", remedy="leave one of them out")


def require_only(option: str, *others: str) -> None:
    """Raises OptionError if any parameter of the command is given beside an option that leaves them no part.

    ``others`` are those that it does not, beside the ones that say what is shown and where the command may write.
    """
    kept = {*others, "quiet", "debug", "sandbox"}
    parameters = click.get_current_context().command.params
    names = (each.name for each in parameters if option not in each.opts)
    require_alone(option, *(name for name in names if name is not None and name not in kept))


def require_beside(option: str, *others: str) -> None:
    """Raises OptionError if one of these parameters of the command is given where the option that they serve is not."""
    for given in _given(others):
        raise OptionError(f"{given} has no effect without {option}", remedy=f"leave it out, or add {option}")


def _given(parameters: Sequence[str]) -> Iterator[str]:
    """Those of the parameters that the command line names, as it names them."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in parameters and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            yield parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


def top_k_options(default: int, what: str) -> Callable[[Command], Command]:
    """``what`` is done with the first K of the ranking, or with all."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_either(**values: Any) -> Any:
            if values["everything"]:
                require_alone("--all", "top_k")
            return command(**values)

        many = click.option(
            "--top-k", type=click.IntRange(min=1), default=default, show_default=True, metavar="K",
            help=f"{what} the first K of the ranking.",
        )  # fmt: skip
        return many(click.option("--all", "everything", is_flag=True, help=f"{what} all of them.")(with_either))

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

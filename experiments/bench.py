"""``python -m experiments.bench``: polydl's best picks against other libraries, side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console

import polydl
from experiments.bench_driver import Settings, images_of, installed, measure, new_document
from experiments.bench_results import Document, ratio, read, summary_table, workloads_table, write
from experiments.peers.kinds import KINDS, Setting
from polydl.workloads import Layout, suite, suites, workload

_WIDTH = 160


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--suite", "suite_names", multiple=True, metavar="NAME", help=f"One of {', '.join(suites())}.")
@click.option("--workload", "names", multiple=True, metavar="NAME", help="A single workload, such as resnet_03.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N workloads.")
@click.option("--peers", default=",".join(KINDS), show_default=True, metavar="NAMES", help="Peers, with commas.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option("--images", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option("--layout", type=click.Choice(get_args(Layout)), help="Instead of blocked (products: row-major).")
@click.option("--accumulate", is_flag=True, help="Peers add products to their result, as polydl's nest does.")
@click.option("--top-k", type=click.IntRange(min=1), default=10, show_default=True, metavar="K", help="Picks to try.")
@click.option("--leaders", type=click.IntRange(min=1), default=3, show_default=True, help="Picks to compare.")
@click.option("--max-variants", type=click.IntRange(min=1), default=400, show_default=True, metavar="N")
@click.option("--rounds", type=click.IntRange(min=2), default=15, show_default=True, help="Samples of each.")
@click.option("--budget", type=click.FloatRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=120.0, show_default=True, metavar="SECONDS")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Keep the results there, and go on from it."
)
@click.option("--show", is_flag=True, help="Only show what --out holds.")
def main(
    suite_names: tuple[str, ...],
    names: tuple[str, ...],
    limit: int | None,
    peers: str,
    out: Path | None,
    show: bool,
    **options: Any,
) -> None:
    """Optimize workloads, and time the leaders beside other libraries and compilers in the same rounds.

    Results are stored after each workload; an interrupted run goes on where it stopped.
    """
    # In a file or a pipe there is no terminal whose width counts.
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    try:
        if show:
            _print(_stored(out), console)
            return
        asked = tuple(name for name in peers.split(",") if name)
        run(_workloads(suite_names, names)[:limit], _settings(asked, options), out, console)
    except (polydl.PolydlError, OSError) as error:
        raise click.ClickException(str(error)) from error


def run(names: Sequence[str], settings: Settings, out: Path | None, console: Console) -> Document:
    """Measure what ``out`` does not hold yet, and print the table. Raises polydl.PolydlError, OSError."""
    for name in names:
        workload(name, images=images_of(name, settings.images), layout=settings.layout)
    machine = polydl.Machine.detect(threads=settings.threads)
    kinds, missing = installed(settings.peers, Setting(settings.threads, settings.accumulate))
    for name, each in missing.items():
        console.print(f"[yellow]{name} is missing and left out.[/yellow] To have it: [bold]{each.remedy}[/bold]")
        console.print(f"  {_headline(each.reason)}", markup=False, highlight=False)
    document = new_document(settings, machine, missing)
    if out is not None and out.exists():
        document = _continued(_stored(out), document, out)
    left = [name for name in names if name not in document["results"]]
    with Console(stderr=True).status("") as status:
        for name, result in measure(left, settings, machine, kinds, status.update):
            document["results"][name] = result
            if out is not None:
                write(document, out)
            console.print(_line(name, result, settings), highlight=False)
    _print(document, console)
    return document


def _print(document: Document, console: Console) -> None:
    console.print(workloads_table(document))
    console.print(summary_table(document))


def _headline(reason: str) -> str:
    """The line of a compiler's output that says what it lacks."""
    lines = reason.splitlines()
    return next((line for line in lines if "cannot find" in line or "error:" in line), lines[-1])


def _line(name: str, result: Document, settings: Settings) -> str:
    if result["status"] != "ok":
        return f"{name}: [red]{result['message'].splitlines()[0]}[/red]"
    found = {peer: ratio(result, peer) for peer in settings.peers}
    against = ", ".join(f"{peer} {each.value:.3f}" for peer, each in found.items() if each is not None)
    return f"{name}: {against or 'no peer'}  ({result['seconds_spent']:.0f} s)"


def _workloads(suite_names: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    chosen = [name for each in suite_names for name in suite(each)] + list(names)
    if not chosen:
        raise click.UsageError(f"name a --suite ({', '.join(suites())}) or a --workload")
    return list(dict.fromkeys(chosen))


def _settings(asked: tuple[str, ...], options: dict[str, Any]) -> Settings:
    unknown = [name for name in asked if name not in KINDS]
    if unknown:
        raise click.UsageError(f"there is no peer {unknown[0]!r}; the peers are {', '.join(KINDS)}")
    budget, timeout = options.pop("budget"), options.pop("timeout")
    return Settings(peers=asked, budget_seconds=budget, timeout_seconds=timeout, **options)


def _stored(out: Path | None) -> Document:
    if out is None:
        raise click.UsageError("--show needs --out")
    try:
        return read(out)
    except ValueError as error:
        raise click.ClickException(f"{error}; name another --out") from error


def _continued(old: Document, new: Document, out: Path) -> Document:
    """The old results with the new run's header, if both measure the same thing in the same way."""
    for part in ("settings", "versions"):
        differing = [key for key in new[part] if old[part].get(key) != new[part][key]]
        if differing:
            raise click.ClickException(
                f"{out} holds results of other {part}: {', '.join(differing)}; name another --out"
            )
    if old["machine"]["cpu_id"] != new["machine"]["cpu_id"]:
        raise click.ClickException(f"{out} holds results of another machine; name another --out")
    if set(old["missing"]) != set(new["missing"]):
        raise click.ClickException(f"{out} holds results with other peers installed; name another --out")
    return {**old, "results": dict(old["results"])}


if __name__ == "__main__":
    sys.exit(main())

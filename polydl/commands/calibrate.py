"""``polydl calibrate``: what this machine and its microkernels can do, measured once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.output import STANDARD_OUTPUT
from polydl.commands.output import show as shown
from polydl.errors import MachineError, OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.options import debug_option, json_option, known_cache_sizes
from polydl.system.files import opened

if TYPE_CHECKING:
    from polydl.machine.system import System

_FAILURE = 1
# The heading of a table that is in every profile.
_SIGN = b"[identity]"


@click.command(cls=CheckedCommand)
@click.option("--show", is_flag=True, help="Measure nothing: show what is stored.")
@click.option(
    "--microkernel",
    "microkernels",
    metavar="NAME",
    multiple=True,
    help="Time this one alone and keep the rest of the profile. May be repeated.",
)
@click.option("--fresh", is_flag=True, help="Do not go on with what an interrupted run measured.")
@click.option(
    "--profile",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Instead of this machine's own file.",
)
@click.option(
    "--cache-sizes",
    "sizes",
    metavar="SIZES",
    callback=known_cache_sizes,
    help="Of a system that does not say them, innermost first: 32K,1M,36608K.",
)
@json_option
@debug_option
def calibrate(
    show: bool,
    microkernels: tuple[str, ...],
    fresh: bool,
    path: Path | None,
    sizes: str | None,
    json_path: str | None,
) -> int:
    """Measure this machine and its microkernels, once, for all later predictions.

    It takes one to two minutes. After an interruption, the same command goes on where it was.
    """
    from polydl.calibration.run import CalibrationFailure
    from polydl.calibration.run import calibrate as run
    from polydl.machine import profile as profiles
    from polydl.machine.system import default_directory
    from polydl.machine.value import Machine
    from polydl.pipeline import Stage
    from polydl.presentation.calibration import profile_text
    from polydl.presentation.progress import progress_bar

    system = _system(sizes)
    place = path or system.calibration_path(default_directory())
    failures: tuple[CalibrationFailure, ...] = ()
    if show:
        if path is not None and not path.exists():
            remedy = f"run `polydl calibrate --profile {path}` to write it, or leave --profile out"
            raise MachineError("there is no such file", file=str(path), remedy=remedy)
        profile = profiles.read_for(place, system.identity)
    else:
        if path is not None:
            _check_place(path)
        with progress_bar(wanted=json_path != STANDARD_OUTPUT) as bar:
            result = run(
                system,
                place,
                microkernels=microkernels or None,
                fresh=fresh,
                report=None if bar is None else lambda name, done, total: bar(Stage(name, done, total)),
            )
        profile, failures = result.profile, result.failures
    core = Machine.of_calibration(replace(profile, surroundings=system.surroundings)).core
    shown(json_path, dict(profiles.document(profile)), f"{profile_text(profile, core)}\n\nProfile  {place}")
    for failure in failures:
        click.echo(f"polydl: {failure.text}", err=True)
    return _FAILURE if failures else 0


def _system(sizes: str | None) -> System:
    """This machine. Raises OptionError for sizes of caches in place of those that the system says."""
    from polydl.machine.caches import parse_cache_sizes, size_text
    from polydl.machine.system import find

    given = None if sizes is None else parse_cache_sizes(sizes)
    system = find(given)
    if given not in (None, system.identity.cache_bytes):
        raise OptionError(
            f"the caches of this machine are {','.join(map(size_text, system.identity.cache_bytes))}",
            construct=f"--cache-sizes {sizes}",
            remedy="leave it out; later commands take other sizes",
        )
    return system


def _check_place(path: Path) -> None:
    """Before anything is measured: no file is replaced that is no profile, whatever its version. Raises OptionError."""
    content = b""
    # What can't be read is said when it is written.
    with suppress(OSError), opened(path) as file:
        content = file.read()
    if content.strip() and _SIGN not in content:
        raise OptionError(
            f"{path} is no profile, and would be replaced", construct=f"--profile {path}", remedy="name another file"
        )

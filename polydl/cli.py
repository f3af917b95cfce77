"""The command ``polydl``. Everything it needs is imported by the command that needs it."""

from __future__ import annotations

import errno
import functools
import gc
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from polydl.commands.output import FAILURE, fail
from polydl.errors import PolydlError, RecordsWarning, missing_dependency, printable
from polydl.presentation.options import debug_option
from polydl.presentation.standard_error import drop_what_fails
from polydl.system.files import reason_of
from polydl.system.interruption import EXIT_STATUS, INTERRUPTION

_USER_MISTAKE = 2
_STANDARD_ERROR = 2
# Every other file that a command writes has its own message.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
# A command allocates very many small objects that live until it ends, and hardly any cycles: to look for these as often
# as Python does by default, after every 700 objects, takes a tenth of its time.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
# Calls within calls, of which a walk over a long sum takes several for each of its terms.
_FRAMES = 10_000

_OUT_OF_MEMORY = (
    "memory ran out, or a limit of it was met\n"
    "  remedy: use smaller sizes, fewer variants or fewer threads, or give the job more memory"
)
# What to write in place of options of earlier versions.
_INSTEAD = {"--strict-fp": "--numerics strict"}

# The module in `polydl.commands` that has each command, and what is said of it among all.
COMMANDS = {
    "analyze": ("analysis", "Show a variant's working sets, and the caches that hold them."),
    "bench": ("bench", "Time the best picks of ready workloads beside other libraries."),
    "calibrate": ("calibrate", "Measure this machine and its microkernels, once for all."),
    "collect": ("collect", "Measure variants of ready nests into the records."),
    "doctor": ("doctor", "Test every component that polydl uses."),
    "evaluate": ("learning", "Judge rankers on nests that their training never saw."),
    "fuse": ("fuse", "Say which operators can be fused, and find the fastest code."),
    "fuzz": ("fuzz", "Try random loop nests, and keep those whose variants fail."),
    "library": ("library", "Make one library for a range of sizes."),
    "model": ("model", "Make one native call of an ONNX model."),
    "optimize": ("optimize", "Find the fastest variant, check it, and write C and a library."),
    "parse": ("analysis", "Show what was read: loops, statements, arrays, accesses."),
    "rank": ("analysis", "Order the variants, the most promising first, with reasons."),
    "records": ("records", "Look at, merge and prune what was ever measured."),
    "report": ("report", "Make one HTML page of a run, or of two beside each other."),
    "train": ("learning", "Train a ranker on records, and write its weights."),
    "tune": ("tune", "Optimize many nests, and show them in one table."),
    "variants": ("analysis", "List the legal variants of a loop nest."),
    "worker": ("worker", "Let a cluster's scheduler compile and time on this machine."),
}


def command(name: str) -> click.Command:
    """One of ``COMMANDS``."""
    module, text = COMMANDS[name]
    imported: click.Command = getattr(import_module(f"polydl.commands.{module}"), name)
    imported.short_help = text
    return imported


class PolydlCommands(click.Group):
    """Imports a command when it is asked for, and turns whatever ends one into a message and an exit status."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        return command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            # Click itself, where it is new enough, knows only commands that are imported.
            close = get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean {close[0]}?", ctx) from None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)
        if standalone_mode:
            gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
            sys.setrecursionlimit(_FRAMES)
            _open_closed_streams()
            drop_what_fails()
            # Python has none if it was closed when Python started.
            if sys.stdout is None:
                sys.exit(fail("standard output is closed\n  remedy: send it somewhere: > /dev/null", FAILURE))
        run = functools.partial(super().main, arguments, prog_name, complete_var, standalone_mode=False, **extra)
        with warnings.catch_warnings():
            # Commands say it in their own words.
            warnings.simplefilter("ignore", RecordsWarning)
            status = _status_of(run, debug="--debug" in arguments)
        if standalone_mode:
            sys.exit(status)
        return status


def _instead(error: click.UsageError) -> str:
    """What to write for an option of earlier versions, if the command has what replaced it; "" for other mistakes."""
    replacement = _INSTEAD.get(error.option_name, "") if isinstance(error, click.NoSuchOption) else ""
    known = [name for parameter in error.ctx.command.params for name in parameter.opts] if error.ctx is not None else []
    return f"write {replacement}" if replacement.partition(" ")[0] in known else ""


def _open_closed_streams() -> None:
    """Open whichever of the standard streams is closed, so that no other file gets its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        os.set_inheritable(number, True)
    os.close(number)


def _status_of(run: Callable[[], Any], debug: bool) -> int:
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets another one, and no error.
        with suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = run()
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except OSError as error:
        if debug:
            raise
        # Python flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if INTERRUPTION.exit_status is not None:
            return INTERRUPTION.exit_status  # the terminal is gone
        if isinstance(error, BrokenPipeError):
            return FAILURE
        if error.filename is None and error.errno in _OUTPUT_ERRORS:
            return fail(
                f"standard output can't be written: {error.strerror}\n"
                "  remedy: free space where it goes, or send it somewhere else",
                FAILURE,
            )
        where = "" if error.filename is None else f"{printable(error.filename)}: "
        return fail(f"{where}the system refuses: {reason_of(error)}\n  remedy: --debug shows where", FAILURE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return _USER_MISTAKE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "polydl"
        remedy = _instead(error) or f"see {command} --help"
        return fail(f"{error.format_message()}\n  remedy: {remedy}", _USER_MISTAKE)
    except click.ClickException as error:
        return fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        with suppress(OSError):  # the terminal may be gone
            click.echo(f"polydl: {INTERRUPTION.text}", err=True)
        return EXIT_STATUS
    except PolydlError as error:
        if debug:
            raise
        return fail(str(error), error.exit_status)
    except MemoryError:
        if debug:
            raise
        return fail(_OUT_OF_MEMORY, FAILURE)
    except Exception as error:
        if debug:
            raise
        missing = missing_dependency(error)
        if missing is not None:
            return fail(str(missing), missing.exit_status)
        return fail(
            f"a fault in polydl itself: {type(error).__name__}: {error}\n"
            "  remedy: run it again with --debug, and report what that prints together with the C file",
            FAILURE,
        )


@click.group(
    cls=PolydlCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="polydl optimize FILE does the whole job. polydl COMMAND --help shows the options of each.",
)
@click.version_option(package_name="polydl", prog_name="polydl")
@debug_option
def main() -> None:
    """Make a loop nest written in C fast: prove, rank, measure and emit its variants."""

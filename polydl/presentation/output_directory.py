"""The option ``--out`` of commands that write several files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the option, of which ``text`` says what goes there."""
    return click.option(
        "--out", type=click.Path(path_type=Path), callback=_require_text, metavar="DIR", help=f"{text}."
    )


def require_writable(directory: Path, option: str = "") -> None:
    """Before anything long is done: files can be written there, or in what it is made in. Raises OptionError.

    ``option`` is what named it on the command line, ``--out DIR`` unless it says otherwise.
    """
    from polydl.errors import OptionError

    there = next(folder for folder in (directory, *directory.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise OptionError(
            f"no file can be written in {there}", construct=option or f"--out {directory}", remedy="name another"
        )


def _require_text(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Before anything long is done: what is written there names the directory, and is UTF-8. Raises OptionError."""
    from polydl.errors import OptionError, printable
    from polydl.system.files import NO_TEXT, is_text

    if value is not None and not is_text(value):
        raise OptionError(NO_TEXT, construct=f"--out {printable(str(value))}", remedy="name another directory")
    return value

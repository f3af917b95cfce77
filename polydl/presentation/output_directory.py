"""The option ``--out`` of commands that write several files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the option, of which ``text`` says what goes there."""
    return click.option(
        "--out", type=click.Path(path_type=Path), callback=_require_text, metavar="DIR", help=f"{text}."
    )


def _require_text(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Before anything long is done: what is written there names the directory, and is UTF-8. Raises OptionError."""
    from polydl.errors import OptionError, printable
    from polydl.system.files import NO_TEXT, is_text

    if value is not None and not is_text(value):
        raise OptionError(NO_TEXT, construct=f"--out {printable(str(value))}", remedy="name another directory")
    return value

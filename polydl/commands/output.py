"""Where a command's results go: text on the terminal, a JSON document into a file or to standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

STANDARD_OUTPUT = "-"
FAILURE = 1


def show(json_path: str | None, document: dict[str, Any] | Callable[[], dict[str, Any]], text: str) -> int:
    """The text, unless standard output belongs to the document, and the document if one is asked for.

    A function that makes the document is called only then.
    """
    if json_path != STANDARD_OUTPUT:
        click.echo(text)
    if json_path is not None:
        write_document(document() if callable(document) else document, json_path)
    return 0


def write_document(document: dict[str, Any], path: str) -> None:
    """Writes a JSON document to a path, all or nothing, or to standard output where the path is ``-``."""
    from polydl.report.documents import to_text
    from polydl.system.files import write_atomically

    if path == STANDARD_OUTPUT:
        click.echo(to_text(document), nl=False)
    else:
        write_atomically(Path(path), to_text(document))


def fail(message: str, status: int = FAILURE) -> int:
    """Say on standard error what went wrong; the status to end with."""
    click.echo(f"polydl: error: {message}", err=True)
    return status

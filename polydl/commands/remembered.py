"""An earlier answer to the same question, shown and written anew in place of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.commands.output import write_document
from polydl.commands.report import write_page
from polydl.emitted_names import REPORT_FILE
from polydl.presentation.option_values import Detail, Source

if TYPE_CHECKING:
    from polydl.records.answers import Answer


@dataclass(frozen=True)
class Remembered:
    """An earlier result as it is shown now."""

    #: of the report, with the paths of this call
    document: dict[str, Any]
    #: for the terminal, without the machine
    text: str


def remembered(answer: Answer, source: Source, directory: Path, started: float, verbose: bool) -> Remembered | None:
    """What was found when the same was asked before, with its files in ``directory``; None if it can't be shown.

    ``started`` is the reading of ``time.perf_counter`` when the command began.
    """
    from polydl.emitted_names import emitted_names
    from polydl.presentation.answer import answer_text

    stored = answer.document
    files: dict[str, str | None] = {
        kind: str(path) if kind in answer.files else None
        for kind, path in emitted_names(answer.function, directory).items()
    }
    try:
        document = {
            **stored,
            "input": {**stored["input"], "file": source.placed(directory).file},
            "records": {**stored["records"], "answered": True},
            "files": {**files, "report": str(directory / REPORT_FILE)},
        }
        # The document keeps what the first run took, for the page; what is shown is how long the answer took.
        now = dict.fromkeys(stored["seconds"], None) | {"total": time.perf_counter() - started}
        text = answer_text({**document, "seconds": now}, verbose=verbose)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration):
        # Anyone may have written it: what it lacks is no fault of polydl's.
        return None
    return Remembered(document, text)


def show_remembered(
    earlier: Remembered,
    answer: Answer,
    directory: Path,
    detail: Detail,
    json_path: str | None,
    html_path: Path | None,
) -> int:
    """Write the files of an earlier result anew, and show it; returns the exit status."""
    from polydl.records import answers
    from polydl.report.documents import to_text
    from polydl.system.files import write_together

    answers.restore(answer, directory)
    write_together({Path(earlier.document["files"]["report"]): to_text(earlier.document)})
    if not detail.quiet:
        click.echo(earlier.text)
    if json_path is not None:
        write_document(earlier.document, json_path)
    if html_path is not None:
        write_page(earlier.document, html_path)
    return 0

"""What commands say about the records and the answers that they use. A store that refuses ends no work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from polydl.optimization.optimized import Optimization
    from polydl.records.answers import Answer
    from polydl.records.store import Damage


def warn(text: str) -> None:
    """Say on standard error what does not end the work."""
    click.echo(f"polydl: warning: {text}", err=True)


def warn_of_directory(directory: Path) -> None:
    """Say at once if no measurement can be stored there, or if others could change those that are.

    The directory is made if it is missing.
    """
    from polydl.records.store import refusal

    refused = refusal(directory)
    if refused is not None:
        warn(f"measurements can't be stored, and the work goes on without: {refused}")
    warn_if_exposed(directory)


def warn_if_exposed(directory: Path) -> None:
    """Say if others could change the measurements that are stored there, which are used all the same."""
    from polydl.records.store import exposure

    exposed = exposure(directory)
    if exposed is not None:
        warn(f"others could change the measurements that are used: {exposed}")


def warn_of_damage(damages: Sequence[Damage]) -> None:
    """Say how many lines of the records were passed over, if any were."""
    from polydl.presentation.records import damages_text

    if damages:
        warn(damages_text(damages))


def warn_of_store(result: Optimization) -> None:
    """Say what was wrong with the records while they were used."""
    from polydl.presentation.records import store_texts

    for text in store_texts(result.store):
        warn(text)


def answer_to(directory: Path, question: str) -> tuple[Answer | None, bool]:
    """The stored answer to a question, and whether a new one may be stored in its place."""
    from polydl.records.answers import Answer, find

    found = find(directory, question)
    if found is None or isinstance(found, Answer):
        return found, True
    if found.remedy:
        warn(f"no stored answer is used: {found.path}: {found.reason}\n  remedy: {found.remedy}")
        return None, False
    warn_of_odd_answer(found.path, found.reason)
    return None, True


def warn_of_odd_answer(path: Path, reason: str) -> None:
    """Says on standard error that the answer stored at a path is not used, and why."""
    warn(f"the stored answer is passed over, and the work is done anew: {path}: {reason}")


def keep_answer(
    directory: Path, question: str, document: Mapping[str, Any], files: Mapping[str, Path], library_sha256: str
) -> None:
    """Store a document and the winner's files as the answer to a question; if that can't be done, say so."""
    from polydl.errors import ResourceError
    from polydl.records.answers import Answer, keep, written_files

    try:
        keep(directory, question, Answer(dict(document), written_files(files, library_sha256)))
    except ResourceError as error:
        warn(str(error))

"""What measurements of whole models came to, remembered beside the records of kernels."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from polydl.errors import ResourceError
from polydl.execute.toolchain import found_compilers
from polydl.machine import Machine
from polydl.records import questions
from polydl.records.own_files import OddError, content_of, opened_folder
from polydl.system.files import replacing

_FOLDER = "models"

Verdict = TypeVar("Verdict", bound=msgspec.Struct)


def digest_of(content: list[Any], machine: Machine, options: dict[str, Any]) -> str | None:
    """The digest of what a verdict depends on, in lists of texts; None where it can't be listed.

    Beside it stands what ``polydl.records.questions`` takes of the machine, the compilers, the environment and polydl.
    """
    return questions.question(
        json.dumps(content).encode(),
        directory=Path(),
        include_directories=(),
        machine=machine,
        compilers=found_compilers(),
        options=options,
    )


def find(records: Path, digest: str, form: type[Verdict]) -> Verdict | None:
    """The verdict that was kept in a directory of records under the digest of what it depends on.

    None if there is none of that form that is this user's alone.
    """
    with suppress(OSError, OddError, msgspec.DecodeError), opened_folder(records / _FOLDER) as folder:
        return msgspec.json.decode(content_of(f"{digest}.json", folder), type=form)
    return None


def keep(records: Path, digest: str, verdict: msgspec.Struct) -> None:
    """Keep a verdict. Raises ResourceError if the directory can't be written, or is not this user's alone."""
    folder = records / _FOLDER
    try:
        # Nobody else may write it, whatever the user's mask.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with opened_folder(folder), replacing(folder / f"{digest}.json") as stream:
            stream.write(msgspec.json.encode(verdict))
    except OddError as odd:
        raise ResourceError(f"the choice is not kept: {odd.reason}", file=str(folder), remedy=odd.remedy) from None
    except OSError as error:
        raise ResourceError(
            f"the choice is not kept: {error.strerror}", file=str(folder), remedy="free some space there"
        ) from None

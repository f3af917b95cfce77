"""What pet says of a region while some integers of its function have no value: sets and maps with parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polydl.files import temporary_directory
from polydl.frontend.passes import Job, clang_pass, pet_pass
from polydl.frontend.pet_library import find_pet_library
from polydl.frontend.source import read_source
from polydl.ir.scop import Scop

_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class OpenStatement:
    """A statement in isl's syntax, under pet's name. Open sizes are parameters."""

    domain: str
    #: the subscripts of each access, as a map from instances to elements
    indexes: tuple[str, ...]


def open_statements(scop: Scop, sizes: Collection[str]) -> tuple[OpenStatement, ...]:
    """The statements of a nest that was read with values for ``sizes``, in pet's order, without these values.

    Raises the errors of reading the file.
    """
    text = read_source(Path(scop.file)).decode("latin-1")
    with temporary_directory() as folder:
        job = Job(
            file=str(Path(scop.file).absolute()),
            name=scop.file,
            text=text,
            original=None,
            function=scop.function.name,
            defines={name: value for name, value in scop.defines if name not in sizes},
            include_directories=scop.include_directories,
            folder=folder,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
        described = pet_pass(job, clang_pass(job), find_pet_library(None))
    return tuple(
        OpenStatement(each["domain"], tuple(_indexes(each["body"])))
        for each in described["statements"]
        if not each["kill"] and each["body"] is not None and each["body"]["text"] != "assume"
    )


def _indexes(expression: Mapping[str, Any]) -> Iterator[str]:
    if expression["kind"] == "access":
        yield expression["index"]
    for argument in expression["arguments"]:
        yield from _indexes(argument)

"""The document beside a compiled model: what it takes and gives, and what was chosen for each operator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from polydl.errors import OptionError
from polydl.system.files import opened

#: the document's file name
MANIFEST = "manifest.json"
#: of the document, which ``load`` reads no other of
FORM: Literal[4] = 4

_Count = Annotated[int, Meta(ge=0)]
_Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row-major array of floats."""

    name: str
    #: extents, the outermost dimension first
    shape: tuple[_Count, ...]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operator: what it is called in the model it comes from, what it is, and its kernel."""

    #: names of its operators in the model
    sources: list[str]
    #: what it is, in words
    operator: str
    #: name of the C function
    kernel: str
    #: median time of the kernel alone, at optimize time
    seconds: float | None
    #: what was chosen
    choice: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``save`` writes."""

    #: the version of this form; files of another one are refused
    form: Literal[4]
    #: of the C function, the library, its header and the weights
    name: Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z")]
    #: in the order of the arguments
    inputs: tuple[Tensor, ...]
    #: in the order of the results
    outputs: tuple[Tensor, ...]
    #: of the file of the library
    library_bytes: _Count
    library_sha256: _Digest
    #: of the file of weights
    weights_bytes: _Count
    weights_sha256: _Digest
    #: of what is prepared of them once
    prepared_bytes: _Count
    #: of the values between operators, and of what kernels need beside their arguments
    memory_bytes: _Count
    #: of all kernels
    threads: Annotated[int, Meta(ge=1)]
    #: in the order in which they run
    operators: tuple[Entry, ...]


class _Form(msgspec.Struct):
    """What documents of all forms have."""

    form: int


def memory_in_words(manifests: Sequence[Manifest]) -> str:
    """The memory that programs take together, for people."""
    sizes = {
        "weights": sum(each.weights_bytes for each in manifests),
        "prepared": sum(each.prepared_bytes for each in manifests),
        "values": sum(each.memory_bytes for each in manifests),
    }
    return ", ".join(f"{name} {_size(size)}" for name, size in sizes.items())


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**20 else f"{count / 2**10:.0f} kB"


def operator_rows(entries: Sequence[Entry]) -> list[str]:
    """A table with a line for each operator."""
    rows = [("operator", "ms", "chosen"), *((e.operator, milliseconds(e.seconds), e.choice) for e in entries)]
    wide, narrow = (max(len(row[column]) for row in rows) for column in range(2))
    return [f"{row[0]:{wide}}  {row[1]:>{narrow}}  {row[2]}" for row in rows]


def milliseconds(seconds: float | None) -> str:
    """A time for people; "-" where it was not measured."""
    return "-" if seconds is None else f"{seconds * 1e3:.3g}"


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder. Raises OptionError if there is none, or another version's."""
    path = folder / MANIFEST
    try:
        with opened(path) as file:
            content = file.read()
        form = msgspec.json.decode(content, type=_Form).form
        if form != FORM:
            text = f"{path} is of form {form}, and this version of polydl reads form {FORM}"
            raise OptionError(text, remedy="save the model again, with this version")
        return msgspec.json.decode(content, type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        remedy = "name a folder that save() of an optimized model wrote"
        raise OptionError(f"there is no model in {folder}: {MANIFEST} is missing", remedy=remedy) from None
    except OSError as error:
        raise OptionError(f"{path} can't be read: {error.strerror}", remedy="save the model again") from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise OptionError(f"{path} can't be read: {error}", remedy="save the model again") from None

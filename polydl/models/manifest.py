"""The document beside a compiled model: what it takes and gives, and what was chosen for each operator."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from polydl.errors import OptionError

#: the document's file name
MANIFEST = "manifest.json"


class Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row-major array of floats."""

    name: str
    shape: tuple[int, ...]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operator: what it is called in the model it comes from, what it is, and its kernel."""

    sources: list[str]
    operator: str
    kernel: str
    #: median time of the kernel alone, at optimize time
    seconds: float | None
    #: what was chosen
    choice: str
    #: PyTorch's time for the same, if it was measured
    library_seconds: float | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``save`` writes."""

    form: Literal[1]
    #: of the C function, the library, its header and the weights
    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    weights_bytes: int
    memory_bytes: int
    threads: int
    operators: tuple[Entry, ...]


def read_manifest(folder: Path) -> Manifest:
    """Raises OptionError if there is none, or another version's."""
    path = folder / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        remedy = "name a folder that save() of an optimized model wrote"
        raise OptionError(f"there is no model in {folder}: {MANIFEST} is missing", remedy=remedy) from None
    except msgspec.MsgspecError as error:
        raise OptionError(f"{path} can't be read: {error}", remedy="save the model again") from None

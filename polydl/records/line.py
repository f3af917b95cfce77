"""The form of a record in a file: one line of JSON, whose types and ranges are checked before anything uses it.

msgspec checks them while it parses, so that a line that anything may have written costs no more than it did unchecked.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from polydl.errors import OptionError, RecordsError
from polydl.ir.cold import Cold
from polydl.ir.measurement import Accuracy, Sample, Status
from polydl.ir.numerics import Numerics
from polydl.ir.variant import Variant
from polydl.records.record import Kind, Record, Setting
from polydl.variant_json import UnknownStepError, variant_from_json

# Version of the form of a line. Readers understand all older versions and pass over newer ones.
VERSION = 3
# A line of so many bytes is none of polydl's; reading it would fill the memory.
MOST_LINE_BYTES = 4 << 20
# Characters of a message that are kept: a compiler may say megabytes.
_MOST_MESSAGE = 1 << 16
_NEST = r"\A[0-9A-Za-z_-]{1,64}\Z"

# JSON has integers of any length, which neither convert to floats nor print.
_MOST = (1 << 63) - 1
Whole = Annotated[int, Meta(ge=-_MOST, le=_MOST)]
Count = Annotated[int, Meta(ge=0, le=_MOST)]
Duration = Annotated[float, Meta(gt=0)]
Rate = Annotated[float, Meta(ge=0)]
Scalar = bool | Whole | float | str | None
# As deep as ``learning.samples.describe`` nests them, and no deeper.
Feature = Scalar | list[Scalar | list[Scalar] | dict[str, Scalar | list[Scalar]]]


class OtherPolydlError(ValueError):
    """A line that another polydl may read: a newer one, or one that has the steps which are missing here."""


class _Setting(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The form of ``Setting``."""

    cpu: str
    threads: Annotated[int, Meta(ge=1, le=_MOST)]
    compiler: str
    libraries: dict[str, str]
    cold: Cold
    numerics: Numerics | UnsetType = UNSET
    #: of version 1, in place of ``numerics``
    strict_fp: bool | UnsetType = UNSET


class _Accuracy(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The form of ``Accuracy``."""

    error: Rate
    source_error: Annotated[float, Meta(gt=0)]


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The form of ``Record``; its defaults are those of fields that older lines lack."""

    version: Literal[1, 2, 3]
    kind: Kind
    id: str
    nest: Annotated[str, Meta(pattern=_NEST)]
    function: str
    flops: Count
    setting: _Setting
    status: Status
    run: str
    date: Annotated[str, Meta(pattern=r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\Z")]
    code: str
    variant: list[dict[str, Any]] | None
    workload: str | None
    #: seconds, the probes before and after in GFLOPS, and 1 if it was disturbed
    samples: list[tuple[Duration, Rate, Rate, Literal[0, 1]]]
    seconds_minimum: Duration | None
    seconds_median: Duration | None
    error: Rate | None
    message: str
    baseline_seconds: Duration | None
    peak_gflops: Rate | None
    polydl: str
    accuracy: _Accuracy | None = None
    final: bool = True
    complete: bool = True
    features: dict[str, Feature] = {}
    seed: Whole | None = None


class _Version(msgspec.Struct):
    version: int


_LINE = msgspec.json.Decoder(_Line)
_VERSION = msgspec.json.Decoder(_Version)


def to_line(record: Record) -> bytes:
    """The record as one line of JSON with its line break.

    Raises RecordsError for a nest that can't name a file, and for a line that would be too long to be read.
    """
    if not re.search(_NEST, record.nest):
        raise RecordsError(f"{record.nest!r} is no identity of a nest", remedy="use Scop.digest")
    content: dict[str, Any] = {"version": VERSION}
    for record_field in fields(record):
        content[record_field.name] = getattr(record, record_field.name)
    content["setting"] = {**asdict(record.setting), "libraries": dict(record.setting.libraries)}
    content["variant"] = None if record.variant is None else record.variant.to_json()
    content["accuracy"] = None if record.accuracy is None else asdict(record.accuracy)
    content["samples"] = [
        [
            float(f"{sample.seconds:.7g}"),
            *(float(f"{probe:.5g}") for probe in sample.probe_gflops),
            int(sample.disturbed),
        ]
        for sample in record.samples
    ]
    content["message"] = record.message[:_MOST_MESSAGE]
    content["features"] = dict(record.features)
    if record.complete:
        del content["complete"]
    text = json.dumps(_finite(content), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    line = text.encode("utf-8", errors="replace") + b"\n"
    if len(line) >= MOST_LINE_BYTES:
        raise RecordsError(f"a record of {len(line)} bytes is too long", remedy="leave out some of its features")
    return line


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def from_line(line: bytes) -> Record:
    """The inverse of ``to_line``. Raises ValueError for a line that is no record, and OtherPolydlError as it says."""
    try:
        content = _LINE.decode(line)
    except msgspec.MsgspecError as error:
        if (version := _version(line)) > VERSION:
            raise OtherPolydlError(f"its form is {version}, and this polydl knows forms up to {VERSION}") from None
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return Record(
        **{name: getattr(content, name) for name in _AS_THEY_ARE},
        setting=_setting(content.setting),
        variant=None if content.variant is None else _variant(content.variant),
        accuracy=None if content.accuracy is None else _accuracy(content.accuracy),
        samples=tuple(
            Sample(seconds, (before, after), bool(disturbed)) for seconds, before, after, disturbed in content.samples
        ),
    )


_AS_THEY_ARE = tuple(
    name for name in _Line.__struct_fields__ if name not in ("version", "setting", "variant", "samples", "accuracy")
)


def _accuracy(content: _Accuracy) -> Accuracy:
    return Accuracy(content.error, content.source_error)


def _setting(content: _Setting) -> Setting:
    """Raises ValueError."""
    if (content.numerics is UNSET) == (content.strict_fp is UNSET):
        raise ValueError("its setting names no numerics, or two")
    # Errors were held to the check's tolerance alone in version 1.
    numerics = content.numerics or ("strict" if content.strict_fp else "fast")
    return Setting(
        content.cpu, content.threads, content.compiler, tuple(content.libraries.items()), numerics, content.cold
    )


def _version(line: bytes) -> int:
    """The version that a line names; 0 if it names none."""
    try:
        return _VERSION.decode(line).version
    except (msgspec.MsgspecError, RecursionError):
        return 0


def _variant(steps: list[dict[str, Any]]) -> Variant:
    """Raises ValueError, and OtherPolydlError for a step that is gone or missing."""
    try:
        return variant_from_json(steps)
    except UnknownStepError as error:
        raise OtherPolydlError(error.message) from None
    except OptionError as error:
        raise ValueError(error.message) from None
    except (TypeError, RecursionError) as error:
        raise ValueError(f"its steps make no sense: {error}") from None

"""One measurement with everything that it depends on, and its line of JSON."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from polydl.errors import OptionError, RecordsError
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample, Status
from polydl.ir.variant import Variant

# Of a line. A reader refuses lines of a newer form, and knows all older ones.
VERSION = 1
Kind = Literal["variant", "original", "peer"]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NEST = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class Setting:
    """What a time depends on beside the code: results of different settings are never mixed.

    ``cpu`` is ``Machine.cpu_id``, ``compiler`` its kind, version and flags, and ``libraries`` are names with versions.
    ``cold`` tells whether the caches were flushed before each invocation.
    """

    cpu: str
    threads: int
    compiler: str
    libraries: tuple[tuple[str, str], ...] = ()
    strict_fp: bool = False
    cold: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Record:
    """What became of one kernel in one measurement.

    ``id`` is that of the variant, ``original`` or the peer's name. Records of one ``run`` were measured in the same
    interleaved rounds; their times compare best. ``code`` identifies the C that was compiled (``code_digest``).
    ``baseline_seconds`` is the minimum of the original nest and ``peak_gflops`` the usual probe of a core in that run.
    Not ``final`` is what fell behind early. ``features`` are what a ranker saw, by name. ``date`` is UTC.
    """

    kind: Kind
    id: str
    nest: str
    function: str
    flops: int
    setting: Setting
    status: Status
    run: str
    date: str
    code: str = ""
    variant: Variant | None = None
    workload: str | None = None
    samples: tuple[Sample, ...] = ()
    seconds_minimum: float | None = None
    seconds_median: float | None = None
    error: float | None = None
    message: str = ""
    baseline_seconds: float | None = None
    peak_gflops: float | None = None
    polydl: str = ""
    final: bool = True
    features: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gflops(self) -> float | None:
        return self.flops / self.seconds_minimum / 1e9 if self.seconds_minimum else None

    @property
    def cost(self) -> float:
        """Orders times of different runs: operations that the probe could have done meanwhile, in 10^9.

        A processor whose clock was slow during a whole run is slow for the probe, too. Infinite without a time.
        """
        if self.status != "ok" or self.seconds_minimum is None:
            return math.inf
        return self.seconds_minimum * (self.peak_gflops or 1.0)

    @property
    def measurement(self) -> Measurement:
        return Measurement(
            self.id,
            self.status,
            samples=self.samples,
            seconds_minimum=self.seconds_minimum,
            seconds_median=self.seconds_median,
            error=self.error,
            message=self.message,
            final=self.final,
        )


def make_record(
    measurement: Measurement,
    *,
    kind: Kind,
    nest: str,
    function: str,
    flops: int,
    setting: Setting,
    run: str,
    code: str = "",
    variant: Variant | None = None,
    workload: str | None = None,
    baseline_seconds: float | None = None,
    peak_gflops: float | None = None,
    features: Mapping[str, Any] | None = None,
) -> Record:
    """A measurement that was taken just now."""
    from importlib.metadata import version

    return Record(
        kind=kind,
        id=measurement.id,
        nest=nest,
        function=function,
        flops=flops,
        setting=setting,
        status=measurement.status,
        run=run,
        date=now(),
        code=code,
        variant=variant,
        workload=workload,
        samples=measurement.samples,
        seconds_minimum=measurement.seconds_minimum,
        seconds_median=measurement.seconds_median,
        error=measurement.error,
        message=measurement.message,
        baseline_seconds=baseline_seconds,
        peak_gflops=peak_gflops,
        polydl=version("polydl"),
        final=measurement.final,
        features=features or {},
    )


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def code_digest(kernel: KernelSource) -> str:
    """Identity of the code that is timed, whatever its comments and its white space: what polydl's generator made.

    A record counts for a kernel only if these agree, so that measurements of an earlier generator are not taken
    for those of the present one.
    """
    code = " ".join(_COMMENT.sub(" ", kernel.c).split())
    content = json.dumps([code, kernel.compile_flags, [_base(flag) for flag in kernel.link_flags]])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _base(flag: str) -> str:
    """A library without the folder in which this installation has it."""
    return flag.rsplit("/", 1)[-1]


def to_line(record: Record) -> bytes:
    """One line of JSON, its line break included. Raises RecordsError for a nest that can't name a file."""
    if not _NEST.fullmatch(record.nest):
        raise RecordsError(f"{record.nest!r} is no identity of a nest", remedy="use Scop.digest")
    content: dict[str, Any] = {"version": VERSION}
    for record_field in fields(record):
        content[record_field.name] = getattr(record, record_field.name)
    content["setting"] = {**asdict(record.setting), "libraries": dict(record.setting.libraries)}
    content["variant"] = None if record.variant is None else record.variant.to_json()
    content["samples"] = [
        [
            float(f"{sample.seconds:.7g}"),
            *(float(f"{probe:.5g}") for probe in sample.probe_gflops),
            int(sample.disturbed),
        ]
        for sample in record.samples
    ]
    content["features"] = dict(record.features)
    text = json.dumps(_finite(content), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", errors="replace") + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def from_line(line: bytes) -> Record:
    """The inverse of ``to_line``. Raises ValueError for what is no record, RecordsError for one of a newer form."""
    try:
        content = json.loads(line)
        version = content.pop("version")
        if version > VERSION:
            raise RecordsError(
                f"a record of form {version}, and this polydl knows forms up to {VERSION}",
                remedy="use the polydl that wrote it, or a newer one, or name another directory (--records)",
            )
        setting = content["setting"]
        libraries = tuple((str(name), str(number)) for name, number in setting["libraries"].items())
        content["setting"] = Setting(**{**setting, "libraries": libraries})
        content["variant"] = None if content["variant"] is None else Variant.from_json(content["variant"])
        content["samples"] = tuple(
            Sample(seconds, (before, after), bool(disturbed))
            for seconds, before, after, disturbed in content["samples"]
        )
        record = Record(**content)
    except (ValueError, KeyError, TypeError, AttributeError, OptionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    if record.status not in get_args(Status) or record.kind not in get_args(Kind) or not _NEST.fullmatch(record.nest):
        raise ValueError("its status, kind or nest makes no sense")
    return record

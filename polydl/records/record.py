"""Records: one measurement with everything that its time depends on, and its line of JSON."""

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
from polydl.variant_json import variant_from_json

# Version of the form of a line. Readers understand all older versions and refuse newer ones.
VERSION = 1
Kind = Literal["variant", "original", "peer"]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NEST = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True)
class Setting:
    """The conditions of a measurement, apart from the code. Times of different settings are never compared."""

    #: ``Machine.cpu_id``
    cpu: str
    threads: int
    #: kind, version and flags
    compiler: str
    #: (name, version) of libraries that kernels call
    libraries: tuple[tuple[str, str], ...] = ()
    #: whether sums stay in the order of the source
    strict_fp: bool = False
    #: whether caches were flushed before each invocation
    cold: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Record:
    """The measurement of one kernel."""

    #: a variant of polydl's, the original nest, or a peer (another library or compiler)
    kind: Kind
    #: the variant's id, "original", or the peer's name
    id: str
    #: ``Scop.digest``
    nest: str
    #: name of the function
    function: str
    #: operations of one invocation
    flops: int
    setting: Setting
    status: Status
    #: id of the run; kernels of one run were timed in the same interleaved rounds, so that their times compare best
    run: str
    #: time of the measurement, UTC, ISO 8601
    date: str
    #: ``code_digest`` of the C that was compiled
    code: str = ""
    #: the steps, for a variant
    variant: Variant | None = None
    #: name of the ready workload, if it was one
    workload: str | None = None
    #: as in ``Measurement``, and so are the next four fields
    samples: tuple[Sample, ...] = ()
    seconds_minimum: float | None = None
    seconds_median: float | None = None
    error: float | None = None
    message: str = ""
    #: shortest time of the original nest in this run
    baseline_seconds: float | None = None
    #: usual FMA rate of one core in this run, GFLOPS
    peak_gflops: float | None = None
    #: version of polydl
    polydl: str = ""
    #: False if the kernel fell behind and was left out of the last rounds
    final: bool = True
    #: what rankers saw of the variant (``learning.samples.describe``)
    features: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gflops(self) -> float | None:
        return self.flops / self.seconds_minimum / 1e9 if self.seconds_minimum else None

    @property
    def cost(self) -> float:
        """Time in units of the probe's work: 10^9 operations that one core could have done meanwhile.

        It compares times of different runs, since a clock that is slow in a whole run slows the probe down too.
        Infinite without a time.
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
    """The record of a measurement taken now; arguments are fields of ``Record``."""
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
    """A digest of the code that is timed, without comments and white space, and of its flags.

    A record is valid for a kernel only if their digests agree. Measurements of code that an earlier polydl generated
    are therefore not mistaken for those of the present code.
    """
    code = " ".join(_COMMENT.sub(" ", kernel.c).split())
    content = json.dumps([code, kernel.compile_flags, [_base(flag) for flag in kernel.link_flags]])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _base(flag: str) -> str:
    """A flag without the folder of a library, which depends on the installation."""
    return flag.rsplit("/", 1)[-1]


def to_line(record: Record) -> bytes:
    """The record as one line of JSON with its line break. Raises RecordsError for a nest that can't name a file."""
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
    """The inverse of ``to_line``. Raises ValueError for a line that is no record, RecordsError for a newer version."""
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
        content["variant"] = None if content["variant"] is None else variant_from_json(content["variant"])
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

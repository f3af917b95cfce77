"""Records: one measurement with everything that its time depends on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Literal

from polydl.c_tokens import one_blank_apart
from polydl.ir.cold import Cold
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Accuracy, Measurement, Sample, Status
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.variant import Variant

# Kernels of which the digest is remembered: those of one library are asked for at hundreds of sizes.
_DIGESTS = 128

Kind = Literal["variant", "original", "baseline", "peer"]


@dataclass(frozen=True)
class Setting:
    """The conditions of a measurement, apart from the code. Times of different settings are never compared."""

    #: ``Machine.cpu_id``
    cpu: str
    #: that the kernel ran on
    threads: int
    #: kind, version and flags
    compiler: str
    #: (name, version) of libraries that kernels call
    libraries: tuple[tuple[str, str], ...] = ()
    #: what variants could do to sums and products
    numerics: Numerics = DEFAULT_NUMERICS
    #: what was flushed from the caches before each invocation
    cold: Cold = False

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that are the same for equal settings alone."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Record:
    """The measurement of one kernel."""

    #: a variant of polydl's, the original nest, the same built in another way, or a peer (another library)
    kind: Kind
    #: the variant's id, "original", the name of the build, or the peer's name
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
    #: as in ``Measurement``, and so are the next five fields
    samples: tuple[Sample, ...] = ()
    #: of one invocation, the shortest sample
    seconds_minimum: float | None = None
    #: of one invocation
    seconds_median: float | None = None
    #: norm-wise relative error against the reference
    error: float | None = None
    accuracy: Accuracy | None = None
    message: str = ""
    #: median time of the original nest in this run
    baseline_seconds: float | None = None
    #: usual FMA rate of one core in this run, GFLOPS
    peak_gflops: float | None = None
    #: version of polydl
    polydl: str = ""
    #: False if the kernel fell behind and was left out of the last rounds
    final: bool = True
    #: False if an interruption cut the measurement short; a later record of the same code has these samples as well
    complete: bool = True
    #: what rankers saw of the variant (``learning.samples.describe``)
    features: Mapping[str, Any] = field(default_factory=dict)
    #: of the data that the kernel was verified on; None in records of an earlier polydl
    seed: int | None = None

    @property
    def gflops(self) -> float | None:
        """10^9 floating-point operations per second, by the median time; None if there is none."""
        return self.flops / self.seconds_median / 1e9 if self.seconds_median else None

    @property
    def cost(self) -> float:
        """Median time in units of the probe's work: 10^9 operations that one core could have done meanwhile.

        It compares times of different runs, since a clock that is slow in a whole run slows the probe down too.
        Infinite without a time.
        """
        if self.status != "ok" or self.seconds_median is None:
            return math.inf
        return self.seconds_median * (self.peak_gflops or 1.0)

    @property
    def measurement(self) -> Measurement:
        """The measurement as it was taken, without what it depends on."""
        return Measurement(
            self.id,
            self.status,
            samples=self.samples,
            seconds_minimum=self.seconds_minimum,
            seconds_median=self.seconds_median,
            error=self.error,
            accuracy=self.accuracy,
            message=self.message,
            final=self.final,
            complete=self.complete,
        )


@cache
def _version() -> str:
    """polydl's; it is read from a file, and what is being timed is recorded after each round."""
    from importlib.metadata import version

    return version("polydl")


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
    seed: int | None = None,
) -> Record:
    """The record of a measurement taken now; arguments are fields of ``Record``."""
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
        accuracy=measurement.accuracy,
        message=measurement.message,
        baseline_seconds=baseline_seconds,
        peak_gflops=peak_gflops,
        polydl=_version(),
        final=measurement.final,
        complete=measurement.complete,
        features=features or {},
        seed=seed,
    )


def now() -> str:
    """The present time in UTC, in ISO 8601 to the second, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def code_digest(kernel: KernelSource) -> str:
    """A digest of the code that is timed, without comments and white space outside of strings, and of its flags.

    The user's comments and those of generated code stand side by side in one text, which is why tokens are looked at.

    A record is valid for a kernel only if their digests agree. Measurements of code that an earlier polydl generated
    are therefore not mistaken for those of the present code.
    """
    return _digest(kernel.c, kernel.compile_flags, kernel.link_flags)


@lru_cache(maxsize=_DIGESTS)
def _digest(c: str, compile_flags: tuple[str, ...], link_flags: tuple[str, ...]) -> str:
    content = json.dumps([one_blank_apart(c), compile_flags, [_base(flag) for flag in link_flags]])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _base(flag: str) -> str:
    """A flag without the folder of a library, which depends on the installation."""
    return flag.rsplit("/", 1)[-1]

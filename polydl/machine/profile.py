"""What ``polydl calibrate`` keeps of a machine: a TOML file that says which processor it is of.

A profile holds for one kind of processor alone. One of another is refused rather than used or overwritten unasked.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import tomli_w

from polydl.errors import MachineError
from polydl.machine.core import CONSTANTS
from polydl.machine.throughput import Throughput
from polydl.machine.typed import are_names, are_sizes, typed
from polydl.system.files import text_of, writing

VERSION = 1
REMEDY = "run `polydl calibrate` to measure this machine, which takes one to two minutes"


@dataclass(frozen=True)
class Identity:
    """What tells one kind of processor from another, and how many of its cores this process may use."""

    #: As the system names the model, for people.
    name: str
    #: The kind of processor, as in ``Machine``.
    cpu_id: str
    #: Instruction sets, as the system names them.
    features: tuple[str, ...]
    #: of each level of data cache, the innermost first
    cache_bytes: tuple[int, ...]
    #: that this process may use
    cores: int

    def differences(self, other: Identity) -> list[str]:
        """What of ``other`` is not as it is here, in words; the number of cores may differ."""
        found = [
            f"{what} {theirs}, here {ours}"
            for what, ours, theirs in (
                ("model name", self.name, other.name),
                ("family, model, stepping and caches", self.cpu_id, other.cpu_id),
                ("cache sizes", self.cache_bytes, other.cache_bytes),
            )
            if ours != theirs
        ]
        for what, more, fewer in (("only there", other, self), ("only here", self, other)):
            extra = sorted(set(more.features) - set(fewer.features))
            if extra:
                found.append(f"features {what}: {', '.join(extra)}")
        return found


@dataclass(frozen=True)
class LevelSpeed:
    """One level of cache, or memory: of one core while the others are idle, and of all of them at once."""

    #: L1, L2, L3 or memory.
    name: str
    #: Bytes that each core read again and again.
    working_set_bytes: int
    #: Latency of one core alone, each load waiting for the one before.
    latency_seconds: float
    #: Of reads by one core alone.
    bandwidth_bytes_per_second: float
    #: A core's latency while all cores do the same.
    loaded_latency_seconds: float
    #: Of reads by all cores at once: the sum over them.
    total_bandwidth_bytes_per_second: float


@dataclass(frozen=True)
class Surroundings:
    """What the system says of a machine beside its identity."""

    #: That a process may use there: the machine's memory, or what a control group leaves of it.
    memory_bytes: int
    #: Of one page of memory.
    page_bytes: int
    #: Of each cache, from the innermost.
    line_bytes: tuple[int, ...]
    #: Logical processors that share each cache, of those that this process may use.
    shared_by: tuple[int, ...]
    #: Places of a line in each cache, 0 where they are not known; calibrations of earlier versions have none.
    ways: tuple[int, ...] = ()


@dataclass(frozen=True)
class Profile:
    """What was measured of one kind of processor."""

    identity: Identity
    #: When, as ISO 8601.
    measured: str
    #: Of one core while the others are idle.
    peak_gflops: float
    #: Of all cores at once.
    total_peak_gflops: float
    #: How far the median of the peak's probes on one core lies below that peak, as a part of it.
    spread: float
    #: From the innermost cache to memory.
    levels: tuple[LevelSpeed, ...]
    #: How long calls of microkernels take.
    throughputs: tuple[Throughput, ...] = ()
    #: As many bytes of the last cache as a program gets, beside others that share it; 0 in profiles of earlier
    #: versions, for which it is whole.
    usable_bytes: int = 0
    #: Constants of ``Core`` that were measured, by name; profiles of earlier versions have none.
    constants: Mapping[str, float] = field(default_factory=dict)
    #: What the system says there, for use on another machine; profiles of earlier versions have none of it.
    surroundings: Surroundings | None = None


def read(path: Path) -> Profile:
    """The profile of a file. Raises MachineError if it is absent, damaged or of another version of the format."""
    try:
        table = tomllib.loads(text_of(path))
        if table.pop("version", None) != VERSION:
            raise ValueError(f"it is not of version {VERSION} of the format")
        identity = table.pop("identity")
        levels = tuple(typed(LevelSpeed, level) for level in table.pop("levels"))
        throughputs = tuple(Throughput.from_table(each) for each in table.pop("throughputs", []))
        features, cache_bytes = identity["features"], tuple(identity["cache_bytes"])
        if not are_names(features) or not are_sizes((*cache_bytes, identity["cores"])):
            raise ValueError("features are a list of names, cache_bytes and cores whole numbers of at least 1")
        found = typed(Identity, {**identity, "features": tuple(features), "cache_bytes": cache_bytes})
        told = table.pop("surroundings", None)
        surroundings = None if told is None else Surroundings(**{key: _immutable(value) for key, value in told.items()})
        profile = Profile(found, levels=levels, throughputs=throughputs, surroundings=surroundings, **table)
        _check(profile)
    except FileNotFoundError:
        raise MachineError("there is no calibration yet", file=str(path), remedy=REMEDY) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise MachineError(f"not a calibration: {error}", file=str(path), remedy=REMEDY) from None
    return profile


def read_for(path: Path, identity: Identity) -> Profile:
    """The profile of this very processor. Raises MachineError that says what differs if it is of another."""
    profile = read(path)
    differences = identity.differences(profile.identity)
    if differences:
        raise MachineError(
            "the calibration is of another processor", file=str(path), construct="; ".join(differences), remedy=REMEDY
        )
    return profile


def write(profile: Profile, path: Path) -> None:
    """Whole or not at all. Raises MachineError if it can't be written."""
    document = {"version": VERSION, **asdict(profile)}
    if profile.surroundings is None:  # TOML has no null
        del document["surroundings"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as file:
            file.write(tomli_w.dumps(document).encode())
    except OSError as error:
        raise MachineError(
            f"can't write the calibration: {error.strerror}", file=str(path), remedy="choose another --profile"
        ) from None


def is_usable(count: Any, cache_bytes: Sequence[int]) -> bool:
    """Whether a program may get so many bytes of the last of these caches."""
    least = cache_bytes[-2] if len(cache_bytes) > 1 else 0
    return isinstance(count, int) and least < count <= cache_bytes[-1]


def _immutable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(profile: Profile) -> None:
    numbers: list[Any] = [profile.peak_gflops, profile.total_peak_gflops, *profile.constants.values()]
    told = profile.surroundings
    if told is not None:
        numbers += [told.memory_bytes, told.page_bytes, *told.line_bytes, *told.shared_by]
        if not len(told.line_bytes) == len(told.shared_by) == len(profile.identity.cache_bytes):
            raise ValueError("line_bytes and shared_by are those of each cache")
        if told.ways and (len(told.ways) != len(told.line_bytes) or min(told.ways) < 0):
            raise ValueError("ways are those of each cache")
    if unknown := profile.constants.keys() - set(CONSTANTS):
        raise ValueError(f"{min(unknown)} is no constant of a core")
    for level in profile.levels:
        numbers += [getattr(level, each.name) for each in fields(level) if each.name != "name"]
    if len(profile.levels) != len(profile.identity.cache_bytes) + 1:
        raise ValueError(f"{len(profile.levels)} levels for {len(profile.identity.cache_bytes)} caches and memory")
    if not all(isinstance(x, int | float) and math.isfinite(x) and x > 0 for x in numbers):
        raise ValueError("speeds are positive and finite")
    if profile.usable_bytes != 0 and not is_usable(profile.usable_bytes, profile.identity.cache_bytes):
        raise ValueError("usable_bytes are those of the last cache, or a part of them beyond the cache before")


def document(profile: Profile) -> Mapping[str, Any]:
    """The profile for JSON."""
    return {"version": VERSION, **asdict(profile)}

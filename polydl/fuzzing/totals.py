"""What a run counted, as a value that adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from polydl.errors import OptionError

KIND = "polydl fuzz"
VERSION = 1
# Fields that are counted by name.
_COUNTERS = ("kinds", "variants", "refusals", "steps", "exact", "failures", "stages")


@dataclass(frozen=True)
class Totals:
    """Counts of some nests; ``a + b`` are those of both."""

    #: that were examined
    nests: int = 0
    #: nests by kind
    kinds: Counter[str] = field(default_factory=Counter)
    #: variants that were run, by status
    variants: Counter[str] = field(default_factory=Counter)
    #: nests and variants that were not taken, by stage, class of error, and message
    refusals: Counter[str] = field(default_factory=Counter)
    #: variants that were run, by the names of their steps
    steps: Counter[str] = field(default_factory=Counter)
    #: variants that were compared over a ring, by verdict
    exact: Counter[str] = field(default_factory=Counter)
    #: failures by signature
    failures: Counter[str] = field(default_factory=Counter)
    #: milliseconds of processor time by stage
    stages: Counter[str] = field(default_factory=Counter)
    #: wall-clock of the runs
    seconds: float = 0.0
    #: processor time of all processes of the runs, compilers included
    processor_seconds: float = 0.0
    #: processes of a run, at most
    jobs: int = 0

    @property
    def run(self) -> int:
        """Variants that were run."""
        return sum(self.variants.values())

    def __add__(self, other: Totals) -> Totals:
        counters = {name: getattr(self, name) + getattr(other, name) for name in _COUNTERS}
        return Totals(
            nests=self.nests + other.nests,
            seconds=self.seconds + other.seconds,
            processor_seconds=self.processor_seconds + other.processor_seconds,
            jobs=max(self.jobs, other.jobs),
            **counters,
        )

    def to_json(self) -> dict[str, Any]:
        """The totals by the names of their fields, counters with the most frequent first."""
        counters = {name: dict(getattr(self, name).most_common()) for name in _COUNTERS}
        return {
            "nests": self.nests,
            **counters,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "jobs": self.jobs,
        }

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> Totals:
        """The inverse of ``to_json``. Raises OptionError for anything else."""
        try:
            counters = {name: Counter(fields[name]) for name in _COUNTERS}
            return Totals(
                nests=int(fields["nests"]),
                seconds=float(fields["seconds"]),
                processor_seconds=float(fields["processor_seconds"]),
                jobs=int(fields["jobs"]),
                **counters,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise OptionError(
                f"these are no totals of a run: {type(error).__name__}: {error}",
                remedy="give files that `polydl fuzz --json` wrote",
            ) from None


def added(parts: Iterable[Totals]) -> Totals:
    """The sum of the totals of several runs; all zeros for none."""
    result = Totals()
    for part in parts:
        result += part
    return result

"""Clocks of the stages of a job."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol


class StageClock(Protocol):
    """Takes the time of stages by name; one of them may run several times."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A context whose time is added to that of the stage of this name."""
        ...


@dataclass
class Clock:
    """Wall-clock seconds: adds up what is spent in each stage, from the moment when it is made."""

    #: by stage
    seconds: dict[str, float] = field(default_factory=dict)
    #: when it was made, as ``time.perf_counter`` says it
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.perf_counter() - self.started

    def total(self) -> dict[str, float]:
        """Seconds of each stage, and under ``total`` those since the clock was started."""
        return {**self.seconds, "total": time.perf_counter() - self.started}

"""How long a search goes on beyond the first picks, and what going on is worth."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from polydl.durations import seconds_in
from polydl.errors import OptionError

#: What budgets look like, in words.
BUDGETS = "30s, 2m, 1h, 200runs or 5%"
_FORM = re.compile(r"(\d+(?:\.\d+)?) ?(runs?|%)", re.ASCII)
# Candidates that must have been measured before an expected gain is believed.
FEWEST = 10
#: Where of so many candidates no two pass, there is no gain to expect from further ones.
MOST_IN_VAIN = 40


@dataclass(frozen=True)
class Budget:
    """A search ends when one of these is reached."""

    #: since the work on the nest began
    seconds: float = math.inf
    #: measured candidates
    runs: float = math.inf
    #: ``expected_gain``, as a part of the time
    gain: float = 0.0
    #: of ``seconds``, those that were spent before ``optimize`` was called
    before: float = 0.0

    @staticmethod
    def parse(text: str) -> Budget:
        """``30s``, ``2m``, ``1h``, ``1run``, ``200runs``, ``5%``. Raises OptionError."""
        # A number without a unit may be meant as runs.
        seconds = None if text.strip()[-1:].isdecimal() else seconds_in(text)
        if seconds:
            return Budget(seconds=seconds)
        found = _FORM.fullmatch(text.strip())
        number = float(found[1]) if found else 0.0
        if found is None or not number:
            raise OptionError(f"{text!r} is no budget", construct=f"--budget {text}", remedy=f"write {BUDGETS}")
        if found[2] != "%":
            if not found[1].isdecimal():
                raise OptionError(
                    f"{text!r} has a part of a run",
                    construct=f"--budget {text}",
                    remedy=f"write a whole number, such as {math.ceil(number)}runs",
                )
            return Budget(runs=number)
        if number >= 100:
            raise OptionError(
                f"{text!r} is the whole time or more, which no run gains",
                construct=f"--budget {text}",
                remedy="write 5%, for as long as further runs are expected to gain that much",
            )
        return Budget(gain=number / 100)

    def spent(self, seconds: float, times: Sequence[float | None]) -> bool:
        """Whether to end after so many seconds, with the times of all candidates so far, None of those that failed."""
        if seconds >= self.seconds or len(times) >= self.runs:
            return True
        if not self.gain or len(times) < FEWEST:
            return False
        passed = sum(time is not None for time in times)
        return expected_gain(times) < self.gain if passed > 1 else len(times) >= MOST_IN_VAIN


def require_budget(strategy: str, limit: Budget | None) -> None:
    """Raises OptionError for a strategy without a search that could follow it."""
    if limit is None:
        raise OptionError(
            f"the strategy {strategy!r} without a budget: it says what a search tries that goes on beyond the picks",
            remedy="say how far the search goes (--budget 30s), or leave out the strategy (--strategy)",
        )


def expected_gain(times: Sequence[float | None]) -> float:
    """The part of the best time by which as many candidates again would lower it, if they were like those so far.

    It is what all of the candidates gained over half of them, in the mean over all halves: with the best candidate left
    out of half of all halves, with the best two out of a quarter, and so on. Since those come first that promise most,
    it is rather too large than too small.
    """
    ordered = sorted(time for time in times if time is not None)
    if len(ordered) < 2:
        return 1.0
    expected = sum(0.5 ** (place + 1) * time for place, time in enumerate(ordered))
    expected += 0.5 ** len(ordered) * ordered[-1]
    return 1.0 - ordered[0] / expected

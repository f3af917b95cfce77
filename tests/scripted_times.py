"""Times that a test says: what is decided by them is the same on every machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polydl.execute.participant import Participant
from polydl.execute.rounds import RawSample
from polydl.execute.timing import Timer


def scripted(monkeypatch: pytest.MonkeyPatch, seconds: Callable[[str], float]) -> None:
    """Every sample of a kernel takes the ``seconds`` of its id, whatever the clock says."""
    sample = Timer._sample

    def instead(timer: Timer, participant: Participant) -> None:
        sample(timer, participant)
        participant.raw[-1] = RawSample(seconds(participant.id), (100.0, 100.0))

    monkeypatch.setattr(Timer, "_sample", instead)

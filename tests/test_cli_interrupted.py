"""What is said at the end of a search that a signal cut short."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from polydl.commands.interrupted import end_if_interrupted
from polydl.system.interruption import Interrupted


@pytest.mark.parametrize(
    ("fresh", "remedy"), [(False, "the same command goes on"), (True, "the same command without --fresh goes on")]
)
def test_what_was_measured_is_gone_on_with_unless_all_is_measured_anew(
    fresh: bool, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result: Any = SimpleNamespace(interrupted=True, tried=(), picks=())
    with pytest.raises(Interrupted):
        end_if_interrupted(result, fresh=fresh)
    assert f"remedy: {remedy} with what was measured" in capsys.readouterr().err

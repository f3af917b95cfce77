"""Tasks go to several processes, whatever becomes of these."""

from __future__ import annotations

import operator
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import pytest

from polydl.system import side_by_side
from polydl.system.side_by_side import answers


def command(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(side_by_side, "_COMMAND", (sys.executable, "-P", "-c", program))


def test_each_task_is_answered_once() -> None:
    tasks = list(range(9))
    assert sorted(answers(partial(operator.mul, 3), tasks)) == [(task, 3 * task) for task in tasks]
    assert list(answers(partial(operator.mul, 3), [])) == []


def test_what_is_raised_there_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        list(answers(partial(operator.truediv, 1), [0]))


def test_what_is_warned_of_there_is_warned_of_here() -> None:
    with pytest.warns(UserWarning, match="of a task"):
        assert list(answers(warnings.warn, ["of a task"])) == [("of a task", None)]


def test_tasks_have_no_answer_where_processes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(answers(os._exit, [3])) == [(3, None)]
    command(monkeypatch, "import os; os._exit(3)")
    assert sorted(answers(abs, [1, 2, 3, 4, 5])) == [(task, None) for task in range(1, 6)]


def test_the_processes_end_with_an_interruption(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "process"
    text = f"import os, time; open({str(written)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"
    command(monkeypatch, text)

    def interrupted(*_: object) -> list[object]:
        while not written.exists() or not written.read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(answers(abs, [1]))
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)

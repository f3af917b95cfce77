"""Work in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


def in_new_process(work: Callable[..., _Answer], *arguments: Any) -> _Answer:
    """Threads of OpenMP, which earlier tests may have started in this process, don't survive the forks of a run."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()

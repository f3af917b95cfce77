"""C that chooses how many threads a call of emitted code takes: all, or one where others keep all of them waiting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

#: What leaves the choice out, so that all calls take all threads.
ALL_THREADS = "POLYDL_ALL_THREADS"
#: A function that says whether the next loop of a call may take all threads.
BETWEEN = "polydl_between"
#: C that asks it.
QUESTION = f"{BETWEEN}()"
#: What the calls of a function with the same work each are judged by.
STATE = "static struct polydl_team polydl_team;"


@cache
def support() -> str:
    """What is the same in all files that run loops on threads."""
    return Path(__file__).with_name("team.c").read_text(encoding="utf-8").rstrip("\n")


def judged(body: Sequence[str], indent: str, team: str = "&polydl_team", work: str = "1") -> list[str]:
    """The lines of ``body``, run on as many threads as the calls before took least time with.

    ``team`` is C of the place where these are summed up, ``work`` of what a call has to do, in any unit.
    """
    return [
        f"{indent}struct polydl_call polydl_call;",
        f"{indent}polydl_begin(&polydl_call, {team}, {work});",
        *body,
        f"{indent}polydl_end(&polydl_call);",
    ]

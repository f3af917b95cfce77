"""How a search ends that a signal cut short, after its best candidate so far was written and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from polydl.system.interruption import Interrupted

if TYPE_CHECKING:
    from polydl.optimization.optimized import Optimization


def end_if_interrupted(result: Optimization, *, fresh: bool) -> None:
    """Raise ``Interrupted`` after a note, if it was. ``fresh`` is whether the command takes nothing from records."""
    if not result.interrupted:
        return
    verified = sum(tried.measurement.status == "ok" for tried in result.tried)
    click.echo(
        f"{verified} of {len(result.picks)} picks were verified by then; what is written is the best so far\n"
        f"  remedy: the same command{' without --fresh' if fresh else ''} goes on with what was measured",
        err=True,
    )
    raise Interrupted

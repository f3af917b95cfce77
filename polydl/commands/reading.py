"""What commands read, and what they say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polydl.commands.storing import warn

if TYPE_CHECKING:
    from polydl.ir.scop import Scop
    from polydl.presentation.option_values import Source


def read(source: Source, init: str = "") -> Scop:
    """The nest that a command's options name, with a warning of loops beside it where the file marks none.

    It isn't that of ``init``, which fills the arrays. Raises the errors of ``Source.parse``.
    """
    scop = source.parse(init)
    warn_of_loops(scop.file, scop.left_out)
    return scop


def warn_of_loops(file: str, left_out: Sequence[int]) -> None:
    """Say which loops of a function are not in the region that was found in it, by their lines, if any are not."""
    if left_out:
        lines = ", ".join(map(str, left_out))
        warn(
            f"{file}: the loops of line{'s' * (len(left_out) > 1)} {lines} are left out of the region that was found; "
            "put #pragma scop and #pragma endscop round what is meant"
        )

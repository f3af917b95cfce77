"""What commands read, and what they say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.commands.storing import warn

if TYPE_CHECKING:
    from polydl.ir.scop import Scop
    from polydl.presentation.option_values import Source


def read(source: Source) -> Scop:
    """The nest that a command's options name, with a warning of loops beside it where the file marks none.

    Raises the errors of ``Source.parse``.
    """
    scop = source.parse()
    if scop.left_out:
        lines = ", ".join(map(str, scop.left_out))
        several = len(scop.left_out) > 1
        warn(
            f"{scop.file}: the loops of line{'s' * several} {lines} are left out of the region that was found, which "
            f"begins in line {scop.line}; put #pragma scop and #pragma endscop round what is meant"
        )
    return scop

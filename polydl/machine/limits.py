"""Limits of the search, not of the processor: from which size on something is not proposed, on whatever machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The same on all machines: they keep out what takes memory without end, and no measurement gives them."""

    #: Bytes of an operand up to which it is copied into panels as a whole where its tiles could be copied in turn:
    #: larger copies go out to memory and come back.
    panel_copy_bytes: int
    #: Bytes of a copy of an operand that repeats elements of it.
    gathered_copy_bytes: int
    #: Bytes of an array with elements of its own for each iteration of some loops.
    expanded_bytes: int
    #: Bytes of a transformed image and result together beyond which a convolution is not computed by fewer products.
    transformed_points_bytes: int


LIMITS = Limits(
    panel_copy_bytes=8 << 20,
    gathered_copy_bytes=64 << 20,
    expanded_bytes=64 << 20,
    transformed_points_bytes=512 << 20,
)

"""Numbers of things, in words."""

from __future__ import annotations


def counted(count: int, noun: str, shown: str = "") -> str:
    """A number, as it is ``shown`` or in digits, with the noun that it counts, which gets an s unless it is 1."""
    return f"{shown or count} {noun}{'' if count == 1 else 's'}"

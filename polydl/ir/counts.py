"""Numbers of things, in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with the noun that it counts, which gets an s unless the number is 1."""
    return f"{count} {noun}{'' if count == 1 else 's'}"

"""Where arrays begin. A module of its own, since every process that runs a kernel reads it as it starts."""

from __future__ import annotations

#: Bytes at whose multiples the arrays begin that polydl places: a line of the caches, and the longest vectors.
ALIGNMENT = 64

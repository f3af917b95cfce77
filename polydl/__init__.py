"""Finds, proves, ranks and measures loop structures around matrix-multiplication microkernels."""

from __future__ import annotations


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("polydl")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""A variant's steps as words: its JSON without braces and quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def step_text(step: Mapping[str, Any]) -> str:
    """One step: its name, then what it is about."""
    name = str(step.get("step", "")).replace("_", " ")
    rest = [f"{key} {_value(value)}" for key, value in step.items() if key != "step" and value not in (None, "", [])]
    return f"{name}: {', '.join(rest)}" if rest else name


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        nested = any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in value)
        return (" / " if nested else " ").join(_value(entry) for entry in value)
    return str(value)

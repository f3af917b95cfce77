"""Values from tables of TOML, each of the type that its field declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

_Kind = TypeVar("_Kind")


def typed(kind: type[_Kind], table: Mapping[str, Any]) -> _Kind:
    """An instance with all fields of the table, and no others. Raises ValueError; only simple types are checked."""
    wanted: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
    for name, declared in kind.__annotations__.items():
        if name not in table:
            raise ValueError(f"{name} is missing")
        value = table[name]
        if declared in wanted and (not isinstance(value, wanted[declared]) or isinstance(value, bool)):
            raise ValueError(f"{name} = {value!r} is not of type {declared}")
    if unknown := table.keys() - kind.__annotations__.keys():
        raise ValueError(f"{min(unknown)} is not known")
    return kind(**table)


def are_sizes(values: Any) -> bool:
    """Whether these are whole numbers of at least 1."""
    return all(isinstance(value, int) and not isinstance(value, bool) and value >= 1 for value in values)


def are_names(values: Any) -> bool:
    """Whether these are a list of text."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

"""Variants read from JSON, with the steps of whatever rewrites are installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polydl import registry
from polydl.errors import OptionError
from polydl.ir.variant import NEST_STEPS, Attach, Step, Variant

# Steps that belong to no plug-in.
CORE_STEPS: tuple[type[Step], ...] = (Attach, *NEST_STEPS)
_BY_NAME: dict[Any, type[Step]] = {kind.json_name: kind for kind in CORE_STEPS}


def step_kinds() -> tuple[type[Step], ...]:
    """The steps of all rewrites that are installed, and then the core's own."""
    rewrites = (registry.load("rewrites", name).step for name in registry.names("rewrites"))
    return (*rewrites, *CORE_STEPS)


def variant_from_json(steps: Sequence[Mapping[str, Any]]) -> Variant:
    """The inverse of ``Variant.to_json``. Raises OptionError for a step that isn't known."""
    return Variant(tuple(_step(fields) for fields in steps))


def _step(fields: Mapping[str, Any]) -> Step:
    name = fields.get("step")
    kind = _BY_NAME.get(name) or _rewrite_step(name)
    try:
        return kind(**{key: _as_tuples(value) for key, value in fields.items() if key != "step"})
    except TypeError as error:
        raise OptionError(f"a {name} step has the wrong fields: {error}") from None


def _rewrite_step(name: Any) -> type[Step]:
    try:
        found: type[Step] = registry.load("rewrites", name).step
    except OptionError:
        if name in registry.names("rewrites"):
            raise  # it is there, but can't be imported
        known = ", ".join((*registry.names("rewrites"), *_BY_NAME))
        raise OptionError(f"unknown step {name!r}", remedy=f"one of {known}") from None
    return found


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list) else value

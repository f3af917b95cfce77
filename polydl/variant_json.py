"""Variants read from JSON, with the steps of whatever rewrites are installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import msgspec

from polydl import registry
from polydl.errors import OptionError
from polydl.ir.variant import NEST_STEPS, Attach, Step, Variant

# Steps that belong to no plug-in.
CORE_STEPS: tuple[type[Step], ...] = (Attach, *NEST_STEPS)
_BY_NAME: dict[str, type[Step]] = {kind.json_name: kind for kind in CORE_STEPS}


def step_kinds() -> tuple[type[Step], ...]:
    """The steps of all rewrites that are installed, and then the core's own."""
    rewrites = (registry.load("rewrites", name).step for name in registry.names("rewrites"))
    return (*rewrites, *CORE_STEPS)


class UnknownStepError(OptionError):
    """A step, or a field of one, that this polydl does not have: another version's, or that of a missing plug-in."""


def variant_from_json(steps: Sequence[Mapping[str, Any]]) -> Variant:
    """The inverse of ``Variant.to_json``. Raises UnknownStepError, and OptionError for fields of wrong values."""
    return Variant(tuple(_step(fields) for fields in steps))


def _step(content: Mapping[str, Any]) -> Step:
    name = content.get("step")
    if not isinstance(name, str):
        raise OptionError(f"a step is called {name!r}", remedy="each step has its name in `step`")
    kind = _BY_NAME.get(name) or _rewrite_step(name)
    values = {key: value for key, value in content.items() if key != "step"}
    if unknown := values.keys() - {field.name for field in fields(kind)}:
        raise UnknownStepError(f"`{name}` has the wrong fields: it has no {', '.join(sorted(unknown))}")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise OptionError(f"`{name}` has the wrong fields: {error}") from None


def _rewrite_step(name: str) -> type[Step]:
    try:
        found: type[Step] = registry.load("rewrites", name).step
    except OptionError:
        if name in registry.names("rewrites"):
            raise  # it is there, but can't be imported
        known = ", ".join((*registry.names("rewrites"), *_BY_NAME))
        raise UnknownStepError(f"unknown step {name!r}", remedy=f"one of {known}") from None
    return found

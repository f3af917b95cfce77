"""The JSON schema of a variant's steps, from the dataclasses that they are.

``python -m polydl.step_schema FILE`` writes it into a schema that has it under ``$defs/step``, which is how
``docs/optimize.schema.json`` is kept up to date (``make schema``). Rewrites of other distributions are part of it where
they are installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from polydl.ir.variant import Step
from polydl.variant_json import step_kinds

_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number"}


def step_schema(kinds: Iterable[type[Step]] | None = None) -> dict[str, Any]:
    """The schema of a step of one of these kinds, by default of all that are installed."""
    return {
        "description": "A rewrite of the scop, an attachment, or a step of one loop nest; they apply in order.",
        "oneOf": [_object(kind) for kind in (step_kinds() if kinds is None else kinds)],
    }


def _object(kind: type[Step]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    optional = {each.name for each in fields(kind) if each.default is not MISSING} & kind.json_omits
    return {
        "title": kind.json_name,
        "description": cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " "),
        "type": "object",
        "required": ["step", *(each.name for each in fields(kind) if each.name not in optional)],
        "properties": {
            "step": {"const": kind.json_name},
            **{each.name: _type(hints[each.name]) for each in fields(kind)},
        },
        "additionalProperties": False,
    }


def _type(hint: Any) -> dict[str, Any]:
    """Of numbers, strings, truth values, and tuples of them; ``Annotated`` adds a description and further keywords."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        found = _type(arguments[0])
        for extra in arguments[1:]:
            found |= extra if isinstance(extra, dict) else {"description": extra}
        return found
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _type(arguments[0])}
    if origin is tuple:
        count = len(arguments)
        items = [_type(each) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    return {"type": _TYPES[hint]}


def with_steps(document: dict[str, Any], kinds: Iterable[type[Step]] | None = None) -> dict[str, Any]:
    """A schema with the steps' part as it should be."""
    return {**document, "$defs": {**document["$defs"], "step": step_schema(kinds)}}


def text_of(document: dict[str, Any]) -> str:
    """A schema as the text of its file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(text_of(with_steps(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")

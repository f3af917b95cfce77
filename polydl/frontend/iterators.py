"""Renaming of loop counters whose names look like those of tile loops."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from polydl.ir.scop import Scop
from polydl.ir.statement import Expression, Statement

# ``i_t1`` is the loop over tiles of ``i``.
_TILE_LOOP = re.compile(r"\w+_t\d+")


def with_own_names(scop: Scop) -> Scop:
    """The scop with other names for counters called like a tile loop, and for those whose tile loop hides an array.

    A scop with a call that a pragma marks is returned unchanged, since the call may use the counters' names.
    """
    if scop.annotated_calls:
        return scop
    arrays = {array.name for array in scop.arrays}
    hiding = {name.rpartition("_t")[0] for name in arrays if _TILE_LOOP.fullmatch(name)}
    return replace(scop, statements=tuple(_renamed(statement, arrays, hiding) for statement in scop.statements))


def _renamed(statement: Statement, arrays: Set[str], hiding: Set[str]) -> Statement:
    """``hiding`` are the names of counters whose tile loops would hide one of the ``arrays``."""
    kept = {name for name in statement.iterators if not _TILE_LOOP.fullmatch(name) and name not in hiding}
    taken = kept | arrays | hiding
    names: dict[str, str] = {}
    for name in statement.iterators:
        if name not in kept:
            new = f"{name}_"
            while new in taken:
                new += "_"
            names[name] = new
            taken.add(new)
    if not names:
        return statement

    def renamed(text: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word.group(), word.group()), text)

    def rewritten(node: Expression) -> Expression:
        text = renamed(node.text) if node.kind == "affine" else node.text
        return replace(node, text=text, arguments=tuple(rewritten(argument) for argument in node.arguments))

    return replace(
        statement,
        iterators=tuple(names.get(name, name) for name in statement.iterators),
        domain=renamed(statement.domain),
        body=rewritten(statement.body),
        accesses=tuple(
            replace(access, relation=renamed(access.relation), index=renamed(access.index))
            for access in statement.accesses
        ),
    )

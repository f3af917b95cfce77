"""Statements with conditions: what gcc needs to run their loops with vectors."""

from __future__ import annotations

from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop

# Vectors of so many bytes have masks: what a condition rules out is not computed.
_MASKED_BYTES = 64
_FLAGS = ("-fno-trapping-math",)


def condition_flags(scop: Scop, vector_bytes: int, numerics: Numerics) -> tuple[str, ...]:
    """Flags with which what is beside a condition may be computed whether it holds or not; no value changes.

    Without masks, gcc takes a branch for ``x > 0 ? x : 0.1f * x`` otherwise, since a product that the source doesn't
    compute may raise a floating-point exception. ``strict`` keeps the exceptions.
    """
    if numerics == "strict" or vector_bytes >= _MASKED_BYTES:
        return ()
    # A function of the source is put where it is called.
    chooses = bool(scop.functions) or any(
        node.kind == "op" and node.text == "?:" for statement in scop.statements for node in statement.body.walk()
    )
    return _FLAGS if chooses else ()

"""What the user says of a nest's arrays: which of them hold the same at every call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from polydl.errors import OptionError
from polydl.ir.scop import Scop


def with_constants(scop: Scop, names: Sequence[str]) -> Scop:
    """The scop with these arrays and scalars as its constants.

    Raises OptionError for a name that is none of what callers pass or share, for one that the nest writes, for a size
    that is fixed already, and for one that the function mentions before its region, where it may change it.
    """
    carried = [array.name for array in scop.arrays if array.storage in ("parameter", "global")]
    fixed = {parameter.array for parameter in scop.function.parameters if parameter.value is not None}
    written = {scop.array(access.array).memory for statement in scop.statements for access in statement.writes}
    read = [name for name in carried if name not in written | fixed]
    before = scop.source[scop.definition[1] : scop.region[0]]
    for name in names:
        problem, remedy = "", f"one of {', '.join(read)}" if read else "leave it out: the nest writes all that it has"
        if name not in carried:
            problem = f"the nest has no parameter or global array {name!r}"
        elif name in fixed:
            problem, remedy = f"`{name}` is fixed by -D already", "leave it out of the constants"
        elif name in written:
            problem = f"the nest writes `{name}`, so that it doesn't hold the same at every call"
        elif re.search(rf"\b{re.escape(name)}\b", before):
            problem = f"the function uses `{name}` before the region, where it may change it"
            remedy = "move that into the region, or leave it out of the constants"
        if problem:
            raise OptionError(problem, file=scop.file, line=scop.line, construct=f"--constant {name}", remedy=remedy)
    return replace(scop, constants=tuple(name for name in carried if name in set(names)))

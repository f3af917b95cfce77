"""The nest that an optimization is given: read already, or a C file to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from polydl.errors import OptionError
from polydl.ir.scop import Scop
from polydl.pipeline import parse


def nest_of(
    nest: Scop | str | Path,
    *,
    function: str | None,
    defines: Mapping[str, str | int] | None,
    include_directories: Sequence[str | Path],
    init: str = "",
) -> Scop:
    """The nest itself, or that of a C file, which is not that of its function ``init``.

    Raises OptionError for options of reading beside a nest that is read already: it can't take them any more.
    """
    if not isinstance(nest, Scop):
        return parse(nest, function=function, defines=defines, include_directories=include_directories, init=init)
    options = {"function": function, "defines": defines, "include_directories": include_directories}
    given = [name for name, value in options.items() if value]
    if given:
        raise OptionError(
            f"{' and '.join(given)} beside a nest that is read already",
            construct=repr(nest),
            remedy=f"pass {' and '.join(given)} to polydl.parse, or the path of the file in place of the nest",
        )
    return nest

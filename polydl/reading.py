"""From a C file to its nest, by a front-end of a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from polydl import registry
from polydl.frontend.iterators import with_own_names
from polydl.frontend.scalars import without_local_scalars
from polydl.ir.scop import Scop

DEFAULT_FRONTEND = "pet"


def parse(
    path: str | Path,
    *,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str | Path] = (),
    init: str = "",
    frontend: str = DEFAULT_FRONTEND,
) -> Scop:
    """Read the loop nest of a C file.

    ``defines`` are macros, or values of the function's integer parameters. The loops of ``init``, a function that fills
    the arrays, are read only where no other function has some, or ``function`` names it.

    Raises UserError for anything wrong with the file, MissingComponentError without pet.
    """
    # Not every front end has to know of it.
    initializer = {"init": init} if init else {}
    found: Scop = registry.load("frontends", frontend)(
        path, function=function, defines=defines, include_directories=include_directories, **initializer
    )
    return without_local_scalars(with_own_names(found))

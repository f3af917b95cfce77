"""C files of one's own as workloads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from polydl.bench.polybench import SuiteProgram
from polydl.frontend.source import read_source


def program_of_file(
    path: Path,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[Path] = (),
    init: str = "",
) -> SuiteProgram:
    """A C file, with sizes as macros or parameters. Its name is that of the file with what is defined.

    The description tells other texts of the file apart. Raises SourceError for a file that can't be read.
    """
    digest = hashlib.sha256(read_source(path)).hexdigest()[:12]
    # What has a dot is no ready workload.
    words = [
        str(path) if "." in str(path) else f"./{path}",
        *(f"-D {name}={it}" for name, it in (defines or {}).items()),
    ]
    return SuiteProgram(
        name=" ".join(words),
        path=path,
        function=function,
        defines=dict(defines or {}),
        include_directories=tuple(include_directories),
        description=f"{path if function is None else f'{function} of {path}'} (text {digest})",
        init=init,
    )

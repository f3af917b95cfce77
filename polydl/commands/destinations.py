"""Where commands write: not over the user's files, and where there is a place."""

from __future__ import annotations

import os
from pathlib import Path

from polydl.commands.output import STANDARD_OUTPUT
from polydl.emitted_names import REPORT_FILE
from polydl.errors import OptionError
from polydl.presentation.option_values import Source
from polydl.presentation.output_directory import require_writable


def check_destinations(
    source: Source,
    directory: Path,
    json_path: str | None,
    html_path: Path | None = None,
    document: str = REPORT_FILE,
) -> None:
    """Before anything long is done: what is written must not replace the user's files, and must find its place."""
    from polydl.emission.replaced import check_replaced

    if source.file is not None:
        file = Path(source.file).resolve()
        inside = directory.resolve() == file.parent and "_polydl" in file.stem
        if inside or any(path is not None and Path(path).resolve() == file for path in (json_path, html_path)):
            raise OptionError(
                "the results would be written over the source",
                file=source.file,
                remedy="choose another --out, --json or --html",
            )
    require_places(directory, json_path, html_path)
    check_replaced(directory, document)


def require_places(directory: Path, json_path: str | None, html_path: Path | None = None) -> None:
    """Raises OptionError unless files can be written in the directory, and documents where they are asked for."""
    require_writable(directory)
    for option, path in (("--json", json_path), ("--html", html_path)):
        if path is not None and path != STANDARD_OUTPUT:
            _require_file(Path(path), f"{option} {path}")


def _require_file(path: Path, option: str) -> None:
    """Raises OptionError for a directory, and where no file can be made."""
    if path.is_dir():
        raise OptionError(f"{path} is a directory", construct=option, remedy="name a file")
    if not path.exists():
        require_writable(Path(os.path.realpath(path)).parent, option)

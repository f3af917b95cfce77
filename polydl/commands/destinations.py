"""Where commands write: not over the user's files, and where there is a place."""

from __future__ import annotations

from pathlib import Path

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
    require_writable(directory)
    check_replaced(directory, document)

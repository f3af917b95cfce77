"""What an emitted folder may take the place of: polydl's own files, and none of the same name that a person wrote."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from polydl.emitted_names import LIBRARY_FILE, README_FILE, REPORT_FILE, SLOWDOWN_FILE
from polydl.errors import OptionError
from polydl.system.files import opened

# What stands in files that polydl has written; the names of its other files say that they are its own.
_SIGNS = {
    README_FILE: b"was made by polydl",
    REPORT_FILE: b'"polydl',
    LIBRARY_FILE: b'"polydl"',
    SLOWDOWN_FILE: b"made by polydl",
}
# From the beginning of a file, in which a sign is looked for.
_MOST_BYTES = 1 << 16


def check_replaced(directory: Path, document: str) -> None:
    """Check that no file that somebody else wrote is replaced in a folder of results. Raises OptionError.

    ``document`` is the name of the file with what was measured.
    """
    for name in (README_FILE, document, *([SLOWDOWN_FILE] if document == LIBRARY_FILE else [])):
        content = b""
        # What can't be read is no file that can be replaced, or is said when it is written.
        with suppress(OSError), opened(directory / name) as file:
            # Of a link, the file that it leads to stays as it is.
            if not (directory / name).is_symlink():
                content = file.read(_MOST_BYTES)
        if content.strip() and _SIGNS[name] not in content:
            raise OptionError(
                f"{name} in the folder of the results was not written by polydl, and would be replaced",
                file=str(directory / name),
                remedy="choose another folder (--out), or rename the file",
            )

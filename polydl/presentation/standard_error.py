"""Standard error that takes whatever is said: what can't be written there is dropped, and the work goes on."""

from __future__ import annotations

import io
import sys

_DESCRIPTOR = 2


class _Dropping(io.FileIO):
    """A file whose disk may be full, or whose reader may be gone: what it doesn't take counts as written."""

    def write(self, data: object, /) -> int:
        view = memoryview(data)  # type: ignore[arg-type]
        try:
            return super().write(view) or view.nbytes
        except OSError:
            return view.nbytes


def drop_what_fails() -> None:
    """Let Python's ``sys.stderr`` drop what can't be written, and be there even if it was closed at the start.

    Descriptor 2 must be open. A stream that a caller put in the place of standard error stays as it is.
    """
    if sys.stderr is not sys.__stderr__:
        return
    encoding = getattr(sys.stderr, "encoding", None)
    stream = io.BufferedWriter(_Dropping(_DESCRIPTOR, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(stream, encoding, errors="backslashreplace", line_buffering=True)

"""SIGINT, SIGTERM and SIGHUP: all three end a command in the same way, whenever they arrive.

While the command starts, nothing is there to clean up, and the process ends at once. Later they raise ``Interrupted``,
which is a KeyboardInterrupt: on its way out, processes are killed and temporary folders are removed. Only the standard
library's lightest modules are imported here, since this comes before everything else.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# As ``typing`` has it, whose import takes long.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs

#: Of a command that one of these signals ended, whichever it was: what shells have for Ctrl-C.
EXIT_STATUS = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What ends a session sends several signals at once. The clean-up that the first one began goes on.
_SAME_SECONDS = 1.0
# After which ``Interrupted`` is raised once more where it was ignored, or would be.
_AGAIN_SECONDS = 0.01
# Whose functions isl calls back: what they raise is an error of isl's, whatever it was.
_CALLED_BACK = "islpy"


class Interrupted(KeyboardInterrupt):
    """A signal asks the command to end."""


class Interruption:
    """What the signals of this process do, and which one arrived."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._last = 0.0
        self._over = False
        # What must not be interrupted now, in whatever thread.
        self._deferring: set[object] = set()
        self._deferred = False
        # Raised where it was ignored, or would have been.
        self._ignored = False
        # Python calls handlers in the main thread only, which is also the one that sets them.
        self._main_thread = 0

    @property
    def exit_status(self) -> int | None:
        """``EXIT_STATUS``; None if no signal arrived."""
        return None if self._received is None else EXIT_STATUS

    @property
    def text(self) -> str:
        """What to say at the end."""
        if self._received in (None, signal.SIGINT):
            return "interrupted"
        return f"ended by {signal.Signals(self._received).name}"

    def end_at_once(self) -> None:
        """From now on, a signal ends the process. Those that were ignored stay so (``nohup``).

        The command's launcher has blocked them, so that one that came since then is answered here.
        """
        self._handle(self._end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def unwind(self) -> None:
        """From now on, a signal raises ``Interrupted`` in the main thread."""
        self._handle(self._raise)
        sys.unraisablehook = self._where_it_is_ignored

    def ignore(self) -> None:
        """From now on, nothing happens: the command is over."""
        self._over = True
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """A signal that arrives meanwhile raises ``Interrupted`` at the end, in the main thread.

        For few lines that must not be halved, in whatever thread they run.
        """
        token = object()
        self._deferring.add(token)
        try:
            yield
        finally:
            self._deferring.discard(token)
            if self._deferred and not self._deferring:
                if _thread.get_ident() == self._main_thread:
                    self._deferred = False
                    raise Interrupted
                # Raised here it would end this thread, and the main one, which may wait for something else, goes on.
                self._last = -_SAME_SECONDS
                while self._deferred and not self._over:
                    self._send()

    def _handle(self, handler: object) -> None:
        self._main_thread = _thread.get_ident()
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, handler)  # type: ignore[arg-type]

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self._received = number
        os.write(2, f"polydl: {self.text}\n".encode())
        os._exit(EXIT_STATUS)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._over or (self._received is not None and now - self._last < _SAME_SECONDS):
            return
        self._received, self._last = self._received or number, now
        self._deferred = bool(self._deferring)
        if self._deferred:
            # Raised at the end of what defers it.
            self._ignored = False
            return
        if frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _CALLED_BACK:
            self._raise_later()
            return
        self._ignored = False
        raise Interrupted

    def _where_it_is_ignored(self, unraisable: UnraisableHookArgs) -> None:
        """What is raised while Python destroys an object goes no further: it is raised again, a moment later."""
        if isinstance(unraisable.exc_value, Interrupted):
            self._raise_later()
        else:
            sys.__unraisablehook__(unraisable)

    def _raise_later(self) -> None:
        self._last = -_SAME_SECONDS
        if not self._ignored:
            self._ignored = True
            _thread.start_new_thread(self._again, ())

    def _again(self) -> None:
        time.sleep(_AGAIN_SECONDS)
        while self._ignored and not self._over:
            self._send()

    def _send(self) -> None:
        """One that comes just before the main thread begins to wait is not seen until that ends: callers repeat it."""
        signal.pthread_kill(self._main_thread, self._received or signal.SIGINT)
        time.sleep(_AGAIN_SECONDS)


INTERRUPTION = Interruption()

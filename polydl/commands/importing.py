"""Modules that a command needs later are imported while child processes work for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread


@contextmanager
def importing(*modules: str) -> Iterator[None]:
    """Import modules in a thread meanwhile. Those that can't be are left to who needs them, and says why.

    An error is not held up by it.
    """
    thread = Thread(target=_import, args=modules)
    thread.start()
    yield
    thread.join()


def _import(*modules: str) -> None:
    with suppress(Exception):
        for module in modules:
            import_module(module)

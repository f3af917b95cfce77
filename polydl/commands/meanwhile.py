"""What a command needs later is imported and looked up while child processes work for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from threading import Thread


@contextmanager
def meanwhile(*tasks: Callable[[], object]) -> Iterator[None]:
    """Do each task in a thread of its own. What one raises is left to who needs its result, and says why.

    An error is not held up by them.
    """
    threads = [Thread(target=_done, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()


def importing(*modules: str) -> Callable[[], None]:
    """The task that imports modules."""
    return partial(_import, *modules)


def _import(*modules: str) -> None:
    for module in modules:
        import_module(module)


def _done(task: Callable[[], object]) -> None:
    with suppress(Exception):
        task()

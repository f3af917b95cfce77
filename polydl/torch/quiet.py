"""What PyTorch says when it gives up on a graph, beside the error that it raises: the graph, and what it logs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

# The part of PyTorch's that prints the graph of an error.
_EXPORTING = "torch.export._trace"
# Those that log what they raise as well.
_LOGGERS = (_EXPORTING, "torch.fx.experimental.symbolic_shapes")


def _unsaid(*_: object, **__: object) -> None:
    """Takes the place of ``print``."""


def _is_no_warning(record: logging.LogRecord) -> bool:
    return record.levelno < logging.WARNING


@contextmanager
def without_graphs() -> Iterator[None]:
    """While PyTorch makes a graph: the error alone says why there is none. What a model itself prints is shown."""
    names = vars(import_module(_EXPORTING))
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for each in loggers:
        each.addFilter(_is_no_warning)
    # Of that module alone, where the name is that of the built-in function else.
    names["print"] = _unsaid
    try:
        yield
    finally:
        # Another thread that makes a graph may have taken it away already.
        names.pop("print", None)
        for each in loggers:
            each.removeFilter(_is_no_warning)

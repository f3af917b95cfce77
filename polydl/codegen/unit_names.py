"""Names that generated code has at file scope whatever the nest, so that several kernels can be put into one file.

All other names at file scope are the source's, or have in them how the function is exported, or the ``suffix`` that the
code was generated with (``translation_unit.generate``).
"""

from __future__ import annotations

from polydl.codegen.support import SUPPORT, TRANSPOSE

# Of team.py, dealt.py, kept_memory.py, translation_unit.py, and of harnesses. Those of processor.py and of copies that
# transpose need not be there twice.
_NAMES = """
polydl_team polydl_call polydl_now polydl_read polydl_write polydl_begin polydl_between polydl_end
polydl_has_threads
polydl_arrays polydl_reserved polydl_sizes polydl_allocated polydl_memory polydl_memory_once polydl_memory_lock
polydl_memory_key polydl_memories polydl_has_key polydl_closed polydl_inside polydl_free polydl_forget polydl_make_key
polydl_own_memory polydl_kept polydl_drop polydl_leave polydl_enter polydl_reserve polydl_close
polydl_once polydl_setup
polydl_invoke polydl_global polydl_prepare polydl_buffer
"""
UNIT_NAMES = (*_NAMES.split(), *(name for name in SUPPORT if name != TRANSPOSE))


def tuned_name(function: str) -> str:
    """The copy of a function of the source in which the loops are the variant's."""
    return f"polydl_tuned_{function}"


def dealt_name(function: str) -> str:
    """The copy of a function of the source whose loops gcc deals out to threads."""
    return f"polydl_dealt_{function}"


def alone_name(function: str) -> str:
    """The copy of it that runs on the calling thread alone."""
    return f"polydl_alone_{function}"


def preparing_name(function: str) -> str:
    """The function that prepares the constants of a function of the source."""
    return f"polydl_prepare_{function}"


def running_name(function: str) -> str:
    """The function that has the loops of all calls of a function of the source whose constants are prepared."""
    return f"polydl_run_{function}"


def unit_names(function: str) -> tuple[str, ...]:
    """All of them, for a nest in a function of that name."""
    named = (tuned_name, dealt_name, alone_name, preparing_name, running_name)
    return (*UNIT_NAMES, *(name(function) for name in named))

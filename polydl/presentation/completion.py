"""What a shell completes as the value of an option or an argument, beyond what click itself knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _names(known: Callable[[], Sequence[str]], kind: str = "") -> Complete:
    """Those of the names that begin as the word does, and paths of a ``kind`` (``file`` or ``dir``), if it is given."""

    def complete(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        paths = [CompletionItem(word, type=kind)] if kind else []
        return [*(CompletionItem(name) for name in known() if name.startswith(word)), *paths]

    return complete


def plug_ins(group: str, *others: str) -> Complete:
    """The plug-ins of a group, and ``others``."""

    def known() -> list[str]:
        from polydl import registry

        return [*others, *registry.names(group)]

    return _names(known)


def _workloads() -> list[str]:
    from polydl.workloads import suite, suites

    return list(dict.fromkeys(name for each in suites() for name in suite(each)))


def _suites() -> Sequence[str]:
    from polydl.workloads import suites

    return suites()


def _machines() -> Sequence[str]:
    from polydl.machine.elsewhere import names

    return names()


complete_files = _names(tuple, "file")
complete_directories = _names(tuple, "dir")
complete_workloads = _names(_workloads)
complete_workloads_and_files = _names(_workloads, "file")
#: A suite may be a file of sizes, and a machine a file that describes it.
complete_suites = _names(_suites, "file")
complete_machines = _names(_machines, "file")

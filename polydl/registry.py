"""Plug-ins by group and name: the built-in ones first, then those that other distributions offer as entry points.

Nothing is imported before it is asked for, so a plug-in may need libraries that are not installed.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from polydl.errors import OptionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The plug-ins of a caller who names none.
DEFAULT_RANKER = "dnn"
#: The only strategy that needs no budget.
DEFAULT_STRATEGY = "ranked"
GROUPS: dict[str, dict[str, str]] = {
    "microkernels": {
        "libxsmm": "polydl.microkernels.libxsmm:LIBXSMM",
        "c": "polydl.microkernels.plain_c:PLAIN_C",
        "c-amx": "polydl.microkernels.amx:AMX",
        "c-amx-groups": "polydl.microkernels.amx_groups:AMX_GROUPS",
        "c-bf16": "polydl.microkernels.bf16:BF16",
        "c-int16": "polydl.microkernels.int16:INT16",
        "c-int8": "polydl.microkernels.int8:INT8",
        "libxsmm-bf16": "polydl.microkernels.libxsmm_groups:LIBXSMM_BF16",
        "libxsmm-int8": "polydl.microkernels.libxsmm_groups:LIBXSMM_INT8",
    },
    "rankers": {
        "cost-model": "polydl.ranking.cost_model:COST_MODEL",
        "equation-1": "polydl.ranking.equation_1:EQUATION_1",
        "latency": "polydl.ranking.equation_1:LATENCY",
        "dnn": "polydl.ranking.learned:DNN",
        "dnn-paper": "polydl.ranking.learned:DNN_PAPER",
        "regression": "polydl.ranking.learned:REGRESSION",
    },
    "trainers": {
        "dnn": "polydl.ranking.training:DNN",
        "dnn-paper": "polydl.ranking.training:DNN_PAPER",
        "regression": "polydl.ranking.training:REGRESSION",
    },
    "rewrites": {
        "coalesce_rows": "polydl.variants.rewrites.coalesce_rows:COALESCE_ROWS",
        "expand": "polydl.variants.rewrites.expand:EXPAND",
        "peel": "polydl.variants.rewrites.peel:PEEL",
        "untile": "polydl.variants.rewrites.untile:UNTILE",
        "dimensions": "polydl.variants.rewrites.dimensions:DIMENSIONS",
        "coalesce": "polydl.variants.rewrites.coalesce:COALESCE",
        "split": "polydl.variants.rewrites.split:SPLIT",
        "pack_panels": "polydl.variants.rewrites.pack_panels:PACK_PANELS",
        "pack_tiles": "polydl.variants.rewrites.pack_tiles:PACK_TILES",
        "gather": "polydl.variants.rewrites.gather:GATHER",
        "unfold": "polydl.variants.rewrites.unfold:UNFOLD",
        "pack": "polydl.variants.rewrites.pack:PACK",
        "materialize": "polydl.variants.rewrites.materialize:MATERIALIZE",
        "zero_point": "polydl.variants.rewrites.zero_point:ZERO_POINT",
        "pad": "polydl.variants.rewrites.pad:PAD",
        "winograd": "polydl.variants.rewrites.winograd:WINOGRAD",
        "polyphase": "polydl.variants.rewrites.polyphase:POLYPHASE",
        "strassen": "polydl.variants.rewrites.strassen:STRASSEN",
        "fuse": "polydl.variants.rewrites.fuse:FUSE",
        "cut_triangle": "polydl.variants.rewrites.cut_triangle:CUT_TRIANGLE",
        "split_index_set": "polydl.variants.rewrites.split_index_set:SPLIT_INDEX_SET",
        "reschedule": "polydl.variants.rewrites.reschedule:RESCHEDULE",
        "pivot_blocks": "polydl.variants.rewrites.pivot_blocks:PIVOT_BLOCKS",
    },
    "strategies": {
        "ranked": "polydl.variants.search.ranked:RANKED",
        "random": "polydl.variants.search.shuffled:RANDOM",
        "generative": "polydl.variants.search.generative:GENERATIVE",
        "hierarchical": "polydl.variants.search.hierarchical:HIERARCHICAL",
        "bound": "polydl.variants.search.bound:BOUND",
        "bound-tag": "polydl.variants.search.threshold_ascent:BOUND_TAG",
        "evolutionary": "polydl.variants.search.evolutionary:EVOLUTIONARY",
    },
    "frontends": {"pet": "polydl.frontend.pet:parse"},
    "executors": {"local": "polydl.execute.local:EXECUTOR", "cluster": "polydl.cluster.executor:EXECUTOR"},
}


def names(group: str) -> tuple[str, ...]:
    """The plug-ins of a group: built-in ones in the order of preference, then the others by name."""
    built_in = _built_in(group)
    return (*built_in, *sorted(_offered(group).keys() - built_in.keys()))


def microkernels(name: str) -> tuple[Any, ...]:
    """The microkernel of a name; or, if that is a library's name, all microkernels of the library.

    Raises OptionError like ``load``.
    """
    kernel = load("microkernels", name)
    if kernel.library != name:
        return (kernel,)
    found = [kernel]
    for other in names("microkernels"):
        with suppress(OptionError):  # a plug-in that can't be imported was not asked for
            if other != name and (kernel := load("microkernels", other)).library == name:
                found.append(kernel)
    return tuple(found)


def load(group: str, name: str) -> Any:
    """The plug-in itself, imported on demand.

    A built-in name can't be taken by another distribution. Raises OptionError for an unknown group or name, and
    for a plug-in of another distribution that can't be imported; what importing a built-in one raises goes through.
    """
    target = _built_in(group).get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)
    offered = _offered(group).get(name)
    if offered is None:
        known = names(group)
        raise OptionError(
            f"{name!r} is not one of the known {group}", construct=name, remedy=_suggestion(name, known, group)
        )
    try:
        return offered.load()
    except (ImportError, AttributeError) as error:
        raise OptionError(
            f"{name!r} of the {group} can't be imported from {offered.value}: {error}",
            construct=name,
            remedy=f"reinstall or remove {_distribution(offered)}, which offers it",
        ) from error


def distribution_of(group: str, name: str) -> str | None:
    """The other distribution that offers the plug-in; None for a built-in one, and for an unknown name."""
    offered = _offered(group).get(name)
    return None if offered is None or name in _built_in(group) else _distribution(offered)


def _distribution(offered: EntryPoint) -> str:
    return offered.dist.name if offered.dist is not None else "an unknown distribution"


def _built_in(group: str) -> dict[str, str]:
    if group not in GROUPS:
        raise OptionError(f"{group!r} is no group of plug-ins", remedy=_suggestion(group, tuple(GROUPS), "groups"))
    return GROUPS[group]


def _offered(group: str) -> dict[str, EntryPoint]:
    return _entry_points(tuple(sys.path)).get(group, {})


@lru_cache(maxsize=8)
def _entry_points(_path: tuple[str, ...]) -> dict[str, dict[str, EntryPoint]]:
    """Those that distributions on the path offer, by group and name; looking for them takes tens of milliseconds."""
    from importlib.metadata import entry_points

    offered = entry_points()
    return {group: {point.name: point for point in offered.select(group=f"polydl.{group}")} for group in GROUPS}


def _suggestion(name: str, known: tuple[str, ...], what: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]}? " if close else ""
    return f"{meant}The known {what} are {', '.join(known)}"

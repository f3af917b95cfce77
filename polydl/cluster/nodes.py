"""What nodes offer and what tasks ask for.

A node is one worker process. It has as many ``slots`` as cores, and one of ``cpu-KEY`` for its type of processor. Each
task asks for slots, so that none runs beside one that asks for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polydl.errors import MissingComponentError, OptionError, ResourceError

if TYPE_CHECKING:
    from distributed import Client

SLOTS = "slots"
_CPU = "cpu-"
# A host by name or number, in brackets where that has colons, and a port; without a protocol, Dask takes tcp.
_ADDRESS = re.compile(r"(\w+://)?(\[[^\s\[\]]+\]|[^\s:/\[\]]+):\d{1,5}")
# Seconds to reach the scheduler.
_CONNECT_SECONDS = 30


def scheduler_address(text: str, option: str) -> str:
    """The address of a scheduler that ``option`` names. Raises OptionError for what can't be one."""
    if not _ADDRESS.fullmatch(text):
        raise OptionError(
            f"{text!r} is no address of a scheduler",
            construct=f"{option} {text}",
            remedy="write tcp://HOST:PORT, as `dask scheduler` says when it starts",
        )
    return text


def resources(key: str, slots: int) -> dict[str, float]:
    """What a node of this type of processor offers."""
    return {SLOTS: slots, f"{_CPU}{key}": 1}


def alone(key: str, slots: int) -> dict[str, float]:
    """What a task asks for that runs alone on a node of this type."""
    return resources(key, slots)


def types_of(workers: Mapping[str, Any]) -> dict[str, int]:
    """The slots of a node by its type of processor, from what the scheduler says of its workers.

    Raises OptionError for nodes of one type that differ in their slots: none could be had alone for sure.
    """
    types: dict[str, int] = {}
    for worker in workers.values():
        offered = worker.get("resources", {})
        for key in (name.removeprefix(_CPU) for name in offered if name.startswith(_CPU)):
            slots = int(offered.get(SLOTS, 0))
            if slots < 1 or types.setdefault(key, slots) != slots:
                raise OptionError(
                    f"the nodes of type {key} have {types.get(key, 0)} and {slots} slots",
                    remedy="start each with `polydl worker`, and tell nodes that differ apart with --key",
                )
    return types


def unknown(key: str, types: Mapping[str, int], seconds: float) -> ResourceError:
    """No node of a type came for so long."""
    there = ", ".join(sorted(types)) or "none"
    return ResourceError(
        f"no node of type {key} was there for {seconds:g} s; the types that are there: {there}",
        remedy="start one with `polydl worker`, or name another --cpu",
    )


def connected(address: str) -> Client:
    """A client of the scheduler, which no longer repeats tasks of lost nodes by itself.

    Raises MissingComponentError without Dask, ResourceError if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingComponentError(
            "Dask's distributed is not installed", remedy="python -m pip install 'polydl[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ResourceError(
            f"no scheduler answers at {address}: {error}", remedy="start one with `dask scheduler`"
        ) from None
    client.run_on_scheduler(_settle)
    return client


def _settle(dask_scheduler: Any) -> None:
    """A task whose node is lost fails at once: polydl takes it up again itself, with what was measured by then."""
    dask_scheduler.allowed_failures = 0

"""The worker process of a node."""

from __future__ import annotations

import asyncio

from polydl.cluster.nodes import resources
from polydl.errors import MissingComponentError, ResourceError
from polydl.system.files import temporary_directory

# Seconds after which a worker ends that has lost its scheduler.
_WITHOUT_SCHEDULER = 60


def serve(address: str, key: str, slots: int) -> None:
    """Work for a scheduler until it ends. Raises MissingComponentError without Dask, ResourceError if none answers."""
    try:
        import distributed
    except ImportError:
        raise MissingComponentError(
            "Dask's distributed is not installed", remedy="python -m pip install 'polydl[cluster]'"
        ) from None
    assert distributed.Worker
    with temporary_directory() as directory:
        try:
            asyncio.run(_serve(address, key, slots, str(directory)))
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise ResourceError(
                f"no scheduler answers at {address}: {error}", remedy="start one with `dask scheduler`"
            ) from None


async def _serve(address: str, key: str, slots: int, directory: str) -> None:
    from distributed import Worker

    # No limit of memory: polydl looks at what is free before it runs anything.
    async with Worker(
        address,
        nthreads=slots,
        resources=resources(key, slots),
        local_directory=directory,
        memory_limit=0,
        death_timeout=_WITHOUT_SCHEDULER,
        dashboard=False,
    ) as worker:
        await worker.finished()

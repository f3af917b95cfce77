"""``polydl worker``: this machine as a node of a cluster."""

from __future__ import annotations

import click

from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.options import debug_option


@click.command(cls=CheckedCommand)
@click.argument("address")
@click.option("--key", metavar="NAME", help="The type of processor (its vendor, family, model and caches).")
@debug_option
def worker(address: str, key: str | None) -> int:
    """Work for the scheduler at ADDRESS until it ends: compile, and time alone on this machine.

    The processors that this process may use are its slots. One worker per node is enough, and only one may be there.
    """
    from polydl.cluster.nodes import scheduler_address
    from polydl.cluster.worker import serve
    from polydl.machine.system import find

    scheduler_address(address, "ADDRESS")
    identity = find().identity
    serve(address, key or identity.cpu_id, identity.cores)
    return 0

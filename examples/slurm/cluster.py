"""A Dask scheduler on this log-in node, whose workers are jobs on the compute nodes of one type.

    python cluster.py node.toml --jobs 4

node.toml is what `polydl calibrate --profile node.toml` wrote on such a node. It prints the address for
`polydl tune --cluster ADDRESS`, and ends with Ctrl-C. Further options of the jobs, such as the partition, go into
~/.config/dask/jobqueue.yaml.
"""

from __future__ import annotations

import argparse
import sys
import time

from dask_jobqueue import SLURMCluster

from polydl.cluster.nodes import resources
from polydl.machine.elsewhere import machine_elsewhere


def cluster_of(description: str) -> SLURMCluster:
    """A scheduler without workers yet; each of its jobs has a node of the described type for itself."""
    machine = machine_elsewhere(description)
    offered = ",".join(f"{name}={count:g}" for name, count in resources(machine.cpu_id, machine.cores).items())
    return SLURMCluster(
        # One worker process for the whole node, without one that starts it again: polydl takes up what is lost.
        cores=machine.cores,
        processes=1,
        nanny=False,
        memory=f"{machine.memory_bytes >> 30}GiB",
        worker_extra_args=["--resources", offered],
        job_extra_directives=["--exclusive"],
        python=sys.executable,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description", help="what polydl calibrate wrote on such a node")
    parser.add_argument("--jobs", type=int, default=1, help="so many nodes (1)")
    options = parser.parse_args()
    cluster = cluster_of(options.description)
    cluster.scale(jobs=options.jobs)
    print(cluster.scheduler_address, flush=True)
    while True:
        time.sleep(60)

"""The measurements that the shipped rankers were trained on, with the profile of the machine that took them."""

from __future__ import annotations

from pathlib import Path

from polydl.learning.samples import groups_of_workloads, machine_of, measured_nests, read_records

SOURCE = Path(__file__).parents[1] / "experiments" / "data" / "ranking" / "records.jsonl.xz"
NESTS = measured_nests(read_records(SOURCE), groups_of_workloads())
MACHINE = machine_of(SOURCE, NESTS)
# Tests ask something of each.
assert len(NESTS) >= 60

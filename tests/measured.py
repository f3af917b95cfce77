"""Measurements that the shipped rankers were trained on, with the profile of the machine that took them."""

from __future__ import annotations

from pathlib import Path

from polydl.learning.evaluation import machines_of
from polydl.learning.samples import nests_in

SOURCE = Path(__file__).parents[1] / "experiments" / "data" / "ranking" / "records.jsonl.xz"
NESTS = nests_in([SOURCE])
(MACHINE,) = machines_of(NESTS)
# Tests ask something of each.
assert len(NESTS) >= 60

"""What befell the records while an optimization used them."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.errors import PolydlError
from polydl.ir.counts import counted
from polydl.records.store import Damage


@dataclass(frozen=True)
class StoreState:
    """What was wrong with the records while an optimization used them; nothing by default."""

    #: lines that were passed over
    damaged: tuple[Damage, ...] = ()
    #: measurements that were not stored
    lost: int = 0
    #: why they were not, or why no earlier ones could be read
    refusal: PolydlError | None = None

    @property
    def refused(self) -> str:
        """What the records did not take, or give, and why; "" if nothing."""
        if self.lost:
            return f"{counted(self.lost, 'measurement', f'{self.lost:,}')} not stored: {self.refusal}"
        return "" if self.refusal is None else f"no earlier measurements are used: {self.refusal}"

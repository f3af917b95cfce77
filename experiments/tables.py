"""Tables in Markdown, as the pages of results have them."""

from __future__ import annotations

from collections.abc import Sequence


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; every row has as many cells as there are heads. Raises ValueError otherwise."""
    if any(len(row) != len(heads) for row in rows):
        raise ValueError(f"a row has not {len(heads)} cells")
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]

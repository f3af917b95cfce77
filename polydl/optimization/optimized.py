"""What ``optimize`` returns: the outcome, and how it shows as a page."""

from __future__ import annotations

from pathlib import Path

from polydl.outcome.outcome import Outcome
from polydl.report.documents import optimization_document
from polydl.system.files import write_atomically


class OptimizationInterrupted(KeyboardInterrupt):
    """A signal ended the work after a candidate was verified; the best of them is emitted."""

    def __init__(self, result: Optimization) -> None:
        super().__init__()
        #: of the candidates that were verified by then
        self.result = result


class Optimization(Outcome):
    """Everything that one ``optimize`` found."""

    def report(self, path: str | Path | None = None) -> str:
        """The page of ``polydl report`` as HTML, which is also written to ``path``, if one is given.

        Raises MissingComponentError without Jinja2, ResourceError if it can't be written.
        """
        from polydl.page.reading import read_run
        from polydl.page.render import require, run_page

        require()
        page = run_page(read_run(optimization_document(self), self.scop.file))
        if path is not None:
            write_atomically(Path(path), page)
        return page

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the winner and the candidates; None, so that it shows text, without Jinja2."""
        from importlib.util import find_spec

        if find_spec("jinja2") is None:
            return None
        from polydl.page.reading import read_run
        from polydl.page.render import fragment

        return fragment(read_run(optimization_document(self), self.scop.file))

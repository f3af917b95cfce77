"""What a person names, a file or a run of the records, as a run to show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from polydl.errors import OptionError
from polydl.page.benchmark import Benchmark, is_benchmark, read_benchmark
from polydl.page.reading import read_run
from polydl.page.recorded import run_document
from polydl.page.run import Run
from polydl.system.files import reason_of, text_of

REPORT_FILE = "report.json"
# A page keeps its documents in these elements.
DATA_KIND = "application/json"
_EMBEDDED = re.compile(rf'<script type="{DATA_KIND}"[^>]*>(.*?)</script>', re.DOTALL)
_C = frozenset({".c", ".h", ".cpp", ".cc", ".cu"})
_REMEDY = (
    f"name the {REPORT_FILE} that `polydl optimize FILE.c` writes beside the C, its folder, what `polydl bench --out "
    "PATH` wrote, a page of `polydl report`, or the id of a run in the records, at least its first four letters"
)
_RUN = re.compile(r"[0-9a-f]{4,12}")


def load(named: str, records: Path) -> Run | Benchmark:
    """What ``named`` is: a JSON document, a folder with one, a page with one in it, or the id of a run.

    A run is looked for in the directory ``records``. Raises OptionError.
    """
    path = Path(named)
    if path.is_dir():
        path = path / REPORT_FILE
    if path.is_file():
        document = _document(path)
        return read_benchmark(document, str(path)) if is_benchmark(document) else read_run(document, str(path))
    if _RUN.fullmatch(named):
        return read_run(run_document(records, named), f"run {named}")
    raise OptionError(f"there is no {path}", remedy=_REMEDY)


def latest_report(folder: Path) -> str:
    """The newest report below ``folder``, one folder deep. Raises OptionError if there is none."""
    reports = sorted(folder.glob(f"*/{REPORT_FILE}"), key=lambda path: path.stat().st_mtime)
    if not reports:
        raise OptionError(f"no {REPORT_FILE} in the folders of {folder}", remedy="run polydl optimize, or name a file")
    return str(reports[-1])


def _document(path: Path) -> dict[str, Any]:
    try:
        text = text_of(path)
        embedded = None if text.lstrip().startswith("{") else _EMBEDDED.search(text)
        document = json.loads(text if embedded is None else embedded[1])
    except (OSError, ValueError) as error:
        what = f"this is no report of a run: {reason_of(error)}"
        if path.suffix in _C:
            what = "this is C, not the report of a run"
        raise OptionError(what, file=str(path), remedy=_REMEDY) from None
    if not isinstance(document, dict):
        raise OptionError("this is no report of a run", file=str(path), remedy=_REMEDY)
    return document

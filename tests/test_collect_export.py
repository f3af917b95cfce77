"""``polydl collect --export``: what of a user's records goes into a file for rankers."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from click.testing import CliRunner

from polydl.cli import main
from polydl.commands.collect import LEAST_EXPORTED

RECORDS = Path(__file__).parents[1] / "experiments" / "data" / "tile-registers" / "xeon.jsonl.xz"


def test_runs_of_few_variants_are_left_out_and_said_to_be(tmp_path: Path) -> None:
    lines = lzma.decompress(RECORDS.read_bytes()).decode().splitlines(keepends=True)
    run = [line for line in lines if json.loads(line)["workload"] == "resnet_18"]
    assert 10 <= len(run) < LEAST_EXPORTED
    (tmp_path / "records.jsonl").write_text("".join(run))
    out = tmp_path / "out" / "few.jsonl.xz"
    out.parent.mkdir()
    result = CliRunner().invoke(main, ["collect", "--export", str(out), "--records", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "0 records of 0 nests" in result.output
    assert "1 run left out, of fewer than 40 variants" in result.output

"""Manual pages and completion come from the commands themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from marks import parametrized

from polydl.cli import COMMANDS, command

ROOT = Path(__file__).parents[1]


def test_every_command_has_a_manual_page(tmp_path: Path) -> None:
    script = ROOT / ".ci" / "manual_pages.py"
    ended = subprocess.run([sys.executable, "-P", str(script), str(tmp_path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert len(COMMANDS) >= 15
    for name in COMMANDS:
        page = (tmp_path / f"polydl-{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
        assert page.startswith('.TH "POLYDL')
        options = [option for each in command(name).params for option in each.opts if option.startswith("--")]
        assert [option for option in options if option not in page] == []
    assert "polydl-records-list.1" in os.listdir(tmp_path)


@parametrized(
    ("words", "completion"),
    [
        (["polydl", "opt"], "plain,optimize"),
        (["polydl", "optimize", "--num"], "plain,--numerics"),
        (["polydl", "optimize", "--numerics", "b"], "plain,bounded"),
        (["polydl", "rank", "--ranker", "cost"], "plain,cost-model"),
        (["polydl", "rank", "--microkernel", "no"], "plain,none"),
        (["polydl", "rank", "--workload", "resnet_03"], "plain,resnet_03"),
        (["polydl", "rank", "con"], "file,con"),
        (["polydl", "report", "pol"], "file,pol"),
        (["polydl", "records", "list", "--records", "pol"], "dir,pol"),
        (["polydl", "rank", "-I", "inc"], "dir,inc"),
        (["polydl", "tune", "-I", "inc"], "dir,inc"),
        (["polydl", "rank", "--json", "ra"], "file,ra"),
        (["polydl", "optimize", "--variant", "ti"], "file,ti"),
        (["polydl", "bench", "--suite", "resn"], "plain,resnet"),
        (["polydl", "bench", "--suite", "resn"], "file,resn"),
        (["polydl", "bench", "resnet_03"], "plain,resnet_03"),
        (["polydl", "bench", "resnet_03"], "file,resnet_03"),
        (["polydl", "bench", "--workload", "resnet_03"], "plain,resnet_03"),
        (["polydl", "rank", "--machine", "ze"], "plain,zen4"),
        (["polydl", "rank", "--machine", "no"], "file,no"),
    ],
    quick=5,
)
def test_a_shell_completes_names(words: list[str], completion: str) -> None:
    environment = os.environ | {
        "_POLYDL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)
    }  # fmt: skip
    command = [sys.executable, "-c", "from polydl.start import main; main()"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.stdout.splitlines().count(completion) == 1, ended.stderr

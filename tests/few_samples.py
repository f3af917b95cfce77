"""Measuring with few and short samples, in this process and in commands: no test needs a time that is certain."""

from __future__ import annotations

import sys
from pathlib import Path

#: Numbers in `polydl.optimization.measuring` and `polydl.libraries.measuring`, in which samples last ten times as long.
FEW = {"_MOST_ROUNDS": 4, "SAMPLE_SECONDS": 0.001}
#: Lines of Python after which kernels give so few samples.
PRELUDE = f"import polydl.optimization.measuring\nvars(polydl.optimization.measuring).update({FEW})\n"


def write_command(folder: Path) -> Path:
    """Write a command ``polydl`` that takes few samples; its path."""
    path = folder / "polydl"
    begun = 'if __name__ == "__main__":\n    from polydl.start import main\n\n    main()\n'
    path.write_text(f"#!{sys.executable} -P\n{PRELUDE}{begun}", encoding="utf-8")
    path.chmod(0o755)
    return path

"""Few and short samples, and code compiled with -O2, in this process and in commands: no test needs exact times."""

from __future__ import annotations

import sys
from pathlib import Path

#: Numbers in `polydl.optimization.measuring` and `polydl.libraries.measuring`, in which samples last ten times as long.
FEW = {"_MOST_ROUNDS": 4, "SAMPLE_SECONDS": 0.001}
#: Lines of Python after which kernels give so few samples.
PRELUDE = f"import polydl.optimization.measuring\nvars(polydl.optimization.measuring).update({FEW})\n"
#: What examines a compiler.
EXAMINED = "polydl.execute.toolchain._examined"
#: Lines of Python after which compilers get -O2, which takes a third of the time of -O3. They are called what they are
#: with -O3: times of calls are kept for one compiler alone, and would be taken anew for the other one each time.
SECOND_LEVEL = f"""import polydl.execute.toolchain
_genuine = {EXAMINED}
{EXAMINED} = lambda *given: _genuine(*given).cautious
_name = polydl.execute.toolchain.Toolchain.name.fget
polydl.execute.toolchain.Toolchain.name = property(lambda toolchain: _name(toolchain).replace("-O2", "-O3"))
"""
#: What speed-ups are computed with. Samples so few and short could say that the plain nest is faster.
RATIO = "polydl.outcome.baselines.times_as_fast"
#: Lines of Python after which every variant is said to be twice as fast as the plain nest.
VARIANTS_WIN = f"import polydl.outcome.baselines\n{RATIO} = lambda *_: 2.0\n"


def write_command(folder: Path, further: str = "") -> Path:
    """Write a command ``polydl`` that takes few samples and compiles with -O2, after ``further`` lines; its path."""
    path = folder / "polydl"
    begun = 'if __name__ == "__main__":\n    from polydl.start import main\n\n    main()\n'
    path.write_text(f"#!{sys.executable} -P\n{PRELUDE}{SECOND_LEVEL}{further}{begun}", encoding="utf-8")
    path.chmod(0o755)
    return path

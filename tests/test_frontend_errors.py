"""Every hostile or malformed input gives one error of the right kind, with its line, its construct and a remedy.

Each file in ``bad_input`` ends with what is expected of it: the error's class, the line and words of the message, and
the values of -D if it needs any.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from polydl import errors
from polydl.frontend.passes import ReadingJob, clang_pass, pet_pass
from polydl.frontend.pet import parse
from polydl.frontend.pet_library import find_pet_library

BAD_INPUT = Path(__file__).parent / "bad_input"
FILES = sorted(BAD_INPUT.glob("*.c"))
GOOD = "void f(float a[4])\n{\n  for (int i = 0; i < 4; ++i)\n    a[i] = 0;\n}\n"


class Expectation(NamedTuple):
    kind: type[errors.PolydlError]
    line: int | None
    words: str
    defines: Mapping[str, str]


def expectation(path: Path) -> Expectation:
    found = re.search(r"^// expect: (\w+) \| line (\d+|-) \| ([^|\n]+)(?: \| (.*))?$", path.read_text(), re.MULTILINE)
    assert found, path
    kind, line, words, defines = found.groups()
    values = dict(word.split("=", 1) for word in defines.split()) if defines else {}
    return Expectation(getattr(errors, kind), None if line == "-" else int(line), words, values)


def test_there_are_many_hostile_inputs() -> None:
    assert len(FILES) >= 20
    kinds = {expectation(path).kind for path in FILES}
    assert len(kinds) >= 7


@pytest.mark.parametrize(
    ("defines", "remedy"),
    [
        ("M=4", 'defines={"M": 4}'),
        ("-DM=4 -DT=float", 'defines={"M": 4, "T": "float"}'),
        (["M=4", "FAST"], 'defines={"M": 4, "FAST": 1}'),
        ("4", 'write it as defines={"N": 64}'),
    ],
)
def test_defines_that_are_no_dictionary_are_written_as_one(tmp_path: Path, defines: Any, remedy: str) -> None:
    (tmp_path / "a.c").write_text(GOOD)
    with pytest.raises(errors.OptionError, match="not a dictionary") as raised:
        parse(tmp_path / "a.c", defines=defines)
    assert raised.value.remedy == remedy


def test_c_in_place_of_a_path_is_told_from_a_file_that_is_missing() -> None:
    with pytest.raises(errors.SourceError, match="this is C itself") as raised:
        parse(GOOD)
    assert raised.value.remedy == "write the text to a file, and give its path"
    assert raised.value.construct
    assert "\n" not in raised.value.construct


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_bad_input_is_refused_with_place_construct_and_remedy(path: Path) -> None:
    kind, line, words, defines = expectation(path)
    with pytest.raises(errors.PolydlError) as raised:
        parse(path, defines=defines)
    error = raised.value
    assert type(error) is kind, error
    assert error.file == str(path)
    assert error.line == line, error
    assert words.lower() in str(error).lower()
    assert error.remedy
    # What is quoted stands in the file; names of sizes are quoted from the function instead.
    if error.construct and kind is not errors.ResourceError and not path.stem.startswith("annotation"):
        text = " ".join(path.read_text().split())
        assert error.construct.split("…")[0].strip() in text


HEADER_NAMES = {
    "float libxsmm_init[64];": "libxsmm_init belongs to LIBXSMM",
    "static float libxsmm_sgemm;": "libxsmm_sgemm belongs to LIBXSMM",
    "int polydl_invoke;": "polydl_invoke belongs to generated code",
    "extern int polydl_invoke;": "polydl_invoke belongs to generated code",
    "#define polydl_min(a, b) 0": "polydl_min belongs to generated code",
    "static inline void memcpy(int x) {}": "memcpy belongs to the compiler",
    "typedef int polydl_index;": "polydl_index belongs to generated code",
    "static float polydl;": "polydl belongs to generated code",
    "void _init(void) {}": "_init belongs to the linker",
    "int _end;": "_end belongs to the linker",
    "float __bss_start[4];": "__bss_start belongs to the linker",
    "static float f_release(float x) { return x; }": "f_release belongs to generated code",
}


@pytest.mark.parametrize("line", HEADER_NAMES)
@pytest.mark.parametrize("directive", ['"own.h"', "<own.h>"])
def test_names_in_headers_of_the_users_own(line: str, directive: str, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    header = tmp_path / "include" / "own.h"
    header.write_text(f"// a comment\n\n{line}\n")
    (tmp_path / "between.h").write_text(f"#include {directive}\n")
    path = tmp_path / "nest.c"
    path.write_text(f'#include "between.h"\n{GOOD}')
    with pytest.raises(errors.SourceError) as raised:
        parse(path, include_directories=[header.parent])
    error = raised.value
    assert (error.file, error.line) == (str(header), 3), error
    assert HEADER_NAMES[line] in error.message
    assert error.construct == line
    assert error.remedy is not None
    # What it says helps.
    name = error.message.split()[2]
    assert name in error.remedy
    header.write_text(header.read_text().replace(name, "of_mine"))
    assert parse(path, include_directories=[header.parent]).arrays[0].name == "a"


def test_a_header_that_asks_for_more_of_the_c_library_than_the_file(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define _GNU_SOURCE\n#include <math.h>\n")
    path = tmp_path / "nest.c"
    path.write_text('#include "own.h"\nvoid f(float a[8]) {\n  for (int i = 0; i < 8; i++) a[i] *= M_PIf;\n}\n')
    with pytest.raises(errors.SourceError, match="`M_PIf` is not declared where") as raised:
        parse(path)
    assert raised.value.remedy == "define _GNU_SOURCE in the file itself, before it includes anything"
    path.write_text(f"#define _GNU_SOURCE\n{path.read_text()}")
    assert parse(path).arrays[0].name == "a"


def test_headers_may_declare_what_belongs_to_others(tmp_path: Path) -> None:
    (tmp_path / "libxsmm_source.h").write_text("static inline int libxsmm_own(void) { return 0; }\n")
    (tmp_path / "own.h").write_text(
        "#ifndef POLYDL_F_H\n#define POLYDL_F_H\nvoid f_release(void);\n#endif\n"
        "extern int omp_x;\nvoid libxsmm_init(void);\n"
        "#include <string.h>\n#include <polydl/bfloat16.h>\n#include <omp.h>\n#include <stdarg.h>\n"
    )
    path = tmp_path / "nest.c"
    nest = GOOD.replace("  for", "#pragma scop\n  for").replace("}", "#pragma endscop\n}")
    path.write_text(f'#include "own.h"\n#include "libxsmm_source.h"\nextern float libxsmm_data[8];\n{nest}')
    assert parse(path).arrays[0].name == "a"


def test_a_function_that_has_no_header_can_be_declared() -> None:
    with pytest.raises(errors.SourceError) as raised:
        parse(BAD_INPUT / "undeclared_function.c")
    assert raised.value.remedy == "declare it, or include the header that does"


def test_what_helpers_call_may_have_names_of_pets(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    helpers = "static int max(int a, int b) { return a > b ? a : b; }\nstatic int clip(int a) { return max(a, 3); }\n"
    loop = "#pragma scop\nfor (int i = 0; i < 9; i++) a[i] = clip(a[i]);\n#pragma endscop\n"
    path.write_text(f"{helpers}void f(int a[9])\n{{\n{loop}}}\n")
    assert parse(path).functions[0].name == "clip"


def test_loops_of_main_do_not_hide_those_of_another_function(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    started = "int main(void)\n{\n  static float a[4];\n  for (int i = 0; i < 4; ++i)\n    a[i] = 1;\n  f(a);\n}\n"
    path.write_text(GOOD + started)
    assert parse(path).function.name == "f"
    path.write_text(started.replace("  f(a);\n", "") + GOOD)
    with pytest.raises(errors.UnsupportedConstructError, match="the loops are in main") as raised:
        parse(path, function="main")
    assert raised.value.remedy == "move the loops to a function of their own, which main calls"


def test_a_define_that_nothing_uses(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#ifdef LARGE\n#define N 8\n#else\n#define N 4\n#endif\n")
    path = tmp_path / "nest.c"
    path.write_text('#include "sizes.h"\n' + GOOD.replace("4", "N"))
    assert parse(path, defines={"LARGE": 1}).arrays[0].extents == (8,)
    with pytest.raises(errors.OptionError, match="-D LARG=1 has no effect") as raised:
        parse(path, defines={"LARG": 1})
    assert raised.value.remedy == "leave out -D LARG, or correct its name"
    with pytest.raises(errors.OptionError, match="-D N=16 has no effect") as raised:
        parse(path, defines={"N": 16})
    assert (raised.value.file, raised.value.line) == (str(tmp_path / "sizes.h"), 4)


@pytest.mark.parametrize(
    "header",
    [
        "#ifdef LARGE\n#define N 8\n#endif\n",
        "#define N (LARGE)\n",
        "#if defined(SMALL) || LARGE > 7\n#define N 8\n#endif\n",
    ],
)
def test_a_define_that_a_header_reads(tmp_path: Path, header: str) -> None:
    path = tmp_path / "nest.c"
    path.write_text('#include "sizes.h"\n' + GOOD.replace("4", "N"))
    (tmp_path / "sizes.h").write_text(header)
    assert parse(path, defines={"LARGE": 8}).arrays[0].extents == (8,)
    (tmp_path / "sizes.h").write_text(f"#define N 8\n/* LARGE */\n#ifdef NEVER\n{header}#endif\n")
    with pytest.raises(errors.OptionError, match="-D LARGE=8 has no effect"):
        parse(path, defines={"LARGE": 8})


def test_a_missing_file_a_directory_and_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(errors.SourceError, match="no such file"):
        parse(tmp_path / "none.c")
    with pytest.raises(errors.SourceError, match="directory"):
        parse(tmp_path)
    empty = tmp_path / "empty.c"
    empty.write_text(" \n\n")
    with pytest.raises(errors.SourceError, match="empty"):
        parse(empty)


def test_a_binary_file_and_an_encoding_that_is_not_utf8(tmp_path: Path) -> None:
    binary = tmp_path / "binary.c"
    binary.write_bytes(b"\x7fELF\n\x00\x00\x01")
    with pytest.raises(errors.SourceError, match="binary") as raised:
        parse(binary)
    assert raised.value.line == 2
    latin = tmp_path / "latin.c"
    latin.write_bytes(b"// first\n// gr\xfc\xdfe\n" + GOOD.encode())
    with pytest.raises(errors.SourceError, match="UTF-8") as raised:
        parse(latin)
    assert raised.value.line == 2


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.c"
    secret.write_text(GOOD)
    secret.chmod(0)
    user = os.geteuid()
    try:
        if user == 0:
            # Root may read every file; this is nobody.
            os.seteuid(65534)
        with pytest.raises(errors.SourceError, match="can't be read"):
            parse(secret)
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("name", ["", "1N", "a-b", "N M", "é"])
def test_defines_have_the_names_of_macros(name: str, tmp_path: Path) -> None:
    source = tmp_path / "good.c"
    source.write_text(GOOD)
    with pytest.raises(errors.OptionError, match="identifier"):
        parse(source, defines={name: 1})


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    source = tmp_path / "good.c"
    source.write_text(GOOD)
    with pytest.raises(errors.OptionError, match=r"no function g(.|\n)*choose one of: f"):
        parse(source, function="g")
    with pytest.raises(errors.OptionError, match="include directory"):
        parse(source, include_directories=[tmp_path / "none"])
    with pytest.raises(errors.MissingComponentError, match="no library"):
        parse(source, library=tmp_path / "libpet.so")


def test_a_library_that_is_not_pet(tmp_path: Path) -> None:
    source, library = tmp_path / "good.c", tmp_path / "libpet.so"
    source.write_text(GOOD)
    library.write_text("not a library")
    with pytest.raises(errors.MissingComponentError, match="can't be opened"):
        parse(source, library=library)


def test_a_pass_that_does_not_end_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.h")
    source = tmp_path / "waits.c"
    # Under its own name the pipe would be seen before.
    source.write_text('#define HEADER "endless.h"\n#include HEADER\n' + GOOD)
    with pytest.raises(errors.SourceError, match=r"did not finish within 0\.8 s"):
        parse(source, timeout_seconds=0.8)


@pytest.mark.slow
def test_a_crash_of_pet_stays_in_its_process(tmp_path: Path) -> None:
    # pet follows the recursion without end. The checks before it refuse this file, so pet is given it directly.
    path = BAD_INPUT / "recursion.c"
    job = ReadingJob(
        file=str(path),
        name="recursion.c",
        text=path.read_text(),
        original=None,
        function=None,
        defines={},
        include_directories=(),
        folder=tmp_path,
        timeout_seconds=30,
    )
    with pytest.raises(errors.UnsupportedConstructError, match=r"libpet was ended by signal SIG") as raised:
        pet_pass(job, clang_pass(job), find_pet_library())
    assert raised.value.file == "recursion.c"
    assert raised.value.line == 3


def test_an_expression_that_is_nested_very_deeply(tmp_path: Path) -> None:
    source = tmp_path / "deep.c"
    source.write_text(GOOD.replace("= 0;\n}", "= " + " + ".join(["a[i]"] * 3000) + ";\n}"))
    with pytest.raises(errors.UserError) as raised:
        parse(source)
    assert raised.value.remedy

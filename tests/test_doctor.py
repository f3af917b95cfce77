from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from polydl import doctor, native, self_tests
from polydl.errors import MissingComponentError
from polydl.execute.toolchain import Toolchain

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def components() -> tuple[doctor.Component, ...]:
    return doctor.examine()


@pytest.mark.slow
def test_every_required_component_works_here(components: tuple[doctor.Component, ...]) -> None:
    broken = [(c.name, c.self_test) for c in components if c.required and not c.works]
    assert broken == []
    assert doctor.ready(components)
    required = {component.name for component in components if component.required}
    assert required == {"C compiler", "pet", "islpy", "libclang", "NumPy", "runtime library"}


def test_each_component_says_where_it_is_or_how_to_get_it(components: tuple[doctor.Component, ...]) -> None:
    assert len({component.name for component in components}) == len(components) == 17
    for component in components:
        assert component.self_test
        # An installed bubblewrap may lack the system's leave.
        assert "install" in component.remedy or (component.name, component.present) == ("bubblewrap", True)
        assert "\n" not in component.remedy
        if component.works:
            assert component.version
            assert Path(component.where).exists()


def test_a_required_component_that_fails_stops_the_job(components: tuple[doctor.Component, ...]) -> None:
    for position, component in enumerate(components):
        failing = dataclasses.replace(component, works=False)
        others = (*components[:position], failing, *components[position + 1 :])
        assert doctor.ready(others) is not component.required


@pytest.mark.parametrize("name", self_tests.SELF_TESTS)
def test_self_tests_need_what_they_test(name: str, tmp_path: Path) -> None:
    """With an interpreter that sees the sources of polydl and nothing that was installed, none passes."""
    package = Path(doctor.__file__).parent
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from pathlib import Path\n"
        "from polydl import self_tests\n"
        "self_tests.main(sys.argv[1], Path(sys.argv[2]))\n"
    )
    (tmp_path / "polydl").symlink_to(package)
    result = tmp_path / "result.json"
    failure = doctor._run([sys.executable, "-I", "-S", "-c", code, name, str(result)], tmp_path)
    assert failure is None
    assert "error" in result.read_text()


@pytest.mark.parametrize("name", ["libxsmm_bsmmdispatch", "libxsmm_subimmdispatch_reducebatch_offs"])
def test_a_libxsmm_without_a_function_that_is_called_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        library = native.libxsmm_library()
    except MissingComponentError:
        pytest.skip("LIBXSMM is not installed")

    class Lacking:
        def __getattr__(self, asked: str) -> object:
            if asked == name:
                raise AttributeError(asked)
            return getattr(library, asked)

    monkeypatch.setattr(native, "libxsmm_library", Lacking)
    with pytest.raises(self_tests.SelfTestError, match=f"has no {name}$"):
        self_tests.libxsmm()


def test_a_crash_is_told_by_its_signal() -> None:
    assert doctor._run([sys.executable, "-c", "import os; os.abort()"], Path("/")) == "crashed (SIGABRT)"


def test_a_failure_is_told_with_what_was_written() -> None:
    code = "import sys; print('to the point', file=sys.stderr); sys.exit(3)"
    assert doctor._run([sys.executable, "-c", code], Path("/")) == "ended with status 3: to the point"


def test_a_program_that_is_not_there_is_no_crash_of_ours() -> None:
    said = doctor._run(["/no/such/program"], Path("/"))
    assert said == "/no/such/program can't be run: No such file or directory"


def test_a_hang_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_TIMEOUT_SECONDS", 0.2)
    assert "did not end" in (doctor._run(["sleep", "20"], Path("/")) or "")


def test_without_a_compiler_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler = doctor._compiler("C compiler", ("gcc", "cc"), "apt-get install -y gcc", required=True)
    assert (compiler.present, compiler.works) == (False, False)
    assert "gcc or cc" in compiler.self_test
    assert compiler.remedy == "apt-get install -y gcc"


def test_any_compiler_that_the_job_takes_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """gcc is there and broken; clang, whatever it is, does the job."""
    working = Toolchain.find().path
    for name, text in (("gcc", "exit 1"), ("clang", f'PATH=/usr/bin:/bin exec {working} "$@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (compiler,) = (component for component in doctor.examine() if component.name == "C compiler")
    assert (compiler.required, compiler.works, compiler.where) == (True, True, str(tmp_path / "clang"))


def test_packages_that_only_some_commands_need_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _name: None)
    components = [doctor._looked_up(*package) for package in doctor._PACKAGES]
    names = {"matplotlib", "Jinja2", "Pygments", "PyTorch", "onnx", "distributed", "TensorFlow"}
    assert {component.name for component in components} == names
    for component in components:
        assert not component.present
        assert component.self_test.startswith("not installed; ")
        assert component.remedy.endswith(component.name.replace("PyTorch", "torch").replace("TensorF", "tensorf"))


def test_a_compiler_that_compiles_nothing_is_found_but_does_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\necho fake 1.0\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    compiler = doctor._compiler("C compiler", ("gcc",), "apt-get install -y gcc", required=True)
    assert (compiler.present, compiler.works, compiler.version) == (True, False, "fake 1.0")
    assert "status 1" in compiler.self_test

from __future__ import annotations

from pathlib import Path

import pytest

from polydl import registry
from polydl.contracts import Microkernel, Ranker, Trainer
from polydl.contracts.search import Strategy
from polydl.errors import OptionError
from polydl.execute.contract import Executor
from polydl.rewrite_contract import Rewrite

CONTRACTS = {
    "microkernels": Microkernel,
    "rankers": Ranker,
    "trainers": Trainer,
    "rewrites": Rewrite,
    "executors": Executor,
    "strategies": Strategy,
}


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution, installed, that offers three rankers."""
    (tmp_path / "guesswork.py").write_text("GUESS = 'a ranker'\nMINE = 'not the cost model'\n")
    metadata = tmp_path / "guesswork-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: guesswork\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[polydl.rankers]\n"
        "guess = guesswork:GUESS\n"
        "broken = guesswork.missing:GUESS\n"
        "absent = guesswork:ABSENT\n"
        "cost-model = guesswork:MINE\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(("group", "name"), [(g, n) for g, built_in in registry.GROUPS.items() for n in built_in])
def test_every_built_in_plug_in_loads(group: str, name: str) -> None:
    plug_in = registry.load(group, name)
    if group == "frontends":
        assert callable(plug_in)
        return
    members = [member for member in vars(CONTRACTS[group]) if not member.startswith("_")]
    assert members
    assert [member for member in members if not hasattr(plug_in, member)] == []
    assert getattr(plug_in, "name", name) == name


def test_built_in_names_come_first_and_in_order() -> None:
    assert registry.names("microkernels")[:2] == ("libxsmm", "c")
    assert registry.names("rankers")[0] == "cost-model"


@pytest.mark.usefixtures("offered")
def test_another_distribution_adds_a_plug_in() -> None:
    built_in = ("cost-model", "equation-1", "latency", "dnn", "dnn-paper", "regression")
    assert registry.names("rankers") == (*built_in, "absent", "broken", "guess")
    assert registry.load("rankers", "guess") == "a ranker"


@pytest.mark.usefixtures("offered")
def test_a_built_in_name_can_not_be_taken() -> None:
    assert registry.load("rankers", "cost-model") != "not the cost model"


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize("name", ["broken", "absent"])
def test_a_plug_in_that_can_not_be_imported_names_its_distribution(name: str) -> None:
    with pytest.raises(OptionError) as caught:
        registry.load("rankers", name)
    assert "guesswork" in str(caught.value)
    assert "reinstall or remove guesswork" in (caught.value.remedy or "")


def test_an_unknown_name_lists_the_known_ones_and_the_closest() -> None:
    with pytest.raises(OptionError) as caught:
        registry.load("rankers", "cost_model")
    assert caught.value.exit_status == 2
    assert "'cost_model'" in caught.value.message
    assert (caught.value.remedy or "").startswith("did you mean cost-model? ")
    assert "known rankers are cost-model" in (caught.value.remedy or "")


def test_a_name_like_no_other_gets_no_guess() -> None:
    with pytest.raises(OptionError) as caught:
        registry.load("microkernels", "zzzz")
    assert (caught.value.remedy or "") == (
        "The known microkernels are libxsmm, c, c-amx, c-amx-groups, c-bf16, c-int16, c-int8, libxsmm-bf16, "
        "libxsmm-int8"
    )


def test_an_unknown_group_is_an_error() -> None:
    with pytest.raises(OptionError, match="no group"):
        registry.names("ranker")

"""The HTML pages: what they show of a document, and that they need nothing else."""

from __future__ import annotations

import csv
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from page_documents import document, old_document

from polydl.cli import main
from polydl.errors import OptionError
from polydl.ir.measurement import Sample
from polydl.page import comparison, sources, units
from polydl.page.reading import read_run
from polydl.page.render import comparison_page, fragment, run_page
from polydl.page.run import Run
from polydl.records.record import Record, Setting
from polydl.records.store import append

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))
VOID = {"meta", "link", "br", "img", "hr"}


class Page(HTMLParser):
    """The elements of a page; fails where they don't nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def run(**changes: Any) -> Run:
    return read_run({**document(), **changes}, "report.json")


@pytest.fixture(scope="module")
def page() -> str:
    return run_page(run())


def test_the_document_of_these_tests_follows_the_schema() -> None:
    jsonschema.validate(document(), SCHEMA)


@pytest.mark.slow
def test_a_page_needs_nothing_but_itself(page: str) -> None:
    parsed = Page(page)
    for _, attributes in parsed.elements:
        for name in ("href", "src", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), value
    assert not re.search(r"@import|url\((?!#)", page)
    assert [element.get("type") for element in parsed.of("script")] == ["application/json"]
    [policy] = [meta["content"] for meta in parsed.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_every_link_has_its_target(page: str) -> None:
    elements = Page(page).elements
    identities = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    links = {
        value[1:] for _, a in elements for key in ("href", "xlink:href") if (value := a.get(key) or "").startswith("#")
    }
    assert links
    assert links - {str(identity) for identity in identities} == set()


def test_the_headline_is_the_documents(page: str) -> None:
    text = Page(page).text
    assert "Variant 20f50669b735 takes 1.120\u202fms: 16.4\u202f\u00d7 as fast as" in text
    assert "gcc -O3 -march=native -fopenmp -ffast-math (18.40\u202fms)." in text
    assert "median of 7 samples" in text
    assert "206.4\u202fGFLOPS" in text
    assert "92\u202f%" in text


@pytest.mark.slow
def test_the_times_of_a_speed_up_stand_beside_it_where_the_medians_are_others() -> None:
    best = {**document()["best"], "equal_samples": {"count": 4, "seconds": 0.0011, "baseline_seconds": 0.0184}}
    assert "4 samples of each: 1.100\u202fms and 18.40\u202fms" in Page(run_page(run(best=best))).text


@pytest.mark.slow
def test_a_slower_winner_is_called_slower() -> None:
    best = {**document()["best"], "speedup": 0.7}
    text = Page(run_page(run(best=best))).text
    assert (
        "slower than gcc -O3 -march=native -fopenmp -ffast-math (18.40\u202fms), at 0.700\u202f\u00d7 of its speed."
        in text
    )


def test_figures_have_colours_of_the_style_sheet_alone(page: str) -> None:
    figures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    # Four figures, each for wide and for narrow windows.
    assert len(figures) == 8
    for figure in figures:
        assert not re.search(r"(?:fill|stroke)[:=]\"?\s*#", figure)
        assert "var(--" in figure
        assert "<title>" in figure
        assert "DejaVu" not in figure
        assert 'role="img" aria-label="' in figure


def test_what_failed_is_shown_with_its_message_escaped(page: str) -> None:
    assert "expected &#39;&lt;&#39; &amp; &#34;more&#34;" in page
    assert re.search(r"40f50669b735</span>: compile", page)


def test_both_nests_are_shown(page: str) -> None:
    assert page.count('<div class="code">') == 2
    assert "&lt;/script&gt;" in page


def test_all_numbers_are_in_the_page_and_in_its_files(page: str) -> None:
    parsed = Page(page)
    files = {str(a["download"]): str(a["href"]) for a in parsed.of("a") if "download" in a}
    assert sorted(files) == ["conv-c99d29.csv", "conv-c99d29.json"]
    content = {name: b64decode(url.partition(",")[2]).decode() for name, url in files.items()}
    assert json.loads(content["conv-c99d29.json"]) == document()
    rows = list(csv.DictReader(content["conv-c99d29.csv"].splitlines()))
    assert [row["kind"] for row in rows] == [*["baseline"] * 2, *["variant"] * 5]
    assert [float(sample) for sample in rows[3]["sample_seconds"].split()] == pytest.approx(
        document()["candidates"][1]["sample_seconds"]
    )
    [embedded] = re.findall(r'<script type="application/json" id="run-1">(.*?)</script>', page, re.DOTALL)
    assert json.loads(embedded) == document()


def test_the_same_document_gives_the_same_page(page: str) -> None:
    assert run_page(run()) == page


def test_an_older_document_gives_a_page_with_what_it_holds() -> None:
    text = run_page(read_run(old_document(), "report.json"))
    assert "These data hold no source." in text
    assert "takes 1.098\u202fms" in text
    assert "A bar ends at the shortest time" in text
    assert 'aria-label="Times of conv' in text
    assert 'aria-label="Roofline' not in text
    assert "nan" not in Page(text).text.lower().replace("finance", "")


def test_without_a_run_the_picks_are_shown() -> None:
    candidates = [
        {**one, "status": None, "seconds_min": None, "seconds_median": None, "sample_seconds": []}
        for one in document()["candidates"]
    ]
    text = Page(run_page(run(baseline=None, best=None, candidates=candidates))).text
    assert "Nothing was compiled or run" in text
    assert text.count("not run") >= 5


@pytest.mark.slow
def test_several_baselines_and_peers_get_bars_of_their_own() -> None:
    named = [
        {"name": "gcc -O3", "seconds_median": 0.02, "sample_seconds": [0.02, 0.021, 0.019]},
        {"name": "gcc -O3 -ffast-math", "seconds_median": 0.01, "sample_seconds": [0.01, 0.011, 0.009]},
    ]
    peers = [{"name": "onednn", "seconds": 0.001, "note": "jit:avx2", "sample_seconds": [0.001, 0.0011, 0.00101]}]
    several = run(baselines=named, peers=peers)
    assert [one.name for one in several.baselines] == ["gcc -O3", "gcc -O3 -ffast-math"]
    text = run_page(several)
    for name in ("gcc -O3 -ffast-math", "onednn"):
        assert f">{name}</text>" in text or name[:15] in text
    assert "jit:avx2" in text


@pytest.mark.parametrize("broken", [{"schema": "polydl.parse/1"}, {"schema": "polydl.optimize/1"}, {}])
def test_what_is_no_result_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"x\.json"):
        read_run(broken, "x.json")


def test_two_runs_are_compared() -> None:
    other = document()
    other["best"] = {**other["best"], "seconds": 0.00056, "id": other["candidates"][0]["id"]}
    other["machine"] = {**other["machine"], "threads": 1}
    page = comparison_page(run(), read_run(other, "b.json"))
    text = Page(page).text
    assert "B is 2.00\u202f\u00d7 as fast." in text
    assert "different numbers of threads" in text
    assert "FMA peak of a core" in text
    assert page.count('<script type="application/json"') == 2


def test_runs_of_different_work_have_no_ratio() -> None:
    other = document()
    other["input"] = {**other["input"], "flops": 7, "digest": "0" * 16}
    second = read_run(other, "b.json")
    assert comparison.speedup(run(), second) is None
    assert "different nests" in " ".join(comparison.cautions(run(), second))
    assert comparison.common(run(), run()).rows
    assert not comparison.common(run(), second).rows


@pytest.mark.slow
def test_the_command_takes_files_folders_and_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "polydl-out" / "conv"
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(document()))
    for arguments in ([], ["polydl-out/conv"], ["report.html", "--out", "again.html"]):
        ended = CliRunner().invoke(main, ["report", *arguments])
        assert ended.exit_code == 0, ended.output
    assert (tmp_path / "again.html").read_text() == (tmp_path / "report.html").read_text()
    both = CliRunner().invoke(main, ["report", "report.html", str(folder), "--out", "both.html"])
    assert both.exit_code == 0, both.output
    assert "two runs" in (tmp_path / "both.html").read_text()


def test_a_page_is_not_written_over_its_source(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document()))
    ended = CliRunner().invoke(main, ["report", str(path), "--out", str(path)])
    assert ended.exit_code == 2
    assert "over what it is made of" in ended.output
    assert json.loads(path.read_text()) == document()


def recorded(run_id: str, kind: Any, identity: str, seconds: float | None) -> Record:
    samples = (
        tuple(Sample(seconds * part, (100.0, 101.0), part > 2) for part in (1.0, 1.1, 1.2, 9.0)) if seconds else ()
    )
    return Record(
        kind=kind, id=identity, nest="c99d2950f74b5864", function="conv", flops=1_000_000,
        setting=Setting("AuthenticAMD-25-1", 2, "gcc 12.2.0 -O3", (("libxsmm", "1.17"),)),
        status="ok" if seconds else "crash", run=run_id, date="2026-11-23T08:00:00+00:00", samples=samples,
        seconds_minimum=seconds, seconds_median=seconds and 1.1 * seconds, message="" if seconds else "signal 11",
        peak_gflops=101.0,
    )  # fmt: skip


def test_a_run_of_the_records_has_a_page(tmp_path: Path) -> None:
    first, second = "a" * 12, "ab" * 6
    append(
        tmp_path,
        [
            recorded(first, "original", "original", 0.004),
            recorded(first, "variant", "71f380859983", 0.001),
            recorded(first, "variant", "81f380859983", None),
            recorded(first, "peer", "onednn", 0.002),
            recorded(second, "original", "original", 0.004),
        ],
    )
    loaded = sources.load("aaaa", tmp_path)
    assert isinstance(loaded, Run)
    assert loaded.winner is not None
    assert loaded.winner.id == "71f380859983"
    assert loaded.winner.speedup == pytest.approx(4.0)
    assert [peer.name for peer in loaded.peers] == ["onednn"]
    assert len(loaded.peers[0].samples) == 3
    page = run_page(loaded)
    assert "signal 11" in page
    assert "gcc 12.2.0 -O3" in page
    nest = tmp_path / "nest.c"
    nest.write_text("void f(void) {}\n")
    with pytest.raises(OptionError, match="this is C, not the report of a run") as raised:
        sources.load(str(nest), tmp_path)
    assert "`polydl optimize FILE.c` writes" in (raised.value.remedy or "")
    with pytest.raises(OptionError, match="there is no aaa") as short:
        sources.load("aaa", tmp_path)
    assert "at least its first four letters" in (short.value.remedy or "")
    with pytest.raises(OptionError, match="no run cccc"):
        sources.load("cccc", tmp_path)
    append(tmp_path, [recorded("aaaab" * 2, "original", "original", 0.004)])
    with pytest.raises(OptionError, match="may be"):
        sources.load("aaaa", tmp_path)


def test_a_notebook_gets_a_short_form() -> None:
    short = fragment(run())
    Page(short)
    assert len(short) < 6000
    assert "16.4\u202f\u00d7 as fast" in short
    assert "<script" not in short


def test_numbers_of_a_column_share_unit_and_decimals() -> None:
    scale = units.time_scale([0.00112, 0.0184, None])
    assert scale.unit == "ms"
    assert [scale.text(value) for value in (0.00112, 0.0184, None)] == ["1.120", "18.400", units.NOTHING]
    assert units.size(33554432) == "32\u202fMiB"
    assert units.size(4_544_000) == "4.33\u202fMiB"
    assert units.significant(2.1e-6, 3) == "2.1·10⁻⁶"
    assert units.operations(231_211_008) == "231.2\u202fMflop"


def test_a_single_sample_of_the_winner_leaves_the_page_with_medians() -> None:
    content = document()
    winner = content["candidates"][1]
    winner |= {"seconds_min": winner["seconds_median"], "sample_seconds": [winner["seconds_median"]]}
    loaded = read_run(content, "report.json")
    assert loaded.statistic == "median"
    assert [one.timed.seconds for one in loaded.variants] == [one["seconds_median"] for one in content["candidates"]]


def test_a_run_of_the_records_is_compared_by_medians(tmp_path: Path) -> None:
    one = recorded("a" * 12, "variant", "71f380859983", 0.001)
    # Its shortest sample is shorter, its median is not.
    lucky = replace(one, id="81f380859983", seconds_minimum=0.0005, seconds_median=0.0012)
    append(tmp_path, [one, lucky])
    loaded = sources.load("aaaa", tmp_path)
    assert isinstance(loaded, Run)
    assert loaded.winner is not None
    assert loaded.statistic == "median"
    assert (loaded.winner.id, loaded.winner.seconds) == (one.id, one.seconds_median)


def test_runs_by_different_statistics_are_compared_by_medians() -> None:
    first, second = run(), read_run(old_document(), "old.json")
    assert (first.statistic, second.statistic) == ("median", "shortest")
    ours, theirs = comparison.alike(first, second)
    assert comparison.speedup(ours, theirs) == pytest.approx(1.0)
    assert not any("medians" in one for one in comparison.cautions(ours, theirs))
    assert "B is 1.00\u202f\u00d7 as fast." in Page(comparison_page(first, second)).text
    unknown = old_document()
    for one in unknown["candidates"]:
        one["seconds_median"] = None
    third = read_run(unknown, "older.json")
    assert any("medians" in one for one in comparison.cautions(*comparison.alike(first, third)))

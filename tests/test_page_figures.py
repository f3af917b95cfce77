"""The figures of the HTML pages: labels that are told apart."""

from __future__ import annotations

import re
from math import log

import pytest
from page_documents import with_many_builds

from polydl.page.figures.canvas import NARROW, WIDE, Width
from polydl.page.figures.roofline import joined
from polydl.page.figures.times import labels
from polydl.page.reading import read_run
from polydl.page.render import run_page
from polydl.page.run import Timed

GCC = "gcc -O3 -march=native -fopenmp"
BUILDS = [Timed(one["name"], "baseline", 1.0) for one in with_many_builds()["baselines"]]


@pytest.mark.parametrize("width", [WIDE, NARROW], ids=lambda width: width.name)
def test_builds_whose_names_differ_at_their_ends_have_labels_of_their_own(width: Width) -> None:
    bars = [Timed("84f404c97c5c", "variant", 1.0), *BUILDS, Timed("onednn", "peer", 1.0), Timed("", "peer", 1.0)]
    texts = labels(bars, "84f404c97c5c", width)
    assert len(set(texts)) == len(bars)
    assert all(len(line) <= (20 if width.narrow else 36) for text in texts for line in text.splitlines())
    assert max(text.count("\n") for text in texts) < (4 if width.narrow else 2)
    assert texts[0].startswith("winner 84f404")
    assert texts[-2:] == ["onednn", ""]
    if not width.narrow:
        assert texts[1:4] == [GCC, "gcc …, omp parallel for", "gcc … -ftree-parallelize-loops=2"]


def test_a_build_of_a_compiler_by_itself_and_short_names_stay_whole() -> None:
    bars = [Timed(name, "baseline", 1.0) for name in (GCC, "clang -O3", "clang -O3 -ffast-math")]
    assert labels(bars, "", WIDE) == [bar.name for bar in bars]


def test_a_page_has_every_build_whole_in_its_tips_and_says_what_is_left_out() -> None:
    several = with_many_builds()
    page = run_page(read_run(several, "report.json"))
    for bar in BUILDS:
        assert f"<title>{bar.name}: " in page
    assert "half of them. “…” stands for what the names of all builds" in page
    one = {**several, "baselines": several["baselines"][:1]}
    assert "stands for what" not in run_page(read_run(one, "report.json"))


def test_caches_whose_labels_would_overlap_share_one() -> None:
    places = {"L3": 1.17, "L1": 0.53, "L2": 1.0}
    assert list(joined(places, log(2) / 100)) == ["L1", "L2", "L3"]
    shared = joined(places, log(2) / 60)
    assert list(shared) == ["L1", "L2, L3"]
    assert shared["L2, L3"] == pytest.approx(1.17**0.5)
    assert list(joined(places, log(2) / 30)) == ["L1, L2, L3"], "the longer label reaches the one before it"


def test_the_roofline_of_a_phone_has_one_label_for_caches_that_are_about_as_fast() -> None:
    page = run_page(read_run(with_many_builds(), "report.json"))
    wide, narrow = re.findall(r"<svg[^>]*aria-label=\"Roofline.*?</svg>", page, re.DOTALL)
    assert ">L2</text>" in wide
    assert ">L2, L3</text>" in narrow

"""Python looks for cycles again after a pause, also after an error, and only if it did before."""

from __future__ import annotations

import gc

import pytest

from polydl.system import cycle_collection


def test_collection_goes_on_after_a_pause() -> None:
    with cycle_collection.paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), cycle_collection.paused():
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_pause_inside_another_does_not_end_it() -> None:
    with cycle_collection.paused():
        with cycle_collection.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()

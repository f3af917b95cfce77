"""The builds of the plain nest are compiled while its variants are analysed, on the cores that analysis leaves free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from polydl.execute.build import Building
from polydl.execute.contract import Built, ProgressCallback
from polydl.outcome.baselines import PlainBuild
from polydl.records.resume import Book
from polydl.system.control_groups import usable_processors
from polydl.system.files import temporary_directory


@dataclass(frozen=True)
class PlainBuilding:
    """The builds that variants are compared with; compilers may be at work on some of them."""

    #: the nest as it was written, with the toolchain's own flags, is the first
    builds: tuple[PlainBuild, ...] = ()
    #: None where nothing is compiled in the background
    building: Building | None = None

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the builds that are compiled in the background."""
        return frozenset() if self.building is None else self.building.ids

    def wait(self, progress: ProgressCallback | None = None) -> Mapping[str, Built]:
        """What was compiled in the background, by id, once all of it is. Raises ResourceError when the disk is full."""
        built = () if self.building is None else self.building.results(progress)
        return {each.kernel.id: each for each in built}


@contextmanager
def plain_building(builds: Sequence[PlainBuild], book: Book | None) -> Iterator[PlainBuilding]:
    """Compile builds in the background, without those that the book has measurements of.

    What is compiled is there until the context ends.
    """
    known = book.known(each.kernel for each in builds).records if book is not None else {}
    unknown = [(each.kernel, each.toolchain) for each in builds if each.kernel.id not in known]
    if not unknown:
        yield PlainBuilding(tuple(builds))
        return
    # One core analyses meanwhile.
    jobs = max(1, usable_processors() - 1)
    with temporary_directory() as directory, Building(unknown, directory, jobs=jobs) as building:
        yield PlainBuilding(tuple(builds), building)

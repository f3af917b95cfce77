"""Results of the parts of a benchmark run, made one document again."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from polydl.bench.ratios import Document
from polydl.bench.results import concluded, require_alike
from polydl.errors import OptionError
from polydl.optimization.shards import Shard

#: What to do about a file that is no part of the run, or can't be read.
REMEDY = "name the results of each part of one run, once"


def merged(parts: Mapping[str, Document]) -> Document:
    """The document of the run that wrote these, each named by its file, in any order, as its parts.

    Its results are in the order of the whole. Raises OptionError unless these are all parts of one run.
    """
    by_number: dict[int, tuple[str, Document]] = {}
    counts: dict[int, str] = {}
    for file, document in parts.items():
        if document.get("shard") is None:
            raise OptionError("holds no part of a run, but a whole one", file=file, remedy=REMEDY)
        shard = Shard.parse(document["shard"])
        counts.setdefault(shard.count, file)
        if len(counts) > 1:
            other = next(iter(counts.values()))
            raise OptionError(f"is part {shard}, and {other} another whole's", file=file, remedy=REMEDY)
        if shard.number in by_number:
            raise OptionError(f"is part {shard} like {by_number[shard.number][0]}", file=file, remedy=REMEDY)
        by_number[shard.number] = file, document
    [count] = counts
    lacking = [str(Shard(number, count)) for number in range(1, count + 1) if number not in by_number]
    if lacking:
        raise OptionError(f"the results of {', '.join(lacking)} are not named", remedy=REMEDY)
    _, first = by_number[1]
    for file, document in by_number.values():
        require_alike(first, document, file, REMEDY)
    documents = [document for _, (_, document) in sorted(by_number.items())]
    # Every N-th workload is in the same part.
    turns = zip_longest(*(document["results"].items() for document in documents))
    results = dict(item for turn in turns for item in turn if item is not None)
    started = min(document["started"] for document in documents)
    return concluded({**first, "started": started, "shard": None, "results": results})

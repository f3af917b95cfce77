"""The C file as bytes, and edited views of it whose offsets can be mapped back.

Clang counts bytes. Inside the front end a file is therefore a string with one character per byte (Latin-1); offsets in
a Scop count characters of the UTF-8 text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polydl.c_tokens import TokenKind, tokens
from polydl.errors import SourceError, printable
from polydl.system.files import NO_TEXT, is_text

#: No source that a person wrote comes near; the passes over a file of this size take seconds.
MOST_BYTES = 4 << 20
# Characters of a text that was taken for a path.
_SHOWN = 60
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check_path(path: Path) -> None:
    """Check that libclang and JSON documents can hold the absolute path. Raises SourceError."""
    absolute = os.path.abspath(path)
    if not is_text(absolute):
        raise SourceError(
            NO_TEXT,
            file=str(path),
            construct=printable(absolute),
            remedy="rename what isn't, such as with convmv, or run polydl where no folder above has such a name",
        )


def not_a_file(mode: int) -> str | None:
    """What a path with such a mode (``st_mode``) names, in words; None for a regular file and for a directory."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    return _KINDS.get(stat.S_IFMT(mode), "no file")


def read_source(path: Path) -> bytes:
    """The file's content. Raises SourceError unless it is a regular file of readable UTF-8 text that isn't empty."""
    text = str(path)
    if "{" in text and "}" in text and not os.path.lexists(path):
        raise SourceError(
            "this is C itself, not the path of a file with it",
            construct=printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."),
            remedy="write the text to a file, and give its path",
        )
    check_path(path)
    try:
        # Before it is opened, which may wait for ever or have an effect.
        status = path.stat()
        kind = not_a_file(status.st_mode)
        if kind is not None:
            raise SourceError(
                f"this is {kind}, not a file",
                file=str(path),
                remedy="save the C to a file, and give its path",
            )
        if status.st_size > MOST_BYTES:
            raise SourceError(
                f"the file has {status.st_size / 2**20:.1f} MiB, and polydl reads at most {MOST_BYTES >> 20}",
                file=str(path),
                remedy="move the function with the loops, and what it needs, to a file of its own",
            )
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES)
    except FileNotFoundError:
        raise SourceError("there is no such file", file=str(path), remedy="give the path of a C file") from None
    except IsADirectoryError:
        raise SourceError("this is a directory", file=str(path), remedy="give the path of a C file") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(
            f"the file can't be read: {reason}", file=str(path), remedy="give the path of a C file that you may read"
        ) from None
    if not content.strip():
        raise SourceError("the file is empty", file=str(path), remedy="give a C file with a function in it")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise SourceError(
            "this is a binary file, not C text", file=str(path), line=line, remedy="give the path of a C source file"
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SourceError(
            "the file is not UTF-8 text", file=str(path), line=line, remedy="convert it, such as with iconv -t UTF-8"
        ) from None
    return content


@dataclass(frozen=True)
class Edit:
    """Replace ``text[start:end]``; an insertion where both are equal."""

    #: offset of the first character that is replaced
    start: int
    #: offset behind the last one
    end: int
    replacement: str


@dataclass(frozen=True)
class Enclosure:
    """Put something round ``text[start:end]``; of two that begin or end at one place, one is inside of the other."""

    #: offset of the first character inside
    start: int
    #: offset behind the last one
    end: int
    #: what is to come before it
    opening: str
    #: what is to come behind it
    closing: str = ")"


def enclosing(enclosures: Sequence[Enclosure]) -> list[Edit]:
    """One edit at each place for all that begin or end there; of the same part, the first is the outermost."""
    openings: dict[int, str] = {}
    closings: dict[int, str] = {}
    for enclosure in sorted(enclosures, key=lambda enclosure: (enclosure.start, -enclosure.end)):
        openings[enclosure.start] = openings.get(enclosure.start, "") + enclosure.opening
        closings[enclosure.end] = enclosure.closing + closings.get(enclosure.end, "")
    places = sorted({*openings, *closings})
    return [Edit(place, place, closings.get(place, "") + openings.get(place, "")) for place in places]


class EditedText:
    """A text made from another one by edits.

    ``origins[i]`` is the offset in the original of the text's character ``i``, and the last entry that of its end. The
    origin of an inserted character is the start of the text that it replaced.
    """

    def __init__(self, text: str, origins: Sequence[int] | None = None) -> None:
        self.text = text
        self.origins = list(origins) if origins is not None else list(range(len(text) + 1))

    def apply(self, edits: Iterable[Edit]) -> EditedText:
        """All edits at once; they must not overlap. Equal edits count once."""
        pieces: list[str] = []
        origins: list[int] = []
        position = 0
        for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end, edit.replacement)):
            if edit.start < position:
                raise ValueError(f"overlapping edits at {edit.start}")
            pieces += [self.text[position : edit.start], edit.replacement]
            origins += self.origins[position : edit.start]
            origins += [self.origins[edit.start]] * len(edit.replacement)
            position = edit.end
        pieces.append(self.text[position:])
        origins += self.origins[position:]
        return EditedText("".join(pieces), origins)

    def breakpoints(self) -> list[tuple[int, int]]:
        """The origins in short: (position, origin) wherever they don't count up by one."""
        breakpoints = []
        expected = -1
        for position, origin in enumerate(self.origins):
            if origin != expected:
                breakpoints.append((position, origin))
            expected = origin + 1
        return breakpoints

    @staticmethod
    def from_breakpoints(text: str, breakpoints: Sequence[Sequence[int]]) -> EditedText:
        """The inverse of ``breakpoints``."""
        origins: list[int] = []
        ends = [start for start, _ in breakpoints[1:]] + [len(text) + 1]
        for (start, origin), end in zip(breakpoints, ends, strict=True):
            origins += range(origin, origin + end - start)
        return EditedText(text, origins)


class Place:
    """The file of a message; converts offsets to lines."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def line(self, offset: int) -> int:
        """The 1-based line of an offset; line 1 where the offset is not known (-1)."""
        return line_of(self.text, max(offset, 0))

    def quote(self, offset: int) -> str:
        """The line at an offset."""
        return one_line(self.text.split("\n")[self.line(offset) - 1])

    def between(self, start: int, end: int) -> str:
        """What stands between two offsets, such as the header of a loop."""
        return one_line(self.text[start:end], 120)


def line_of(text: str, offset: int) -> int:
    """The 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def one_line(text: str, limit: int = 160) -> str:
    """``text`` as a message quotes it: decoded to characters, with single spaces, and at most ``limit`` long."""
    short = " ".join(text.split())
    if not short.isascii():
        short = short.encode("latin-1", "replace").decode("utf-8", "replace")
    return short if len(short) <= limit else short[: limit - 1] + "…"


def without_comments(text: str, *, keep_strings: bool = False) -> str:
    """``text`` with comments, strings and character constants replaced by blanks; offsets and lines stay the same."""
    blanked = {TokenKind.COMMENT} if keep_strings else {TokenKind.COMMENT, TokenKind.STRING}
    return "".join([_blank(token.text) if token.kind in blanked else token.text for token in tokens(text)])


def _blank(text: str) -> str:
    return "\n".join([" " * len(line) for line in text.split("\n")])

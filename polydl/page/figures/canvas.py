"""A matplotlib figure whose colours are roles, and its SVG as a part of a page.

Text stays text in the page's font. A colour is a role's placeholder until the SVG is written, and a variable of the
style sheet from then on, so that one figure serves light and dark.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from polydl.errors import MissingComponentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Points of the figure are pixels of the page.
_POINTS_PER_INCH = 72
_COLOUR = re.compile(r"#0([1-9])(?:0\1){2}")
_FAMILY = re.compile(r"(font: (?:[a-z0-9]+ )*?[\d.]+px) [^;]*|font-family: [^;]*;? ?")
_REFERENCE = re.compile(r"#([\w-]+)")

# Texts that appear over artists, by the artist's gid.
Tips = Mapping[str, str]

ROLES = ("ink", "muted", "grid", "winner", "variant", "baseline", "peer", "failed", "surface")


def colour(role: str) -> str:
    """The placeholder of a role, for matplotlib."""
    digit = f"0{ROLES.index(role) + 1}"
    return f"#{digit * 3}"


@dataclass(frozen=True)
class Width:
    """A width that figures are drawn for, in pixels of the page."""

    #: for ids and classes on the page
    name: str
    #: of the page, from left to right
    pixels: int

    @property
    def narrow(self) -> bool:
        """Whether figures of this width have shorter labels and fewer ticks."""
        return self.pixels < 500


WIDE, NARROW = Width("wide", 720), Width("narrow", 336)


def in_lines(text: str, columns: int) -> str:
    """All of a label in lines of at most so many characters; words are broken, at hyphens, only if they are longer."""
    lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
    return "\n".join(part for line in lines for part in textwrap.wrap(line, columns))


def drawn(name: str, label: str, width: Width, height: int, paint: Callable[[Axes], Tips]) -> str:
    """An ``<svg>`` element of so many pixels with what ``paint`` draws into one pair of axes.

    ``name`` makes its ids unique in a page, ``label`` says what it shows. Raises MissingComponentError without
    matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingComponentError("matplotlib is not installed", remedy="pip install 'polydl[report]'") from None
    content = io.BytesIO()
    with matplotlib.rc_context({**_style(), "svg.fonttype": "none", "svg.hashsalt": name}):
        size = (width.pixels / _POINTS_PER_INCH, height / _POINTS_PER_INCH)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        axes.set_axisbelow(True)
        tips = paint(axes)
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    return _markup(content.getvalue(), f"{name}-{width.name}", label, tips)


def _style() -> dict[Any, Any]:
    """matplotlib's settings; its stubs know their keys one by one."""
    ink, muted, grid = colour("ink"), colour("muted"), colour("grid")
    return {
        "font.size": 12,
        "axes.labelsize": 12,
        "xtick.labelsize": 12,
        "ytick.labelsize": 12,
        "text.color": ink,
        "axes.labelcolor": muted,
        "axes.edgecolor": grid,
        "axes.linewidth": 1.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": grid,
        "grid.linewidth": 0.8,
        "xtick.color": grid,
        "ytick.color": grid,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": muted,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
    }


def _markup(svg: bytes, name: str, label: str, tips: Tips) -> str:
    """matplotlib's SVG as an element of a page."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(svg)
    for element in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(element)
    _rename(root, name, tips)
    for element in root.iter():
        style = element.get("style")
        if style is not None:
            element.set("style", _COLOUR.sub(_variable, _in_page_font(style)))
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.set("class", "figure")
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")


def _in_page_font(style: str) -> str:
    """A text's style without a family, whether it names one in ``font`` or by itself."""
    return _FAMILY.sub(lambda named: (named[1] or "").replace("font:", "font-size:"), style)


def _variable(placeholder: re.Match[str]) -> str:
    return f"var(--{ROLES[int(placeholder[1]) - 1]})"


def _rename(root: ElementTree.Element, name: str, tips: Tips) -> None:
    """Only ids that something refers to stay, with ``name`` before them; those of ``tips`` become titles."""
    used: set[str] = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(_REFERENCE.findall(value))
    for element in root.iter():
        identity = element.get("id")
        if identity is not None:
            if identity in tips:
                title = ElementTree.Element(f"{{{_SVG}}}title")
                title.text = tips[identity]
                element.insert(0, title)
            if identity in used:
                element.set("id", f"{name}-{identity}")
            else:
                del element.attrib["id"]
        for key, value in element.attrib.items():
            if key == _LINK or "url(#" in value:
                element.set(key, value.replace("#", f"#{name}-", 1) if key == _LINK else _prefixed(value, name))


def _prefixed(value: str, name: str) -> str:
    return value.replace("url(#", f"url(#{name}-")

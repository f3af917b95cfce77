"""C with highlighting, as HTML with classes that the page's style sheet colours."""

from __future__ import annotations

from polydl.errors import MissingComponentError


def highlighted(c: str) -> str:
    """The C text as a ``<pre>`` element with line numbers. Raises MissingComponentError without Pygments."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import CLexer
    except ImportError:
        raise MissingComponentError("Pygments is not installed", remedy="pip install 'polydl[report]'") from None
    formatter = HtmlFormatter(nowrap=False, cssclass="code", linenos="inline", wrapcode=True)
    return str(highlight(c.strip("\n") + "\n", CLexer(), formatter))

"""Facts about prose formats: which parts of their files are not sentences."""

from dataclasses import replace

from editvec.syntax.languages.base import PROSE, Markup

LANGUAGES = (
    Markup(
        name="markdown",
        extensions=(".md", ".markdown", ".mdx"),
        is_markdown=True,
        comment=r"<!--[\s\S]*?-->",
    ),
    Markup(
        name="latex",
        extensions=(".tex", ".latex"),
        fences=(
            (
                r"\s*\\begin\{(verbatim|lstlisting|minted|equation|align|tabular|tikzpicture|figure|table)",
                r".*\\end\{{opened}",
            ),
            (r"\s*(\\\[)\s*$", r"\s*\\\]"),
        ),
        skip=r"\s*(%|\\(begin|end|documentclass|usepackage|label|newcommand|input|include|bibliography|"
        r"vspace|centering|maketitle)\b)",
        starts=r"\s*\\(item|section|subsection|subsubsection|chapter|paragraph)\b",
        marker=r"\s*(?:\\item\s*)?",
        comment=r"(?<!\\)%.*",
    ),
    Markup(
        name="rst",
        extensions=(".rst", ".rest"),
        fences=(),
        skip=r"\s*(\.\.(\s|$)|:[\w-]+:(\s|$)|\+[-=+]+|={3,}|-{3,}|~{3,}|\^{3,}|\|)",
        starts=r"\s*([-*+•]\s|1[.)]\s|#\.\s)",
        follows=r"\s*\d{1,9}[.)]\s",
        marker=r"\s*(?:(?:[-*+•]|\d+[.)]|#\.)\s+)*",
        indented_code=True,
        spacing=replace(PROSE, roles=True),
        comment=r"^[ \t]*\.\.[ \t].*",
    ),
    Markup(
        name="text",
        extensions=(".txt",),
        starts=r"\s*([-*+]\s|1[.)]\s)",
        follows=r"\s*\d{1,9}[.)]\s",
        marker=r"\s*(?:[-*+]\s+|\d+[.)]\s+)?",
    ),
)

"""Write tables as Markdown and as one HTML page with SVG plots. The page needs no network and has no script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from editvec.reproduction.tables import Row, Table

_STYLE = """
body { margin: 2em auto; max-width: 60em; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: 2px 12px; text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
tr:nth-child(even) { background: #f5f5f5; } .better { color: #146c2e; } .worse { color: #b3261e; }
p.note { color: #555; margin: .3em 0; } img { max-width: 100%; } svg text { font: 12px system-ui, sans-serif; }
"""
_PAPER, _OURS = "#9aa7b5", "#1f5fbf"


def markdown(tables: Sequence[Table], *, head: str) -> str:
    """Return all tables as Markdown."""
    parts = ["# The paper's tables, reproduced", "", head, ""]
    for table in tables:
        parts += [f"## {table.title}", ""]
        if table.rows:
            parts += ["| | | paper | ours | difference |", "|---|---|---|---|---|"]
            parts += ["| " + " | ".join(map(_plain, cells(row))) + " |" for row in table.rows]
            parts.append("")
        if table.picture:
            parts += [f"![{table.title}]({table.picture})", ""]
        parts += [f"- {_plain(note)}" for note in table.notes] + [""]
    return "\n".join(parts)


def html(tables: Sequence[Table], *, head: str, folder: Path) -> str:
    """Return all tables as one HTML page that contains the pictures."""
    body = [f"<h1>The paper's tables, reproduced</h1><p>{escape(head)}</p>"]
    for table in tables:
        body.append(f"<h2>{escape(table.title)}</h2>")
        if table.rows:
            body.append("<table><tr><th></th><th></th><th>paper</th><th>ours</th><th>difference</th></tr>")
            body += [_row(row) for row in table.rows]
            body.append("</table>")
            body.append(bars(table.rows))
        picture = folder / table.picture if table.picture else None
        if picture is not None and picture.is_file():
            data = b64encode(picture.read_bytes()).decode()
            body.append(f'<img alt="{escape(table.title)}" src="data:image/png;base64,{data}">')
        body += [f'<p class="note">{escape(note)}</p>' for note in table.notes]
    title = "The paper's tables, reproduced"
    start = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    return f"{start}<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """Return the cells of a row as text."""
    numbers = ["–" if value is None else f"{value:,.{row.digits}f}" for value in (row.paper, row.ours)]
    difference = "–" if row.difference is None else f"{row.difference:+,.{row.digits}f}"
    return row.name, row.metric, numbers[0], numbers[1], difference


def _row(row: Row) -> str:
    name, metric, theirs, ours, difference = map(escape, cells(row))
    kind = ""
    if row.difference:
        # A smaller perplexity is better.
        kind = "better" if (row.difference > 0) != (row.metric == "PPL") else "worse"
    return (
        f'<tr><td>{name}</td><td>{metric}</td><td>{theirs}</td><td>{ours}</td><td class="{kind}">{difference}</td></tr>'
    )


def bars(rows: Sequence[Row]) -> str:
    """Return the percentages as SVG bars, the paper's above ours; empty text if there are none."""
    shown = [row for row in rows if row.metric.endswith("%") and (row.paper is not None or row.ours is not None)]
    if not shown:
        return ""
    high, left, wide = 30, 330, 420
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 70}" height="{high * len(shown) + 24}">']
    for at, row in enumerate(shown):
        top = at * high + 20
        label = escape(f"{row.name}, {row.metric.removesuffix(' %')}")
        parts.append(f'<text x="{left - 8}" y="{top + 15}" text-anchor="end">{label}</text>')
        for value, colour, down in ((row.paper, _PAPER, 0), (row.ours, _OURS, 11)):
            if value is not None:
                size = wide * min(100.0, max(0.0, value)) / 100
                parts.append(f'<rect x="{left}" y="{top + down}" width="{size:.1f}" height="10" fill="{colour}"/>')
                parts.append(f'<text x="{left + size + 5:.1f}" y="{top + down + 9}" font-size="10">{value:.1f}</text>')
    for name, colour, start in (("paper", _PAPER, left), ("ours", _OURS, left + 60)):
        parts.append(f'<rect x="{start}" y="2" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{start + 14}" y="12">{name}</text>')
    parts.append("</svg>")
    return "".join(parts)


def _plain(text: str) -> str:
    """Escape text for a Markdown table, and replace control characters with spaces."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return escape(shown, quote=False).replace("|", "\\|").replace("`", "\\`")

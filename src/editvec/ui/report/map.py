"""A map of edits: one HTML file that needs no network, or a PNG or SVG picture."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.data.extras import require
from editvec.diff.words import turns, word_diff
from editvec.ui.report.page import embedded_json

Places = NDArray[np.float32]
COLOURS = (
    "#1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b #e377c2 #17becf #bcbd22 #000075 "
    "#f5c400 #006d5b #ff00ff #66cc00 #000000 #800000 #a6cee3 #fdbf9f #b090ff #5a6e00"
).split()
_REST = "#9e9e9e"


def map_page(edits: Sequence[Edit], places: Places, schemes: Mapping[str, Sequence[str]], *, title: str) -> str:
    """Return the map as one HTML file.

    `places` has the shape [edits, 2]. A scheme has a name for each edit, which is shown as a colour; the name is empty
    for an edit without one.
    """
    chance = np.random.default_rng(0).permutation(len(edits))
    document: dict[str, Any] = {
        "title": title,
        "colours": COLOURS,
        "ids": [edit.id for edit in edits],
        "x": [round(float(value), 4) for value in places[:, 0]],
        "y": [round(float(value), 4) for value in places[:, 1]],
        "chance": chance.tolist(),
        "before": [],
        "after": [],
        "schemes": [_scheme(name, values) for name, values in schemes.items()],
    }
    for edit in edits:
        before, after = word_diff(edit)
        document["before"].append(turns(before))
        document["after"].append(turns(after))
    page = _resource("map.html")
    for mark, text in (
        ("/*STYLE*/", _resource("map.css")),
        ("/*SCRIPT*/", _resource("map.js")),
        ("/*DATA*/", embedded_json(document)),
    ):
        page = page.replace(mark, text)
    return page


def _scheme(name: str, values: Sequence[str]) -> dict[str, object]:
    names = sorted(set(values))
    number = {each: at for at, each in enumerate(names)}
    return {"name": name, "names": names, "values": [number[value] for value in values], "none": f"no {name}"}


def _resource(name: str) -> str:
    return files("editvec.ui.report").joinpath(name).read_text(encoding="utf-8")


def map_picture(places: Places, names: Sequence[str], *, ending: str, inches: float = 7.0) -> bytes:
    """Return the map as PNG or SVG.

    `places` has the shape [edits, 2]. Each of the 20 most frequent names has a colour and is written near its points.
    """
    require("matplotlib", extra="vectors", what="Pictures").use("agg")
    from matplotlib import pyplot as plt

    known = np.array(names)
    found, counts = np.unique(known[known != ""], return_counts=True)
    ranked = [str(found[at]) for at in np.lexsort((found, -counts))]
    colour = dict(zip(ranked, COLOURS, strict=False))
    figure, axes = plt.subplots(figsize=(inches, inches), layout="constrained")
    # The order is random, so that the points of one name do not cover those of another.
    order = np.random.default_rng(0).permutation(len(places))
    size = float(np.clip(9_000 / max(1, len(places)), 1.5, 16))
    axes.scatter(
        places[order, 0],
        places[order, 1],
        s=size,
        c=[colour.get(str(known[at]), _REST) for at in order],
        alpha=0.8,
        linewidths=0,
        rasterized=len(places) > 5_000,
    )
    axes.set_aspect("equal")
    axes.set_xlim(-1.08, 1.08)
    axes.set_ylim(-1.08, 1.08)
    axes.axis("off")
    figure.draw_without_rendering()
    _write_names(figure, axes, places, {name: places[known == name] for name in ranked[: len(COLOURS)]}, colour)
    stream = io.BytesIO()
    figure.savefig(stream, format=ending, dpi=150, metadata={"Date": None} if ending == "svg" else {})
    plt.close(figure)
    return stream.getvalue()


def _write_names(
    figure: Any, axes: Any, places: Places, members: Mapping[str, Places], colours: Mapping[str, str]
) -> None:
    """Write each name near the densest group of its points, where it covers few points and no other name."""
    from matplotlib import patheffects

    on_screen = axes.transData.transform(places)
    taken: list[Any] = []
    for name, own in members.items():
        heap = axes.transData.transform([_densest(own)])[0]
        text = axes.text(*_densest(own), name, color=colours[name], fontsize=9, weight="bold", ha="center", va="center")
        text.set_path_effects([patheffects.withStroke(linewidth=2, foreground="white")])
        box = text.get_window_extent(figure.canvas.get_renderer())
        wide, high = box.width / 2 + 2, box.height / 2 + 2

        def cost(at: Any, wide: float = wide, high: float = high, heap: Any = heap) -> float:
            covered = (np.abs(on_screen - at) < (wide, high)).all(axis=1).sum()
            crossed = sum(abs(at[0] - x) < wide + w and abs(at[1] - y) < high + h for x, y, w, h in taken)
            return float(covered + 1000 * crossed + np.linalg.norm(at - heap) / 25)

        around = [
            heap + far * np.array([np.cos(angle) * 1.4, np.sin(angle)])
            for far in (14, 22, 32, 44, 58, 76, 100)
            for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False)
        ]
        best = min(around, key=cost)
        text.set_position(axes.transData.inverted().transform(best))
        taken.append((*best, wide, high))


def _densest(places: Places) -> tuple[float, float]:
    """Return the point with the most others near it, so that a name is put near its largest group of points."""
    some = places if len(places) <= 500 else places[:: len(places) // 500]
    apart = ((some[:, None] - some[None]) ** 2).sum(axis=-1)
    x, y = some[int((apart < 0.01).sum(axis=1).argmax())]
    return float(x), float(y)

"""The numbers that the paper reports (Yin et al., ICLR 2019): percentages as printed, perplexity per token.

Two entries of its table by fixer are printed as 1.00, but its text makes clear that 100 is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

EDITORS: Mapping[str, tuple[float, float, float]] = {
    "seq2seq-sequence": (59.63, 65.46, 1.2792),
    "seq2seq-bag": (44.05, 54.97, 1.4808),
    "graph2tree-sequence": (57.49, 62.94, 1.3043),
    "graph2tree-graph": (48.05, 56.51, 1.3712),
    "graph2tree-bag": (40.66, 49.42, 1.5058),
    "prose-sequence": (72.94, 76.53, 1.0527),
    "prose-bag": (23.73, 43.47, 1.3730),
}
"""Acc@1, Recall@5, perplexity on the test sets."""

TRANSFER: Mapping[str, tuple[float, float | None, float, float | None]] = {
    "seq2seq-sequence": (38.35, 77.67, 41.50, 83.84),
    "graph2tree-sequence": (49.21, 77.30, 51.93, 81.77),
    "seq2seq-none": (7.07, None, 14.29, None),
    "graph2tree-none": (8.81, None, 11.90, None),
}
"""Acc, Acc with gold vectors, Recall@5, Recall@5 with gold vectors; macro over 16 fixers, best of 10 seeds."""

FIXERS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "graph2tree-sequence": {
        "CA2007": (88.0, 89.2),
        "IDE0004": (69.8, 92.5),
        "RCS1015": (28.6, 82.9),
        "RCS1021": (30.7, 60.8),
        "RCS1032": (8.3, 37.5),
        "RCS1058": (93.0, 88.4),
        "RCS1077": (6.5, 69.5),
        "RCS1089": (96.0, 98.7),
        "RCS1097": (15.0, 90.0),
        "RCS1118": (95.4, 98.1),
        "RCS1123": (66.1, 81.7),
        "RCS1146": (54.9, 81.7),
        "RCS1197": (5.3, 25.3),
        "RCS1202": (28.6, 67.9),
        "RCS1206": (75.0, 99.1),
        "RCS1207": (26.2, 73.8),
    },
    "seq2seq-sequence": {
        "CA2007": (52.7, 91.9),
        "IDE0004": (45.3, 98.1),
        "RCS1015": (40.0, 71.4),
        "RCS1021": (7.8, 56.2),
        "RCS1032": (20.8, 45.8),
        "RCS1058": (37.2, 69.8),
        "RCS1077": (7.5, 84.0),
        "RCS1089": (76.0, 98.7),
        "RCS1097": (25.0, 90.0),
        "RCS1118": (93.7, 99.6),
        "RCS1123": (64.2, 87.2),
        "RCS1146": (45.1, 76.1),
        "RCS1197": (12.6, 40.0),
        "RCS1202": (28.6, 69.6),
        "RCS1206": (50.0, 100.0),
        "RCS1207": (7.1, 64.3),
    },
}
"""Acc, Acc with gold vectors, for each fixer."""

SIZES: Mapping[str, Mapping[int, tuple[float, float, float]]] = {
    "graph2tree-sequence": {
        20: (43.88, 50.53, 1.5703),
        40: (50.44, 56.63, 1.4152),
        60: (53.78, 60.00, 1.3720),
        80: (55.51, 60.85, 1.3392),
        100: (57.49, 62.94, 1.3043),
    },
    "prose-sequence": {
        20: (42.87, 48.24, 1.4123),
        40: (57.72, 62.31, 1.1812),
        60: (65.22, 69.62, 1.1070),
        80: (68.44, 73.34, 1.0751),
        100: (72.94, 76.53, 1.0527),
    },
}

RATED_CODE: Mapping[str, tuple[float, float, float]] = {
    "tfidf": (7.77, 75.99, 58.46),
    "seq2seq-sequence": (10.09, 90.05, 75.90),
    "graph2tree-sequence": (10.56, 91.40, 79.49),
    "graph2tree-graph": (9.44, 86.20, 72.31),
}
"""DCG@3, NDCG@3, Acc@1 by three raters. The paper's DCG has another scale: the usual formula gives at most 6.39."""
RATED_PROSE: Mapping[str, tuple[float, float]] = {"tfidf": (9.3, 67.3), "prose-sequence": (13.5, 90.3)}
"""DCG@5, NDCG@5 by raters, for prose."""

STATISTICS: Mapping[str, float] = {
    "tokens before": 16.4,
    "tokens after": 17.0,
    "edit distance": 5.0,
    "tree nodes before": 28.5,
    "tree nodes after": 29.4,
}
CLUSTERS = {"code": 20_000, "prose": 50_000}

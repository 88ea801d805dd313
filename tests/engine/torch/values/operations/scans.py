# SPDX-License-Identifier: MIT
"""Running sums, products and extremes."""

from __future__ import annotations

from draw import Case

from .table import Row, draw_rows

ROWS = [
    Row("x.cumsum({d})", "ib", "flags:0.5", 6, least_dims=1),
    Row("x.cumsum({d})", "s", "normal", 3, least_dims=1, slack=30),
    Row("x.cumsum(-1)", "f", "steps:1", 2, least_dims=1, most=40),
    Row("x.long().cumsum(-1) - 1", "b", "flags", 2, least_dims=1),
    Row("x.cumsum(0, dtype=torch.int32)", "bi", "flags", 2, least_dims=1),
    Row("x.cumprod({d})", "s", "uniform:0.8:1.2", 3, least_dims=1, most=500, slack=10),
    Row("x.cumprod({d})", "w", "whole:1:3", 2, least_dims=1, most=40),
    Row("x.cummax({d})", "fi", "distinct:0.5", 2, least_dims=1, most=200),
    Row("x.cummin({d})", "fi", "distinct:0.5", 2, least_dims=1, most=200),
    Row("x.logcumsumexp({d})", "s", "normal", 2, least_dims=1, slack=10),
    Row("x.cumsum_(0)", "w", "whole:0:9", 1, least_dims=1, in_place=True),
    Row("torch.cumsum(x, 0)[-1].item()", "w", "whole:0:9", 2, least_dims=1, most_dims=1, is_empty=False),
    Row(
        "torch.cumulative_trapezoid(x) if hasattr(torch, 'cumulative_trapezoid') else x",
        "s",
        "normal",
        1,
        least_dims=1,
        slack=10,
    ),
]


def cases(seed: int) -> list[Case]:
    return draw_rows("scans", ROWS, seed)

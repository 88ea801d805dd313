# SPDX-License-Identifier: MIT
"""What has a size that only the values know: nonzero, boolean indices, unique."""

from __future__ import annotations

from draw import Case

from .table import Row, draw_rows

ROWS = [
    Row("torch.nonzero(x)", "bif", "steps:0.5", 6),
    Row("x.nonzero(as_tuple=True)", "bif", "steps:0.5", 5),
    Row("torch.nonzero(x).numel()", "b", "flags:0.2", 3),
    Row("torch.where(x > 0)", "fi", "normal", 3),
    Row("torch.argwhere(x)", "bi", "flags:0.3", 2),
    Row("torch.nonzero(x > 1000)", "s", "normal", 2),
    Row("torch.nonzero(x == x)", "fi", "normal", 2),
    Row("torch.masked_select(x, c)", "fib", "normal", 5, {"c": "flags b"}),
    Row("x[x > 0]", "fi", "normal", 4),
    Row("x[c.expand_as(x)]", "fib", "normal", 4, {"c": "flags:0.4 b"}),
    Row("x[x != 0].shape[0]", "wb", "steps:0.5", 3),
    Row("x[~torch.isnan(x)].mean()", "s", "special", 2, is_empty=False, most=30, slack=10),
    Row("x[c.expand_as(x)] = 3; r = x", "fi", "normal", 3, {"c": "flags b"}, in_place=True, is_empty=False),
    Row("x[x < 0] = 0; r = x", "fi", "normal", 3, in_place=True),
    Row("x[c] = 1; r = x", "fi", "normal", 1, {"c": "flags b"}, least_dims=1, most_dims=1, in_place=True),
    Row("torch.unique(x)", "wib", "whole:0:9", 4),
    Row("torch.unique(x)", "s", "steps:1", 2),
    Row("torch.unique(x, return_counts=True)", "wi", "whole:0:9", 4),
    Row("torch.unique(x, return_inverse=True)", "wi", "whole:0:9", 3),
    Row("torch.unique(x, return_inverse=True, return_counts=True)", "wf", "runs:5", 3),
    Row("torch.unique_consecutive(x)", "wfb", "runs:3", 4),
    Row("torch.unique_consecutive(x, return_counts=True)", "wi", "runs:4", 3),
    Row("torch.unique_consecutive(x, return_inverse=True)", "wi", "runs:4", 2),
    Row("torch.unique(x, dim=0)", "w", "whole:0:2", 2, least_dims=1, most=400, is_empty=False),
    Row("torch.unique(x, dim=0, return_counts=True)", "w", "whole:0:2", 1, least_dims=2, most=400, is_empty=False),
    Row("torch.unique_consecutive(x, dim=0)", "w", "runs:2", 1, least_dims=1, most=400, is_empty=False),
    Row("torch.unique(x, sorted=False).numel()", "w", "whole:0:30", 2),
    Row("len(set(x.tolist()))", "w", "whole:0:9", 2, least_dims=1, most_dims=1),
    Row("x.tolist()", "fib", "steps:1", 3, most=300),
    Row("x.unique().tolist()", "wb", "whole:0:5", 2),
    Row("torch.isin(x, y)", "w", "whole:0:9", 3, {"y": "whole:0:5"}, most=400),
    Row("torch.isin(x, torch.tensor([1, 5], device=D))", "l", "whole:0:9", 2),
    Row("x.nonzero_static(size=4)", "bi", "flags", 1, least_dims=1),
    Row("bool((x == x).all()) and x.numel()", "fi", "normal", 2),
]


def cases(seed: int) -> list[Case]:
    return draw_rows("selection", ROWS, seed)

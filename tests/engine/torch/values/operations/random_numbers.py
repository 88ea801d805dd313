# SPDX-License-Identifier: MIT
"""Random numbers: two devices draw different ones, so what holds of all valid ones is checked."""

from __future__ import annotations

from draw import Case, Draw

ROWS = [
    (
        "torch.rand({n}, device=D)",
        "bool(((r >= 0) & (r < 1)).all()) and (r.numel() < 9 or r.unique().numel() > r.numel() * 0.8)",
    ),
    (
        "torch.rand({m}, {k}, device=D, dtype=torch.float64)",
        "bool(((r >= 0) & (r < 1)).all()) and r.unique().numel() > r.numel() * 0.8",
    ),
    ("torch.rand({n}, device=D, dtype=torch.bfloat16)", "bool(((r >= 0) & (r <= 1)).all())"),
    ("torch.rand({n}, device=D).mean()", "0 < float(r) < 1"),
    ("torch.randn({n}, device=D)", "bool((r.abs() < 9).all()) and (r.numel() < 9 or float(r.std()) > 0.2)"),
    ("torch.randn({m}, {k}, device=D, dtype=torch.float16)", "bool((r.abs() < 9).all()) and r.unique().numel() > 1"),
    (
        "torch.randn_like(torch.zeros({n}, device=D))",
        "bool(r.isfinite().all()) and (r.numel() < 9 or float(r.std()) > 0.2)",
    ),
    (
        "torch.randint(0, 10, ({n},), device=D)",
        "bool(((r >= 0) & (r < 10)).all()) and (r.numel() < 99 or r.unique().numel() == 10)",
    ),
    ("torch.randint(-5, 6, ({m}, {k}), device=D, dtype=torch.int32)", "bool(((r >= -5) & (r < 6)).all())"),
    ("torch.randint(1000000007, ({n},), device=D)", "bool(((r >= 0) & (r < 1000000007)).all())"),
    ("torch.randperm({n}, device=D)", "bool((r.sort().values == torch.arange(r.numel())).all())"),
    ("torch.randperm(7, device=D)", "sorted(r.tolist()) == list(range(7))"),
    ("torch.randperm(30011, device=D)", "bool((r.sort().values == torch.arange(r.numel())).all())"),
    ("torch.randperm({n}, device=D)[:3]", "len(set(r.tolist())) == r.numel()"),
    (
        "torch.empty({n}, device=D).uniform_(-2, 3)",
        "bool(((r >= -2) & (r <= 3)).all()) and (r.numel() < 9 or float(r.std()) > 0.3)",
    ),
    ("torch.empty({n}, device=D).normal_(5, 0.5)", "bool(((r - 5).abs() < 4).all())"),
    (
        "torch.empty({n}, device=D).bernoulli_(0.5)",
        "bool(((r == 0) | (r == 1)).all()) and (r.numel() < 99 or 0 < float(r.mean()) < 1)",
    ),
    ("torch.bernoulli(torch.tensor([0.0, 1.0, 0.0, 1.0], device=D))", "r.tolist() == [0, 1, 0, 1]"),
    ("torch.bernoulli(torch.rand({n}, device=D)) > 0.5", "r.dtype == torch.bool"),
    ("torch.empty({n}, device=D).exponential_()", "bool((r > 0).all()) and bool(r.isfinite().all())"),
    ("torch.empty({n}, device=D).log_normal_()", "bool((r > 0).all())"),
    ("torch.empty({n}, device=D).cauchy_()", "bool(r.isfinite().all())"),
    ("torch.empty({n}, device=D).geometric_(0.5)", "bool((r >= 1).all())"),
    ("torch.empty({n}, device=D, dtype=torch.int64).random_(5, 9)", "bool(((r >= 5) & (r < 9)).all())"),
    ("torch.multinomial(torch.rand({k}, device=D) + 0.1, {k})", "sorted(r.tolist()) == list(range(r.numel()))"),
    ("torch.multinomial(torch.ones({m}, {k}, device=D), 1)", "bool((r >= 0).all())"),
    ("torch.multinomial(torch.tensor([0.0, 0.0, 1.0, 0.0], device=D), 1)", "r.tolist() == [2]"),
    ("torch.multinomial(torch.tensor([0.0, 0.0, 1.0, 0.0], device=D), 6, replacement=True)", "r.tolist() == [2] * 6"),
    (
        "torch.multinomial(torch.tensor([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], device=D), 2, replacement=True)",
        "not bool((r[0] == 1).any()) and r[1].tolist() == [1, 1]",
    ),
    (
        "F.dropout(torch.ones({n}, device=D), 0.5)",
        "bool(((r == 0) | (r == 2)).all()) and (r.numel() < 99 or 0 < float(r.mean()) < 2)",
    ),
    ("F.dropout(torch.ones({m}, {k}, device=D), 0.0)", "bool((r == 1).all())"),
    ("F.dropout(torch.ones({n}, device=D), 0.3, training=False)", "bool((r == 1).all())"),
    ("F.gumbel_softmax(torch.zeros({m}, {k}, device=D), hard=True).sum(-1)", "bool(((r - 1).abs() < 1e-4).all())"),
    ("torch.normal(torch.zeros({n}, device=D), torch.ones({n}, device=D))", "bool((r.abs() < 9).all())"),
    ("torch.poisson(torch.full(({n},), 3.0, device=D))", "bool((r >= 0).all()) and bool((r == r.floor()).all())"),
    ("nn.init.trunc_normal_(torch.empty({m}, {k}, device=D), std=0.02)", "bool((r.abs() <= 2).all())"),
    (
        "nn.init.kaiming_uniform_(torch.empty({m}, {k}, device=D))",
        "bool(r.isfinite().all()) and r.unique().numel() > 1",
    ),
    ("nn.init.xavier_normal_(torch.empty({m}, {k}, device=D)).std() > 0", "bool(r)"),
    ("torch.rand({n}, device=D, generator=torch.Generator(D).manual_seed(3)) < 2", "bool(r.all())"),
    (
        (
            "g = torch.Generator(D); a = torch.rand(9, device=D, generator=g.manual_seed(3)); r = a == torch.rand(9,"
            " device=D, generator=g.manual_seed(3))"
        ),
        "bool(r.all())",
    ),
    (
        (
            "g = torch.Generator(D).manual_seed(3); r = torch.rand(9, device=D, generator=g) == torch.rand(9, device=D,"
            " generator=g)"
        ),
        "not bool(r.all())",
    ),
]


def cases(seed: int) -> list[Case]:
    made = {}
    for text, check in ROWS:
        for i in range(2):
            draw = Draw(f"{seed}/random/{text}/{i}")
            filled = text.format(
                n=draw.rng.choice((1, 5, 100, 3000, 20000)),
                m=draw.rng.choice((2, 9, 64)),
                k=draw.rng.choice((3, 8, 50)),
            )
            made[filled] = draw.case("random", filled, check)
    return list(made.values())

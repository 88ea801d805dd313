# SPDX-License-Identifier: MIT
"""Tensors of millions of elements that are all the same: fresh weights, gradients, masks; what a step asks of them."""

from __future__ import annotations

from draw import Case, Draw

TEXTS = [
    "torch.ones({n}, {n}, device=D, dtype={f}).sum(dtype=torch.float64)",
    "torch.isfinite(torch.zeros({n}, {n}, device=D, dtype={f})).all()",
    "(torch.zeros({n}, {n}, device=D, dtype={f}) <= 0).all().item()",
    "a = torch.full(({n}, {n}), 2.0, device=D, dtype={f}); r = bool((a == a).all()), torch.equal(a, a)",
    "torch.exp(torch.zeros({n}, {n}, device=D, dtype={f})).amin()",
    "torch.full(({n}, {n}), 3, device=D, dtype={i}).max(), torch.full(({n}, {n}), 3, device=D, dtype={i}).min()",
    "torch.full(({n}, {n}), 0.5, device=D, dtype={f}).argmax().item()",
    "torch.full(({n}, {n}), 0.5, device=D, dtype={f}).mean()",
    "torch.zeros({n}, {n}, device=D, dtype={f}).norm().isfinite()",
    "torch.zeros({n}, {n}, device=D, dtype={i}).nonzero().shape",
    "torch.zeros({n}, {n}, device=D)[torch.zeros({n}, {n}, dtype=torch.bool, device=D)].numel()",
    "(torch.full(({n}, {n}), 7, device=D, dtype={i}) > 3).sum().item()",
    "a = torch.full(({n}, {n}), -2.0, device=D, dtype={f}); r = torch.where(a > 0, a, 0.0).any(), a.abs().amax()",
    "torch.isnan(torch.full(({n}, {n}), nan, device=D, dtype={f})).any().item()",
    "torch.ones({n}, {n}, device=D, dtype=torch.bool).all(), torch.zeros({n}, {n}, device=D, dtype=torch.bool).any()",
    "torch.zeros({n}, {n}, device=D, dtype={f}).to(torch.float32).add_(1).mul_(3).sub_(3).abs().max().item()",
    "a = torch.ones({n}, {n}, device=D, dtype={f}); a.zero_(); r = torch.count_nonzero(a), a.sum()",
    "torch.full(({n}, {n}), 1e30, device=D).square().isinf().all()",
    "torch.ones({n}, {n}, device=D, dtype={f}).clone().transpose(0, 1).contiguous().eq(1).all()",
    "torch.cat([torch.ones({n}, {n}, device=D), torch.ones({n}, {n}, device=D)]).sum()",
    "torch.empty({n}, {n}, device=D, dtype={f}).fill_(4).sqrt().eq(2).all(1).sum()",
    "w = nn.Parameter(torch.ones({n}, {n}, device=D)); w.grad = torch.zeros({n}, {n}, device=D); r = nn.utils.clip_grad_norm_([w], 1.0).item()",
]


def cases(seed: int) -> list[Case]:
    made = []
    for text in TEXTS:
        draw = Draw(f"{seed}/constants/{text}")
        n, f, i = draw.rng.choice((700, 1500, 2600)), draw.dtype("f"), draw.dtype("i")
        made.append(draw.case("constants", text.format(n=n, f=f"torch.{f}", i=f"torch.{i}"), slack=10))
    return made

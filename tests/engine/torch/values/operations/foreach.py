# SPDX-License-Identifier: MIT
"""Lists of tensors in one launch, as optimizers and the scaler of mixed precision use them."""

from __future__ import annotations

from draw import Case, Draw

TEXTS = [
    "torch._foreach_norm(l)",
    "torch._foreach_norm(l, 1)",
    "torch._foreach_norm(l, inf)",
    "torch.stack(torch._foreach_norm(l)).norm()",
    "torch._foreach_add(l, m)",
    "torch._foreach_add(l, m, alpha=0.5)",
    "torch._foreach_add(l, 1)",
    "torch._foreach_sub(l, m)",
    "torch._foreach_mul(l, 0.5)",
    "torch._foreach_mul(l, m)",
    "torch._foreach_div(l, 4.0)",
    "torch._foreach_div(l, [t.abs() + 1 for t in m])",
    "torch._foreach_sqrt([t.abs() for t in l])",
    "torch._foreach_neg(l)",
    "torch._foreach_abs(l)",
    "torch._foreach_exp(l)",
    "torch._foreach_reciprocal([t.abs() + 1 for t in l])",
    "torch._foreach_maximum(l, m)",
    "torch._foreach_maximum(l, 0.0)",
    "torch._foreach_clamp_min(l, -0.5)",
    "torch._foreach_clamp_max(l, 0.5)",
    "torch._foreach_lerp(l, m, 0.3)",
    "torch._foreach_addcmul(l, m, m, 0.1)",
    "torch._foreach_addcdiv(l, m, [t.abs() + 1 for t in m], -0.1)",
    "torch._foreach_pow([t.abs() for t in l], 2.0)",
    "torch._foreach_sigmoid(l)",
    "torch._foreach_sign(l)",
    "torch._foreach_zero_(l); r = l",
    "torch._foreach_add_(l, m); r = l",
    "torch._foreach_mul_(l, 0.9); r = l",
    "torch._foreach_lerp_(l, m, 0.1); r = l",
    "torch._foreach_copy_(l, m); r = l",
    "torch._foreach_addcdiv_(l, m, [t.abs() + 1 for t in m], [0.1] * len(l)); r = l",
    "torch._foreach_mul_(l, torch.tensor(0.25, device=D)); r = l",
    "[bool(n.isfinite()) for n in torch._foreach_norm(l)]",
    (
        "i = torch.zeros((), device=D); s = torch.full((), 0.5, device=D);"
        " torch._amp_foreach_non_finite_check_and_unscale_(l, i, s); r = l, i"
    ),
    (
        "i = torch.zeros((1,), device=D); torch._amp_foreach_non_finite_check_and_unscale_([l[0].mul_(inf)], i,"
        " torch.ones(1, device=D)); r = i.item()"
    ),
    (
        "s = torch.full((), 1024.0, device=D); g = torch.zeros((), dtype=torch.int32, device=D); "
        "torch._amp_update_scale_(s, g, torch.zeros((), device=D), 2.0, 0.5, 1); r = s, g"
    ),
    (
        "s = torch.full((), 1024.0, device=D); g = torch.zeros((), dtype=torch.int32, device=D); "
        "torch._amp_update_scale_(s, g, torch.ones((), device=D), 2.0, 0.5, 2000); r = s, g"
    ),
]


def case(seed: int, text: str, i: int) -> Case:
    draw = Draw(f"{seed}/foreach/{text}/{i}")
    dtype = draw.dtype("s" if "_amp_" in text else "f")
    n = draw.rng.choice((1, 3, 5))
    names = []
    for j in range(n):
        shape = draw.rng.choice(
            ((3,), (), (4, 5), (33, 7), (1,), (40000,), (70001,)) if j == 0 else ((3,), (2, 2), (), (64, 9), (5,))
        )
        for letter in "am":
            draw.plain(f"{letter}{j}", dtype, shape, "normal")
        names.append(j)
    lists = f"l = [{', '.join(f'a{j}' for j in names)}]; m = [{', '.join(f'm{j}' for j in names)}]; "
    full = lists + (text if "r = " in text else f"r = {text}")
    return draw.case("foreach", full, slack=10 if "norm" in text else 1, cancels=True)


def cases(seed: int) -> list[Case]:
    return [case(seed, text, i) for text in TEXTS for i in range(1 if "_amp_" in text else 2)]

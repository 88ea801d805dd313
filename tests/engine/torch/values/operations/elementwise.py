# SPDX-License-Identifier: MIT
"""Comparisons, logic, arithmetic, elementary functions, where, clamp: a value for each element."""

from __future__ import annotations

from draw import Case

from .table import Row, draw_rows

COMPARISONS = [
    *(
        Row(f"torch.{name}(x, y)", "fib", "steps:2", 3, {"y": "steps:2"})
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    Row("x == y, x != y", "8", "steps:2", 2, {"y": "steps:2"}),
    Row("x == y", "fi", "special", 3, {"y": "special"}),
    Row("x != x", "f", "special", 2),
    *(
        Row(f"x {sign} {number}", "fi", "steps:2", 2)
        for sign, number in (("==", 1), ("!=", -100), ("<", 0), ("<=", 2), (">", 0.5), (">=", 1))
    ),
    Row("x == y", "fi", "steps:2", 2, {"y": "steps:2 fi"}),  # of two dtypes
    Row("torch.isfinite(x)", "fic", "special", 4),
    Row("torch.isnan(x)", "fi", "special", 3),
    Row("torch.isinf(x)", "fi", "special", 3),
    Row("torch.isposinf(x), torch.isneginf(x)", "f", "special", 2),
    Row("torch.isclose(x, y, atol=0.3)", "f", "steps:2", 2, {"y": "steps:2"}),
    Row("torch.isclose(x, y, equal_nan=True)", "f", "special", 2, {"y": "special"}),
    Row("torch.allclose(x, x)", "fi", "normal", 3),
    Row("torch.equal(x, x.clone())", "fib", "normal", 3),
    Row("torch.equal(x, y)", "fi", "steps:1", 2, {"y": "steps:1"}),
    Row("torch.signbit(x)", "fi", "normal", 2),
]

LOGIC = [
    *(Row(f"torch.logical_{name}(x, y)", "bif", "steps:1", 2, {"y": "steps:1"}) for name in ("and", "or", "xor")),
    Row("torch.logical_not(x)", "bif", "steps:1", 3),
    *(Row(f"x {sign} y", "bi", "whole:0:100", 3, {"y": "whole:0:100"}) for sign in ("&", "|", "^")),
    Row("~x", "bi", "whole:0:100", 3),
    Row("x & y", "b", "flags", 2, {"y": "flags"}),
    Row("x.bitwise_left_shift(y)", "i", "whole:0:4", 2, {"y": "whole:0:4"}),
    Row("x >> 1", "i", "whole:0:100", 2),
    Row("x.logical_and_(y)", "b", "flags", 1, {"y": "flags b"}, in_place=True, is_empty=False),
]

ARITHMETIC = [
    *(Row(f"x {sign} y", "fi", "normal:2", 3, {"y": "normal:2"}) for sign in ("+", "-", "*")),
    Row("x + y", "fib", "normal:2", 3, {"y": "normal:2 fib"}),  # promoted
    Row("x * y", "fi", "normal:2", 2, {"y": "normal:2 fi"}),
    Row("torch.add(x, y, alpha=3)", "fi", "normal", 2, {"y": "normal"}, cancels=True),
    Row("torch.sub(x, y, alpha=2)", "fi", "normal", 1, {"y": "normal"}, cancels=True),
    Row("x / y", "fi", "normal:2", 3, {"y": "nonzero:8"}),
    Row("x // y", "fi", "normal:9", 3, {"y": "nonzero:8"}),
    Row("torch.div(x, y, rounding_mode='trunc')", "fi", "normal:9", 2, {"y": "nonzero:8"}),
    Row("x % y", "fi", "normal:9", 3, {"y": "nonzero:8"}),
    Row("torch.fmod(x, y)", "fi", "normal:9", 2, {"y": "nonzero:8"}),
    *(
        Row(f"x {sign} {number}", "fi", "normal:3", 2)
        for sign, number in (("+", 1), ("-", 2.5), ("*", 3), ("*", 0.5), ("/", 3), ("//", 2), ("%", 4), ("**", 2))
    ),
    Row("1 - x", "fi", "normal:3", 3),
    Row("2.0 / x", "fi", "nonzero:9", 2),
    Row("2 ** x", "f", "normal:2", 2),
    Row("x ** y", "f", "uniform:0.1:3", 2, {"y": "normal"}),
    *(Row(f"torch.{name}(x, y)", "fi", "steps:3", 2, {"y": "steps:3"}) for name in ("maximum", "minimum")),
    *(Row(f"torch.{name}(x, y)", "f", "special", 2, {"y": "special"}) for name in ("maximum", "fmin", "fmax")),
    *(
        Row(f"torch.{name}(x, y)", "s", "normal:2", 1, {"y": "normal:2"})
        for name in ("atan2", "hypot", "copysign", "logaddexp")
    ),
    Row("torch.gcd(x, y)", "w", "whole:1:60", 1, {"y": "whole:1:60"}),
    Row("torch.addcmul(x, y, z, value=0.5)", "f", "normal", 2, {"y": "normal", "z": "normal"}, cancels=True),
    Row("torch.addcdiv(x, y, z, value=-2)", "f", "normal", 2, {"y": "normal", "z": "nonzero:5"}, cancels=True),
    Row("torch.lerp(x, y, 0.3)", "f", "normal", 2, {"y": "normal"}, cancels=True),
    Row("torch.lerp(x, y, z)", "f", "normal", 1, {"y": "normal", "z": "uniform"}, cancels=True),
    *(
        Row(text, "fi", "normal", 2, {"y": "normal"}, in_place=True, is_empty=False)
        for text in ("x.add_(y.expand_as(x))", "x.mul_(y.expand_as(x))", "x.sub_(1)")
    ),
    Row("x.div_(4)", "f", "normal", 1, in_place=True),
]

FUNCTIONS = [
    *(Row(f"torch.{name}(x)", "fi", "normal:3", 2) for name in ("abs", "neg", "sign", "square")),
    *(Row(f"torch.{name}(x)", "f", "steps:5", 2) for name in ("floor", "ceil", "round", "trunc", "frac")),
    Row("torch.round(x, decimals=1)", "s", "normal:3", 1),
    *(Row(f"torch.{name}(x)", "fi", "uniform:0.05:5", 2) for name in ("sqrt", "exp", "log", "sin", "cos")),
    *(
        Row(f"torch.{name}(x)", "f", "uniform:0.05:5", 1)
        for name in (
            "rsqrt",
            "log2",
            "log10",
            "log1p",
            "expm1",
            "exp2",
            "reciprocal",
            "tan",
            "sinh",
            "cosh",
            "atan",
            "asinh",
            "lgamma",
            "digamma",
        )
    ),
    Row("torch.acosh(x)", "f", "uniform:1:5", 1),
    *(Row(f"torch.{name}(x)", "f", "uniform:-0.9:0.9", 1) for name in ("asin", "acos", "atanh", "erfinv")),
    *(Row(f"torch.{name}(x)", "f", "normal:2", 2) for name in ("tanh", "sigmoid", "erf", "erfc", "relu")),
    *(Row(f"torch.{name}(x)", "f", "special", 1) for name in ("sqrt", "exp", "log", "abs", "sigmoid", "nan_to_num")),
    Row("torch.nan_to_num(x, nan=-1.0, posinf=7.0, neginf=-7.0)", "f", "special", 2),
    Row("torch.logit(x, eps=0.1)", "f", "uniform:0:1", 4, cancels=True),
    Row("torch.logit(x)", "f", "uniform:0.1:0.9", 2, cancels=True),
    *(
        Row(f"F.{name}(x)", "f", "normal:3", 1)
        for name in (
            "gelu",
            "silu",
            "mish",
            "elu",
            "selu",
            "softplus",
            "leaky_relu",
            "hardtanh",
            "hardswish",
            "hardsigmoid",
            "logsigmoid",
            "relu6",
            "softsign",
            "tanhshrink",
        )
    ),
    Row("F.gelu(x, approximate='tanh')", "f", "normal:3", 1),
    Row("F.threshold(x, 0.5, -1.0)", "f", "normal", 1),
    Row("torch.heaviside(x, y)", "s", "steps:1", 1, {"y": "normal"}),
    Row("torch.sinc(x)", "s", "normal", 1),
    Row("torch.special.xlogy(x, y)", "s", "uniform:0:2", 1, {"y": "uniform:0.1:2"}),
    Row("torch.special.entr(x)", "s", "uniform:0:2", 1),
]

CHOICE = [
    Row("torch.where(c, x, y)", "fib8", "normal", 4, {"c": "flags b", "y": "normal"}),
    Row("torch.where(x > 0, x, 0.0)", "f", "normal", 2),
    Row("torch.where(x == 0, 1, x)", "i", "normal", 2),
    Row("torch.where(c, x, -inf)", "f", "normal", 2, {"c": "flags b"}),
    Row("torch.clamp(x, -1, 1)", "fi", "normal:3", 3),
    Row("x.clamp(min=0)", "fi", "normal:3", 2),
    Row("x.clamp(max=2)", "fi", "special", 2),
    Row("x.clamp_(0, 3)", "fi", "normal:3", 2, in_place=True),
    Row("torch.clamp(x, y, y + 1)", "f", "normal:3", 2, {"y": "normal"}),
    Row("x.clip(min=y)", "f", "normal:3", 1, {"y": "normal"}),
    Row("x.masked_fill(c, -1)", "fib", "normal", 3, {"c": "flags b"}),
    Row("x.masked_fill(c, torch.finfo(x.dtype).min)", "f", "normal", 3, {"c": "flags b"}),
    Row("x.masked_fill_(c.expand_as(x), 2)", "fi", "normal", 2, {"c": "flags b"}, in_place=True, is_empty=False),
]


def cases(seed: int) -> list[Case]:
    return [
        *draw_rows("compare", COMPARISONS, seed),
        *draw_rows("logic", LOGIC, seed),
        *draw_rows("arithmetic", ARITHMETIC, seed),
        *draw_rows("functions", FUNCTIONS, seed),
        *draw_rows("where, clamp", CHOICE, seed),
    ]

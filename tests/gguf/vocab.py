# SPDX-License-Identifier: MIT
"""
The tokenizer keys of a test model: none, or a synthetic byte-pair vocabulary.

The synthetic one is what makes a real header large: as many tokens and merges as a real model has, of realistic
lengths. It is the same on every run.
"""
from __future__ import annotations

from random import Random

from gguf import Kind, Value, array, boolean, string, u32

NORMAL, CONTROL = 1, 3
SPECIAL_TOKENS = 256  # control tokens at the end
MERGES_PER_TOKEN = 2.19  # Llama 3 has 280147 merges for 128000 tokens
LONGEST_TOKEN = 14
LEFT_BIAS, RIGHT_BIAS = 3, 6  # powers of a uniform choice among the tokens so far
SEED = 20260
TEMPLATE_LINES = 60

TEMPLATE_LINE = (
    "{%- if message.role == 'user' and not tools_in_user_message %}{{- '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}{%- endif %}\n"
)


def byte_alphabet() -> list[str]:
    """One visible character per byte, letters and signs first: the byte itself where it is printable, a character from
    256 on where it is not."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(byte) for byte in printable] + [chr(256 + i) for i in range(256 - len(printable))]


def grow(count: int) -> tuple[list[str], list[str]]:
    """`count` distinct tokens, each but the bytes the merge of two earlier ones, and the merges. Early tokens, and with
    them the Latin letters, are merged most, as in a real vocabulary."""
    choose = Random(SEED).random
    tokens = byte_alphabet()[:count]
    known = set(tokens)
    merges = []
    while len(tokens) < count:
        left = tokens[int(choose() ** LEFT_BIAS * len(tokens))]
        right = tokens[int(choose() ** RIGHT_BIAS * len(tokens))]
        token = left + right
        if len(token) <= LONGEST_TOKEN and token not in known:
            known.add(token)
            tokens.append(token)
            merges.append(f"{left} {right}")
    return tokens, merges


def more_merges(tokens: list[str], merges: list[str], count: int) -> None:
    """Add other ways to arrive at the same tokens until there are `count` merges, or no more ways."""
    known = set(merges)
    for cut in range(1, LONGEST_TOKEN):
        for token in tokens:
            if len(merges) >= count:
                return
            if len(token) > cut:
                merge = f"{token[:cut]} {token[cut:]}"
                if merge not in known:
                    known.add(merge)
                    merges.append(merge)


def full(size: int, pre: str) -> dict[str, Value]:
    """A vocabulary of `size` tokens."""
    special = min(SPECIAL_TOKENS, size // 4)
    normal = size - special
    tokens, merges = grow(normal)
    more_merges(tokens, merges, int(normal * MERGES_PER_TOKEN))
    tokens += [f"<|reserved_special_token_{i}|>" for i in range(special)]
    return {
        "tokenizer.ggml.model": string("gpt2"),
        "tokenizer.ggml.pre": string(pre),
        "tokenizer.ggml.tokens": array(Kind.STRING, tokens),
        "tokenizer.ggml.token_type": array(Kind.I32, [NORMAL] * normal + [CONTROL] * special),
        "tokenizer.ggml.merges": array(Kind.STRING, merges),
        "tokenizer.ggml.bos_token_id": u32(normal),
        "tokenizer.ggml.eos_token_id": u32(normal + 1),
        "tokenizer.ggml.add_bos_token": boolean(True),
        "tokenizer.chat_template": string(TEMPLATE_LINE * TEMPLATE_LINES),
    }


def none() -> dict[str, Value]:
    """No tokens: the engine takes their number from the architecture's vocab_size key."""
    return {"tokenizer.ggml.model": string("none")}

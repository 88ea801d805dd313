# SPDX-License-Identifier: MIT
"""A small model of the first Llama architecture, with a vocabulary of bytes, as a GGUF file: for programs that need one."""
import struct

WIDTH, HIDDEN, LAYERS, HEADS = 256, 512, 4, 4
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581a", "\u2581the"]
U32, F32, TEXT, ARRAY, I32 = 4, 6, 8, 9, 5


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, data: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + data


def array(kind: int, items: list[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def write(path: str) -> None:
    number = {"context_length": 2048, "embedding_length": WIDTH, "block_count": LAYERS, "feed_forward_length": HIDDEN,
              "attention.head_count": HEADS, "attention.head_count_kv": HEADS, "rope.dimension_count": WIDTH // HEADS}
    keys = [entry("general.architecture", TEXT, text("llama")), entry("general.name", TEXT, text("tiny"))]
    keys += [entry("llama." + key, U32, struct.pack("<I", value)) for key, value in number.items()]
    keys += [entry("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
             entry("tokenizer.ggml.model", TEXT, text("llama")),
             entry("tokenizer.ggml.tokens", ARRAY, array(TEXT, [text(token) for token in TOKENS])),
             entry("tokenizer.ggml.scores", ARRAY, array(F32, [struct.pack("<f", -i) for i in range(len(TOKENS))])),
             entry("tokenizer.ggml.token_type", ARRAY, array(I32, [
                 struct.pack("<i", 2 if i == 0 else 3 if i < 3 else 6 if i < 259 else 1) for i in range(len(TOKENS))])),
             entry("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 1)),
             entry("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2))]
    tensors = {"token_embd.weight": [WIDTH, len(TOKENS)], "output_norm.weight": [WIDTH], "output.weight": [WIDTH, len(TOKENS)]}
    for i in range(LAYERS):
        shapes = {"attn_norm": [WIDTH], "ffn_norm": [WIDTH], "ffn_gate": [WIDTH, HIDDEN], "ffn_up": [WIDTH, HIDDEN],
                  "ffn_down": [HIDDEN, WIDTH], **{f"attn_{name}": [WIDTH, WIDTH] for name in ("q", "k", "v", "output")}}
        tensors |= {f"blk.{i}.{name}.weight": shape for name, shape in shapes.items()}
    infos, at = [], 0
    for name, shape in tensors.items():
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, at))  # 0: F32
        at += -(-4 * shape[0] * (shape[1] if len(shape) > 1 else 1) // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)) + b"".join(keys + infos)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(-(-len(head) // 32) * 32 + at)

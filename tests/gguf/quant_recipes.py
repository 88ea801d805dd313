# SPDX-License-Identifier: MIT
"""
Which tensor type each tensor gets for a file type ("Q4_K_M").

Two steps, as for a published file: the conversion script keeps some tensors in F32 and writes the others in 16 bits,
then llama-quantize gives each tensor a type by its role, its layer and the file type, and replaces a type whose block
does not divide the row. The rules are those of llama.cpp v0.4.1 to v0.6.0 without an importance matrix.
"""
from __future__ import annotations

import re
from dataclasses import dataclass

from gguf import TENSOR_TYPES, Tensor
from model import Model

# file type: (its number in general.file_type, the type most tensors get)
FILE_TYPES = {
    "F32": (0, "F32"), "F16": (1, "F16"), "Q4_0": (2, "Q4_0"), "Q4_1": (3, "Q4_1"), "Q8_0": (7, "Q8_0"),
    "Q5_0": (8, "Q5_0"), "Q5_1": (9, "Q5_1"), "Q2_K": (10, "Q2_K"), "Q3_K_S": (11, "Q3_K"), "Q3_K_M": (12, "Q3_K"),
    "Q3_K_L": (13, "Q3_K"), "Q4_K_S": (14, "Q4_K"), "Q4_K_M": (15, "Q4_K"), "Q5_K_S": (16, "Q5_K"),
    "Q5_K_M": (17, "Q5_K"), "Q6_K": (18, "Q6_K"), "IQ4_NL": (25, "IQ4_NL"), "IQ4_XS": (30, "IQ4_XS"),
    "BF16": (32, "BF16"), "MXFP4_MOE": (38, "MXFP4"),
}
UNQUANTIZED = ("F32", "F16", "BF16")

# Kept in F32 by the conversion script although they are matrices.
CONVERT_F32 = re.compile(
    r"(ffn_gate_inp|ffn_gate_inp_shexp|position_embd|token_types|ssm_conv1d|ssm_conv1d_[qkv]|shortconv\.conv|"
    r"time_mix_(first|w1|w2|decay_w1|decay_w2|lerp_fused)|altup_(correct|predict)_coef)\.weight$"
)
# Left as they are by llama-quantize: names that contain any of these.
QUANTIZE_SKIPS = (
    "_norm.weight", "ffn_gate_inp.weight", "altup", "laurel", "per_layer_model_proj", "ssm_conv1d",
    "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight", "attn_rel_b.weight", ".position_embd",
    ".patch_embd",
    *(f"time_mix_{name}.weight" for name in (
        "first", "w0", "w1", "w2", "v0", "v1", "v2", "a0", "a1", "a2", "g1", "g2", "decay_w1", "decay_w2", "lerp_fused",
    )),
)
# For a row that is not whole blocks: the type with a smaller block.
FALLBACK = {"IQ4_XS": "IQ4_NL", "Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}


def layer_of(name: str) -> int:
    """The layer in a tensor's name, -1 for tensors outside the layers."""
    found = re.match(r"blk\.(\d+)\.", name)
    return int(found.group(1)) if found else -1


def sort_key(tensor: Tensor) -> tuple[int, str]:
    """The order in which llama-quantize reads, decides and writes tensors."""
    return layer_of(tensor.name), tensor.name


def dimensions(shape: tuple[int, ...]) -> int:
    """Dimensions of a shape without trailing ones."""
    n = len(shape)
    while n > 1 and shape[n - 1] == 1:
        n -= 1
    return n


def category(name: str) -> str:
    """The role that the recipe rules see in a name; the order of the tests matters."""
    if name == "output.weight":
        return "output"
    if name in ("token_embd.weight", "per_layer_token_embd.weight"):
        return "token_embd"
    for part, role in (
        ("attn_qkv.weight", "attn_v"), ("attn_kv_b.weight", "attn_v"), ("attn_v.weight", "attn_v"),
        ("attn_k.weight", "attn_k"), ("attn_q.weight", "attn_q"), ("attn_output.weight", "attn_output"),
        ("ffn_up", "ffn_up"), ("ffn_gate", "ffn_gate"), ("ffn_down", "ffn_down"),
    ):
        if part in name:
            return role
    return "other"


def converted_type(tensor: Tensor, half: str) -> str:
    """The type the conversion script writes when most tensors get `half`."""
    name = tensor.name
    if len(tensor.shape) <= 1 or name.endswith("_norm.weight") or CONVERT_F32.search(name):
        return "F32"
    if not name.endswith((".weight", ".lora_a", ".lora_b")):
        return "F32"
    return half


def may_quantize(tensor: Tensor) -> bool:
    name = tensor.name
    return dimensions(tensor.shape) >= 2 and name.endswith("weight") and not (
        name in ("position_embd.weight", "token_types.weight") or any(part in name for part in QUANTIZE_SKIPS)
    )


def use_more_bits(layer: int, layers: int) -> bool:
    """The layers that a _M recipe gives more bits: the first and last eighth and every third between."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


@dataclass
class Quantizer:
    """The state of one llama-quantize run: how many tensors of a role it has seen."""

    model: Model
    ftype: str
    tied: bool
    n_attn_v: int
    i_attn_v: int = 0
    i_ffn_down: int = 0

    def __post_init__(self) -> None:
        hyper = self.model.hyper
        self.arch = self.model.arch
        self.experts = hyper.experts
        self.layers = hyper.all_layers
        heads = hyper.heads_list[0] if hyper.heads_list else hyper.heads
        kv_heads = kv_heads_of_first_layer(self.model)
        self.gqa = heads // kv_heads if kv_heads else 0
        shared_heads = self.arch == "llama" and kv_heads != heads and hyper.experts != 8
        self.is_70b = hyper.layers == 80 and (shared_heads or self.arch in ("qwen2", "deci"))

    def type_for(self, tensor: Tensor, base: str) -> str:
        """The type by role, before the fallback for odd rows."""
        role = category(tensor.name)
        if role == "output" or (self.tied and role == "token_embd"):
            return self.output_type(tensor, base)
        if self.ftype == "MXFP4_MOE":
            experts = len(tensor.shape) > 2 and tensor.shape[2] > 1
            return "MXFP4" if experts else "Q8_0"
        if role == "attn_v":
            return self.attn_v_type(base)
        if role == "attn_k":
            return "Q8_0" if self.experts == 8 else base
        if role == "ffn_down":
            return self.ffn_down_type(tensor, base)
        if role == "attn_output":
            return self.attn_output_type(base)
        return base

    def output_type(self, tensor: Tensor, base: str) -> str:
        if self.ftype == "MXFP4_MOE" or self.arch == "falcon" or tensor.shape[0] % TENSOR_TYPES[base].block:
            return "Q8_0"
        return base if base == "Q8_0" else "Q6_K"

    def attn_v_type(self, base: str) -> str:
        """Also fused QKV and the joint key-value matrix of old latent attention."""
        kind = base
        if self.ftype == "Q2_K":
            kind = "Q4_K" if self.gqa >= 4 else "Q3_K"
        elif self.ftype == "Q3_K_M":
            kind = "Q5_K" if self.i_attn_v < 2 else "Q4_K"
        elif self.ftype == "Q3_K_L":
            kind = "Q5_K"
        elif self.ftype in ("IQ4_NL", "IQ4_XS") and self.gqa >= 4:
            kind = "Q5_K"
        elif self.ftype in ("Q4_K_M", "Q5_K_M") and use_more_bits(self.i_attn_v, self.n_attn_v):
            kind = "Q6_K"
        elif self.ftype == "Q4_K_S" and self.i_attn_v < 4:
            kind = "Q5_K"
        if self.is_70b and kind in ("Q3_K", "Q4_K"):
            kind = "Q5_K"
        if self.experts == 8:
            kind = "Q8_0"
        self.i_attn_v += 1
        return kind

    def ffn_down_type(self, tensor: Tensor, base: str) -> str:
        layers = self.layers
        layer = layer_of(tensor.name) if self.experts > 1 else self.i_ffn_down
        falcon = self.arch == "falcon"
        more = use_more_bits(layer, layers)
        self.i_ffn_down += 1
        if self.ftype == "Q2_K":
            return "Q3_K"
        if self.ftype == "Q3_K_M":
            if layer < layers // 16:
                return "Q5_K"
            return "Q4_K" if not falcon or more else "Q3_K"
        if self.ftype == "Q3_K_L":
            return "Q4_K" if falcon else "Q5_K"
        if self.ftype == "Q4_K_M":
            if falcon:
                return "Q6_K" if layer < layers // 16 else "Q5_K" if more else "Q4_K"
            return "Q6_K" if more else base
        if self.ftype in ("IQ4_NL", "IQ4_XS") and layer < layers // 8:
            return "Q5_K"
        if self.ftype == "Q5_K_M" and more:
            return "Q6_K"
        if self.ftype == "Q4_K_S" and not falcon and layer < layers // 8:
            return "Q5_K"
        return base

    def attn_output_type(self, base: str) -> str:
        if self.arch == "falcon":
            return "Q4_K" if self.ftype == "Q3_K_L" else base
        if self.experts == 8:
            raised = ("Q2_K", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M", "IQ4_XS")
            return "Q5_K" if self.ftype in raised else base
        return {"Q2_K": "Q3_K", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K"}.get(self.ftype, base)


def kv_heads_of_first_layer(model: Model) -> int:
    """As the engine reads it from the metadata, which may differ from the attention's own head count."""
    value = model.meta.get(f"{model.arch}.attention.head_count_kv")
    if value is None:
        return model.hyper.heads
    return value.data[0] if isinstance(value.data, list) else value.data


def fit_row(tensor: Tensor, kind: str) -> str:
    """A type whose blocks divide the row."""
    if tensor.shape[0] % TENSOR_TYPES[kind].block == 0:
        return kind
    kind = FALLBACK.get(kind, kind)
    return kind if tensor.shape[0] % TENSOR_TYPES[kind].block == 0 else "F16"


def assign(model: Model, ftype: str) -> list[Tensor]:
    """The model's tensors in file order, each with its type."""
    base = FILE_TYPES[ftype][1]
    half = base if base in UNQUANTIZED else "BF16"
    tensors = sorted(model.tensors, key=sort_key)
    tied = not any(t.name == "output.weight" for t in tensors)
    n_attn_v = sum(category(t.name) == "attn_v" for t in tensors)
    quantizer = Quantizer(model, ftype, tied, n_attn_v)
    typed = []
    for tensor in tensors:
        kind = model.forced.get(tensor.name) or converted_type(tensor, half)
        if base not in UNQUANTIZED and tensor.name not in model.forced and may_quantize(tensor):
            kind = fit_row(tensor, quantizer.type_for(tensor, base))
        typed.append(Tensor(tensor.name, tensor.shape, kind))
    return typed

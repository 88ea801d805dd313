# SPDX-License-Identifier: MIT
"""
What the families share: the hyperparameters of a model and the model under construction.

`Hyper` holds the numbers of a model in one vocabulary for all families; `Model` collects the metadata and the tensors
that llama.cpp's conversion script would write for them.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from gguf import Kind, Tensor, Value, array, boolean, f32, string, u32


@dataclass(frozen=True)
class Hyper:
    """Hyperparameters. Zero, None or empty means that the model does not have the thing."""

    layers: int
    embd: int
    vocab: int
    ctx: int
    ff: int = 0
    eps: float = 1e-5
    tied: bool = False  # the output matrix is the token embedding

    # attention
    heads: int = 0
    kv_heads: int = 0  # 0: as many as heads
    head_dim: int = 0  # 0: embd / heads, and no key_length key
    qkv_bias: bool = False
    qk_norm: bool = False
    heads_list: tuple[int, ...] = ()  # per layer
    kv_heads_list: tuple[int, ...] = ()  # per layer
    ff_list: tuple[int, ...] = ()  # per layer

    # rotary positions
    rope_base: float = 0.0
    rope_dim: int = 0
    rope_freqs: bool = False  # a rope_freqs.weight tensor (Llama 3 scaling)
    rope_factors: bool = False  # rope_factors_long and _short tensors
    rope_orig_ctx: int = 0
    rope_factor: float = 0.0  # YaRN

    # sliding window
    window: int | None = None  # None: no key
    loops: int = 1  # how often the graph runs through the layers
    period: int = 0  # every period-th layer attends to everything
    shared_kv: int = 0  # last layers without a KV cache of their own
    global_head_dim: int = 0
    global_kv_heads: int = 0
    global_values: bool = True  # full-attention layers have a value projection
    layer_embd: int = 0  # per-layer token embedding (Gemma 3n, 4)

    # experts
    experts: int = 0
    experts_used: int = 0
    expert_ff: int = 0
    shared_experts: int = 0
    shared_ff: int = 0
    dense_lead: int = 0  # leading layers without experts
    expert_scale: float = 0.0
    expert_norm: bool = False
    gating: int = 0  # 1 softmax, 2 sigmoid
    groups: int = 0
    groups_used: int = 0
    moe_step: int = 0  # every moe_step-th layer has experts

    # latent attention
    q_lora: int = 0
    kv_lora: int = 0
    nope_dim: int = 0
    value_dim: int = 0
    index_heads: int = 0  # of the sparse attention's indexer
    index_dim: int = 0
    index_top: int = 0
    index_full: tuple[bool, ...] = ()  # per layer: has an indexer of its own

    # state space and linear attention
    conv: int = 0
    inner: int = 0
    state: int = 0
    dt_rank: int = 0
    ssm_groups: int = 0
    attention_layers: tuple[int, ...] = ()  # of a hybrid
    pattern: str = ""  # of Nemotron-H: M state space, * attention, - feed-forward, E experts

    # RWKV
    lora_decay: int = 0
    lora_mix: int = 0
    lora_iclr: int = 0
    lora_value: int = 0
    lora_gate: int = 0

    # scales of Granite, MiniCPM, Cohere
    embedding_scale: float = 0.0
    residual_scale: float = 0.0
    attention_scale: float = 0.0
    logit_scale: float = 0.0

    nextn: int = 0  # multi-token prediction layers after the last one

    # files that are not a whole language model
    image: int = 0  # side of an image in pixels
    patch: int = 0
    target_embd: int = 0  # width of the model the file belongs to
    target_layers: tuple[int, ...] = ()  # whose outputs a draft model reads
    draft_vocab: int = 0
    rank: int = 0  # of a LoRA adapter

    token_types: int = 0  # of encoders
    pooling: int | None = None  # 1 mean, 2 first token
    pre: str = "default"  # pre-tokenizer of the full vocabulary

    @property
    def kv(self) -> int:
        return self.kv_heads or self.heads

    @property
    def head(self) -> int:
        return self.head_dim or self.embd // self.heads

    @property
    def all_layers(self) -> int:
        return self.layers + self.nextn

    def _shared_of(self, layers: int) -> int:
        """How many of the first `layers` would share a cache: as large a part as in the whole model, but a layer with
        full attention must be the last with a cache of its own."""
        if not self.shared_kv or layers <= self.period:
            return 0
        own = layers * (self.layers - self.shared_kv) // self.layers
        return layers - max(own // self.period, 1) * self.period

    def cut(self, layers: int) -> "Hyper":
        """The same model with fewer layers. (Gemma 4 and SmallThinker need two.)"""
        n = min(layers, self.layers)
        per_layer = ("heads_list", "kv_heads_list", "ff_list", "pattern", "index_full")
        return replace(
            self, layers=n, dense_lead=min(self.dense_lead, n), shared_kv=self._shared_of(n),
            attention_layers=tuple(i for i in self.attention_layers if i < n),
            **{name: getattr(self, name)[:n] for name in per_layer},
        )


@dataclass
class Model:
    """A GGUF model being built by its family. Everything is in the order in which the conversion script writes it."""

    arch: str
    hyper: Hyper
    type: str = "model"  # general.type
    meta: dict[str, Value] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    forced: dict[str, str] = field(default_factory=dict)  # types fixed by the conversion script
    writes_vocab_size: bool = False  # even when the vocabulary is in the file

    def key(self, name: str, value: Any, kind: Kind | None = None) -> None:
        """Add a key of this architecture; ints become u32, floats f32, lists of ints i32 arrays."""
        self.meta[f"{self.arch}.{name}"] = as_value(value, kind)

    def add(self, name: str, *shape: int) -> None:
        """Add a tensor by its full name without suffix rules."""
        self.tensors.append(Tensor(name, shape))

    def weight(self, name: str, *shape: int) -> None:
        self.add(f"{name}.weight", *shape)

    def bias(self, name: str, *shape: int) -> None:
        self.add(f"{name}.bias", *shape)

    def linear(self, name: str, rows_in: int, rows_out: int, bias: bool = False) -> None:
        """A matrix that maps rows_in values to rows_out values."""
        self.weight(name, rows_in, rows_out)
        if bias:
            self.bias(name, rows_out)

    def norm(self, name: str, width: int, bias: bool = False) -> None:
        self.weight(name, width)
        if bias:
            self.bias(name, width)


def as_value(value: Any, kind: Kind | None = None) -> Value:
    """The metadata value that the conversion script would write for a Python value."""
    if isinstance(value, (list, tuple)):
        if kind is None:
            kind = {bool: Kind.BOOL, int: Kind.I32, float: Kind.F32, str: Kind.STRING}[type(value[0])]
        return array(kind, value)
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int):
        return u32(value)
    if isinstance(value, float):
        return f32(value)
    return string(value)

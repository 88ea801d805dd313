# SPDX-License-Identifier: MIT
"""The models of program.py, small ones of families that people train, with random weights; nothing is downloaded."""
from __future__ import annotations

import os
import random
import tempfile

import torch
from torch import nn

WORDS = 4096  # of the vocabularies
CLASSES = 10
POSITIONS = 2048


def text_config(family: str, attention: str):
    import transformers
    common = {"vocab_size": WORDS, "attn_implementation": attention}
    if family == "gpt2":
        return transformers.GPT2Config(n_embd=512, n_layer=3, n_head=8, n_positions=POSITIONS, **common)
    if family == "bert":
        return transformers.BertConfig(hidden_size=512, intermediate_size=2048, num_hidden_layers=3, num_attention_heads=8,
                                       max_position_embeddings=POSITIONS, num_labels=CLASSES, **common)
    llama_like = {"hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 3, "num_attention_heads": 8,
                  "num_key_value_heads": 2, "max_position_embeddings": POSITIONS, **common}
    if family == "qwen":
        return transformers.Qwen2Config(tie_word_embeddings=True, **llama_like)
    return transformers.LlamaConfig(**llama_like)


def text_class(family: str, task: str):
    import transformers
    if family == "bert":
        return transformers.BertForMaskedLM if task == "mlm" else transformers.BertForSequenceClassification
    return {"llama": transformers.LlamaForCausalLM, "qwen": transformers.Qwen2ForCausalLM,
            "gpt2": transformers.GPT2LMHeadModel}[family]


def quantized(model):
    """As it would be read from a folder, with its matrices in 4 bits."""
    from transformers import BitsAndBytesConfig
    with tempfile.TemporaryDirectory() as folder:
        model.to(torch.bfloat16).save_pretrained(folder)
        bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16,
                                  bnb_4bit_use_double_quant=True)
        return type(model).from_pretrained(folder, quantization_config=bits, dtype=torch.bfloat16)


def picture_model(family: str, size: int):
    import transformers
    if family == "vit":
        return transformers.ViTForImageClassification(transformers.ViTConfig(
            hidden_size=384, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=6, image_size=size, patch_size=16,
            num_labels=CLASSES))
    if family == "resnet":
        return transformers.ResNetForImageClassification(transformers.ResNetConfig(
            embedding_size=64, hidden_sizes=[128, 256, 512], depths=[2, 2, 2], num_labels=CLASSES))
    return UNet()


class UNet(nn.Module):
    """Pictures to classes for each of their points, over three halvings."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList(double(a, b) for a, b in zip([3, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(double(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(width, CLASSES, 1)
        self.is_checkpointed = False

    def gradient_checkpointing_enable(self, **_) -> None:
        self.is_checkpointed = True

    def part(self, layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
        if not self.is_checkpointed:
            return layer(x)
        return torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        x, kept = pixel_values, []
        for layer in self.down:
            x = self.part(layer, x if not kept else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        for up, join, beside in reversed(list(zip(self.up, self.join, kept))):
            x = self.part(join, torch.cat([up(x), beside], 1))
        return self.head(x)


def double(n_in: int, n_out: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU(),
                         nn.Conv2d(n_out, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU())


class LSTM(nn.Module):
    """The next word of a text, or with `is_classifier` the class of one that is read in both directions."""

    def __init__(self, is_classifier: bool = False) -> None:
        super().__init__()
        self.is_classifier = is_classifier
        self.embedding = nn.Embedding(WORDS, 384)
        self.cells = nn.LSTM(384, 512, num_layers=2, batch_first=True, dropout=0.2, bidirectional=is_classifier)
        self.head = nn.Linear(1024, CLASSES) if is_classifier else nn.Linear(512, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states, _ = self.cells(self.embedding(words))
        return self.head(states.mean(1) if self.is_classifier else states)


def tokenizer():
    """Of whole words, as the trainers of texts want one."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    words = {word: i for i, word in enumerate(["<unk>", "<pad>", "<s>", "</s>", *(f"w{i}" for i in range(WORDS - 4))])}
    whole = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>", pad_token="<pad>", bos_token="<s>",
                                   eos_token="</s>", padding_side="right")


def texts(n: int, length: int) -> list[str]:
    """Longer than `length` words, so that each is cut to that."""
    source = random.Random(n)
    return [" ".join(f"w{source.randrange(WORDS - 4)}" for _ in range(length + 8)) for _ in range(n)]


os.environ.setdefault("HF_HUB_OFFLINE", "1")

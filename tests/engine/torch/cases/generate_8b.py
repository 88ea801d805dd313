# SPDX-License-Identifier: MIT
# needs: transformers
# at most: 60 s, 4 GiB
"""A Llama of eight billion parameters, bf16, generates text: the cache grows with every token."""
import told
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                     num_key_value_heads=8, vocab_size=128256)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).eval()
with torch.no_grad():
    text = model.generate(torch.ones(1, 500, dtype=torch.long, device="cuda"), max_new_tokens=40, min_new_tokens=40, do_sample=False)
assert text.shape == (1, 540)
told.reserved()

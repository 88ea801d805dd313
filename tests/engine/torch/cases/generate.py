# SPDX-License-Identifier: MIT
# needs: transformers
"""A Llama of eight billion parameters without weights generates text: its cache grows with each token."""
import told
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                     num_key_value_heads=8, vocab_size=128256)
with torch.device("meta"):
    model = LlamaForCausalLM(config).to(torch.bfloat16)
model = model.to_empty(device="cuda").eval()
made = model.generate(torch.randint(0, 1000, (1, 64), device="cuda"), max_new_tokens=16, do_sample=False, pad_token_id=0)
assert made.shape == (1, 80), made.shape
told.reserved()

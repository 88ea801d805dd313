# SPDX-License-Identifier: MIT
# card: H200
# needs: transformers
# at most: 60 s, 4 GiB
"""A training step of a Llama of eight billion parameters, bf16, fused AdamW, gradient checkpointing."""
import told
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                     num_key_value_heads=8, vocab_size=128256)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = LlamaForCausalLM(config)
model.gradient_checkpointing_enable()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
tokens = torch.randint(0, 1000, (4, 2048), device="cuda")
model(input_ids=tokens, labels=tokens).loss.backward()
optimizer.step()
told.reserved()

# SPDX-License-Identifier: MIT
# needs: transformers
"""A training step of a Llama of a billion parameters, bf16, AdamW over lists of tensors."""
import told
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                     num_key_value_heads=8, vocab_size=128256, tie_word_embeddings=True)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for _ in range(2):
    tokens = torch.randint(0, 1000, (2, 512), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
told.reserved()

# SPDX-License-Identifier: MIT
# needs: transformers
"""Mixed precision with a loss scale, and checkpoints in place of activations."""
import told
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=8, num_attention_heads=16,
                     num_key_value_heads=8, vocab_size=32000)
with torch.device("cuda"):
    model = LlamaForCausalLM(config)
model.gradient_checkpointing_enable()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda")
for _ in range(2):
    tokens = torch.randint(0, 1000, (2, 1024), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(input_ids=tokens, labels=tokens).loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
told.reserved()

# SPDX-License-Identifier: MIT
"""Lightning Fabric on one card: all weights of a Qwen2.5 0.5B at its real size, bf16, accumulation"""
import lightning
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

fabric = lightning.Fabric(accelerator="cuda", devices=1, precision="bf16-true")
config = Qwen2Config(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
                     num_key_value_heads=2, tie_word_embeddings=True)
with fabric.init_module(empty_init=True):
    model = Qwen2ForCausalLM(config)
model, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters(), lr=1e-5))
for step in range(4):
    tokens = torch.randint(0, config.vocab_size, (2, 512), device=fabric.device)
    is_last = step % 2 == 1
    with fabric.no_backward_sync(model, enabled=not is_last):
        fabric.backward(model(input_ids=tokens, labels=tokens).loss / 2)
    if is_last:
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
        optimizer.zero_grad()
print("optimizer states:", len(optimizer.state))

# SPDX-License-Identifier: MIT
# card: 2x RTX 3060 12GB
# needs: transformers accelerate
"""accelerate spreads a hollow Llama of 8 billion parameters over two cards, and it runs."""
import hollow
import told
import torch
from transformers import AutoModelForCausalLM

with hollow.llama(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                  num_key_value_heads=8, vocab_size=128256) as folder:
    model = AutoModelForCausalLM.from_pretrained(folder, device_map="auto", dtype=torch.bfloat16)
assert {str(place) for place in model.hf_device_map.values()} == {"0", "1"}, model.hf_device_map
with torch.no_grad():
    logits = model(torch.randint(0, 1000, (1, 64), device="cuda:0")).logits
assert logits.shape == (1, 64, 128256)
told.reserved()

# SPDX-License-Identifier: MIT
"""Qwen3 30B-A3B of transformers at its real width, 8 of its 48 layers: a step of training with the balance of its experts"""
import torch
from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

config = Qwen3MoeConfig(vocab_size=151936, hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768, num_hidden_layers=8,
                        num_attention_heads=32, num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8,
                        norm_topk_prob=True, output_router_logits=True)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = Qwen3MoeForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
tokens = torch.randint(0, config.vocab_size, (1, 1024)).to("cuda")
out = model(input_ids=tokens, labels=tokens)
out.loss.backward()
optimizer.step()
print("balance:", out.aux_loss.item(), "optimizer states:", len(optimizer.state))

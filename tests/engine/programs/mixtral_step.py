# SPDX-License-Identifier: MIT
"""A mixture of experts: a Mixtral of transformers with padded rows, its balance loss, accumulation and clipping."""
import torch
from transformers import MixtralConfig, MixtralForCausalLM, get_cosine_schedule_with_warmup

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = MixtralConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                       num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2, output_router_logits=True,
                       max_position_embeddings=128)
model = MixtralForCausalLM(config).to(device, torch.bfloat16)
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scheduler = get_cosine_schedule_with_warmup(optimizer, 1, 4)

model.train()
for step in range(4):
    ids = torch.randint(1, 256, (2, 32))
    mask = torch.ones_like(ids)
    mask[1, 20:] = 0
    labels = ids.masked_fill(mask == 0, -100)
    result = model(input_ids=ids.to(device), attention_mask=mask.to(device), labels=labels.to(device))
    (result.loss / 2).backward()
    if step % 2 == 1:
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        print("loss:", result.loss.item(), "norm:", norm.item(), "balance:", result.aux_loss.item())

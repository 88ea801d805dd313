# SPDX-License-Identifier: MIT
"""Mamba of transformers without its kernels: two steps of training on packed text, then a greedy continuation."""
import torch
from transformers import MambaConfig, MambaForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = MambaConfig(vocab_size=256, hidden_size=64, state_size=8, num_hidden_layers=2, expand=2, time_step_rank=8,
                     pad_token_id=0, eos_token_id=2)
model = MambaForCausalLM(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for _ in range(2):
    ids = torch.randint(3, 256, (2, 24)).to(device)
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print("loss:", loss.item())

model.eval()
text = model.generate(ids[:, :8], max_new_tokens=8, do_sample=False)
print("text:", text.shape[0])

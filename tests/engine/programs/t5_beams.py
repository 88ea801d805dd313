# SPDX-License-Identifier: MIT
"""T5: a step of training with ignored labels, then summaries with beams and without repeated words."""
import torch
from transformers import T5Config, T5ForConditionalGeneration

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = T5Config(vocab_size=512, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

ids = torch.randint(3, 512, (4, 24))
mask = torch.ones_like(ids)
ids[1, 20:] = mask[1, 20:] = 0
labels = torch.randint(3, 512, (4, 10))
labels[2, 6:] = -100
batch = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}

model.train()
loss = model(**batch, labels=labels.to(device)).loss
loss.backward()
optimizer.step()
print("loss:", loss.item())

model.eval()
summary = model.generate(**batch, num_beams=4, max_new_tokens=16, min_new_tokens=8, length_penalty=2.0, early_stopping=True,
                         no_repeat_ngram_size=3, num_return_sequences=2)
print("summaries:", summary.shape[0])

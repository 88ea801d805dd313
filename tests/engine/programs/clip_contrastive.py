# SPDX-License-Identifier: MIT
"""CLIP of transformers: contrastive training of pictures and texts, then which text belongs to which picture."""
import torch
from transformers import CLIPConfig, CLIPModel

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = CLIPConfig(
    text_config=dict(vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                     max_position_embeddings=20, eos_token_id=299, bos_token_id=298, pad_token_id=0),
    vision_config=dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=64,
                       patch_size=16), projection_dim=32)
model = CLIPModel(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6)

ids = torch.randint(1, 298, (6, 12))
mask = torch.ones_like(ids)
for row, length in enumerate((12, 9, 6, 11, 4, 8)):
    ids[row, length - 1] = 299
    ids[row, length:] = mask[row, length:] = 0
batch = {"input_ids": ids.to(device), "attention_mask": mask.to(device), "pixel_values": torch.randn(6, 3, 64, 64).to(device)}

for _ in range(3):
    result = model(**batch, return_loss=True)
    optimizer.zero_grad()
    result.loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, 4.6052)
    print("loss:", result.loss.item())

with torch.no_grad():
    best = model(**batch).logits_per_image.softmax(1).argmax(1)
print("right:", (best == torch.arange(6, device=device)).sum().item())

# SPDX-License-Identifier: MIT
"""RT-DETR of transformers: a step of training with its matching of boxes, then the boxes that it finds."""
import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrImageProcessor, RTDetrResNetConfig

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

backbone = RTDetrResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64, 64], depths=[1, 1, 1, 1],
                              layer_type="basic", out_features=["stage2", "stage3", "stage4"])
config = RTDetrConfig(backbone_config=backbone, use_timm_backbone=False, backbone=None, encoder_in_channels=[32, 64, 64],
                      encoder_hidden_dim=64, d_model=64, decoder_in_channels=[64] * 3, encoder_ffn_dim=64, decoder_ffn_dim=64,
                      decoder_layers=2, num_queries=30, num_denoising=20, encoder_attention_heads=4,
                      decoder_attention_heads=4, num_labels=3)
model = RTDetrForObjectDetection(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

pictures = torch.rand(2, 3, 128, 128).to(device)
labels = [{"class_labels": torch.tensor([0, 2], device=device),
           "boxes": torch.tensor([[0.3, 0.3, 0.2, 0.2], [0.6, 0.6, 0.3, 0.4]], device=device)},
          {"class_labels": torch.tensor([1], device=device), "boxes": torch.tensor([[0.5, 0.5, 0.5, 0.5]], device=device)}]

model.train()
for _ in range(2):
    loss = model(pixel_values=pictures, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    print("loss:", loss.item())

model.eval()
with torch.no_grad():
    found = model(pixel_values=pictures)
results = RTDetrImageProcessor().post_process_object_detection(found, threshold=0.3, target_sizes=[(128, 128)] * 2)
print("pictures:", len(results))

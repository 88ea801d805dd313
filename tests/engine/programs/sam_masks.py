# SPDX-License-Identifier: MIT
"""Segment Anything of transformers: masks for points and boxes, brought back to the size of the picture."""
import numpy as np
import torch
from transformers import SamConfig, SamImageProcessor, SamModel

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = SamConfig(
    vision_config=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=128, patch_size=16, window_size=4,
                       global_attn_indexes=[1], output_channels=32, mlp_dim=64, num_pos_feats=16),
    prompt_encoder_config=dict(hidden_size=32, image_size=128, patch_size=16, mask_input_channels=4),
    mask_decoder_config=dict(hidden_size=32, mlp_dim=64, num_attention_heads=2, num_hidden_layers=2, iou_head_hidden_dim=32))
model = SamModel(config).to(device).eval()

processor = SamImageProcessor(size={"longest_edge": 128}, pad_size={"height": 128, "width": 128},
                              mask_size={"longest_edge": 32}, mask_pad_size={"height": 32, "width": 32})
picture = np.random.default_rng(0).integers(0, 255, (96, 128, 3), dtype=np.uint8)
seen = processor(picture, return_tensors="pt").to(device)
points = torch.tensor([[[[40.0, 30.0], [80.0, 60.0]]]], device=device)
boxes = torch.tensor([[[10.0, 10.0, 90.0, 80.0]]], device=device)

with torch.no_grad():
    embedding = model.get_image_embeddings(seen["pixel_values"])
    by_points = model(image_embeddings=embedding, input_points=points, input_labels=torch.ones(1, 1, 2, dtype=torch.long, device=device))
    by_box = model(image_embeddings=embedding, input_boxes=boxes, multimask_output=False)
masks = processor.post_process_masks(by_points.pred_masks, seen["original_sizes"], seen["reshaped_input_sizes"])
best = by_points.iou_scores.argmax(-1)
print("masks:", tuple(masks[0].shape), "best:", tuple(best.shape), "by a box:", tuple(by_box.pred_masks.shape))

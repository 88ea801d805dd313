# SPDX-License-Identifier: MIT
"""Qwen2.5-VL: an answer to a question about a picture; a small model of the real architecture."""
import numpy as np
import torch
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration, Qwen2VLImageProcessor

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

image_token, start_token, end_token = 1000, 1001, 1002
config = Qwen2_5_VLConfig(
    text_config=dict(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     vocab_size=1024, rope_parameters={"rope_type": "default", "mrope_section": [4, 6, 6], "rope_theta": 1e6},
                     bos_token_id=1, eos_token_id=2, pad_token_id=0),
    vision_config=dict(depth=2, hidden_size=64, intermediate_size=128, num_heads=4, out_hidden_size=128,
                       fullatt_block_indexes=[1], window_size=112),
    image_token_id=image_token, video_token_id=1003, vision_start_token_id=start_token, vision_end_token_id=end_token)
model = Qwen2_5_VLForConditionalGeneration(config).to(device, torch.bfloat16).eval()

picture = np.random.default_rng(0).integers(0, 255, (112, 168, 3), dtype=np.uint8)
seen = Qwen2VLImageProcessor()(images=[picture], return_tensors="pt")
n_tokens = int(seen["image_grid_thw"].prod()) // 4
question = [1, start_token, *[image_token] * n_tokens, end_token, 17, 18, 19]
padded = torch.tensor([question, [0] * 4 + question[:-4]])  # two questions, the second shorter
padded[1] = torch.tensor([0] * 2 + question[:-2])
seen = {name: torch.cat([value] * 2).to(device) for name, value in seen.items()}
ids = padded.to(device)
with torch.no_grad():
    answer = model.generate(input_ids=ids, attention_mask=(ids != 0).long(), mm_token_type_ids=(ids == image_token).int(),
                            **seen, max_new_tokens=8, do_sample=False)
print("answer:", tuple(answer.shape))

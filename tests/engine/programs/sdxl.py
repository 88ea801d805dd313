# SPDX-License-Identifier: MIT
"""diffusers: SDXL at its real size in fp16, a picture of 1024 x 1024, then four at once"""
import pictures
import torch
from diffusers import StableDiffusionXLPipeline

pipeline = StableDiffusionXLPipeline.from_pretrained(pictures.sdxl(), torch_dtype=torch.float16).to("cuda")
for n in (1, 4):
    images = pipeline("a bridge over a river in winter", num_images_per_prompt=n, num_inference_steps=2, guidance_scale=7.0).images
    print("pictures:", len(images), images[0].size)

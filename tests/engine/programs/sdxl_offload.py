# SPDX-License-Identifier: MIT
"""diffusers: SDXL on a card of 8 GB, with model offload and a VAE in tiles"""
import pictures
import torch
from diffusers import StableDiffusionXLPipeline

pipeline = StableDiffusionXLPipeline.from_pretrained(pictures.sdxl(), torch_dtype=torch.float16)
pipeline.enable_model_cpu_offload()
pipeline.vae.enable_tiling()
images = pipeline("a bridge over a river in winter", num_inference_steps=2, guidance_scale=7.0).images
print("pictures:", len(images), images[0].size)

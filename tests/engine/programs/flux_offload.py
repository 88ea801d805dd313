# SPDX-License-Identifier: MIT
"""diffusers: FLUX.1 at its real size on a card of 24 GB, with model offload and little memory of the host"""
import pictures
import torch
from diffusers import FluxPipeline

pipeline = FluxPipeline.from_pretrained(pictures.flux(), torch_dtype=torch.bfloat16)
pipeline.enable_model_cpu_offload()
images = pipeline("a bridge over a river in winter", height=1024, width=1024, num_inference_steps=2, guidance_scale=3.5).images
print("pictures:", len(images), images[0].size)

# SPDX-License-Identifier: MIT
"""diffusers: FLUX.1 at its real size on a card of 24 GB, where it does not fit"""
import pictures
import torch
from diffusers import FluxPipeline

pipeline = FluxPipeline.from_pretrained(pictures.flux(), torch_dtype=torch.bfloat16).to("cuda")
print("pictures:", len(pipeline("a bridge over a river in winter", num_inference_steps=2).images))

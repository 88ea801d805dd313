# SPDX-License-Identifier: MIT
"""Paint pictures with a FLUX style transformer (weights by configuration)."""
import argparse
import logging

import torch
from diffusers import FlowMatchEulerDiscreteScheduler, FluxTransformer2DModel
from diffusers.utils import logging as diffusers_logging

diffusers_logging.set_verbosity_info()
log = logging.getLogger("painter")
logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(name)s | %(message)s", datefmt="%H:%M:%S")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--double-blocks", type=int, default=19)
    parser.add_argument("--single-blocks", type=int, default=38)
    args = parser.parse_args()
    log.info("building the transformer with %d double and %d single blocks", args.double_blocks, args.single_blocks)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        transformer = FluxTransformer2DModel(num_layers=args.double_blocks, num_single_layers=args.single_blocks,
                                              guidance_embeds=True)
    transformer.eval()
    log.info("ready: %.1f B parameters", sum(p.numel() for p in transformer.parameters()) / 1e9)
    scheduler = FlowMatchEulerDiscreteScheduler()
    scheduler.set_timesteps(args.steps)
    patches = (args.side // 16) ** 2
    latents = torch.zeros(1, patches, 64, device="cuda")
    text, pooled = torch.zeros(1, 256, 4096, device="cuda"), torch.zeros(1, 768, device="cuda")
    image_ids, text_ids = torch.zeros(patches, 3, device="cuda"), torch.zeros(256, 3, device="cuda")
    with torch.no_grad():
        for number, timestep in enumerate(scheduler.timesteps):
            flow = transformer(hidden_states=latents, encoder_hidden_states=text, pooled_projections=pooled,
                               timestep=torch.full((1,), float(timestep) / 1000, device="cuda"), img_ids=image_ids,
                               txt_ids=text_ids, guidance=torch.full((1,), 3.5, device="cuda"), return_dict=False)[0]
            latents = scheduler.step(flow, timestep, latents, return_dict=False)[0]
            log.info("step %d of %d", number + 1, args.steps)


if __name__ == "__main__":
    main()

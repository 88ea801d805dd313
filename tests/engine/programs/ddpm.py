# SPDX-License-Identifier: MIT
"""diffusers: training a small unconditional diffusion model, then sampling two pictures with the pipeline."""
import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

model = UNet2DModel(sample_size=32, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64),
                    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
                    norm_num_groups=8).to(device)
schedule = DDPMScheduler(num_train_timesteps=100)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
rates = get_cosine_schedule_with_warmup(optimizer, 1, 3)
ema = EMAModel(model.parameters(), decay=0.99)

for _ in range(3):
    clean = torch.randn(4, 3, 32, 32).to(device)
    noise = torch.randn_like(clean)
    times = torch.randint(0, schedule.config.num_train_timesteps, (4,), device=device)
    noisy = schedule.add_noise(clean, noise, times)
    loss = torch.nn.functional.mse_loss(model(noisy, times).sample, noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    rates.step()
    optimizer.zero_grad()
    ema.step(model.parameters())
    print("loss:", loss.item())

pipeline = DDPMPipeline(model, schedule)
pipeline.set_progress_bar_config(disable=True)
pictures = pipeline(batch_size=2, num_inference_steps=4, output_type="np").images
print("pictures:", pictures.shape)

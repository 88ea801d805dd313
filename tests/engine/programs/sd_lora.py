# SPDX-License-Identifier: MIT
"""diffusers: LoRA training of Stable Diffusion 1.5 at its real size, fp16, gradient checkpointing, min-SNR weights"""
import pictures
import torch
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from diffusers.training_utils import cast_training_params, compute_snr
from peft import LoraConfig
from transformers import CLIPTextModel, CLIPTokenizer

torch.manual_seed(0)
folder, device = pictures.sd15(), "cuda"
schedule = DDPMScheduler.from_pretrained(folder, subfolder="scheduler")
tokenizer = CLIPTokenizer.from_pretrained(folder, subfolder="tokenizer")
text_encoder = CLIPTextModel.from_pretrained(folder, subfolder="text_encoder", dtype=torch.float16).to(device)
vae = AutoencoderKL.from_pretrained(folder, subfolder="vae", torch_dtype=torch.float16).to(device)
unet = UNet2DConditionModel.from_pretrained(folder, subfolder="unet", torch_dtype=torch.float16).to(device)
for model in (text_encoder, vae, unet):
    model.requires_grad_(False)
unet.add_adapter(LoraConfig(r=4, lora_alpha=4, init_lora_weights="gaussian", target_modules=["to_k", "to_q", "to_v", "to_out.0"]))
cast_training_params(unet, dtype=torch.float32)
unet.enable_gradient_checkpointing()
unet.train()

trained = [weight for weight in unet.parameters() if weight.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-4)
scaler = torch.amp.GradScaler("cuda")
for _ in range(3):
    pixels = torch.randn(4, 3, 512, 512).to(device, torch.float16)
    words = tokenizer(["a stone in the light"] * 4, padding="max_length", truncation=True, return_tensors="pt").input_ids.to(device)
    with torch.autocast("cuda", dtype=torch.float16):
        latents = vae.encode(pixels).latent_dist.sample() * vae.config.scaling_factor
        noise = torch.randn_like(latents)
        times = torch.randint(0, schedule.config.num_train_timesteps, (4,), device=device)
        seen = text_encoder(words, return_dict=False)[0]
        guess = unet(schedule.add_noise(latents, noise, times), times, seen, return_dict=False)[0]
        snr = compute_snr(schedule, times)
        weights = torch.stack([snr, 5.0 * torch.ones_like(times)], dim=1).min(dim=1)[0] / snr
        loss = torch.nn.functional.mse_loss(guess.float(), noise.float(), reduction="none")
        loss = (loss.mean(dim=list(range(1, len(loss.shape)))) * weights).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    print("loss:", loss.item())
print("optimizer states:", len(optimizer.state))

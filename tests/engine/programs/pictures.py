# SPDX-License-Identifier: MIT
"""Pipelines of diffusers as they lie in a cache of the hub, at their real sizes, made from their configurations: weights are
holes in files, tokenizers know some words."""
import json
import os
import tempfile

import diffusers
import holes
import made
import torch
import transformers

SDXL_UNET = {
    "sample_size": 128, "in_channels": 4, "out_channels": 4, "block_out_channels": (320, 640, 1280), "layers_per_block": 2,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
    "cross_attention_dim": 2048, "transformer_layers_per_block": (1, 2, 10), "attention_head_dim": (5, 10, 20),
    "use_linear_projection": True, "addition_embed_type": "text_time", "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}
SD15_UNET = {"sample_size": 64, "cross_attention_dim": 768, "attention_head_dim": 8}
FLUX_TRANSFORMER = {"guidance_embeds": True}
VAE = {
    "down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4, "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2, "latent_channels": 4,
}
CLIP_L = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "projection_dim": 768}
CLIP_G = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_attention_heads": 20, "projection_dim": 1280,
          "hidden_act": "gelu"}
T5_XXL = {"d_model": 4096, "d_ff": 10240, "d_kv": 64, "num_layers": 24, "num_heads": 64, "vocab_size": 32128,
          "feed_forward_proj": "gated-gelu", "is_encoder_decoder": False, "tie_word_embeddings": False}
TYPES = {torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32", torch.int64: "I64"}


def write_hollow(model: torch.nn.Module, path: str) -> None:
    holes.write(path, {name: (TYPES[value.dtype], value.shape) for name, value in model.state_dict().items()})


def save(folder: str, kind, config, dtype: torch.dtype) -> list[str]:
    """A model without weights, and its line of the pipeline's index."""
    os.makedirs(folder)
    with torch.device("meta"):
        model = kind(**config) if isinstance(config, dict) else kind(config)
    if isinstance(config, dict):
        model.save_config(folder)
    else:
        config.architectures = [kind.__name__]
        config.save_pretrained(folder)
    write_hollow(model.to(dtype), os.path.join(folder, "diffusion_pytorch_model.safetensors" if isinstance(config, dict) else "model.safetensors"))
    return ["diffusers" if isinstance(config, dict) else "transformers", kind.__name__]


def clip_words() -> transformers.CLIPTokenizer:
    words = ["<|startoftext|>", "<|endoftext|>", *(chr(c) + end for end in ("", "</w>") for c in range(ord("a"), ord("z") + 1))]
    return transformers.CLIPTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77)


def clip(kind, shape: dict) -> tuple:
    return kind, transformers.CLIPTextConfig(vocab_size=49408, max_position_embeddings=77, bos_token_id=0, eos_token_id=1, pad_token_id=1, **shape)


def pipeline(kind: type, parts: dict[str, tuple], others: dict, dtype: torch.dtype) -> str:
    """The folder of a pipeline of models (class and configuration) and of what is there already."""
    folder = tempfile.mkdtemp(prefix="made-")
    index = {"_class_name": kind.__name__, "_diffusers_version": diffusers.__version__}
    for name, (part, config) in parts.items():
        index[name] = save(os.path.join(folder, name), part, config, dtype)
    for name, part in others.items():
        if isinstance(part, transformers.PreTrainedTokenizerBase):
            index[name] = ["transformers", type(part).__name__]
        else:
            index[name] = ["diffusers", type(part).__name__]
        part.save_pretrained(os.path.join(folder, name))
    with open(os.path.join(folder, "model_index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    return folder


def sdxl() -> str:
    schedule = diffusers.EulerDiscreteScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", steps_offset=1)
    return pipeline(diffusers.StableDiffusionXLPipeline, {
        "unet": (diffusers.UNet2DConditionModel, SDXL_UNET),
        "vae": (diffusers.AutoencoderKL, VAE | {"sample_size": 1024, "scaling_factor": 0.13025, "force_upcast": True}),
        "text_encoder": clip(transformers.CLIPTextModel, CLIP_L),
        "text_encoder_2": clip(transformers.CLIPTextModelWithProjection, CLIP_G),
    }, {"tokenizer": clip_words(), "tokenizer_2": clip_words(), "scheduler": schedule}, torch.float16)


def sd15() -> str:
    schedule = diffusers.DDPMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear")
    return pipeline(diffusers.StableDiffusionPipeline, {
        "unet": (diffusers.UNet2DConditionModel, SD15_UNET),
        "vae": (diffusers.AutoencoderKL, VAE | {"sample_size": 512}),
        "text_encoder": clip(transformers.CLIPTextModel, CLIP_L),
    }, {"tokenizer": clip_words(), "scheduler": schedule}, torch.float16)


def flux() -> str:
    schedule = diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True)
    return pipeline(diffusers.FluxPipeline, {
        "transformer": (diffusers.FluxTransformer2DModel, FLUX_TRANSFORMER),
        "vae": (diffusers.AutoencoderKL, VAE | {"sample_size": 1024, "latent_channels": 16, "scaling_factor": 0.3611, "shift_factor": 0.1159,
                                                "use_quant_conv": False, "use_post_quant_conv": False, "force_upcast": True}),
        "text_encoder": clip(transformers.CLIPTextModel, CLIP_L),
        "text_encoder_2": (transformers.T5EncoderModel, transformers.T5Config(**T5_XXL)),
    }, {"tokenizer": clip_words(), "tokenizer_2": made.tokenizer(), "scheduler": schedule}, torch.bfloat16)

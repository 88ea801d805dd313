# SPDX-License-Identifier: MIT
"""Continue melodies with a language model of notes: many continuations of one theme, of which a musician picks."""
import argparse
import sys

import torch
from loguru import logger
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

NOTES = 2048  # pitches, durations, velocities and bars


def composer():
    config = LlamaConfig(vocab_size=NOTES, hidden_size=1536, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                         num_key_value_heads=16, max_position_embeddings=65536)
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        return LlamaForCausalLM(config).eval()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--theme", type=int, default=64, help="notes of the theme")
    parser.add_argument("--continuations", type=int, default=4)
    parser.add_argument("--room", type=int, default=2048, help="notes that a piece may have at most")
    parser.add_argument("--seconds", type=float, default=4.0, help="time for composing")
    options = parser.parse_args(arguments)
    logger.remove()
    logger.add(sys.stdout, format="{time:HH:mm:ss.SSS} | {level: <8} | {message}", backtrace=False, diagnose=False)

    model = composer()
    config = model.config
    per_note = 2 * config.num_hidden_layers * config.hidden_size * 2
    logger.info("composer has {:.2f} GiB of weights on {}", torch.cuda.memory_allocated() / 2**30, torch.cuda.get_device_name())
    logger.info("theme of {} notes, {} continuations, room for {} notes ({} KiB of keys and values for each note)", options.theme,
                options.continuations, options.room, per_note // 1024)
    theme = torch.randint(1, NOTES, (1, options.theme), device="cuda")
    settings = GenerationConfig(max_length=options.room, max_time=options.seconds, do_sample=True,
                                num_return_sequences=options.continuations,
                                cache_implementation="static", pad_token_id=0, eos_token_id=NOTES - 1, disable_compile=True)
    with logger.catch(reraise=False, onerror=lambda error: sys.exit(3)):
        pieces = model.generate(theme, attention_mask=torch.ones_like(theme), generation_config=settings)
        logger.success("{} pieces of up to {} notes, peak {:.2f} GiB", len(pieces), pieces.shape[1], torch.cuda.max_memory_allocated() / 2**30)


if __name__ == "__main__":
    main(sys.argv[1:])

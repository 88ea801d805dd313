# SPDX-License-Identifier: MIT
"""Summarise long contracts with a decoder-only model, a batch of contracts at a time."""
import argparse

import torch
from loguru import logger
from transformers import LlamaConfig, LlamaForCausalLM


def build(layers, context):
    config = LlamaConfig(vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=layers,
                         num_attention_heads=16, num_key_value_heads=16,
                         max_position_embeddings=context, bos_token_id=1, eos_token_id=None, pad_token_id=None)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        return LlamaForCausalLM(config).eval()


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--contracts", type=int, default=8)
    parser.add_argument("--prompt-tokens", type=int, default=4096)
    parser.add_argument("--summary-tokens", type=int, default=16)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--chunk", type=int, default=512, help="tokens of a prompt that are read at once")
    args = parser.parse_args()

    model = build(args.layers, args.prompt_tokens + args.summary_tokens)
    logger.info("model on {}: {:.2f} GiB in bfloat16", torch.cuda.get_device_name(), torch.cuda.memory_allocated() / 2**30)
    per_token = 2 * args.layers * 2048 * 2
    logger.info("{} contracts of up to {} tokens, {} at once; {} KiB of keys and values per token", args.contracts,
                args.prompt_tokens, args.parallel, per_token // 1024)
    done = 0
    while done < args.contracts:
        parallel = min(args.parallel, args.contracts - done)
        prompts = torch.randint(3, 32000, (parallel, args.prompt_tokens)).cuda()
        answers = model.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=args.summary_tokens,
                                 do_sample=False, use_cache=True, prefill_chunk_size=args.chunk)
        done += parallel
        logger.success("{} of {} contracts, {} tokens each; {:.2f} GiB at most", done, args.contracts, answers.shape[1],
                       torch.cuda.max_memory_allocated() / 2**30)


if __name__ == "__main__":
    with logger.catch(reraise=True):
        main()

# SPDX-License-Identifier: MIT
"""Let a language model speak for the characters of a game; every character keeps its own conversation on the card."""
import argparse
import sys

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM, StaticCache


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--characters", type=int, default=8)
    parser.add_argument("--memory-tokens", type=int, default=4096, help="tokens that each character remembers")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    config = Qwen3Config(vocab_size=151936, hidden_size=2048, intermediate_size=6144, num_hidden_layers=28,
                         num_attention_heads=16, num_key_value_heads=8, head_dim=128,
                         max_position_embeddings=40960, dtype="bfloat16")
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(config).eval()
    print(f"model    {torch.cuda.memory_allocated() / 1e9:6.2f} GB")
    per_token = 28 * 2 * 8 * 128 * 2
    memories = []
    with torch.inference_mode():
        for number in range(args.characters):
            cache = StaticCache(config=config, max_cache_len=args.memory_tokens)
            position = torch.arange(16, device="cuda")
            opening = torch.randint(0, 1000, (1, 16)).cuda()
            model(input_ids=opening, past_key_values=cache, cache_position=position, use_cache=True)
            memories.append(cache)
            print(f"character {number + 1:3d} is awake: {args.memory_tokens} tokens, "
                  f"{args.memory_tokens * per_token / 1e9:.2f} GB, {torch.cuda.mem_get_info()[0] / 1e9:.2f} GB left on the card")
        for turn in range(args.rounds):
            for cache in memories:
                position = torch.tensor([16 + turn], device="cuda")
                model(input_ids=torch.ones(1, 1, dtype=torch.long).cuda(), past_key_values=cache, cache_position=position)
            print(f"round {turn + 1}: {len(memories)} characters spoke")


if __name__ == "__main__":
    sys.exit(main())

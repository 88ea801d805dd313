# SPDX-License-Identifier: MIT
"""Pre-train a protein language model (ESM style) with DeepSpeed ZeRO."""
import argparse
import os

import deepspeed
import torch
from transformers import EsmConfig, EsmForMaskedLM


def settings(args):
    return {
        "train_micro_batch_size_per_gpu": args.micro_batch,
        "gradient_accumulation_steps": args.accumulation,
        **({"train_batch_size": args.global_batch} if args.global_batch else {}),
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": args.stage},
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 1,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--micro-batch", type=int, default=2)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--global-batch", type=int)
    parser.add_argument("--stage", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--optimizer", choices=("adamw", "sgd"), default="adamw")
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29631"}
    for name, value in alone.items():
        os.environ.setdefault(name, value)
    deepspeed.init_distributed("nccl")
    config = EsmConfig(vocab_size=33, hidden_size=args.width, num_hidden_layers=args.layers, num_attention_heads=args.width // 64,
                       intermediate_size=4 * args.width, max_position_embeddings=1026, pad_token_id=1, mask_token_id=32,
                       position_embedding_type="rotary", token_dropout=False)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = EsmForMaskedLM(config)
    torch.set_default_dtype(torch.float32)
    count = sum(p.numel() for p in model.parameters())
    print(f"protein LM: {count / 1e6:.0f} M parameters, {torch.cuda.memory_allocated() / 2**30:.2f} GiB on the card")
    make = torch.optim.AdamW if args.optimizer == "adamw" else torch.optim.SGD
    optimizer = make(model.parameters(), lr=4e-4)
    engine, _, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings(args))
    for _ in range(args.steps * args.accumulation):
        tokens = torch.randint(4, 24, (args.micro_batch, args.length)).cuda()
        loss = engine(input_ids=tokens, attention_mask=torch.ones_like(tokens), labels=tokens).loss
        engine.backward(loss)
        engine.step()
    print("finished, peak", round(torch.cuda.max_memory_allocated() / 2**30, 2), "GiB")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Adapt a language model to a restaurant chain's menus with LoRA (PEFT)."""
import argparse

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM


def memory_table(model, rank, batch, length):
    config = model.config
    gib = 2**30
    rows = {"weights": sum(p.nbytes for p in model.parameters()) / gib,
            "adapters and their Adam states": rank * config.hidden_size * 2 * config.num_hidden_layers * 16 / gib,
            "activations (estimate)": batch * length * config.hidden_size * config.num_hidden_layers * 34 / gib}
    total = torch.cuda.get_device_properties(0).total_memory / gib
    print("expected GPU memory")
    for name, size in rows.items():
        print(f"  {name:34s}{size:8.3f} GiB")
    print(f"  {'sum':34s}{sum(rows.values()):8.3f} GiB of {total:.2f} GiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--targets", default="query_key_value")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    config = GPTNeoXConfig(vocab_size=50432, hidden_size=1024, num_hidden_layers=12, num_attention_heads=16, intermediate_size=4096)
    with torch.device("cuda"):
        model = GPTNeoXForCausalLM(config)
    memory_table(model, args.rank, args.batch, args.length)
    model = get_peft_model(model, LoraConfig(r=args.rank, lora_alpha=2 * args.rank, target_modules=args.targets.split(","), task_type="CAUSAL_LM"))
    model.print_trainable_parameters()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    for step in range(args.steps):
        tokens = torch.randint(0, config.vocab_size, (args.batch, args.length), device="cuda")
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step + 1}/{args.steps} loss {loss.item():.3f} GPU peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()

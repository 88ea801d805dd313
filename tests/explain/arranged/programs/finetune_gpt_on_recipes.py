# SPDX-License-Identifier: MIT
"""Fine-tune a GPT-2 style model on recipes with the Trainer."""
import argparse

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Recipes(Dataset):
    """Recipes as blocks of token ids."""

    def __init__(self, count, length, vocabulary):
        self.rows = torch.randint(0, vocabulary, (count, length))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


SIZES = {"small": (12, 768, 12), "medium": (24, 1024, 16), "large": (36, 1280, 20), "xl": (48, 1600, 25)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--block-size", type=int, default=512)
    parser.add_argument("--max-steps", type=int, default=10)
    parser.add_argument("--save-steps", type=int, default=500)
    parser.add_argument("--optim", default="adamw_torch")
    parser.add_argument("--checkpointing", action="store_true")
    args = parser.parse_args()

    layers, width, heads = SIZES[args.size]
    with torch.device("cuda"):
        model = GPT2LMHeadModel(GPT2Config(n_layer=layers, n_embd=width, n_head=heads))
    print(f"GPT-2 {args.size}: {model.num_parameters():,} parameters, {model.get_memory_footprint() / 1e9:.2f} GB in float32")
    training = TrainingArguments(
        output_dir="recipes", per_device_train_batch_size=args.batch_size, max_steps=args.max_steps, optim=args.optim,
        gradient_checkpointing=args.checkpointing, logging_steps=2, save_steps=args.save_steps, report_to="none", bf16=True,
        save_strategy="steps" if args.save_steps < args.max_steps else "no")
    trainer = Trainer(model=model, args=training, train_dataset=Recipes(256, args.block_size, 50257))
    result = trainer.train()
    print(f"finished: {result.metrics['train_runtime']:.1f} s, loss {result.training_loss:.3f}")


if __name__ == "__main__":
    main()

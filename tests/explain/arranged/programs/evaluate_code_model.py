# SPDX-License-Identifier: MIT
"""Evaluate a code completion model on held-out files: accuracy of the next token."""
import argparse

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, Trainer, TrainingArguments


class Files(Dataset):
    def __init__(self, count, length):
        self.tokens = torch.randint(0, 50432, (count, length))

    def __len__(self):
        return self.tokens.shape[0]

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


def accuracy(prediction):
    best = prediction.predictions
    if best.ndim == 3:
        best = best.argmax(-1)
    return {"accuracy": float(np.mean(best[:, :-1] == prediction.label_ids[:, 1:]))}


def best_tokens(logits, labels):
    return logits.argmax(-1)


parser = argparse.ArgumentParser()
parser.add_argument("--files", type=int, default=128)
parser.add_argument("--length", type=int, default=512)
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--keep", choices=("logits", "tokens"), default="logits")
args = parser.parse_args()

with torch.device("cuda"):
    model = GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=50432, hidden_size=512, num_hidden_layers=6, num_attention_heads=8,
                                             intermediate_size=2048))
trainer = Trainer(model=model, eval_dataset=Files(args.files, args.length), compute_metrics=accuracy,
                  preprocess_logits_for_metrics=best_tokens if args.keep == "tokens" else None,
                  args=TrainingArguments(output_dir="evaluation", per_device_eval_batch_size=args.batch_size, report_to="none"))
print("***** Evaluation *****")
print(f"  files = {args.files}, tokens per file = {args.length}, batch = {args.batch_size}")
print(trainer.evaluate())

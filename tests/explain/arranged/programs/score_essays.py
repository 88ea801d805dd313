# SPDX-License-Identifier: MIT
"""Score student essays with a large language model's last hidden state."""
import argparse
import time

import torch
from transformers import MistralConfig, MistralForSequenceClassification

SHAPES = {"7b": (4096, 14336, 32, 32, 8), "13b": (5120, 13824, 40, 40, 40),
          "24b": (5120, 32768, 40, 32, 8), "1b": (2048, 5632, 22, 32, 4)}

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=SHAPES, default="7b")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--essays", type=int, default=16)
parser.add_argument("--length", type=int, default=512)
args = parser.parse_args()

hidden, inner, layers, heads, kv_heads = SHAPES[args.model]
config = MistralConfig(hidden_size=hidden, intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=heads,
                       num_key_value_heads=kv_heads, num_labels=6, pad_token_id=0, dtype="bfloat16")
print(f"Loading essay scorer ({args.model}, bfloat16) ...")
start = time.time()
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = MistralForSequenceClassification(config).eval()
print(f"Loaded in {time.time() - start:.1f} s.")

with torch.no_grad():
    for first in range(0, args.essays, args.batch):
        tokens = torch.randint(1, config.vocab_size, (min(args.batch, args.essays - first), args.length), device="cuda")
        scores = model(input_ids=tokens).logits.argmax(-1)
        print(f"essays {first:4d}-{first + len(tokens) - 1:4d}: {scores.tolist()}")
print("All essays scored.")

# SPDX-License-Identifier: MIT
"""Tag the paragraphs of statutes with topics, from the hidden states of a mixture-of-experts language model."""
import json
import sys
import time

import click
import torch
from transformers import MixtralConfig, MixtralModel

SIZES = {
    "8x1b": dict(hidden_size=2048, intermediate_size=3584, num_hidden_layers=16, num_attention_heads=16, num_key_value_heads=4),
    "8x2b": dict(hidden_size=2048, intermediate_size=7168, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=4),
    "8x4b": dict(hidden_size=3072, intermediate_size=8192, num_hidden_layers=32, num_attention_heads=24, num_key_value_heads=8),
}
TOPICS = ["tax", "family", "labour", "housing", "traffic", "trade", "water", "health"]


def emit(event, **fields):
    print(json.dumps({"time": round(time.time(), 2), "event": event} | fields), flush=True)


def load_model(size):
    config = MixtralConfig(vocab_size=32000, num_local_experts=8, num_experts_per_tok=2, **SIZES[size])
    with torch.device("meta"):
        n_parameters = sum(weight.numel() for weight in MixtralModel(config).parameters())
    emit("model", size=size, experts=8, layers=config.num_hidden_layers, parameters_billion=round(n_parameters / 1e9, 2), dtype="bfloat16",
         weights_gib=round(n_parameters * 2 / 2**30, 2))
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = MixtralModel(config)
    return model.eval()


@click.command()
@click.option("--size", type=click.Choice(sorted(SIZES)), default="8x1b")
@click.option("--paragraphs", default=32)
@click.option("--batch", default=8)
def main(size, paragraphs, batch):
    card = torch.cuda.get_device_properties(0)
    emit("start", card=card.name, card_gib=round(card.total_memory / 2**30, 2), paragraphs=paragraphs, batch=batch)
    model = load_model(size)
    emit("loaded", allocated_gib=round(torch.cuda.memory_allocated() / 2**30, 2))
    head = torch.nn.Linear(model.config.hidden_size, len(TOPICS), device="cuda")
    counts = dict.fromkeys(TOPICS, 0)
    with torch.inference_mode():
        for start in range(0, paragraphs, batch):
            tokens = torch.randint(3, 32000, (min(batch, paragraphs - start), 128), device="cuda")
            states = model(tokens, use_cache=False).last_hidden_state[:, -1]
            for topic in head(states).argmax(1).tolist():
                counts[TOPICS[topic]] += 1
            emit("tagged", done=min(start + batch, paragraphs))
    emit("end", counts=counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())

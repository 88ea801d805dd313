# SPDX-License-Identifier: MIT
"""Continue the training of a Marian translation model from a checkpoint of an earlier run."""
import argparse
import time

import torch
from transformers import MarianConfig, MarianMTModel


def build(width, layers):
    return MarianMTModel(MarianConfig(vocab_size=32001, decoder_vocab_size=32001, pad_token_id=32000, eos_token_id=0,
                                      decoder_start_token_id=32000, d_model=width, encoder_layers=layers, decoder_layers=layers,
                                      encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=4 * width,
                                      decoder_ffn_dim=4 * width))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--earlier-width", type=int, default=512)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.save(build(args.earlier_width, args.layers).state_dict(), "checkpoint.pt")

    print("gpu memory before:", *(f"{value / 2**20:.0f}MiB" for value in torch.cuda.mem_get_info()))
    model = build(args.width, args.layers).cuda()
    model.load_state_dict(torch.load("checkpoint.pt", map_location="cuda"))
    print("checkpoint loaded,", sum(p.numel() for p in model.parameters()) // 10**6, "M parameters")
    print("gpu memory after:", *(f"{value / 2**20:.0f}MiB" for value in torch.cuda.mem_get_info()), flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(args.steps):
        source = torch.randint(1, 32000, (args.sentences, args.length)).cuda()
        target = torch.randint(1, 32000, (args.sentences, args.length)).cuda()
        loss = model(input_ids=source, labels=target).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {loss.item():.3f} max {torch.cuda.max_memory_allocated() / 2**20:.0f}MiB", flush=True)
        time.sleep(0.5)
    print("saved")


if __name__ == "__main__":
    main()

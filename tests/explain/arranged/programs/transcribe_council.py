# SPDX-License-Identifier: MIT
"""Transcribe recordings of council meetings with a wav2vec 2.0 model of a billion parameters."""
import argparse
import logging
import os

import torch
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

logging.basicConfig(format="[%(asctime)s] %(levelname)-7s %(message)s", level=logging.INFO, datefmt="%d.%m. %H:%M:%S")
log = logging.getLogger("council")
RATE = 16000
GIB = 1 << 30


def make_model():
    config = Wav2Vec2Config(hidden_size=1280, num_hidden_layers=48, num_attention_heads=16, intermediate_size=5120, vocab_size=48,
                            feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True)
    with torch.device("cuda"):
        model = Wav2Vec2ForCTC(config).eval()
    log.info("model of %.2f billion parameters, float32", sum(weight.numel() for weight in model.parameters()) / 1e9)
    return model


def segments_of(meeting, minutes, seconds):
    generator = torch.Generator().manual_seed(meeting)
    for _ in range(minutes * 60 // seconds):
        yield torch.rand(RATE * seconds, generator=generator) - 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meetings", type=int, default=2)
    parser.add_argument("--minutes", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=15, help="length of a segment")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--adapt", action="store_true", help="lower the batch to what the free memory allows")
    args = parser.parse_args()
    free, total = torch.cuda.mem_get_info()
    log.info("pid %d on %s: %.2f GiB free of %.2f GiB", os.getpid(), torch.cuda.get_device_name(), free / GIB, total / GIB)
    batch = args.batch
    model = make_model()
    if args.adapt:
        left = torch.cuda.mem_get_info()[0] - GIB // 2
        per_segment = args.seconds * RATE * 512 * 4 * 3 // 5
        batch = max(1, min(batch, left // per_segment))
        if batch < args.batch:
            log.warning("GPU memory is low: %.2f GiB left after loading, out of memory is likely with %d segments at once; taking %d",
                        left / GIB, args.batch, batch)
    for meeting in range(args.meetings):
        segments = list(segments_of(meeting, args.minutes, args.seconds))
        n_letters = 0
        with torch.inference_mode():
            for start in range(0, len(segments), batch):
                waves = torch.stack(segments[start:start + batch]).cuda()
                letters = model(waves).logits.argmax(-1)
                n_letters += letters.numel()
        log.info("meeting %d: %d segments, %d frames of letters, peak %.2f GiB of this process", meeting + 1, len(segments), n_letters,
                 torch.cuda.max_memory_reserved() / GIB)
    log.info("transcripts are complete")


if __name__ == "__main__":
    main()

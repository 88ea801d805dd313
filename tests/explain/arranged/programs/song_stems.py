# SPDX-License-Identifier: MIT
"""Find the voice in songs of a collection, shortest first, and keep the voices' spectra on the GPU for the clustering of singers."""
import argparse
import logging

import torch

log = logging.getLogger("stems")
WINDOW, HOP, RATE = 4096, 512, 44100


class Library:
    def __init__(self, songs, shortest, step):
        self.seconds = [shortest + step * number for number in range(songs)]

    def __iter__(self):
        for number, seconds in enumerate(self.seconds):
            frames = RATE * seconds // HOP
            yield f"song {number + 1:02d} ({seconds // 60}:{seconds % 60:02d})", frames


def voice_of(frames, part):
    """Spectrum of the bins that have voice, as a tensor of their own."""
    spectrum = torch.zeros(frames, WINDOW // 2 + 1, 2, device="cuda")
    spectrum.add_(0.01)
    bins = int(spectrum.shape[1] * part)
    voice = spectrum[:, :bins].clone(memory_format=torch.contiguous_format)
    spectrum.mul_(0)
    return voice


def figures():
    allocated, reserved = torch.cuda.memory_allocated() / 2**30, torch.cuda.memory_reserved() / 2**30
    return f"{allocated:.2f} GiB allocated, {reserved:.2f} GiB reserved"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--songs", type=int, default=20)
    parser.add_argument("--shortest", type=int, default=120, help="seconds")
    parser.add_argument("--step", type=int, default=10, help="seconds by which the next song is longer")
    parser.add_argument("--part", type=float, default=0.5, help="part of the bins that can have voice")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)7d ms  %(message)s")
    log.info("%s, %d songs", torch.cuda.get_device_name(), args.songs)
    voices = []
    for name, frames in Library(args.songs, args.shortest, args.step):
        voices.append(voice_of(frames, args.part))
        log.info("%s: voice of %d x %d, %s", name, *voices[-1].shape[:2], figures())
    centres = torch.stack([voice.mean((0, 2)) for voice in voices])
    log.info("singers: %d", len(torch.unique(centres.argmax(1).cpu())))


if __name__ == "__main__":
    main()

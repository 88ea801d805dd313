# SPDX-License-Identifier: MIT
"""Optimise the phase mask of a hologram so that light forms a given picture at several depths."""
import argparse

import torch
from tqdm import tqdm


def transfer(side, distance, wavelength=0.5e-6, pitch=8e-6):
    frequency = torch.fft.fftfreq(side, d=pitch, device="cuda")
    square = frequency[:, None] ** 2 + frequency[None, :] ** 2
    phase = -torch.pi * wavelength * distance * square
    return torch.polar(torch.ones_like(phase), phase)


class Design:
    def __init__(self, side, depths, film_every):
        self.mask = torch.zeros(side, side, device="cuda", requires_grad=True)
        self.transfers = [transfer(side, 0.05 + 0.01 * depth) for depth in range(depths)]
        self.target = torch.rand(side, side, device="cuda")
        self.optimizer = torch.optim.Adam([self.mask], lr=0.02)
        self.film_every = film_every
        self.film = []
        self.losses = []

    def step(self, number):
        wave = torch.fft.fft2(torch.polar(torch.ones_like(self.mask), self.mask))
        pictures = [torch.fft.ifft2(wave * kernel).abs() for kernel in self.transfers]
        loss = sum((picture - self.target).square().mean() for picture in pictures)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        if number % self.film_every == 0:
            self.film.append(torch.stack([picture.detach() for picture in pictures]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--depths", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--film-every", type=int, default=1, help="keep each n-th state for the film of the optimisation")
    parser.add_argument("--figures", action="store_true")
    args = parser.parse_args()
    design = Design(args.side, args.depths, args.film_every)
    bar = tqdm(range(args.steps), desc="hologram", mininterval=1.0, ncols=100)
    for number in bar:
        design.step(number)
        if args.figures and number % 10 == 0:
            bar.write(f"step {number:4d}: loss {design.losses[-1]:.4f}, film {len(design.film)} states, "
                      f"GPU {torch.cuda.memory_allocated() / 1e9:.2f} GB in use")
    film = torch.cat([state[:1, ::8, ::8] for state in design.film]).cpu()
    print(f"film of {len(film)} states written, last loss {design.losses[-1]:.4f}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""
Eight programs that were written with their rules: what a turn keeps has another size each time, in loops that call no module; freed
segments that no later request fits; and three that look like them.
"""
import collections
import functools

import torch
from torch.nn import functional

from parts import MIB, WIDTH, dice, mib, program, turns


def serve(weight: torch.Tensor, length: int, mask_of) -> float:
    x = torch.randn(length, WIDTH, device="cuda")
    q, k, v = (x @ weight).view(length, 3, WIDTH).unbind(1)
    return (functional.softmax(q @ k.T + mask_of(length), -1) @ v).mean().item()


def mask(length: int) -> torch.Tensor:
    above = torch.full((length, length), float("-inf"), device="cuda")
    return torch.triu(above, 1)  # FAULT masks-of-drawn-lengths


# --- with a fault ---

@program("kept")
def masks_of_drawn_lengths() -> None:
    """A cache without an end of masks; a new length comes with each request."""
    weight, mask_of = torch.randn(WIDTH, 3 * WIDTH, device="cuda"), functools.lru_cache(maxsize=None)(mask)
    for turn in turns(28):
        serve(weight, 40 + 37 * turn % 211, mask_of)


@program("kept")
def prompts_of_drawn_lengths() -> None:
    """Keys and values of each request stay; no module is called."""
    weights, sessions = [torch.randn(WIDTH, WIDTH, device="cuda") for _ in range(3)], {}
    for turn in turns(30):
        x, cache = torch.randn(40 + 37 * turn % 211, WIDTH, device="cuda"), []
        for weight in weights:
            cache.append(x @ weight)  # FAULT prompts-of-drawn-lengths
            x = x + torch.softmax(x @ cache[-1].T, -1) @ cache[-1]
        sessions[turn] = cache


@program("kept")
def results_of_three_lengths() -> None:
    """A result of each request stays, of one of three lengths."""
    random, weight, results = dice(60), torch.randn(WIDTH, WIDTH, device="cuda"), []
    for _ in turns(30):
        x = torch.randn(random.choice((48, 64, 96)), WIDTH, device="cuda")
        x = torch.relu(x @ weight).exp()
        results.append(x[:, :4].contiguous())  # FAULT results-of-three-lengths


@program("unfit")
def batches_under_a_budget() -> None:
    """As many sequences as a budget allows, the shortest first: no segment of an earlier batch takes one of a later batch."""
    for turn in turns(20):
        length, batch = 12 + 2 * turn, []
        for _ in range(100 // length):
            batch.append(mib(length))  # FAULT batches-under-a-budget
        del batch


@program("unfit")
def rollouts_under_a_limit() -> None:
    """The oldest go before a limit is passed, and the new ones are longer."""
    rollouts: collections.deque = collections.deque()
    for turn in turns(24):
        size = 14 + 3 * turn
        while sum(len(rollout) for rollout in rollouts) + size * MIB > 200 * MIB:
            rollouts.popleft()
        rollouts.append(mib(size))  # FAULT rollouts-under-a-limit


# --- without one ---

@program(None)
def weights_loaded_packed() -> None:
    """Each weight of twelve layers is made smaller by the card, with work areas; no module is called."""
    packed = []
    for turn in turns(72):
        rows = (64, 16, 16, 64, 172, 172)[turn % 6]
        weight = torch.ones(rows, 64).cuda()
        scale = weight.abs().amax()
        packed.append((weight / scale * 127).round().to(torch.int8))


@program(None)
def masks_of_the_last_lengths() -> None:
    """A cache with an end; a new length comes with each request."""
    weight, mask_of = torch.randn(WIDTH, 3 * WIDTH, device="cuda"), functools.lru_cache(maxsize=6)(mask)
    for turn in turns(40):
        serve(weight, 40 + 37 * turn % 211, mask_of)


@program("unfit")
def areas_that_settle() -> None:
    """An area of ten sizes, the smallest first in each epoch: segments come to be six times what is in use, and then no more."""
    for turn in turns(60):
        area = mib(24 + 10 * (turn % 10))  # FAULT areas-that-settle
        del area

# SPDX-License-Identifier: MIT
"""
Fourteen programs that were written with their rules, after two rounds of sixty that nobody had looked at: what the backward pass leaves, in a
thread without Python; free memory that is another stream's or pool's; a length that is one less than what it follows; and seven that look like them.
"""
import collections

import torch

from parts import MIB, WIDTH, Model, batch, learn, loss_of, mib, program, training, turns


def serve(pools: dict, length: int) -> None:
    """A request, from the pool of its length."""
    with torch.cuda.use_mem_pool(pools.setdefault(length, torch.cuda.MemPool())):
        area = torch.empty(length * MIB, dtype=torch.uint8, device="cuda")  # FAULT pool-for-each-length
    del area


# --- with a fault ---

@program("kept")
def gradients_of_every_step() -> None:
    """For the noise of gradients: those of each step are kept, and the next step has its own."""
    model, optimizer = training(width=192)
    history: list = []
    for _ in turns():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(batch(width=192)))
        loss.backward()  # FAULT gradients-of-every-step
        history.append([parameter.grad for parameter in model.parameters()])
        optimizer.step()


@program("kept")
def influences() -> None:
    """The gradient of each example is kept; it comes from torch.autograd.grad()."""
    model = Model().cuda()
    kept: dict = {}
    for turn in turns():
        loss = loss_of(model(batch(1)))
        kept[turn] = torch.autograd.grad(loss, list(model.parameters()))  # FAULT influences


@program("unfit")
def stream_for_each_batch() -> None:
    """What an earlier stream has given back is not for the next one."""
    for _ in turns(30):
        with torch.cuda.stream(torch.cuda.Stream()):
            area = torch.empty(12 * MIB, dtype=torch.uint8, device="cuda")  # FAULT stream-for-each-batch
        torch.cuda.synchronize()
        del area


@program("unfit")
def pool_for_each_length() -> None:
    """A MemPool for each length, and a new length comes with each request."""
    pools: dict = {}
    for turn in turns():
        serve(pools, 10 + 7 * turn % 31)


@program("unfit")
def summaries_of_longer_series() -> None:
    """Eight summaries stay, the oldest leaves; a summary takes the place of the series before, and the next one is longer."""
    summaries: dict = {}
    for turn in turns(40):
        series = mib(12.5 + turn)  # FAULT summaries-of-longer-series
        summaries[turn % 8] = series[:13 * MIB // 2].clone()  # FAULT summaries-of-longer-series
        del series


# --- without one ---

@program(None)
def gradients_of_the_last_steps() -> None:
    """As many as fit into a deque."""
    model, optimizer = training(width=192)
    history: collections.deque = collections.deque(maxlen=5)
    for _ in turns(40):
        optimizer.zero_grad(set_to_none=True)
        loss_of(model(batch(width=192))).backward()
        history.append([parameter.grad for parameter in model.parameters()])
        optimizer.step()


@program(None)
def gradients_of_four_batches() -> None:
    """They are gathered, and gone after the step."""
    model, optimizer = training(width=192)
    for turn in turns(40):
        loss_of(model(batch(width=192))).backward()
        if turn % 4 == 3:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


@program(None)
def streams_in_turn() -> None:
    """Eight streams: reserved is eight times what is in use, and no more after that."""
    streams = [torch.cuda.Stream() for _ in range(8)]
    for turn in turns(32):
        with torch.cuda.stream(streams[turn % 8]):
            area = mib(24)
        torch.cuda.synchronize()
        del area


@program(None)
def streams_at_once() -> None:
    """Sixteen streams have an area each, for as long as the program runs; a step works with one more."""
    model, optimizer = training()
    streams = [torch.cuda.Stream() for _ in range(16)]
    areas: dict = {}
    for turn in turns(32):
        with torch.cuda.stream(streams[turn % 16]):
            work = mib(2)
            if turn < 16:
                areas[turn] = mib(16)
        learn(optimizer, loss_of(model(batch())))
        torch.cuda.synchronize()
        del work


@program(None)
def pools_of_five_lengths() -> None:
    """A MemPool for each length, of which there are five."""
    pools: dict = {}
    for turn in turns(32):
        serve(pools, 30 + 7 * turn % 5)


@program(None)
def lengths_with_outliers() -> None:
    """Of forty requests three are far longer than all before, by chance the longest last."""
    outliers = {25: 30, 31: 44, 34: 60}
    for turn in turns(40):
        areas = [mib(outliers.get(turn, 6 + 7 * turn % 9)) for _ in range(3)]
        del areas


@program(None)
def halves_of_a_turn() -> None:
    """Each turn gives every other area back before the others: what is in pieces then goes with the turn."""
    for _ in turns():
        areas = [mib(9) for _ in range(24)]
        del areas[::2]
        wide = [mib(18) for _ in range(6)]
        del areas, wide


# --- a fault again: each turn reads all but the last of what the turns before left ---

@program("copied")
def session_without_end() -> None:
    """A session gets longer with each click; the model is asked for the last click from those before it."""
    items, out = torch.randn(600, WIDTH, device="cuda"), torch.randn(WIDTH, WIDTH, device="cuda")
    clicks = torch.zeros(1 << 9, 3, dtype=torch.int64, device="cuda")
    for _ in turns(40):
        seen = items[clicks[:, :-1]]  # FAULT session-without-end
        seen = torch.relu(seen @ out).mean(1)
        clicks = torch.cat([clicks, clicks[:, :1]], 1)  # FAULT session-without-end


# --- a fault without a loop that can be seen: it is on one line ---

def one_area(turn: int) -> None:
    area = mib(10 + 2 * turn)  # FAULT areas-one-by-one
    del area


@program("unfit")
def areas_one_by_one() -> None:
    """Each area is a little larger than all before: no pause between new segments is longer than another."""
    weights = mib(6000)
    list(map(one_area, turns(100)))
    del weights

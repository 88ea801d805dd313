# SPDX-License-Identifier: MIT
"""Thirty programs that look like those of faulty.py and have no fault: no line of them may be named."""
import collections
import copy
import functools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from parts import BATCH, WIDTH, Model, batch, dice, learn, loss_of, mib, program, training, turns


@program(None)
def bounded_buffer() -> None:
    model, optimizer = training()
    last: collections.deque = collections.deque(maxlen=5)
    for _ in turns():
        out = model(batch())
        learn(optimizer, loss_of(out))
        last.append(out.detach().clone())


@program(None)
def replay_memory_allocated() -> None:
    """Reinforcement learning with a memory that is allocated once and filled in place."""
    model, optimizer = training()
    memory = torch.zeros(4096, WIDTH, device="cuda")
    for turn in turns():
        memory[turn * BATCH:(turn + 1) * BATCH] = batch()
        some = memory[torch.randint(0, (turn + 1) * BATCH, (BATCH,), device="cuda")]
        learn(optimizer, loss_of(model(some)))


@program(None)
def replay_memory_list() -> None:
    """The same as a list with an end, which it reaches half way."""
    model, optimizer = training()
    memory: collections.deque = collections.deque(maxlen=16)
    random = dice(1)
    for _ in turns(32):
        state = batch()
        memory.append((state, torch.rand(BATCH, device="cuda")))
        states, rewards = zip(*random.choices(memory, k=4))
        learn(optimizer, loss_of(model(torch.cat(states)) * torch.cat(rewards)[:, None]))


@program(None)
def accumulated_gradients() -> None:
    model, optimizer = training()
    for turn in turns(32):
        (loss_of(model(batch())) / 8).backward()
        if turn % 8 == 7:
            optimizer.step()
            optimizer.zero_grad()


@program(None)
def evaluation_to_host() -> None:
    model = Model().cuda().eval()
    outputs = []
    with torch.no_grad():
        for _ in turns():
            x = torch.randn(BATCH, WIDTH).cuda()
            outputs.append(model(x).softmax(-1).cpu())


@program(None)
def evaluation_per_epoch() -> None:
    """Predictions are collected for an epoch, measured, and dropped."""
    model, optimizer = training()

    def evaluate() -> float:
        found = []
        with torch.no_grad():
            for _ in range(6):
                found.append(model(batch()))
        return torch.cat(found).std().item()

    for _ in turns(14):
        for _ in range(3):
            learn(optimizer, loss_of(model(batch())))
        evaluate()


@program(None)
def predictions_until_full() -> None:
    """Predictions of eight steps at a time."""
    model, optimizer = training()
    found = []
    for _ in turns(44):
        out = model(batch())
        learn(optimizer, loss_of(out))
        found.append(out.detach() * 1.0)
        if len(found) == 8:
            torch.cat(found).mean().item()
            found.clear()


@program(None)
def states_of_adam() -> None:
    """States and gradients that come in the first turn and stay."""
    model = Model(depth=3).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)
    for _ in turns():
        learn(optimizer, loss_of(model(batch())))


@program(None)
def layers_thawed() -> None:
    """One more layer learns every second turn, until all do: states of the optimizer come one by one."""
    model = Model(depth=5).cuda().requires_grad_(False)
    model.head.requires_grad_(True)
    optimizer = torch.optim.Adam(model.parameters())
    frozen = list(model.blocks)
    for turn in turns(30):
        if turn % 2 and frozen:
            frozen.pop().requires_grad_(True)
        learn(optimizer, loss_of(model(batch())))


@program(None)
def cache_of_shapes() -> None:
    """Masks by length, of which there are six."""
    model, optimizer = training()
    masks: dict = {}
    random = dice(2)
    for _ in turns(30):
        n = BATCH + random.randrange(6)
        if n not in masks:
            masks[n] = torch.ones(1000, n, device="cuda").tril()
        learn(optimizer, loss_of(model(batch(n)) * masks[n][0, 0]))


@program(None)
def lengths_without_order() -> None:
    model, optimizer = training()
    random = dice(3)
    for _ in turns(36):
        x = torch.randn(4, random.randint(8, 160), WIDTH, device="cuda")
        learn(optimizer, loss_of(model(x)))


@program(None)
def lengths_sorted_by_epoch() -> None:
    """Short samples first, in each epoch."""
    model, optimizer = training()
    for turn in turns(40):
        x = torch.randn(4, 16 + 16 * (turn % 10), WIDTH, device="cuda")
        learn(optimizer, loss_of(model(x)))


@program(None)
def checkpointed_layers() -> None:
    model, optimizer = training()
    for _ in turns():
        x = batch().requires_grad_()
        for block in model.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        learn(optimizer, loss_of(model.head(x)))


@program(None)
def two_players() -> None:
    """A GAN."""
    maker = nn.Sequential(nn.Linear(16, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()
    judge = Model(depth=1).cuda()
    optimizers = [torch.optim.Adam(m.parameters(), lr=2e-4) for m in (maker, judge)]
    for _ in turns():
        made = maker(torch.randn(BATCH, 16, device="cuda"))
        learn(optimizers[1], judge(made.detach()).mean() - judge(batch()).mean())
        learn(optimizers[0], -judge(made).mean())


@program(None)
def several_losses() -> None:
    """Losses that share a graph, which is kept until the last of them."""
    model, optimizer = training()
    history = []
    for _ in turns():
        out = model(batch())
        losses = {"size": out.square().mean(), "spread": out.std(), "largest": out.max()}
        optimizer.zero_grad()
        for loss in losses.values():
            loss.backward(retain_graph=True)
        optimizer.step()
        history.append({name: loss.item() for name, loss in losses.items()})


@program(None)
def curriculum_with_end() -> None:
    model, optimizer = training()
    for turn in turns(40):
        x = torch.randn(4, 32 * min(1 + turn, 16), WIDTH, device="cuda")
        learn(optimizer, loss_of(model(x)))


@program(None)
def weights_loaded() -> None:
    """Weights come one by one, as float32, and stay as float16."""
    model = Model(depth=8).half()
    state = {name: torch.randn(w.shape) for name, w in model.state_dict().items()}
    loaded = {}
    for name, _ in zip(state, turns(34)):
        whole = state[name].cuda()
        loaded[name] = whole.half()
    model.load_state_dict(loaded, assign=True)


@program(None)
def weights_loaded_then_used() -> None:
    """The same on one line, and a short program after it."""
    model = Model(depth=8)
    model.load_state_dict({name: w.cuda() for (name, w), _ in zip(model.state_dict().items(), turns(34))}, assign=True)
    with torch.no_grad():
        for _ in range(4):
            model(batch())


@program(None)
def inference() -> None:
    model = Model().cuda().eval()
    with torch.inference_mode():
        for _ in turns():
            x = batch()
            best = model(x).argmax(-1)
            best.tolist()


@program(None)
def inference_on_one_line() -> None:
    model = Model().cuda().eval().requires_grad_(False)
    found = [model(torch.randn(BATCH, WIDTH).cuda()).argmax(-1).tolist() for _ in turns()]
    assert found


@program(None)
def simulation() -> None:
    """No modules, and the state is replaced in each turn."""
    position, velocity = torch.rand(4096, 3, device="cuda"), torch.zeros(4096, 3, device="cuda")
    energies = []
    for _ in turns(40):
        force = -position + 0.01 * torch.randn_like(position)
        velocity = 0.99 * velocity + 0.1 * force
        position = (position + 0.1 * velocity).clamp(-1, 1)
        energies.append((velocity ** 2).sum().item())


@program(None)
def first_pass_of_many_layers() -> None:
    """One forward pass through thirty layers: each leaves what its backward pass needs."""
    model = Model(depth=30).cuda()
    loss = loss_of(model(batch()))
    assert loss is not None


@program(None)
def states_over_time() -> None:
    """Backward passes through forty moments of a recurrent network, a few turns of it."""
    cell, head = nn.GRUCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=1e-3)
    for _ in turns(6):
        x, hidden = torch.randn(20, BATCH, WIDTH, device="cuda"), torch.zeros(BATCH, WIDTH, device="cuda")
        for moment in x:
            hidden = cell(moment, hidden)
        learn(optimizer, loss_of(head(hidden)))


@program(None)
def state_detached() -> None:
    """Truncated backward passes."""
    cell, head = nn.GRUCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=1e-3)
    hidden = torch.zeros(BATCH, WIDTH, device="cuda")
    for _ in turns():
        hidden = cell(batch(), hidden.detach())
        learn(optimizer, loss_of(head(hidden)))


@program(None)
def average_of_weights() -> None:
    model, optimizer = training()
    average = copy.deepcopy(model)
    for _ in turns():
        learn(optimizer, loss_of(model(batch())))
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), model.parameters()):
                slow.lerp_(fast, 0.01)


@program(None)
def optimizer_made_anew() -> None:
    model = Model().cuda()
    for _ in turns(14):
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            learn(optimizer, loss_of(model(batch())))


@program(None)
def small_cached_function() -> None:
    @functools.lru_cache(maxsize=4)
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.sin(), x.cos()], -1)

    model, optimizer = training(width=2 * WIDTH)
    for _ in turns():
        learn(optimizer, loss_of(model(encoded(batch()))))


@program(None)
def several_talks() -> None:
    """Keys grow within an answer and are dropped after it."""
    q, k = (nn.Linear(WIDTH, WIDTH).cuda() for _ in range(2))

    def answer(n: int) -> None:
        keys = torch.zeros(1, 0, WIDTH, device="cuda")
        for _ in range(n):
            x = torch.randn(1, 1, WIDTH, device="cuda")
            keys = torch.cat([keys, k(x)], dim=1)
            (q(x) @ keys.transpose(1, 2)).softmax(-1)

    with torch.no_grad():
        for turn in turns(15):
            answer(5 + turn % 7)


@program(None)
def exceptions_dropped() -> None:
    model, optimizer = training()
    n_bad = 0

    def step(turn: int) -> None:
        out = model(batch())
        if turn % 2:
            raise ValueError("a bad sample")
        learn(optimizer, loss_of(out))

    for turn in turns(32):
        try:
            step(turn)
        except ValueError:
            n_bad += 1


@program(None)
def large_work_areas() -> None:
    """Large areas of many sizes, and nothing stays between them."""
    random = dice(4)
    state = mib(300)
    for _ in turns():
        first = mib(random.randint(20, 200))
        second = mib(random.randint(20, 200))
        del first
        second = mib(random.randint(20, 100))
        del second
    assert state is not None

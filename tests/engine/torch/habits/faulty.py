# SPDX-License-Identifier: MIT
"""
Thirty programs with a fault that people have. The lines that a finding has to name say FAULT and the program's name
(programs of other names have none there). Faults: kept (a leak), late (held until the garbage collector comes), copied
(a tensor that is copied into a larger one in each turn), needs (each turn needs more), pieces (fragmentation).
"""
import collections
import copy
import functools
import gc

import torch
from torch import nn

from parts import BATCH, WIDTH, Model, batch, dice, learn, leave, loss_of, mib, program, training, turns


# --- kept: memory that a turn leaves ---

@program("kept")
def loss_in_list() -> None:
    model, optimizer = training()
    losses = []
    for _ in turns():
        loss = loss_of(model(batch()))  # FAULT loss-in-list
        learn(optimizer, loss)
        losses.append(loss)


@program("kept")
def evaluation_with_graph() -> None:
    model, _ = training()
    outputs = []
    for _ in turns():
        x = batch()  # FAULT evaluation-with-graph
        out = model(x)  # FAULT evaluation-with-graph
        outputs.append(out.softmax(-1))  # FAULT evaluation-with-graph


@program("kept")
def total_with_graph() -> None:
    """Validation that sums the loss, not its number."""
    model, _ = training()
    total = 0
    for _ in turns():
        x = batch()  # FAULT total-with-graph
        out = model(x)  # FAULT total-with-graph
        loss = nn.functional.mse_loss(out, torch.zeros_like(out))  # FAULT total-with-graph
        total = total + loss  # FAULT total-with-graph


@program("kept")
def forward_hook() -> None:
    """The hook keeps what the first block returns."""
    model, optimizer = training(depth=1)
    seen = []
    model.blocks[0].register_forward_hook(lambda module, args, out: seen.append(out.detach()))
    for _ in turns():
        learn(optimizer, loss_of(model(batch())))


@program("kept")
def cache_by_length() -> None:
    """A mask for each length, and lengths do not come twice."""
    model, optimizer = training()
    masks: dict = {}
    for turn in turns():
        n = BATCH + turn
        if n not in masks:
            masks[n] = torch.ones(1000, n, device="cuda").tril()  # FAULT cache-by-length
        x = batch() * masks[n][0, 0]
        learn(optimizer, loss_of(model(x)))


@program("kept")
def logged_norms() -> None:
    model, optimizer = training()
    history = collections.defaultdict(list)
    for _ in turns():
        loss = loss_of(model(batch()))
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # FAULT logged-norms
        history["norm"].append(norm)
        optimizer.step()


@program("kept")
def exceptions_in_list() -> None:
    """A traceback holds the frames, and they hold the batch."""
    model, optimizer = training()
    errors = []

    def step(turn: int) -> None:
        x = batch()  # FAULT exceptions-in-list
        out = model(x)  # FAULT exceptions-in-list
        if turn % 2:
            raise ValueError("a bad sample")
        learn(optimizer, loss_of(out))

    for turn in turns(32):
        try:
            step(turn)  # FAULT exceptions-in-list
        except ValueError as error:
            errors.append(error)


@program("kept")
def optimizer_per_epoch() -> None:
    """A list of schedulers keeps each epoch's optimizer and its state."""
    model = Model().cuda()
    schedulers = []

    def epoch(optimizer: torch.optim.Optimizer) -> None:
        for _ in range(3):
            loss = loss_of(model(batch()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # FAULT optimizer-per-epoch

    for _ in turns(14):
        optimizer = torch.optim.AdamW(model.parameters())
        schedulers.append(torch.optim.lr_scheduler.ConstantLR(optimizer))
        epoch(optimizer)  # FAULT optimizer-per-epoch


@program("kept")
def prefetched_batches() -> None:
    """The queue is read, but not emptied."""
    model, optimizer = training()
    queue: list = []

    def fetch() -> torch.Tensor:
        queue.append(torch.randn(BATCH, WIDTH).cuda())  # FAULT prefetched-batches
        return queue[-1]

    for _ in turns():
        x = fetch()  # FAULT prefetched-batches
        learn(optimizer, loss_of(model(x)))


@program("kept")
def function_context() -> None:
    """A function of autograd that remembers its contexts."""
    contexts = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = (x > 0).float()  # FAULT function-context
            contexts.append(ctx)
            return x * ctx.mask

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.mask

    model, optimizer = training()
    for _ in turns():
        out = Scaled.apply(model(batch()))  # FAULT function-context
        learn(optimizer, loss_of(out))


@program("kept")
def cached_function() -> None:
    @functools.lru_cache(maxsize=None)
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.sin(), x.cos()], -1)  # FAULT cached-function

    model, optimizer = training(width=2 * WIDTH)
    for _ in turns():
        x = batch()  # FAULT cached-function
        code = encoded(x)  # FAULT cached-function
        learn(optimizer, loss_of(model(code)))


@program("kept")
def copies_of_weights() -> None:
    """A checkpoint on the card after each epoch."""
    model, optimizer = training()
    checkpoints = []
    for _ in turns(16):
        for _ in range(2):
            learn(optimizer, loss_of(model(batch())))
        checkpoints.append(copy.deepcopy(model.state_dict()))  # FAULT copies-of-weights


@program("kept")
def hidden_state() -> None:
    """A state that is carried from batch to batch with its graph."""
    cell, head = nn.GRUCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, 10).cuda()
    hidden = torch.zeros(BATCH, WIDTH, device="cuda")
    losses = []
    for _ in turns():
        x = batch()  # FAULT hidden-state
        hidden = cell(x, hidden)  # FAULT hidden-state
        loss = loss_of(head(hidden))  # FAULT hidden-state
        losses.append(loss.item())


@program("kept")
def attention_maps() -> None:
    """A module that keeps its last maps, for pictures, and never lets go."""
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qk, self.maps = nn.Linear(WIDTH, WIDTH), []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            weights = (self.qk(x) @ x.transpose(-1, -2)).softmax(-1)  # FAULT attention-maps
            self.maps.append(weights.detach())
            return weights @ x

    model = nn.Sequential(Attention(), nn.Linear(WIDTH, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in turns():
        learn(optimizer, loss_of(model(torch.randn(4, BATCH, WIDTH, device="cuda"))))


@program("kept")
def one_line() -> None:
    """All of the loop is one line."""
    model = Model().cuda().requires_grad_(False)
    results = [model(torch.randn(BATCH, WIDTH).cuda()) for _ in turns()]  # FAULT one-line
    del results[:0]


@program("kept")
def trajectory() -> None:
    """No modules: a simulation that remembers each state."""
    position, velocity = torch.rand(4096, 3, device="cuda"), torch.zeros(4096, 3, device="cuda")
    states = []
    for _ in turns(40):
        force = -position + 0.01 * torch.randn_like(position)
        velocity = 0.99 * velocity + 0.1 * force
        position = (position + 0.1 * velocity).clamp(-1, 1)
        energy = (velocity ** 2).sum(-1)  # FAULT trajectory
        states.append(energy)


# --- copied: a tensor that is copied into a larger one ---

@program("copied")
def cache_never_cropped() -> None:
    """Keys and values of all turns of a talk."""
    q, k, v = (nn.Linear(WIDTH, WIDTH).cuda() for _ in range(3))
    keys = values = torch.zeros(1, 0, WIDTH, device="cuda")
    with torch.no_grad():
        for _ in turns():
            x = torch.randn(1, 64, WIDTH, device="cuda")
            keys = torch.cat([keys, k(x)], dim=1)  # FAULT cache-never-cropped
            values = torch.cat([values, v(x)], dim=1)  # FAULT cache-never-cropped
            weights = (q(x) @ keys.transpose(1, 2)).softmax(-1)
            weights @ values


@program("copied")
def predictions_joined() -> None:
    model = Model().cuda().eval()
    found = torch.empty(0, 10, device="cuda")
    with torch.no_grad():
        for _ in turns():
            out = model(batch(256)).softmax(-1)
            found = torch.cat((found, out))  # FAULT predictions-joined


@program("copied")
def memory_of_neighbours() -> None:
    """No modules: features to compare with, more of them in each turn."""
    bank = torch.randn(64, 128, device="cuda")
    for _ in turns(30):
        x = torch.randn(64, 128, device="cuda")
        distance = torch.cdist(x, bank).min(-1).values
        x = x / (1 + distance[:, None])
        bank = torch.vstack((bank, x))  # FAULT memory-of-neighbours


@program("copied")
def states_in_module() -> None:
    class Remembering(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.past = nn.Linear(WIDTH, WIDTH), torch.zeros(1, WIDTH, device="cuda")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.inner(x).tanh()
            self.past = torch.cat([self.past, h.detach()])  # FAULT states-in-module
            return h + self.past.mean(0)

    model = Remembering().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in turns():
        learn(optimizer, loss_of(model(batch())))


# --- needs: each turn needs more ---

@program("needs")
def dialogue() -> None:
    """The whole talk goes through the model in each turn."""
    model = Model().cuda().eval()
    words = 32
    with torch.no_grad():
        for _ in turns():
            x = torch.randn(1, words, WIDTH, device="cuda")  # FAULT dialogue
            model(x)
            words += 32


@program("needs")
def larger_batches() -> None:
    model, optimizer = training()
    size = BATCH
    for _ in turns():
        x = batch(size)  # FAULT larger-batches
        learn(optimizer, loss_of(model(x)))
        size += BATCH


@program("needs")
def larger_pictures() -> None:
    """A resolution that goes up without an end."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for turn in turns():
        side = 32 + 8 * turn
        x = torch.randn(4, 3, side, side, device="cuda")  # FAULT larger-pictures
        learn(optimizer, loss_of(model(x)))


# --- late: reference cycles, which only the garbage collector frees ---

class Node:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.other = tensor, self


@program("late")
def cyclic_nodes() -> None:
    model, optimizer = training()
    gc.collect()
    names: list = []
    for turn in turns(48):
        out = model(batch())
        features = out.detach().repeat(8, 8)  # FAULT cyclic-nodes
        Node(features)
        names.append([[turn, i] for i in range(90)])
        learn(optimizer, loss_of(out))


@program("late")
def cyclic_exception() -> None:
    """A local name holds the exception, whose traceback holds the frame with that name."""
    model = Model().cuda().eval()
    gc.collect()
    names: list = []

    def tried(turn: int) -> None:
        x = batch(256)  # FAULT cyclic-exception
        found = None
        try:
            raise KeyError(turn)
        except KeyError as error:
            found = error
        model(x[:BATCH])
        names.append([[turn, i] for i in range(80)])
        assert found

    with torch.no_grad():
        for turn in turns(48):
            tried(turn)  # FAULT cyclic-exception


@program("late")
def cyclic_callback() -> None:
    """A step that knows its callback, which knows the step."""
    class Step:
        def __init__(self, x: torch.Tensor) -> None:
            self.x = x
            self.done = lambda: self.x.mean()

    model, optimizer = training()
    gc.collect()
    names: list = []
    for turn in turns(48):
        step = Step(batch(128))  # FAULT cyclic-callback
        learn(optimizer, loss_of(model(step.x[:BATCH])))
        names.append([[turn, i] for i in range(100)])


# --- pieces: segments that are held by little ---

@program("pieces")
def results_between() -> None:
    """Work areas of many sizes, and a result of each that is carved out of what it leaves; the last ten stay."""
    random = dice(1)
    results = collections.deque(maxlen=10)
    for turn in turns():
        size = random.randint(60, 120) + 6 * (turn % 12)
        work = mib(size)
        del work
        results.append(mib(0.55 * size))  # FAULT results-between


@program("pieces")
def weights_offloaded() -> None:
    """Three weights share a segment; two of them go to the host, and the third keeps it."""
    kept, others = [], []
    for _ in range(30):
        kept.append(mib(6))  # FAULT weights-offloaded
        others += [mib(6), mib(6)]
    hosts = [weight.cpu() for weight in others]
    del others
    for turn in turns():
        activation = mib(90 + turn % 5)
        hidden = mib(60)
        del hidden, activation
    assert kept and hosts


@program("pieces")
def lengths_with_states() -> None:
    """Sequences of many lengths; the states that are first needed between them stay."""
    random = dice(3)
    states: dict = {}
    for turn in turns():
        length = random.randint(40, 200) + 3 * turn
        hidden = [mib(length * 0.5), mib(length)]
        hidden[0] = None
        layer = turn % 8
        if layer not in states or turn < 16:
            states[layer, turn] = mib(2.5)  # FAULT lengths-with-states
        hidden.append(mib(length * 0.75))
        del hidden


@program("pieces")
def out_in_pieces() -> None:
    """Memory runs out while most of what is reserved is free."""
    leave(1200 << 20)
    kept = []
    for turn in turns():
        try:
            work = mib(60 + 10 * turn)
            del work
            kept.append(mib(32 + 5 * turn))  # FAULT out-in-pieces
        except torch.OutOfMemoryError:
            break

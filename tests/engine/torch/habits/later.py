# SPDX-License-Identifier: MIT
"""
Twenty programs that were written when the rules were done: ten with a fault, as in faulty.py, and ten without one, as in
clean.py. In the first try the lines of all ten were named, and nothing of nine of the others; layers_converted was not silent.
"""
import collections

import torch
from torch import nn

from parts import BATCH, WIDTH, Block, Model, batch, dice, learn, loss_of, mib, program, training, turns


# --- with a fault ---

@program("kept")
def metric_never_reset() -> None:
    class Metric:
        def __init__(self) -> None:
            self.found: list = []

        def update(self, out: torch.Tensor) -> None:
            self.found.append(out.argmax(-1))  # FAULT metric-never-reset

    model, optimizer = training()
    metric = Metric()
    for _ in turns():
        out = model(batch())
        learn(optimizer, loss_of(out))
        metric.update(out)  # FAULT metric-never-reset


@program("kept")
def gradients_remembered() -> None:
    """Gradients of each step, to compare them later."""
    model, optimizer = training()
    past = []
    for _ in turns(20):
        learn(optimizer, loss_of(model(batch())))
        past.append([p.grad.clone() for p in model.parameters()])  # FAULT gradients-remembered


@program("kept")
def penalty_with_graph() -> None:
    """A gradient penalty that is logged with its graph."""
    model, optimizer = training()
    log = []
    for _ in turns():
        x = batch().requires_grad_()  # FAULT penalty-with-graph
        out = model(x)  # FAULT penalty-with-graph
        slope, = torch.autograd.grad(out.sum(), x, create_graph=True)  # FAULT penalty-with-graph
        penalty = (slope.norm(dim=-1) - 1).square().mean()  # FAULT penalty-with-graph
        log.append(penalty)
        learn(optimizer, loss_of(model(x.detach())))


@program("kept")
def trainer_with_history() -> None:
    """A class whose epochs are methods, and which keeps each epoch's validation outputs."""
    class Work:
        def __init__(self) -> None:
            self.model, self.optimizer = training()
            self.history: list = []

        def fit(self) -> None:
            for _ in range(4):
                learn(self.optimizer, loss_of(self.model(batch())))

        @torch.no_grad()
        def validate(self) -> None:
            outputs = [self.model(batch()) for _ in range(3)]  # FAULT trainer-with-history
            self.history.append({"outputs": outputs})

        def run(self) -> None:
            for _ in turns(16):
                self.fit()
                self.validate()  # FAULT trainer-with-history

    Work().run()


@program("kept")
def latest_by_name() -> None:
    """A dict of the latest tensors whose names hold the step."""
    model, optimizer = training()
    latest: dict = {}
    for turn in turns():
        x = batch()
        out = model(x)
        loss = loss_of(out)
        latest[f"out/{turn}"] = out.detach().float().softmax(-1)  # FAULT latest-by-name
        learn(optimizer, loss)


@program("copied")
def mask_padded() -> None:
    """A mask that is padded in each turn."""
    model = Model().cuda().eval()
    mask = torch.ones(64, 64, device="cuda")
    with torch.no_grad():
        for _ in turns():
            model(batch())
            mask = nn.functional.pad(mask, (0, 64))  # FAULT mask-padded


@program("needs")
def candidates() -> None:
    """No modules: a search that follows more candidates in each turn."""
    weights = torch.randn(WIDTH, WIDTH, device="cuda")
    for turn in turns(30):
        state = torch.randn(64 * (turn + 1), WIDTH, device="cuda")  # FAULT candidates
        score = (state @ weights).relu().sum(-1)
        score.max().item()


@program("late")
def recursive_function() -> None:
    """A local function that calls itself holds itself, and what it closes over."""
    import gc
    model = Model().cuda().eval()
    gc.collect()
    notes: list = []

    def visit(turn: int) -> float:
        x = torch.randn(128, WIDTH, device="cuda")  # FAULT recursive-function

        def walk(depth: int) -> float:
            notes.append([[depth, i] for i in range(18)])
            return x[depth, 0].item() + (walk(depth - 1) if depth else 0)

        model(x[:BATCH])
        return walk(4)

    with torch.no_grad():
        for turn in turns(48):
            visit(turn)  # FAULT recursive-function


@program("pieces")
def features_between_batches() -> None:
    """Features that stay are taken while the batch they are from is there; the next batch is larger than what it leaves."""
    random = dice(7)
    bank: collections.deque = collections.deque(maxlen=16)
    for turn in turns(30):
        pictures = mib(random.randint(40, 100) + 2 * turn)
        hidden = mib(random.randint(30, 80))
        del pictures
        bank.append(mib(random.randint(18, 30)))  # FAULT features-between-batches
        del hidden


@program("pieces")
def states_of_a_job() -> None:
    """Jobs of any size with a state that outlives them; those of the first jobs hold the largest segments."""
    random = dice(8)
    states = []
    for turn in turns():
        work = [mib(random.choice((50, 110, 190, 270)) + turn) for _ in range(2)]
        del work[0]
        states.append(mib(22))  # FAULT states-of-a-job
        del work


# --- without one ---

@program(None)
def search_of_constant_width() -> None:
    model = Model(width=WIDTH).cuda().eval()
    with torch.no_grad():
        beams = batch(8)
        for _ in turns(40):
            grown = torch.cat([beams + 0.1 * torch.randn_like(beams) for _ in range(4)])
            best = model(grown).max(-1).values.topk(8).indices
            beams = grown[best]


@program(None)
def history_of_lbfgs() -> None:
    """An optimizer that remembers ten steps."""
    model = Model(depth=1).cuda()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=1, history_size=6)
    x = batch()

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model(x))
        loss.backward()
        return loss

    for _ in turns(30):
        optimizer.step(closure)


@program(None)
def metric_reset_each_epoch() -> None:
    model, optimizer = training()
    for _ in turns(14):
        found: dict = collections.defaultdict(list)
        for _ in range(4):
            out = model(batch())
            learn(optimizer, loss_of(out))
            found["best"].append(out.detach().argmax(-1))
        torch.cat(found["best"]).float().mean().item()


@program(None)
def layers_converted() -> None:
    """Each layer is measured with data and then replaced by one of half the size."""
    model = Model(depth=24).cuda().eval()
    x = batch()
    with torch.no_grad():
        for block, _ in zip(model.blocks, turns(24)):
            out = block(x)
            scale = out.abs().max()
            for layer in (block.up, block.down):
                layer.weight.data = (layer.weight.data / scale).half()
                layer.bias.data = layer.bias.data.half()
            x = out


@program(None)
def moving_window() -> None:
    """The last eight hidden states, as one tensor."""
    cell = nn.GRUCell(WIDTH, WIDTH).cuda()
    window = torch.zeros(0, BATCH, WIDTH, device="cuda")
    hidden = torch.zeros(BATCH, WIDTH, device="cuda")
    with torch.no_grad():
        for _ in turns(40):
            hidden = cell(batch(), hidden)
            window = torch.cat([window, hidden[None]])[-8:].clone()
            window.mean(0)


@program(None)
def words_in_inner_loop() -> None:
    """Each turn reads a text word by word."""
    cell, head = nn.GRUCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()])
    random = dice(9)
    for _ in turns(13):
        hidden, losses = torch.zeros(4, WIDTH, device="cuda"), []
        for _ in range(random.randint(3, 9)):
            hidden = cell(batch(4), hidden)
            losses.append(loss_of(head(hidden)))
        learn(optimizer, torch.stack(losses).mean())


@program(None)
def cosine_of_sizes() -> None:
    """Batches that become larger and smaller again."""
    model, optimizer = training()
    for turn in turns(40):
        size = 32 * (10 - abs(turn % 20 - 10))
        learn(optimizer, loss_of(model(batch(32 + size))))


@program(None)
def model_grown_then_trained() -> None:
    """Blocks are added one by one, each with a first pass, and then all of them learn."""
    blocks: list = []
    x = batch()
    for _ in range(8):
        blocks.append(Block().cuda())
        with torch.no_grad():
            x = blocks[-1](x)
    model = nn.Sequential(*blocks)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in turns():
        learn(optimizer, loss_of(model(batch())))


@program(None)
def best_so_far() -> None:
    """The best weights, which are replaced when better ones come."""
    model, optimizer = training()
    best: dict = {}
    random = dice(10)
    for turn in turns(30):
        learn(optimizer, loss_of(model(batch())))
        if random.random() < 0.4 or not turn:
            best = {name: w.detach().clone() for name, w in model.state_dict().items()}
    assert best


@program(None)
def areas_of_two_streams() -> None:
    side = torch.cuda.Stream()
    state = mib(64)
    random = dice(11)
    for _ in turns():
        first = mib(random.randint(30, 90))
        with torch.cuda.stream(side):
            second = mib(random.randint(30, 90))
            second.record_stream(torch.cuda.current_stream())
        del first, second
    assert state is not None

# SPDX-License-Identifier: MIT
"""
Twenty programs that were written when the rules had been mended with those of planted.py and plain.py: ten with a fault, and
ten without one, and one more. Their lines were marked before anything had judged them.
"""
import collections
import gc

import torch
from torch import nn
from torch.nn import functional

from parts import BATCH, WIDTH, Block, Model, dice, mib, program, turns


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda")


def step_of(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# --- with a fault ---

@program("kept")
def norms_by_name() -> None:
    """A logger that keeps a tensor for each layer and step."""
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    logged: dict = {}
    for step in turns(26):
        loss = model(noise(BATCH, WIDTH)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        for name, weight in model.named_parameters():
            logged[f"{step}/{name}"] = weight.grad.norm()  # FAULT norms-by-name
        optimizer.step()


class Beams:
    """Finished answers of all texts, with the states that they were made of."""

    def __init__(self) -> None:
        self.cell, self.head, self.finished = nn.GRUCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, 32).cuda(), []

    @torch.no_grad()
    def answer(self, length: int) -> list:
        hidden = torch.zeros(4, WIDTH, device="cuda")
        words = []
        for _ in range(length):
            hidden = self.cell(noise(4, WIDTH), hidden)  # FAULT finished-beams
            words.append(self.head(hidden).argmax(-1)[0].item())
        self.finished.append((words, hidden))
        return words


@program("kept")
def finished_beams() -> None:
    beams, random = Beams(), dice(50)
    for _ in turns(22):
        beams.answer(random.randint(3, 8))  # FAULT finished-beams


@program("kept")
def rounds_of_clients() -> None:
    """Federated learning: the updates of all clients and rounds stay."""
    server = Model(depth=1).cuda()
    updates: list = []
    for round_number in turns(15):
        of_round = []
        for _ in range(3):
            client = Model(depth=1).cuda()
            client.load_state_dict(server.state_dict())
            optimizer = torch.optim.SGD(client.parameters(), lr=1e-2)
            step_of(optimizer, client(noise(BATCH, WIDTH)).square().mean())
            of_round.append([new.detach() - old.detach() for new, old in zip(client.parameters(), server.parameters())])  # FAULT rounds-of-clients
        with torch.no_grad():
            for weight, *changes in zip(server.parameters(), *of_round):
                weight += sum(changes) / len(changes)
        updates.append((round_number, of_round))


class Tracing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.n = Model(), 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.inner(x)
        self.register_buffer(f"mean_{self.n}", out.detach().exp(), persistent=False)  # FAULT buffers-of-steps
        self.n += 1
        return out


@program("kept")
def buffers_of_steps() -> None:
    model = Tracing().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = iter(torch.randn(24, BATCH, WIDTH).split(1))
    counting = turns(24)
    while True:
        try:
            batch = next(batches)[0].to("cuda", non_blocking=True)
        except StopIteration:
            break
        next(counting)
        step_of(optimizer, model(batch).square().mean())


@program("kept")
def first_words_of_all() -> None:
    """A row of each hidden state is kept, and with it all of the state."""
    encoder, rows = nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, batch_first=True).cuda().eval(), []
    with torch.no_grad():
        for _ in turns(24):
            texts = noise(4, 48, WIDTH)
            hidden = encoder(texts).tanh()  # FAULT first-words-of-all
            rows.append(hidden[:, 0])


@program("kept")
def packed_tensors_listed() -> None:
    """Hooks for saved tensors that note what they have seen."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    seen: list = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        copied = tensor.detach().to(torch.float16)  # FAULT packed-tensors-listed
        seen.append(copied)
        return tensor

    for _ in turns(20):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = model(noise(BATCH, WIDTH)).square().mean()  # FAULT packed-tensors-listed
        step_of(optimizer, loss)


class Listener:
    """Speech as it comes: all that was heard is context."""

    def __init__(self) -> None:
        self.encoder, self.heard = nn.Conv1d(1, 4, 25, stride=10).cuda().eval(), torch.zeros(1, 1, 0, device="cuda")

    @torch.inference_mode()
    def __call__(self, sound: torch.Tensor) -> int:
        self.heard = torch.cat((self.heard, sound), -1)  # FAULT context-of-speech
        return self.encoder(self.heard).mean(-1).argmax().item()


@program("copied")
def context_of_speech() -> None:
    listen = Listener()
    said = [listen(noise(1, 1, 1600)) for _ in turns(26)]  # FAULT context-of-speech
    assert said


@program("needs")
def graph_that_grows() -> None:
    """A graph network whose adjacency is made anew in each turn, for more and more nodes."""
    layer, random = nn.Linear(WIDTH, WIDTH).cuda(), dice(51)
    optimizer = torch.optim.Adam(layer.parameters())
    n_nodes = 40
    for _ in turns(28):
        n_nodes += random.randint(6, 10)
        adjacency = torch.zeros(n_nodes, n_nodes, device="cuda")  # FAULT graph-that-grows
        adjacency[torch.arange(n_nodes - 1), torch.arange(1, n_nodes)] = 1
        x = noise(n_nodes, WIDTH)  # FAULT graph-that-grows
        step_of(optimizer, (adjacency @ layer(x)).square().mean())


class Job:
    """It registers its own method, and so holds itself."""

    def __init__(self, pixels: torch.Tensor) -> None:
        self.pixels, self.listeners = pixels, []
        self.listeners.append(self.on_end)

    def on_end(self) -> list:
        return [{"job": id(self)} for _ in range(40)]


@program("late")
def jobs_with_listeners() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.LazyLinear(10)).cuda().eval()
    gc.collect()
    results: list = []
    with torch.no_grad():
        for _ in turns(56):
            job = Job(noise(4, 3, 32, 32))  # FAULT jobs-with-listeners
            model(job.pixels[:1])
            results.extend([listener() for listener in job.listeners])


@program("pieces")
def caches_of_any_life() -> None:
    """Caches of sessions that end in any order; each lies in what the work area of its prompt leaves."""
    random = dice(52)
    sessions: dict = {}
    for turn in turns(40):
        prompt = mib(random.randint(70, 130) + 2 * turn)
        del prompt
        sessions[turn] = mib(random.randint(24, 44))  # FAULT caches-of-any-life
        if len(sessions) > 12:
            del sessions[random.choice(sorted(sessions)[:-2])]


@program("kept")
def scores_of_one_line() -> None:
    """All of a turn is one line, but for every sixth turn; written with the rule that finds its loop, and not one of the twenty."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scores: list = []

    def learned(loss: torch.Tensor) -> torch.Tensor:
        step_of(optimizer, loss)
        return loss.detach()

    for turn in turns(30):
        if turn % 6 == 5:
            torch.stack(scores).std().item()
        scores.append(learned(model(noise(BATCH, WIDTH)).square().mean()))  # FAULT scores-of-one-line


# --- without one ---

@program(None)
def batches_by_iterator() -> None:
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batches, total, counting = iter(torch.randn(30, BATCH, WIDTH).split(1)), 0.0, turns(30)
    while (batch := next(batches, None)) is not None:
        next(counting)
        loss = model(batch[0].to("cuda")).square().mean()
        step_of(optimizer, loss)
        total += loss.detach().item()


@program(None)
def clients_averaged() -> None:
    """Federated learning whose server keeps the mean alone."""
    server = Model(depth=1).cuda()
    for _ in turns(15):
        total = None
        for _ in range(3):
            client = Model(depth=1).cuda()
            client.load_state_dict(server.state_dict())
            step_of(torch.optim.SGD(client.parameters(), lr=1e-2), client(noise(BATCH, WIDTH)).square().mean())
            state = client.state_dict()
            total = state if total is None else {name: total[name] + state[name] for name in total}
        server.load_state_dict({name: weight / 3 for name, weight in total.items()})


@program(None)
def saved_on_cpu() -> None:
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in turns(20):
        with torch.autograd.graph.save_on_cpu():
            loss = model(noise(BATCH, WIDTH)).square().mean()
        step_of(optimizer, loss)


@program(None)
def context_of_ten() -> None:
    """Speech with the last ten pieces as context, which is full after ten turns."""
    encoder, pieces, said = nn.Conv1d(1, 4, 25, stride=10).cuda().eval(), collections.deque(maxlen=10), []
    with torch.inference_mode():
        for _ in turns(36):
            pieces.append(noise(1, 1, 1600))
            said.append(encoder(torch.cat(tuple(pieces), -1)).mean(-1).argmax().item())


@program(None)
def denoising() -> None:
    """A diffusion model's sampler: previews go to the host."""
    model, previews = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.SiLU(), nn.Conv2d(16, 4, 3, padding=1)).cuda().eval(), []
    with torch.no_grad():
        for _ in range(3):
            x = noise(2, 4, 16, 16)
            for at in turns(14):
                eps = model(x)
                x = (x - 0.05 * eps) / 0.99 + (0.02 * torch.randn_like(x) if at < 13 else 0)
                if at % 5 == 4:
                    previews.append(x.cpu())


@program(None)
def rollouts_cleared() -> None:
    """PPO: a rollout of twelve moments, two epochs over it, and a new one."""
    policy, value = Model(depth=1).cuda(), nn.Linear(WIDTH, 1).cuda()
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()])
    rollout: list = []
    for _ in turns(14):
        rollout.clear()
        for _ in range(12):
            with torch.no_grad():
                seen = noise(8, WIDTH)
                chances = policy(seen).log_softmax(-1)
                action = torch.multinomial(chances.exp(), 1)
            rollout.append((seen, action, chances.gather(1, action), value(seen).detach()))
        states, actions, before, values = (torch.cat(part) for part in zip(*rollout))
        for _ in range(2):
            for part in torch.arange(len(states), device="cuda").split(48):
                ratio = (policy(states[part]).log_softmax(-1).gather(1, actions[part]) - before[part]).exp()
                loss = -(ratio.clamp(0.8, 1.2) * (1 - values[part])).mean() + functional.mse_loss(value(states[part]), values[part])
                step_of(optimizer, loss)


@program(None)
def folds() -> None:
    """Cross-validation: a model for each fold."""
    scores = []
    for fold in range(4):
        model = Model(depth=1 + fold % 2).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in turns(8):
            step_of(optimizer, model(noise(BATCH, WIDTH)).square().mean())
        with torch.no_grad():
            scores.append(model(noise(128, WIDTH)).std().item())


@program(None)
def network_grown_in_stages() -> None:
    """A block more every eighth turn, until there are four."""
    model = nn.Sequential(Block()).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for turn in turns(32):
        if turn % 8 == 7 and len(model) < 4:
            model.append(Block().cuda())
            optimizer.add_param_group({"params": model[-1].parameters()})
        step_of(optimizer, model(noise(BATCH, WIDTH)).square().mean())


@program(None)
def tokens_of_a_budget() -> None:
    """As many texts in a batch as a budget of tokens allows."""
    embedding, model, random = nn.Embedding(200, WIDTH).cuda(), Model().cuda(), dice(53)
    optimizer = torch.optim.AdamW([*embedding.parameters(), *model.parameters()])
    for _ in turns(30):
        length = random.randint(8, 120)
        ids = torch.randint(0, 200, (960 // length, length), device="cuda")
        step_of(optimizer, model(embedding(ids)).square().mean())


@program(None)
def caches_of_one_size() -> None:
    """Caches of sessions that end in any order, all of one size, and prompts of another."""
    random = dice(54)
    sessions: dict = {}
    for turn in turns(40):
        prompt = mib(96)
        sessions[turn] = mib(32)
        del prompt
        if len(sessions) > 12:
            del sessions[random.choice(sorted(sessions)[:-2])]

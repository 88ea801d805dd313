# SPDX-License-Identifier: MIT
"""
Thirty more programs that look like those of planted.py and have no fault: no line of them may be named. As those, they
were written before anything had judged them.
"""
import collections
import copy
import heapq
import traceback

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint_sequential

from harness import Callback, LightModule, Trainer, fit
from parts import BATCH, WIDTH, Block, Model, dice, mib, program, turns


def rows(n: int = BATCH, width: int = WIDTH) -> torch.Tensor:
    return torch.randn(n, width, device="cuda")


def update(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> float:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


# --- peaks that come and go ---

@program(None)
def warm_up_with_largest() -> None:
    """A first batch of the largest size, so that memory is reserved once."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    update(optimizer, model(rows(512)).square().mean())
    random = dice(30)
    for _ in turns():
        update(optimizer, model(rows(random.randint(16, 256))).square().mean())


@program(None)
def first_evaluation() -> None:
    """An evaluation of more memory in the middle, and one at the end."""
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in turns(28):
        update(optimizer, model(rows()).square().mean())
        if step in (13, 27):
            with torch.no_grad():
                torch.cat([model(rows(256)) for _ in range(6)]).argmax(-1).bincount()


@program(None)
def spikes_every_tenth() -> None:
    """Statistics of all weights every tenth step."""
    model = Model(depth=3).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    log = []
    for epoch in range(4):
        for step in turns(10):
            log.append(update(optimizer, model(rows()).square().mean()))
            if step == 9:
                every = torch.cat([weight.detach().flatten() for weight in model.parameters()])
                log.append([epoch, every.std().item(), torch.histc(every, 50).tolist()])


@program(None)
def learning_rates_tried() -> None:
    """An LR finder: one copy of the weights, and numbers."""
    model = Model().cuda()
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    found = []
    for step in turns(30):
        optimizer.param_groups[0]["lr"] = 1e-6 * 10 ** (step / 6)
        found.append((optimizer.param_groups[0]["lr"], update(optimizer, model(rows()).square().mean())))
    model.load_state_dict(before)


# --- states that come late ---

class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x: torch.Tensor, chosen: int) -> torch.Tensor:
        return self.experts[chosen](x)


@program(None)
def experts_in_time() -> None:
    """Experts that are not used at first get gradients and states when they are."""
    model, random = Experts().cuda(), dice(31)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in turns(36):
        update(optimizer, model(rows(), random.randrange(1 + min(step // 6, 3))).square().mean())


@program(None)
def backbone_thawed() -> None:
    """Fine-tuning: the head alone, then the last block, then everything."""
    model = Model(depth=3).cuda()
    for part in model.blocks:
        part.requires_grad_(False)
    optimizer = torch.optim.AdamW([{"params": model.head.parameters()}])
    for epoch in range(3):
        if epoch == 1:
            model.blocks[-1].requires_grad_(True)
            optimizer.add_param_group({"params": model.blocks[-1].parameters()})
        elif epoch == 2:
            for part in model.blocks[:-1]:
                part.requires_grad_(True)
                optimizer.add_param_group({"params": part.parameters()})
        for _ in turns(10):
            update(optimizer, model(rows()).square().mean())


@program(None)
def average_from_half() -> None:
    """Stochastic weight averaging, from the middle on."""
    model, averaged = Model().cuda(), None
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in turns(30):
        update(optimizer, model(rows()).square().mean())
        if step >= 15 and step % 3 == 0:
            averaged = averaged or torch.optim.swa_utils.AveragedModel(model)
            averaged.update_parameters(model)


# --- growth by design ---

@program(None)
def lengths_in_stages() -> None:
    """A curriculum of three lengths."""
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for length in (32, 64, 128):
        for _ in turns(10):
            update(optimizer, model(torch.randn(4, length, WIDTH, device="cuda")).square().mean())


@program(None)
def longest_first() -> None:
    """Inference over texts that are sorted by length, the longest first."""
    model, random = Model().cuda().eval(), dice(32)
    lengths = sorted((random.randint(16, 400) for _ in range(30)), reverse=True)
    answers = []
    with torch.inference_mode():
        for _, length in zip(turns(30), lengths):
            answers.append(model(torch.randn(1, length, WIDTH, device="cuda"))[0, -1].argmax().item())


@program(None)
def heads_pruned() -> None:
    """A model that becomes smaller."""
    model = Model(depth=12).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in turns(30):
        update(optimizer, model(rows()).square().mean())
        if step % 4 == 3:
            del model.blocks[-1]
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


# --- lists with an end ---

@program(None)
def features_in_ring() -> None:
    """The features of the last twelve steps, to whiten with."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    ring: collections.deque = collections.deque(maxlen=12)
    for _ in turns(40):
        out = model(rows(64))
        ring.append(out.detach().clone())
        spread = torch.cat(list(ring)).std(0)
        update(optimizer, (out / (spread + 1e-3)).square().mean())


@program(None)
def queue_of_keys() -> None:
    """MoCo: a queue of fixed size, which is written in place."""
    query, key = Model().cuda(), Model().cuda()
    optimizer = torch.optim.SGD(query.parameters(), lr=1e-2)
    queue, at = torch.randn(512, 10, device="cuda"), 0
    for _ in turns(30):
        x = rows(64)
        with torch.no_grad():
            for fast, slow in zip(query.parameters(), key.parameters()):
                slow.data = slow.data * 0.99 + fast.data * 0.01
            keys = key(x)
        logits = torch.cat([(query(x) * keys).sum(-1, keepdim=True), query(x) @ queue.T], 1)
        update(optimizer, functional.cross_entropy(logits, torch.zeros(64, dtype=torch.long, device="cuda")))
        queue[at:at + 64] = keys
        at = (at + 64) % 512


@program(None)
def best_three() -> None:
    """The three best states so far."""
    model, random = Model().cuda(), dice(33)
    optimizer = torch.optim.Adam(model.parameters())
    best: list = []
    for step in turns(30):
        update(optimizer, model(rows()).square().mean())
        score = random.random()
        if len(best) < 3 or score > best[0][0]:
            state = {name: weight.detach().clone() for name, weight in model.state_dict().items()}
            (heapq.heappush if len(best) < 3 else heapq.heapreplace)(best, (score, step, state))


@program(None)
def dataset_in_first_epoch() -> None:
    """The first epoch takes the batches to the card, and the others find them there."""
    model, on_card = Model().cuda(), {}
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    host = [torch.randn(BATCH, WIDTH) for _ in range(9)]
    for _ in range(5):
        for number, part in zip(turns(9), host):
            if number not in on_card:
                on_card[number] = part.cuda()
            update(optimizer, model(on_card[number]).square().mean())


@program(None)
def masks_of_buckets() -> None:
    """Batches in buckets of six lengths, and a causal mask for each."""
    masks: dict = {}
    attention, random = nn.MultiheadAttention(WIDTH, 2, batch_first=True).cuda(), dice(34)
    optimizer = torch.optim.SGD(attention.parameters(), lr=1e-3)
    for _ in turns(36):
        length = 16 * random.randint(1, 6)
        if length not in masks:
            masks[length] = torch.full((length, length), float("-inf"), device="cuda").triu(1)
        x = torch.randn(2, length, WIDTH, device="cuda")
        out, _ = attention(x, x, x, attn_mask=masks[length], need_weights=False)
        update(optimizer, out.square().mean())


class Judged(LightModule):
    """Outputs of a validation, cleared at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.model, self.outputs, self.scores = Model(), [], []

    def training_step(self, batch, index):
        return self.model(batch).square().mean()

    def validation_step(self, batch, index):
        self.outputs.append(self.model(batch).softmax(-1))

    def on_validation_epoch_end(self):
        self.scores.append(torch.cat(self.outputs).max().item())
        self.outputs.clear()


@program(None)
def outputs_cleared() -> None:
    fit(Judged(), lambda index: rows(64), n_epochs=16, n_checks=4)


class Smooth(Callback):
    """An average of the weights in place, and numbers of each epoch."""

    def __init__(self, model: nn.Module) -> None:
        self.average, self.history = copy.deepcopy(model).cuda(), []

    def on_step_end(self, trainer):
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(trainer.model.parameters()), 0.01)
        trainer.log_history.append({"step": trainer.step, "loss": trainer.loss.item()})

    def on_epoch_end(self, trainer):
        self.history.append({name: weight.norm().item() for name, weight in self.average.named_parameters()})


@program(None)
def average_in_trainer() -> None:
    model = Model()
    Trainer(model, lambda step: rows(), callbacks=(Smooth(model),)).train()


class Snapshots(Callback):
    """The weights of each epoch, on the host."""

    def __init__(self) -> None:
        self.states: list = []

    def on_epoch_end(self, trainer):
        self.states.append({name: weight.cpu() for name, weight in trainer.model.state_dict().items()})


@program(None)
def states_to_host() -> None:
    Trainer(Model(), lambda step: rows(), n_epochs=14, n_steps=3, callbacks=(Snapshots(),)).train()


# --- work that takes much for a moment ---

@program(None)
def pieces_of_checkpoint() -> None:
    model, head = nn.Sequential(*(Block() for _ in range(6))).cuda(), nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()])
    for _ in turns():
        x = rows(48).requires_grad_()
        update(optimizer, head(checkpoint_sequential(model, 3, x, use_reentrant=False)).square().mean())


@program(None)
def samples_by_dropout() -> None:
    """Monte Carlo dropout: twenty outputs of each batch."""
    model, uncertain = nn.Sequential(Model(), nn.Dropout(0.3)).cuda().train(), []
    with torch.no_grad():
        for _ in turns(20):
            x = rows(64)
            samples = torch.stack([model(x) for _ in range(20)])
            uncertain.append(samples.var(0).mean().item())


@program(None)
def micro_batches() -> None:
    """Gradients of one to five parts, as memory allows."""
    model, random = Model().cuda(), dice(35)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in turns(26):
        parts = random.randint(1, 5)
        optimizer.zero_grad()
        for part in rows(120)[:24 * parts].chunk(parts):
            (model(part).square().mean() / parts).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@program(None)
def critic_of_five() -> None:
    """WGAN-GP: five steps of the critic with a penalty, and one of the generator."""
    maker, critic = nn.Sequential(nn.Linear(16, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda(), Model(depth=1).cuda()
    of_maker, of_critic = torch.optim.Adam(maker.parameters()), torch.optim.Adam(critic.parameters())
    for _ in turns(14):
        for _ in range(5):
            fake, real = maker(torch.randn(BATCH, 16, device="cuda")).detach(), rows()
            between = (0.5 * fake + 0.5 * real).requires_grad_()
            slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
            update(of_critic, critic(fake).mean() - critic(real).mean() + (slope.norm(dim=-1) - 1).square().mean())
        update(of_maker, -critic(maker(torch.randn(BATCH, 16, device="cuda"))).mean())


@program(None)
def layers_one_at_a_time() -> None:
    """A model that stays on the host; each layer comes to the card for its turn."""
    layers, x = [Block().eval() for _ in range(30)], rows(64)
    with torch.no_grad():
        for layer, _ in zip(layers, turns(30)):
            layer.to("cuda")
            x = layer(x)
            layer.to("cpu")


@program(None)
def trials_of_a_search() -> None:
    """Each trial makes a model of its own size and drops it."""
    random, results = dice(36), []

    def trial(depth: int, width: int) -> float:
        model = Model(depth, width).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            value = update(optimizer, model(rows(width=width)).square().mean())
        return value

    for _ in turns(16):
        results.append(trial(random.randint(1, 4), random.choice((32, 64, 96))))


@program(None)
def tasks_by_turns() -> None:
    """Pictures and texts by turns, with a body of their own each."""
    pictures = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 22 * 22, 10)).cuda()
    texts = Model().cuda()
    optimizer = torch.optim.Adam([*pictures.parameters(), *texts.parameters()])
    for turn in turns(32):
        out = pictures(torch.randn(8, 3, 24, 24, device="cuda")) if turn % 2 else texts(torch.randn(4, 96, WIDTH, device="cuda"))
        update(optimizer, out.square().mean())


# --- other streams, graphs, answers ---

@program(None)
def two_buffers() -> None:
    """The next batch comes on another stream while this one is used."""
    model, stream = Model().cuda(), torch.cuda.Stream()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def preload() -> torch.Tensor:
        with torch.cuda.stream(stream):
            return torch.randn(BATCH, WIDTH).cuda(non_blocking=True)

    following = preload()
    for _ in turns(26):
        torch.cuda.current_stream().wait_stream(stream)
        ready, following = following, preload()
        ready.record_stream(torch.cuda.current_stream())
        update(optimizer, model(ready).square().mean())


@program(None)
def graph_replayed() -> None:
    """A CUDA graph that is captured once; each turn fills its input."""
    model = Model().cuda().eval()
    wanted = rows()
    with torch.no_grad():
        for _ in range(3):
            model(wanted)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(wanted)
        for _ in turns(24):
            fresh = rows()
            wanted.copy_(fresh)
            graph.replay()
            out.argmax(-1).clone()


@program(None)
def static_cache() -> None:
    """Answers with keys and values in a place of fixed size."""
    project, random = nn.Linear(WIDTH, 3 * WIDTH).cuda(), dice(37)
    keys = torch.zeros(1, 256, WIDTH, device="cuda")
    values = torch.zeros_like(keys)
    with torch.inference_mode():
        for _ in turns(14):
            x = torch.randn(1, 1, WIDTH, device="cuda")
            for at in range(random.randint(6, 14)):
                query, keys[:, at:at + 1], values[:, at:at + 1] = project(x).chunk(3, -1)
                x = (query @ keys[:, :at + 1].transpose(1, 2)).softmax(-1) @ values[:, :at + 1]


@program(None)
def errors_as_text() -> None:
    """Failed steps are logged with their traceback as text."""
    model, random, log = Model().cuda(), dice(38), []
    optimizer = torch.optim.AdamW(model.parameters())

    def step(number: int) -> None:
        loss = model(rows()).square().mean()
        if random.random() < 0.4:
            raise ValueError(f"sample {number} is broken")
        update(optimizer, loss)

    for number in turns(32):
        try:
            step(number)
        except ValueError:
            log.append(traceback.format_exc())


@program(None)
def pictures_of_sizes() -> None:
    """Large pictures of many sizes; only numbers stay, and weights that were there before."""
    weights, random, found = mib(200), dice(39), []
    for _ in turns(30):
        picture = mib(random.choice((40, 60, 90, 140)))
        pyramid = [mib(picture.numel() / 2 ** 20 / 4 ** level) for level in range(1, 4)]
        del picture
        found.append(sum(level.numel() for level in pyramid))
    assert weights is not None

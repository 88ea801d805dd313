# SPDX-License-Identifier: MIT
"""
Thirty more programs with a fault, written as people write them: plain loops, a trainer with callbacks, modules with hooks.
The lines were marked before anything had judged them. Lines that only keep what other lines took are not marked: a
finding names the line that asks for memory, or the line of the loop that it is under.
"""
import collections
import copy
import gc

import torch
from torch import nn
from torch.nn import functional

from harness import Callback, LightModule, Trainer, fit
from parts import BATCH, WIDTH, Block, Model, dice, leave, mib, program, turns

SEEN: dict = {"attention": []}  # what a module of people's own keeps for pictures


def rows(n: int = BATCH, width: int = WIDTH) -> torch.Tensor:
    return torch.randn(n, width, device="cuda")


# --- kept ---

@program("kept")
def losses_by_task() -> None:
    """Several heads, and a history with the losses themselves."""
    body, heads = Block().cuda(), nn.ModuleDict({name: nn.Linear(WIDTH, 8) for name in ("age", "sex", "mood")}).cuda()
    optimizer = torch.optim.Adam([*body.parameters(), *heads.parameters()])
    history = []
    for epoch in range(3):
        for _ in turns(10):
            features = body(rows())
            losses = {name: functional.mse_loss(head(features), torch.zeros(BATCH, 8, device="cuda"))  # FAULT losses-by-task
                      for name, head in heads.items()}
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()
            history.append({"epoch": epoch, **losses})


@program("kept")
def graph_kept_for_logging() -> None:
    """backward(retain_graph=True), and the sum of losses goes to a log."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    running = torch.zeros((), device="cuda")
    for step in turns(30):
        inputs = rows()  # FAULT graph-kept-for-logging
        outputs = model(inputs)  # FAULT graph-kept-for-logging
        loss = functional.cross_entropy(outputs, torch.zeros(BATCH, dtype=torch.long, device="cuda"))  # FAULT graph-kept-for-logging
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        running = running + loss  # FAULT graph-kept-for-logging
        if step % 10 == 9:
            print(f"step {step}", file=open("/dev/null", "w", encoding="utf-8"))


class Features:
    """Outputs of convolutions, by layer."""

    def __init__(self, model: nn.Module) -> None:
        self.by_layer = collections.defaultdict(list)
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Conv2d):
                layer.register_forward_hook(self.hook(name))

    def hook(self, name: str):
        def keep(module, inputs, output):
            self.by_layer[name].append(output)
        return keep


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x).relu()  # FAULT activations-by-layer
        x = self.second(x).relu()  # FAULT activations-by-layer
        return self.head(x.mean((2, 3)))


@program("kept")
def activations_by_layer() -> None:
    """Forward hooks that are never removed."""
    model = Convolutions().cuda()
    features = Features(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    step = 0
    while step < 24:
        for _ in turns(8):
            pictures = torch.randn(8, 3, 24, 24, device="cuda")  # FAULT activations-by-layer
            loss = model(pictures).square().mean()  # FAULT activations-by-layer
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    assert features.by_layer


@program("kept")
def gradients_in_hook() -> None:
    """A hook on a parameter that collects its gradients."""
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    norms = []
    model.head.weight.register_hook(lambda grad: norms.append(grad.abs()))  # FAULT gradients-in-hook
    for _ in turns(28):
        loss = model(rows()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Sessions:
    """A server that keeps the keys and values of every request."""

    def __init__(self) -> None:
        self.project = nn.ModuleList(nn.Linear(WIDTH, 2 * WIDTH) for _ in range(2)).cuda()
        self.by_request: dict = {}

    @torch.no_grad()
    def prefill(self, request: int, tokens: int) -> torch.Tensor:
        x = torch.randn(1, tokens, WIDTH, device="cuda")
        cache = []
        for layer in self.project:
            key, value = layer(x).chunk(2, -1)  # FAULT sessions
            x = x + functional.scaled_dot_product_attention(x, key, value)
            cache.append((key, value))
        self.by_request[request] = cache
        return x[:, -1]


@program("kept")
def sessions() -> None:
    server, random = Sessions(), dice(20)
    for request in turns(32):
        server.prefill(request, random.choice((48, 64, 96)))  # FAULT sessions


class ReplayBuffer:
    def __init__(self) -> None:
        self.transitions: list = []

    def push(self, state, action, reward, following) -> None:
        self.transitions.append((state, action, torch.tensor([reward], device="cuda"), following))  # FAULT replay-without-end

    def sample(self, n: int, random) -> list:
        return [torch.stack(part) for part in zip(*random.choices(self.transitions, k=n))]


@program("kept")
def replay_without_end() -> None:
    """Q-learning; the memory has no end."""
    random = dice(21)
    network = nn.Sequential(nn.Linear(512, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4)).cuda()
    optimizer = torch.optim.Adam(network.parameters())
    memory = ReplayBuffer()
    state = torch.randn(512).cuda()
    for step in turns(40):
        with torch.no_grad():
            action = network(state).argmax()  # FAULT replay-without-end
        following = torch.randn(512).cuda()  # FAULT replay-without-end
        memory.push(state, action, random.random(), following)  # FAULT replay-without-end
        state = following
        if step >= 4:
            states, actions, rewards, followings = memory.sample(8, random)
            with torch.no_grad():
                wanted = rewards[:, 0] + 0.9 * network(followings).max(-1).values
            found = network(states).gather(1, actions[:, None])[:, 0]
            loss = functional.smooth_l1_loss(found, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@program("kept")
def encodings_by_position() -> None:
    """A cache by offset and length, of which no pair comes twice."""
    model = Model().cuda().eval()
    tables: dict = {}

    def encoding(offset: int, length: int) -> torch.Tensor:
        if (offset, length) not in tables:
            at = torch.arange(offset, offset + length, device="cuda", dtype=torch.float32)
            angles = at[:, None] / 10000 ** (torch.arange(WIDTH // 2, device="cuda") / (WIDTH // 2))
            tables[offset, length] = torch.cat([angles.sin(), angles.cos()], -1)  # FAULT encodings-by-position
        return tables[offset, length]

    offset, random = 0, dice(22)
    with torch.no_grad():
        for _ in turns(30):
            length = random.randint(30, 60)
            model(rows(length) + encoding(offset, length))  # FAULT encodings-by-position
            offset += length


@program("kept")
def callbacks_in_queue() -> None:
    """Functions to be called at the end, each of which holds a batch's outputs."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    at_end = []
    for step in turns():
        outputs = model(rows(64))
        loss = outputs.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        probabilities = outputs.detach().softmax(-1)  # FAULT callbacks-in-queue
        at_end.append(lambda step=step, probabilities=probabilities: (step, probabilities.std().item()))
    assert at_end


@program("kept")
def failures_with_tracebacks() -> None:
    """Steps with a bad label are logged with their exception."""
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    failures, random = [], dice(23)

    def train_step(step: int) -> float:
        inputs = rows()  # FAULT failures-with-tracebacks
        logits = model(inputs)  # FAULT failures-with-tracebacks
        if random.random() < 0.5:
            raise FloatingPointError(f"loss is nan in step {step}")
        loss = functional.cross_entropy(logits, torch.zeros(len(inputs), dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    for step in turns(36):
        try:
            train_step(step)  # FAULT failures-with-tracebacks
        except FloatingPointError as failure:
            failures.append((step, failure))


class Prefetcher:
    """The next batch goes to the card on a stream of its own; what was used is not let go."""

    def __init__(self) -> None:
        self.stream, self.loaded = torch.cuda.Stream(), []
        self.preload()

    def preload(self) -> None:
        with torch.cuda.stream(self.stream):
            self.loaded.append(torch.randn(BATCH, WIDTH).cuda(non_blocking=True))  # FAULT prefetcher-on-stream

    def next(self) -> torch.Tensor:
        torch.cuda.current_stream().wait_stream(self.stream)
        ready = self.loaded[-1]
        ready.record_stream(torch.cuda.current_stream())
        self.preload()
        return ready


@program("kept")
def prefetcher_on_stream() -> None:
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = Prefetcher()
    for _ in turns(26):
        loss = model(batches.next()).square().mean()  # FAULT prefetcher-on-stream
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Classifier(LightModule):
    """Predictions of a validation, which its end forgets to clear."""

    def __init__(self) -> None:
        super().__init__()
        self.model, self.predictions, self.scores = Model(), [], []

    def training_step(self, batch, index):
        return self.model(batch).square().mean()

    def validation_step(self, batch, index):
        self.predictions.append(self.model(batch).softmax(-1))  # FAULT predictions-of-validation

    def on_validation_epoch_end(self):
        self.scores.append(torch.cat(self.predictions).max().item())


@program("kept")
def predictions_of_validation() -> None:
    fit(Classifier(), lambda index: rows(48), n_epochs=16)


class Averages(Callback):
    """An average of the weights, and a copy of it after each epoch."""

    def __init__(self, model: nn.Module) -> None:
        self.average, self.copies = copy.deepcopy(model).cuda(), []

    def on_step_end(self, trainer):
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), trainer.model.parameters()):
                slow.mul_(0.99).add_(fast, alpha=0.01)

    def on_epoch_end(self, trainer):
        self.copies.append(copy.deepcopy(self.average))  # FAULT average-of-each-epoch


@program("kept")
def average_of_each_epoch() -> None:
    model = Model()
    Trainer(model, lambda step: rows(), n_epochs=15, n_steps=3, callbacks=(Averages(model),)).train()


@program("kept")
def optimizers_by_phase() -> None:
    """A new optimizer for each phase; a dict remembers them all."""
    model = Model().cuda()
    optimizers: dict = {}
    for phase in turns(14):
        optimizers[phase] = torch.optim.AdamW(model.parameters(), lr=1e-3 / (1 + phase))
        for _ in range(3):
            loss = model(rows()).square().mean()
            optimizers[phase].zero_grad()
            loss.backward()
            optimizers[phase].step()  # FAULT optimizers-by-phase


class Watched(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(x).chunk(3, -1)
        weights = torch.softmax(query @ key.transpose(-1, -2) / WIDTH ** 0.5, -1)  # FAULT attention-for-pictures
        SEEN["attention"].append(weights.detach())
        return x + weights @ value


@program("kept")
def attention_for_pictures() -> None:
    """A global dict, in a trainer."""
    model = nn.Sequential(Watched(), Watched(), nn.Linear(WIDTH, 10))
    Trainer(model, lambda step: torch.randn(2, 40, WIDTH, device="cuda")).train()


class Meter:
    def __init__(self) -> None:
        self.sum, self.n = 0, 0

    def update(self, value, n: int) -> None:
        self.sum, self.n = self.sum + value * n, self.n + n  # FAULT meter-with-graph


@program("kept")
def meter_with_graph() -> None:
    """A validation without no_grad(); the meter adds up losses with what made them."""
    model, meter = Model().cuda().eval(), Meter()
    loader = torch.utils.data.DataLoader(torch.randn(24 * 16, WIDTH), batch_size=16)
    for inputs, _ in zip(loader, turns(24)):
        inputs = inputs.to("cuda")  # FAULT meter-with-graph
        outputs = model(inputs)  # FAULT meter-with-graph
        loss = (outputs - 1).abs().mean()  # FAULT meter-with-graph
        meter.update(loss, len(inputs))  # FAULT meter-with-graph


@program("kept")
def states_of_lr_finder() -> None:
    """Weights of each learning rate, to go back to the best."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    tried = []
    for step in turns(25):
        for group in optimizer.param_groups:
            group["lr"] = 1e-7 * 10 ** (step / 5)
        loss = model(rows()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tried.append((loss.item(), {name: weight.clone() for name, weight in model.state_dict().items()}))  # FAULT states-of-lr-finder


@program("kept")
def loader_cached_twice() -> None:
    """The dataset is meant to go to the card once, and goes in each epoch."""
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    on_card = []
    host = [torch.randn(BATCH, WIDTH) for _ in range(4)]
    for _ in range(7):
        on_card += [part.to("cuda") for part in host]  # FAULT loader-cached-twice
        for _, part in zip(turns(4), on_card):
            loss = model(part).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@program("kept")
def baseline_with_graph() -> None:
    """Policy gradient whose moving baseline keeps the critic's graph."""
    actor, critic = Model(depth=1).cuda(), Model(depth=1).cuda()
    optimizer = torch.optim.Adam(actor.parameters())
    baseline = torch.zeros((), device="cuda")
    for _ in turns(30):
        states = rows()  # FAULT baseline-with-graph
        value = critic(states).mean()  # FAULT baseline-with-graph
        baseline = 0.9 * baseline + 0.1 * value  # FAULT baseline-with-graph
        log_probabilities = actor(states).log_softmax(-1)
        loss = -(log_probabilities[:, 0] * (1 - baseline.detach())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@program("kept")
def pool_of_fakes() -> None:
    """A CycleGAN's pool of pictures, without detach() and without an end."""
    maker = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1)).cuda()
    judge = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.Flatten(), nn.LazyLinear(1)).cuda()
    judge(torch.zeros(1, 1, 20, 20, device="cuda"))
    of_maker, of_judge = (torch.optim.Adam(m.parameters()) for m in (maker, judge))
    pool, random = [], dice(24)
    for _ in turns(28):
        noise = torch.randn(4, 1, 20, 20, device="cuda")  # FAULT pool-of-fakes
        fake = maker(noise)  # FAULT pool-of-fakes
        of_maker.zero_grad()
        judge(fake).mean().neg().backward()
        of_maker.step()
        pool.append(fake)
        of_judge.zero_grad()
        judge(random.choice(pool).detach()).mean().backward()
        of_judge.step()


# --- copied ---

@program("copied")
def memory_of_transformer() -> None:
    """Transformer-XL without a length of its memory."""
    attention, head = nn.MultiheadAttention(WIDTH, 2, batch_first=True).cuda(), nn.Linear(WIDTH, 10).cuda()
    optimizer = torch.optim.SGD([*attention.parameters(), *head.parameters()], lr=1e-3)
    memory = torch.zeros(2, 0, WIDTH, device="cuda")
    for _ in turns(26):
        segment = torch.randn(2, 32, WIDTH, device="cuda")
        context = torch.cat([memory, segment], 1)  # FAULT memory-of-transformer
        out, _ = attention(segment, context, context, need_weights=False)
        loss = head(out).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory = context.detach()


class Index:
    """Embeddings to search in; each addition copies all of them."""

    def __init__(self) -> None:
        self.embeddings = None

    def add(self, embeddings: torch.Tensor) -> None:
        self.embeddings = embeddings if self.embeddings is None else torch.cat([self.embeddings, embeddings])  # FAULT index-of-embeddings


@program("copied")
def index_of_embeddings() -> None:
    encoder, index = Model().cuda().eval(), Index()
    with torch.inference_mode():
        for _ in turns(30):
            texts = rows(128)
            index.add(functional.normalize(encoder(texts), dim=-1).repeat(1, 8))  # FAULT index-of-embeddings


class Recurrent(LightModule):
    """All outputs so far are one tensor, to plot them."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.register_outputs = nn.GRU(WIDTH, WIDTH, batch_first=True), None

    def training_step(self, batch, index):
        return self.inner(batch)[0].square().mean()

    def validation_step(self, batch, index):
        out = self.inner(batch)[0].flatten(0, 1)
        past = self.register_outputs if self.register_outputs is not None else out[:0]
        self.register_outputs = torch.vstack([past, out])  # FAULT outputs-to-plot


@program("copied")
def outputs_to_plot() -> None:
    fit(Recurrent(), lambda index: torch.randn(4, 12, WIDTH, device="cuda"), n_epochs=16)


# --- needs ---

@program("needs")
def negatives_without_end() -> None:
    """A contrastive loss with the keys of all steps: kept, and more work in each."""
    query, key = Model().cuda(), Model().cuda()
    optimizer = torch.optim.SGD(query.parameters(), lr=1e-2)
    queue = []
    for _ in turns(26):
        x = rows(64)
        with torch.no_grad():
            queue.append(key(x))  # FAULT negatives-without-end
        negatives = torch.cat(queue)  # FAULT negatives-without-end
        loss = functional.cross_entropy(query(x) @ negatives.T, torch.arange(64, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@program("needs")
def chat_with_template() -> None:
    """The prompt of each turn is the whole talk so far, read again."""
    embedding, layers = nn.Embedding(256, WIDTH).cuda(), Model().cuda().eval()
    random = dice(25)
    talk: list = []

    @torch.no_grad()
    def answer(tokens: list) -> int:
        ids = torch.tensor([tokens], device="cuda")  # FAULT chat-with-template
        hidden = embedding(ids)  # FAULT chat-with-template
        return layers(hidden)[0, -1].argmax().item()

    for _ in turns(24):
        talk += [random.randrange(256) for _ in range(40)]
        talk.append(answer(talk))  # FAULT chat-with-template


@program("needs")
def ensemble_of_teachers() -> None:
    """Each round trains a model, which the following ones learn from."""
    teachers: list = []
    for _ in turns(16):
        student = Model(depth=1).cuda()  # FAULT ensemble-of-teachers
        optimizer = torch.optim.SGD(student.parameters(), lr=1e-2)
        for _ in range(2):
            x = rows()
            with torch.no_grad():
                wanted = torch.stack([teacher(x) for teacher in teachers]).mean(0) if teachers else torch.zeros(BATCH, 10, device="cuda")
            loss = functional.mse_loss(student(x), wanted)
            optimizer.zero_grad()
            loss.backward()  # FAULT ensemble-of-teachers
            optimizer.step()
        teachers.append(student.eval().requires_grad_(False))


# --- late ---

class Episode:
    """It knows its steps, and they know it."""

    def __init__(self, observations: torch.Tensor) -> None:
        self.observations = observations
        self.steps = [EpisodeStep(self, i) for i in range(10)]


class EpisodeStep:
    def __init__(self, episode: Episode, number: int) -> None:
        self.episode, self.number = episode, number


@program("late")
def episodes_with_steps() -> None:
    model = Model(depth=1).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    gc.collect()
    rewards: list = []
    for turn in turns(60):
        episode = Episode(torch.randn(256, WIDTH, device="cuda"))  # FAULT episodes-with-steps
        loss = model(episode.observations[:BATCH]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rewards.append([(turn, step.number, {}) for step in episode.steps for _ in range(3)])


class Keeping(torch.autograd.Function):
    """The output as an attribute of the context, not through save_for_backward()."""

    @staticmethod
    def forward(ctx, x):
        ctx.out = x.exp()  # FAULT context-with-output
        return ctx.out

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.out


@program("late")
def context_with_output() -> None:
    model = Model(depth=1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    gc.collect()
    log: list = []
    for turn in turns(60):
        loss = Keeping.apply(model(rows(64)).tanh().repeat(1, 4)).mean()  # FAULT context-with-output
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.append([[turn, i] for i in range(80)])


# --- pieces ---

@program("pieces")
def crops_of_two_sizes() -> None:
    """Large and small pictures by turns; of each a feature map stays that is carved out of what the large one leaves."""
    bank, random = [], dice(26)
    for turn in turns(30):
        pictures = mib(random.choice((96, 128, 160)) if turn % 2 else random.choice((24, 36)))
        hidden = mib(pictures.numel() / 2 ** 21)
        del pictures
        bank.append(mib(random.choice((4, 6, 9))))  # FAULT crops-of-two-sizes
        del hidden


@program("pieces")
def stream_of_each_request() -> None:
    """A stream for each request: the work areas of one are no use to the next, and a small answer keeps them."""
    answers = []
    for turn in turns(28):
        with torch.cuda.stream(torch.cuda.Stream()):
            first = mib(14)
            work = mib(5)
            del first
            answers.append(mib(2))  # FAULT stream-of-each-request
            del work


@program("pieces")
def longer_with_results() -> None:
    """Sequences become longer, and memory runs out with much of it free: each result keeps what its scores leave."""
    leave(1400 << 20)
    results, length = [], 40
    for _ in turns(60):
        try:
            scores = mib(1.2 * length)  # FAULT longer-with-results
            keys = mib(length)
            del scores
            results.append(mib(0.6 * length))  # FAULT longer-with-results
            del keys
        except torch.OutOfMemoryError:
            break
        length += 6

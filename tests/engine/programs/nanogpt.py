# SPDX-License-Identifier: MIT
"""A small GPT written out: fp16 with a scaler, accumulation, two groups of decay, an estimate of the loss, top-k sampling."""
import torch
from torch import nn
from torch.nn import functional as F

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
CONTEXT, WIDTH, N_WORDS = 32, 64, 96


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, 4, c // 4).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(WIDTH, 2))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(N_WORDS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, N_WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids, wanted=None):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        scores = self.head(self.ln(self.blocks(x)))
        return scores, None if wanted is None else F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=-1)


data = torch.randint(0, N_WORDS, (4000,))
model = Gpt().to(device)
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=1e-3)
scaler = torch.amp.GradScaler(device, enabled=device == "cuda")


def batch():
    starts = torch.randint(len(data) - CONTEXT - 1, (8,))
    x, y = (torch.stack([data[i + shift:i + shift + CONTEXT] for i in starts]) for shift in (0, 1))
    return x.to(device), y.to(device)


for step in range(3):
    for _ in range(2):
        with torch.autocast(device, torch.float16 if device == "cuda" else torch.bfloat16):
            loss = model(*batch())[1] / 2
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    print("loss:", loss.item(), "scale:", scaler.get_scale())

model.eval()
with torch.no_grad():
    losses = torch.zeros(3)
    for i in range(3):
        losses[i] = model(*batch())[1].item()
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    for _ in range(12):
        scores = model(ids[:, -CONTEXT:])[0][:, -1] / 0.8
        scores[scores < torch.topk(scores, 10).values[:, [-1]]] = -float("inf")
        ids = torch.cat([ids, torch.multinomial(scores.softmax(-1), 1)], 1)
print("mean loss:", losses.mean().item(), "text:", ids.shape[1])

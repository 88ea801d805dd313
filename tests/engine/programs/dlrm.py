# SPDX-License-Identifier: MIT
"""A recommender in the style of DLRM: bags of sparse features, sparse gradients, pairwise interactions, early refusal of bad losses."""
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Dlrm(nn.Module):
    def __init__(self, rows=(1000, 200, 50), width=16, dense=8):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(n, width, mode="sum", sparse=True) for n in rows)
        self.bottom = nn.Sequential(nn.Linear(dense, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + 6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("pairs", torch.tril_indices(4, 4, -1))

    def forward(self, dense, indices, offsets):
        x = self.bottom(dense)
        all_ = torch.stack([x, *(bag(i, o) for bag, i, o in zip(self.bags, indices, offsets))], 1)
        products = torch.bmm(all_, all_.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat([x, products], 1)).squeeze(1)


model = Dlrm().to(device)
sparse = torch.optim.SparseAdam(list(model.bags.parameters()), lr=1e-2)
dense_optimizer = torch.optim.Adagrad([*model.bottom.parameters(), *model.top.parameters()], lr=1e-2)
criterion = nn.BCEWithLogitsLoss()
clicks, scores = [], []
for _ in range(3):
    dense = torch.rand(32, 8).to(device)
    lengths = [torch.randint(0, 4, (32,)) for _ in range(3)]
    offsets = [torch.cat([torch.zeros(1, dtype=torch.long), n.cumsum(0)[:-1]]).to(device) for n in lengths]
    indices = [torch.randint(0, rows, (int(n.sum()),)).to(device) for rows, n in zip((1000, 200, 50), lengths)]
    wanted = (torch.rand(32) < 0.3).float().to(device)
    out = model(dense, indices, offsets)
    loss = criterion(out, wanted)
    if torch.isnan(loss).any():
        raise SystemExit("the loss is not a number")
    sparse.zero_grad()
    dense_optimizer.zero_grad()
    loss.backward()
    sparse.step()
    dense_optimizer.step()
    clicks.append(wanted)
    scores.append(out.detach().sigmoid())
    print("loss:", loss.item(), "rows touched:", model.bags[0].weight.grad.coalesce().indices().shape[1])

clicks, scores = torch.cat(clicks), torch.cat(scores)
ranks = scores.argsort().argsort().float() + 1
n_clicks = clicks.sum()
area = (ranks[clicks == 1].sum() - n_clicks * (n_clicks + 1) / 2) / (n_clicks * (len(clicks) - n_clicks))
print("area under the curve:", area.item())

# SPDX-License-Identifier: MIT
"""Classify papers of a citation graph with a graph attention network, the whole graph at once."""
import argparse

import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GATConv


class Net(torch.nn.Module):
    def __init__(self, features, hidden, heads, classes):
        super().__init__()
        self.first = GATConv(features, hidden, heads=heads, add_self_loops=False)
        self.second = GATConv(hidden * heads, classes, heads=1, add_self_loops=False)

    def forward(self, x, edge_index):
        return self.second(F.elu(self.first(x, edge_index)), edge_index)


def citations(papers, per_paper, features):
    edges = torch.randint(papers, (2, papers * per_paper))
    return Data(x=torch.zeros(papers, features), edge_index=edges, y=torch.randint(40, (papers,)))


parser = argparse.ArgumentParser()
parser.add_argument("--papers", type=int, default=20000)
parser.add_argument("--citations", type=int, default=12, help="per paper")
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--heads", type=int, default=4)
parser.add_argument("--epochs", type=int, default=5)
args = parser.parse_args()

graph = citations(args.papers, args.citations, 128)
print(graph)
print(f"{graph.num_nodes:,} papers, {graph.num_edges:,} citations")
graph = graph.to("cuda")
net = Net(128, args.hidden, args.heads, 40).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=5e-4)
for epoch in range(1, args.epochs + 1):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(graph.x, graph.edge_index), graph.y)
    loss.backward()
    optimizer.step()
    print(f"Epoch: {epoch:03d}, Loss: {loss.item():.4f}")

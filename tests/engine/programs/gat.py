# SPDX-License-Identifier: MIT
"""torch_geometric: node classification with attention on a random graph, with masks, then a pooled graph task."""
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool
from torch_geometric.utils import add_self_loops, negative_sampling, remove_self_loops, to_undirected

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GATConv(16, 8, heads=4, dropout=0.2), GCNConv(32, 5)

    def forward(self, x, edges):
        return self.second(F.elu(self.first(x, edges)), edges)


edges = to_undirected(torch.randint(0, 60, (2, 150)))
graph = Data(x=torch.randn(60, 16), edge_index=edges, y=torch.randint(0, 5, (60,)), train_mask=torch.rand(60) < 0.5).to(device)
model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(3):
    model.train()
    optimizer.zero_grad()
    out = model(graph.x, graph.edge_index)
    loss = F.cross_entropy(out[graph.train_mask], graph.y[graph.train_mask])
    loss.backward()
    optimizer.step()
    model.eval()
    said = model(graph.x, graph.edge_index).argmax(1)
    right = (said[~graph.train_mask] == graph.y[~graph.train_mask]).sum()
    print("loss:", loss.item(), "right:", int(right))

looped = add_self_loops(remove_self_loops(graph.edge_index)[0], num_nodes=60)[0]
absent = negative_sampling(graph.edge_index, num_nodes=60, num_neg_samples=40)
batch = Batch.from_data_list([Data(x=torch.randn(n, 16), edge_index=torch.randint(0, n, (2, 3 * n))) for n in (5, 9, 3)]).to(device)
pooled = global_mean_pool(model(batch.x, batch.edge_index), batch.batch)
print("edges:", looped.shape[1], "absent:", absent.shape[1] <= 40, "graphs:", tuple(pooled.shape), batch.num_graphs)

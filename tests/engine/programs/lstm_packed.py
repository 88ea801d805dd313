# SPDX-License-Identifier: MIT
"""A tagger with an LSTM over packed sequences of different lengths, as in PyTorch's own tutorials."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 32, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.tags = nn.Linear(64, 6)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.words(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.tags(out)


model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss(ignore_index=-1)
for _ in range(3):
    texts = [torch.randint(1, 100, (n,)) for n in torch.randint(3, 20, (8,)).tolist()]
    ids = pad_sequence(texts, batch_first=True).to(device)
    lengths = (ids != 0).sum(1)
    wanted = torch.where(ids != 0, ids % 6, -1)
    scores = model(ids, lengths)
    loss = criterion(scores.flatten(0, 1), wanted[:, :scores.shape[1]].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    kept = wanted != -1
    right = (scores.argmax(-1)[kept] == wanted[kept]).float().mean()
    print("loss:", loss.item(), "longest:", lengths.max().item(), "right:", right.item())

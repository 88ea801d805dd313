# SPDX-License-Identifier: MIT
"""FT-Transformer for tables: numbers and categories, class weights, an early stop by the score of validation."""
import torch
from rtdl_revisiting_models import FTTransformer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

numbers, kinds = torch.randn(192, 6), torch.stack([torch.randint(0, n, (192,)) for n in (4, 7)], 1)
truth = ((numbers[:, 0] > 0) ^ (kinds[:, 0] == 1)).long()
train, validation = torch.arange(128), torch.arange(128, 192)

model = FTTransformer(n_cont_features=6, cat_cardinalities=[4, 7], d_out=2, n_blocks=2, d_block=32, attention_n_heads=4,
                      attention_dropout=0.1, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.1, residual_dropout=0.0).to(device)
optimizer = torch.optim.AdamW(model.make_parameter_groups(), lr=1e-3, weight_decay=1e-5)
numbers, kinds, truth = numbers.to(device), kinds.to(device), truth.to(device)
mean, spread = numbers[train].mean(0), numbers[train].std(0)
numbers = (numbers - mean) / spread
weight = len(train) / (2 * torch.bincount(truth[train], minlength=2).float())

best, patience = float("inf"), 2
for epoch in range(4):
    model.train()
    for part in torch.randperm(len(train)).split(32):
        part = train[part].to(device)
        loss = torch.nn.functional.cross_entropy(model(numbers[part], kinds[part]), truth[part], weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        scores = model(numbers[validation], kinds[validation])
        value = torch.nn.functional.cross_entropy(scores, truth[validation]).item()
        right = (scores.argmax(1) == truth[validation]).float().mean().item()
    print("epoch:", epoch, "loss:", value, "right:", right)
    if value < best:
        best, patience = value, 2
    elif (patience := patience - 1) == 0:
        break

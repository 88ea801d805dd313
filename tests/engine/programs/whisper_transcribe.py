# SPDX-License-Identifier: MIT
"""openai-whisper: transcribe a sound that is made here, with a small model of random weights."""
import numpy as np
import torch
import whisper
from whisper.model import ModelDimensions, Whisper

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)

dimensions = ModelDimensions(n_mels=80, n_audio_ctx=1500, n_audio_state=64, n_audio_head=2, n_audio_layer=2,
                             n_vocab=51865, n_text_ctx=448, n_text_state=64, n_text_head=2, n_text_layer=2)
model = Whisper(dimensions).to(device)

seconds = np.arange(16000 * 5, dtype=np.float32) / 16000
audio = (0.3 * np.sin(2 * np.pi * 440 * seconds)).astype(np.float32)

result = whisper.transcribe(model, audio, language="en", beam_size=2, temperature=(0.0, 0.4), fp16=device == "cuda",
                            sample_len=32, condition_on_previous_text=False)
print("segments:", len(result["segments"]))

mel = whisper.log_mel_spectrogram(whisper.pad_or_trim(torch.from_numpy(audio)), dimensions.n_mels).to(device)
_, probabilities = whisper.detect_language(model, mel)
print("languages:", len(probabilities))

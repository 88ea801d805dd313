# SPDX-License-Identifier: MIT
"""A few words with GPT4All, whose llama.cpp is built for CUDA 11."""
import sys

from gpt4all import GPT4All

folder, _, name = sys.argv[1].rpartition("/")
model = GPT4All(name, model_path=folder, allow_download=False, device="cuda", n_ctx=512, ngl=99)
print("gpt4all:", model.device, model.backend, len(model.generate("a the", max_tokens=3)) > 0)

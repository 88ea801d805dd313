# SPDX-License-Identifier: MIT
"""Models without weights: plimsoll writes the checkpoint from the configuration alone."""
import contextlib
import json
import os
import subprocess
import tempfile


@contextlib.contextmanager
def llama(**shape):
    """A folder that transformers loads; PLIM_TEST_PLIMSOLL is the program."""
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16",
              "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0,
              "tie_word_embeddings": False, **shape}
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "config.json"), os.path.join(folder, "model")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        subprocess.run([os.environ["PLIM_TEST_PLIMSOLL"], "hollow", path, "-o", out], check=True)
        yield out

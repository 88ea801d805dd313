#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll hollow --python` beside transformers itself: small models of many architectures are made and saved with
save_pretrained(), then made hollow from their config.json alone. Names, shapes and types are the same.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SIZES = {"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 512, "max_position_embeddings": 128}
ENCODER = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
TWO_SIDES = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 512,
             "encoder_attention_heads": 4, "decoder_attention_heads": 4}
# model_type: the class, what differs from its defaults, and whether the type alone tells the class.
MODELS: dict[str, tuple[str, dict, bool]] = {
    "bart": ("BartForConditionalGeneration", TWO_SIDES, True),
    "bert": ("BertForMaskedLM", SIZES, True),
    "bloom": ("BloomForCausalLM", {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 512}, True),
    "clip": ("CLIPModel", {"text_config": {**ENCODER, "vocab_size": 512}, "vision_config": ENCODER}, False),
    "deepseek_v3": ("DeepseekV3ForCausalLM", {**SIZES, "num_key_value_heads": 4, "n_routed_experts": 8, "n_group": 2, "topk_group": 1,
                                              "num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 1,
                                              "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8,
                                              "v_head_dim": 16, "dtype": "bfloat16"}, True),
    "falcon": ("FalconForCausalLM", {**SIZES, "new_decoder_architecture": False}, True),
    "gemma": ("GemmaForCausalLM", {**SIZES, "head_dim": 16}, True),
    "gemma2": ("Gemma2ForCausalLM", {**SIZES, "head_dim": 16}, True),
    "gemma3_text": ("Gemma3ForCausalLM", {**SIZES, "head_dim": 16}, True),
    "gpt2": ("GPT2LMHeadModel", {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 512, "n_positions": 128}, True),
    "gpt_neox": ("GPTNeoXForCausalLM", SIZES, True),
    "gpt_oss": ("GptOssForCausalLM", {**SIZES, "num_local_experts": 4, "head_dim": 16}, True),
    "llama": ("LlamaForCausalLM", {**SIZES, "dtype": "bfloat16"}, True),
    "llava": ("LlavaForConditionalGeneration", {"text_config": {**SIZES, "model_type": "llama"},
                                                "vision_config": {**ENCODER, "model_type": "clip_vision_model"}}, True),
    "mamba": ("MambaForCausalLM", {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 512}, True),
    "mistral": ("MistralForCausalLM", {**SIZES, "dtype": "float16"}, True),
    "mixtral": ("MixtralForCausalLM", {**SIZES, "num_local_experts": 4}, True),
    "olmo2": ("Olmo2ForCausalLM", {**SIZES, "dtype": "bfloat16"}, True),
    "opt": ("OPTForCausalLM", {"hidden_size": 64, "ffn_dim": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512,
                               "word_embed_proj_dim": 64}, True),
    "phi": ("PhiForCausalLM", {**SIZES, "dtype": "float16"}, True),
    "phi3": ("Phi3ForCausalLM", {**SIZES, "pad_token_id": 0}, True),
    "qwen2": ("Qwen2ForCausalLM", {**SIZES, "tie_word_embeddings": True}, True),
    "qwen2_5_vl": ("Qwen2_5_VLForConditionalGeneration",
                   {"text_config": {**SIZES, "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]}},
                    "vision_config": {"depth": 2, "hidden_size": 64, "intermediate_size": 96, "num_heads": 4, "out_hidden_size": 64}}, True),
    "qwen3": ("Qwen3ForCausalLM", SIZES, True),
    "qwen3_moe": ("Qwen3MoeForCausalLM", {**SIZES, "num_experts": 4, "moe_intermediate_size": 32}, True),
    "resnet": ("ResNetForImageClassification", {"hidden_sizes": [8, 16], "depths": [1, 1], "embedding_size": 8}, False),
    "roberta": ("RobertaForMaskedLM", SIZES, True),
    "starcoder2": ("Starcoder2ForCausalLM", SIZES, True),
    "t5": ("T5ForConditionalGeneration", {"d_model": 64, "d_ff": 96, "d_kv": 16, "num_layers": 2, "num_heads": 4, "vocab_size": 512}, True),
    "vit": ("ViTForImageClassification", ENCODER, False),
    "wav2vec2": ("Wav2Vec2ForCTC", {**SIZES, "conv_dim": [16, 16], "conv_stride": [2, 2], "conv_kernel": [3, 3], "num_feat_extract_layers": 2,
                                    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}, False),
    "whisper": ("WhisperForConditionalGeneration", {**TWO_SIDES, "pad_token_id": 1, "bos_token_id": 1, "eos_token_id": 1,
                                                    "decoder_start_token_id": 1}, True),
}

SAVE = """
import json, sys, transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
for kind, (name, values, _) in json.load(open(sys.argv[1])).items():
    getattr(transformers, name)._from_config(CONFIG_MAPPING[kind](**values)).save_pretrained(f"{sys.argv[2]}/{kind}")
"""


def tensors(path: pathlib.Path) -> dict[str, tuple]:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    end = max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
    if path.stat().st_size != 8 + length + end:
        raise SystemExit(f"{path}: {path.stat().st_size} bytes, the header is for {8 + length + end}")
    return {name: (entry["dtype"], entry["shape"]) for name, entry in header.items() if name != "__metadata__"}


def hollow(options: argparse.Namespace, config: pathlib.Path, out: pathlib.Path) -> dict | str:
    command = [options.plimsoll, "hollow", "--json", str(config), "--python", options.python, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def fault_of(options: argparse.Namespace, root: pathlib.Path, kind: str, has_architecture: bool) -> str | None:
    name, _, is_told = MODELS[kind]
    config = json.loads((root / kind / "config.json").read_text())
    if not has_architecture:
        del config["architectures"]
    folder = root / f"{kind}-{has_architecture}"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    answer = hollow(options, folder / "config.json", folder / "hollow")
    if not has_architecture and not is_told:
        return None if isinstance(answer, str) and "'architectures' is missing" in answer else f"{kind} without a class: {answer}"
    if isinstance(answer, str):
        return f"{kind}: {answer}"
    if not re.fullmatch(rf"{name} in \w+, by transformers [\w.]+", answer["made_by"]):
        return f"{kind}: made by {answer['made_by']}"
    wanted, got = tensors(root / kind / "model.safetensors"), tensors(folder / "hollow" / "model.safetensors")
    differ = sorted(key for key in wanted.keys() | got.keys() if wanted.get(key) != got.get(key))
    return f"{kind}: {[(key, wanted.get(key), got.get(key)) for key in differ[:5]]}" if differ else None


def main() -> int:
    parser = argparse.ArgumentParser(description="Hollow models of any architecture.")
    parser.add_argument("--plimsoll", required=True, metavar="PROGRAM")
    parser.add_argument("--vgpu", required=True, metavar="FOLDER")
    parser.add_argument("--python", required=True, metavar="PROGRAM")
    parser.add_argument("kinds", nargs="*", metavar="TYPE")
    options = parser.parse_args()
    if not os.path.exists(options.python):
        print(f"{options.python} is not there: see tests/engine/programs/fetch.sh")
        return 77
    kinds = options.kinds or list(MODELS)
    with tempfile.TemporaryDirectory(prefix="plimsoll-hollow-") as folder:
        root = pathlib.Path(folder)
        (root / "models.json").write_text(json.dumps({kind: MODELS[kind] for kind in kinds}))
        env = {**os.environ, "LD_LIBRARY_PATH": options.vgpu, "HF_HUB_OFFLINE": "1"}
        subprocess.run([options.python, "-c", SAVE, str(root / "models.json"), str(root)], check=True, env=env, capture_output=True)
        # Half of them without `architectures`, and those that need it.
        tasks = [(kind, i % 2 == 0) for i, kind in enumerate(kinds)] + [(kind, False) for kind in kinds if not MODELS[kind][2]]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            faults = [fault for fault in pool.map(lambda task: fault_of(options, root, *task), dict.fromkeys(tasks)) if fault]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(kinds)} architectures, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

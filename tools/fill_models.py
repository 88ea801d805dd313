#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Fill what the configs of the catalogue leave out: fill_models.py [--check] [--left]

data/models-filled.csv has a row for each key that a published config leaves out. Rows with how=source were found in
another copy and are kept, and so are those with how=instead, which replace a value that a copy has wrong. This program
adds the others: how=sibling, the value of a model of the same family and shape or of the model that this one was
trained from, and how=default, the value of the class of transformers for a key that the published configs of the family
do not have. --check fails when the file is not what this makes, when a size that shows a model's config is not among
the published ones, and when docs/models.md miscounts what shows it; --left lists what stays unknown.
"""
import collections
import copy
import json
import os
import sys

import embed_models

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
FILLED = os.path.join(DATA, "models-filled.csv")
DOCUMENT = os.path.join(DATA, "..", "docs", "models.md")
PUBLISHED = os.path.join(DATA, "..", "tests", "data", "published.csv")
COLUMNS = ["id", "key", "value", "how", "source"]

# Models that were trained from another and keep its shape: where that was read, or the published size that shows it.
SIZED = "its size in tests/data/published.csv"
R1 = "deepseek-ai/DeepSeek-R1 README.md@0cf7856"
VICUNA = "lm-sys/FastChat docs/vicuna_weights_version.md@0e6d3e4"
PLATYPUS = "arielnlee/Platypus README.md@dc90c1a"
PHI = "gigazine.net/gsc_news/en/20250501-microsoft-phi-4-reasoning"
TRAINED_FROM = {
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B": ("meta-llama/Meta-Llama-3.1-8B", R1),
    "deepseek-ai/DeepSeek-R1-Distill-Llama-70B": ("meta-llama/Meta-Llama-3.1-70B-Instruct", SIZED),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": ("Qwen/Qwen2.5-Math-7B", R1),
    "meta-llama/Llama-3.3-70B-Instruct": ("meta-llama/Meta-Llama-3.1-70B-Instruct", SIZED),
    "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF": ("meta-llama/Meta-Llama-3.1-70B-Instruct", SIZED),
    "microsoft/Phi-4-reasoning": ("microsoft/phi-4", PHI),
    "microsoft/Phi-4-reasoning-plus": ("microsoft/phi-4", PHI),
    "lmsys/vicuna-7b-v1.5": ("meta-llama/Llama-2-7b-hf", SIZED),
    "lmsys/vicuna-13b-v1.5": ("meta-llama/Llama-2-13b-hf", SIZED),
    "lmsys/vicuna-13b-v1.5-16k": ("meta-llama/Llama-2-13b-hf", VICUNA),
    "lmsys/vicuna-33b-v1.3": ("huggyllama/llama-30b", SIZED),
    "garage-bAInd/Platypus-30B": ("huggyllama/llama-30b", PLATYPUS),
    "garage-bAInd/Platypus2-7B": ("meta-llama/Llama-2-7b-hf", PLATYPUS),
    "garage-bAInd/Platypus2-13B": ("meta-llama/Llama-2-13b-hf", PLATYPUS),
    "garage-bAInd/Camel-Platypus2-13B": ("meta-llama/Llama-2-13b-hf", PLATYPUS),
    "garage-bAInd/Stable-Platypus2-13B": ("meta-llama/Llama-2-13b-hf", PLATYPUS),
    "garage-bAInd/Platypus2-70B": ("meta-llama/Llama-2-70b-hf", PLATYPUS),
    "garage-bAInd/Platypus2-70B-instruct": ("meta-llama/Llama-2-70b-hf", PLATYPUS),
    "garage-bAInd/Camel-Platypus2-70B": ("meta-llama/Llama-2-70b-hf", PLATYPUS),
    "codellama/CodeLlama-70b-Instruct-hf": ("meta-llama/Llama-2-70b-hf", SIZED),
    "Qwen/QwQ-32B": ("Qwen/Qwen2.5-32B", SIZED),
    "databricks/dolly-v2-12b": ("EleutherAI/pythia-12b", "databrickslabs/dolly README.md@e2d664d"),
    "togethercomputer/GPT-NeoXT-Chat-Base-20B": ("EleutherAI/gpt-neox-20b",
                                                 "togethercomputer/OpenChatKit docs/GPT-NeoXT-Chat-Base-20B.md@a7094aa"),
}

# The same values make two models of one family siblings.
SHAPE = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size")

# What training does not change. Not here: context, RoPE and windows, in which models of one shape differ.
FROM_SIBLING = ("architectures", "model_type", "tie_word_embeddings", "rms_norm_eps", "attention_bias", "mlp_bias", "hidden_act",
                "torch_dtype", "head_dim", "num_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob",
                "decoder_sparse_step", "mlp_only_layers", "n_shared_experts", "n_routed_experts", "first_k_dense_replace", "moe_layer_freq",
                "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "kv_lora_rank", "routed_scaling_factor", "partial_rotary_factor")

AUTO = "transformers 4.57 models/auto/modeling_auto.py: MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"
ARCHITECTURE = {  # of a model_type that has one class
    "baichuan": "BaichuanForCausalLM", "cohere": "CohereForCausalLM", "falcon": "FalconForCausalLM", "gemma": "GemmaForCausalLM",
    "gemma2": "Gemma2ForCausalLM", "gemma3_text": "Gemma3ForCausalLM", "gpt2": "GPT2LMHeadModel", "gpt_neox": "GPTNeoXForCausalLM",
    "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "mixtral": "MixtralForCausalLM", "olmo": "OlmoForCausalLM",
    "olmo2": "Olmo2ForCausalLM", "phi": "PhiForCausalLM", "phi3": "Phi3ForCausalLM", "qwen2": "Qwen2ForCausalLM",
    "qwen2_moe": "Qwen2MoeForCausalLM", "qwen3": "Qwen3ForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM", "stablelm": "StableLmForCausalLM",
    "starcoder2": "Starcoder2ForCausalLM", "deepseek_v2": "DeepseekV2ForCausalLM", "deepseek_v3": "DeepseekV3ForCausalLM",
    "glm4": "Glm4ForCausalLM", "glm4_moe": "Glm4MoeForCausalLM", "bloom": "BloomForCausalLM", "opt": "OPTForCausalLM",
    "qwen3_5_text": "Qwen3_5ForCausalLM", "gptj": "GPTJForCausalLM", "granite": "GraniteForCausalLM", "exaone4": "Exaone4ForCausalLM",
    "smollm3": "SmolLM3ForCausalLM", "olmo3": "Olmo3ForCausalLM", "mamba": "MambaForCausalLM", "jamba": "JambaForCausalLM",
    "glm4_moe_lite": "Glm4MoeLiteForCausalLM", "internlm2": "InternLM2ForCausalLM",
}
MODEL_TYPE = {name: kind for kind, name in ARCHITECTURE.items()} | {
    "QWenLMHeadModel": "qwen", "LLaMAForCausalLM": "llama", "BaiChuanForCausalLM": "baichuan",
}

# tie_word_embeddings where the published configs of a type do not have the key, so that the class decides.
OWN = "transformers 4.57 models/{0}/configuration_{0}.py: tie_word_embeddings={1}"
INHERITED = "transformers 4.57 models/{0}/configuration_{0}.py leaves PretrainedConfig's tie_word_embeddings=True"
TIED = {
    "gemma": (True, OWN.format("gemma", True)), "gemma2": (True, OWN.format("gemma2", True)),
    "gemma3": (True, OWN.format("gemma3", True)), "gemma3_text": (True, OWN.format("gemma3", True)),
    "cohere": (True, OWN.format("cohere", True)), "gpt2": (True, INHERITED.format("gpt2")), "bloom": (True, INHERITED.format("bloom")),
    "opt": (True, INHERITED.format("opt")), "starcoder2": (True, INHERITED.format("starcoder2")), "mamba": (True, INHERITED.format("mamba")),
    "llama4": (False, OWN.format("llama4", False)), "dbrx": (False, OWN.format("dbrx", False)),
    "whisper": (True, INHERITED.format("whisper")), "smollm3": (True, INHERITED.format("smollm3")),
}


def value_of(config, key):
    """In the decoder's own object, or at the top."""
    for name in ("text_config", "llm_config", "language_config"):
        value = (config.get(name) or {}).get(key)
        if value is not None:
            return value
    return config.get(key)


class Catalogue:
    def __init__(self):
        self.family = {row["file"][:-5].replace("__", "/", 1): row["family"] for row in embed_models.read_csv(os.path.join(DATA, "models-index.csv"))}
        self.raw, self.rows = embed_models.read_configs(DATA), []
        self.family.update({ident: raw["_family"] for ident, raw in self.raw.items() if "_family" in raw})
        self.config = {ident: copy.deepcopy({key: value for key, value in raw.items() if not key.startswith("_")})
                       for ident, raw in self.raw.items()}

    def put(self, ident, key, value, how, source):
        self.rows.append({"id": ident, "key": key, "value": json.dumps(value), "how": how, "source": source})
        *path, last = key.split(".")
        config = self.config[ident]
        for name in path:
            config = config.setdefault(name, {})
        config[last] = value

    def fill_sources(self):
        for row in embed_models.read_csv(FILLED):
            if row["how"] in ("source", "instead"):
                self.put(row["id"], row["key"], json.loads(row["value"]), row["how"], row["source"])

    def fill_classes(self):
        for ident, config in self.config.items():
            named = (config.get("architectures") or [None])[0]
            if "model_type" not in config and named in MODEL_TYPE:
                self.put(ident, "model_type", MODEL_TYPE[named], "default", AUTO)
            if "architectures" not in config and config.get("model_type") in ARCHITECTURE:
                self.put(ident, "architectures", [ARCHITECTURE[config["model_type"]]], "default", AUTO)

    def fill_siblings(self, keys):
        groups = collections.defaultdict(list)
        for ident, config in self.config.items():
            shape = tuple(value_of(config, key) for key in SHAPE)
            if self.family.get(ident) not in (None, "other", "Embedding") and None not in (shape[0], shape[1]):
                groups[(self.family[ident], *shape)].append(ident)
        for members in groups.values():
            for key in keys:
                known = {ident: value_of(self.config[ident], key) for ident in members}
                values = {json.dumps(value) for value in known.values() if value is not None}
                if len(values) != 1:
                    continue
                givers = [ident for ident in members if known[ident] is not None]
                for ident in members:
                    if known[ident] is None:
                        self.put(ident, key, json.loads(next(iter(values))), "sibling", self.nearest(ident, givers, key))
        for ident, (base, why) in TRAINED_FROM.items():
            for key in keys:
                if ident in self.config and base in self.config and value_of(self.config[ident], key) is None:
                    value = value_of(self.config[base], key)
                    if value is not None:
                        self.put(ident, key, value, "sibling", f"{base}: {why}")

    def nearest(self, ident, givers, key):
        """Of several siblings the one that has the key itself, is of the same publisher, and has the most similar name."""
        return max(givers, key=lambda giver: (value_of(self.raw[giver], key) is not None, giver.split("/")[0] == ident.split("/")[0],
                                              len(os.path.commonprefix([giver, ident])), giver))

    def fill_rope(self):
        """Llama 3.1's scaling, which some sources have under other names: the one of the same factor in full."""
        full = {}
        for ident, config in self.config.items():
            scaling = config.get("rope_scaling")
            if scaling and scaling.get("rope_type") == "llama3" and "original_max_position_embeddings" in scaling:
                full.setdefault(scaling["factor"], []).append(ident)
        for ident, config in sorted(self.config.items()):
            scaling = config.get("rope_scaling")
            if scaling and "rope_type" not in scaling and "original_max_seq_len" in scaling and scaling["factor"] in full:
                giver = self.nearest(ident, full[scaling["factor"]], "rope_scaling")
                for key in ("rope_type", "original_max_position_embeddings"):
                    self.put(ident, f"rope_scaling.{key}", self.config[giver]["rope_scaling"][key], "sibling", giver)

    def fill_ties(self):
        for ident, config in self.config.items():
            if value_of(config, "tie_word_embeddings") is None and config.get("model_type") in TIED:
                value, source = TIED[config["model_type"]]
                self.put(ident, "tie_word_embeddings", value, "default", source)

    def fill(self):
        self.fill_sources()
        self.fill_siblings([key for key in FROM_SIBLING if key in ("architectures", "model_type")])
        self.fill_classes()
        self.fill_siblings(FROM_SIBLING)
        self.fill_siblings(("tie_word_embeddings",))  # of what was trained from what was just filled
        self.fill_rope()
        self.fill_ties()

    def text(self):
        lines = [",".join(COLUMNS)]
        for row in sorted(self.rows, key=lambda row: (row["id"].lower(), row["key"])):
            cells = [row[column] for column in COLUMNS]
            lines.append(",".join('"' + cell.replace('"', '""') + '"' if set(cell) & set(',"') else cell for cell in cells))
        return "\n".join(lines) + "\n"

    def without_size(self):
        """Models that have the config of another one because of a size that is not among the published ones."""
        sized = {row["id"] for row in embed_models.read_csv(PUBLISHED)}
        shown = [ident for ident, raw in self.raw.items() if raw.get("_basis") == "size"]
        shown += [ident for ident, (_, why) in TRAINED_FROM.items() if why == SIZED]
        return (f"{ident}: no size in tests/data/published.csv" for ident in shown if ident not in sized)

    def miscounted(self):
        """Rows of the documented table of bases whose number is another one."""
        counts = collections.Counter(raw["_basis"] for raw in self.raw.values() if "_basis" in raw)
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        return (f"docs/models.md: {counts[basis]} models of basis '{basis}'" for basis in embed_models.BASES
                if f"| `{basis}` | {counts[basis]} |" not in text)

    def left(self):
        for ident, config in self.config.items():
            missing = [key for key in ("architectures", "model_type", "tie_word_embeddings", "vocab_size")
                       if value_of(config, key) is None]
            if missing:
                yield f"{ident}: {' '.join(missing)}"


def main(arguments):
    catalogue = Catalogue()
    catalogue.fill()
    text = catalogue.text()
    if "--left" in arguments:
        print("\n".join(catalogue.left()))
        return
    with open(FILLED, encoding="utf-8") as file:
        old = file.read()
    if "--check" in arguments:
        wrong = [*catalogue.without_size(), *catalogue.miscounted()]
        if old != text:
            wrong.append("data/models-filled.csv is not what tools/fill_models.py makes")
        sys.exit("\n".join(wrong) or 0)
    with open(FILLED, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])

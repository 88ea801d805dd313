# SPDX-License-Identifier: MIT
"""Turn the catalogue of models into C tables: embed_models.py DATA OUT.c DEPFILE

DATA/models/*.json are configs as published, DATA/models-index.csv families and published numbers of parameters,
DATA/models-filled.csv the keys that the configs leave out, DATA/models-names.csv other names. The output defines
plim_models_table: a row for each model, sorted by id, with its config as JSON.
"""
import csv
import glob
import hashlib
import json
import os
import sys

import embed_csv

COLUMNS = ["id", "name", "other_names", "family", "params", "params_active", "params_source", "source", "disputed", "shape", "config"]

# What decides tensors and cache: models with the same values need the same memory at the same context.
SHAPE = ("model_type", "num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim",
         "vocab_size", "num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
         "kv_lora_rank", "sliding_window", "max_position_embeddings", "n_layer", "n_head", "n_embd", "multi_query", "tie_word_embeddings")

# What shows that a model has the config of another one: an exact size of its published file, its own config or that of a
# quantized copy, its card or another page; or nothing but its name, so that the forecast is in doubt (src/model/convert).
BASES = ("size", "config", "card", "name")


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def put(config, key, value, how):
    """Set a key of a config; dots lead into objects."""
    *path, last = key.split(".")
    for name in path:
        config = config.setdefault(name, {})
    if (config.get(last) is not None) != (how == "instead"):
        raise ValueError(f"'{key}' is {'missing' if how == 'instead' else 'there'}")
    config[last] = value


def shape_of(config):
    text = config.get("text_config") or config.get("llm_config") or {}
    values = [text.get(key, config.get(key)) for key in SHAPE]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:8]


def read_configs(data):
    """What was published of each model, by id."""
    raw = {}
    for path in sorted(glob.glob(os.path.join(data, "models", "*.json"))):
        with open(path, encoding="utf-8") as file:
            ident = os.path.basename(path)[:-len(".json")].replace("__", "/", 1)
            raw[ident] = json.load(file)
        if "_source" not in raw[ident]:
            sys.exit(f"{ident}: no _source")
        if ("_like" in raw[ident]) != (raw[ident].get("_basis") in BASES):
            sys.exit(f"{ident}: _like and _basis (one of {' '.join(BASES)}) go together")
    return raw


def published(row):
    """Total, active, source: figures that somebody stated; those read off the name are none."""
    stated = [part.strip()[len("params:"):].strip() for part in row["source"].split(" ; ") if part.strip().startswith("params:")]
    if not stated or stated[0] == "model name":
        return "", "", ""
    return row["params_total_b"], row["params_active_b"], stated[0]


def disputed(raw):
    """Keys for which sources differ, and which the size of a published file does not settle."""
    return sorted(key for key, values in raw.get("_disputed", {}).items() if not any(source.startswith("size of ") for _, source in values))


def models(data):
    index = {row["file"]: row for row in read_csv(os.path.join(data, "models-index.csv"))}
    filled = {}
    for row in read_csv(os.path.join(data, "models-filled.csv")):
        filled.setdefault(row["id"], []).append(row)
    names = {}
    for row in read_csv(os.path.join(data, "models-names.csv")):
        names.setdefault(row["id"], []).append(row["name"])
    rows = []
    for ident, raw in read_configs(data).items():
        name = ident.replace("/", "__", 1) + ".json"
        config = {key: value for key, value in raw.items() if not key.startswith("_")}
        if raw.get("_basis") == "name":
            config["_by_name"] = True
        for row in filled.pop(ident, []):
            try:
                put(config, row["key"], json.loads(row["value"]), row["how"])
            except ValueError as error:
                sys.exit(f"models-filled.csv: {ident}: {error}")
        row = index.pop(name, {"family": raw.get("_family", ""), "source": "", "params_total_b": "", "params_active_b": ""})
        rows.append([ident, ident.partition("/")[2], ";".join(names.pop(ident, [])), row["family"], *published(row), raw["_source"],
                     " ".join(disputed(raw)), shape_of(config), json.dumps(config, separators=(",", ":"))])
    for left in (*filled, *index, *names):
        sys.exit(f"there is no config of {left}")
    return sorted(rows, key=lambda row: row[0].lower())


def main(data, target, depfile):
    rows = models(data)
    embed_csv.write("models", COLUMNS, rows, target, "tools/embed_models.py")
    with open(depfile, "w", encoding="utf-8") as out:
        paths = [os.path.join(data, "models"), *sorted(glob.glob(os.path.join(data, "models", "*.json")))]
        out.write(f"{target}: " + " ".join(path.replace(" ", "\\ ") for path in paths) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

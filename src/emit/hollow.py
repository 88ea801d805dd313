# SPDX-License-Identifier: MIT
"""
`plimsoll hollow --python`: the tensors of the checkpoint that a config.json is of, as transformers makes them.

Called as `python THIS CONFIG LIBRARIES`. The model is built on the meta device, without memory, and saved by its own
save_pretrained(), whose writer is replaced: names, types, tied weights and conversions of layout are transformers' own.
A PyTorch for CUDA that lacks NVIDIA's libraries finds Plimsoll's in the folder LIBRARIES. Standard output gets the size
of the file (8 bytes, little-endian) and the header of the safetensors file; the last line of standard error is the
reason when it is not to be had. No code of the model's folder is run. Python 3.8 and later.
"""
import sys

if not getattr(sys.flags, "safe_path", False):
    sys.path.pop(0)  # the script's folder: modules come from the interpreter
import json
import os
import struct
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", CUDA_VISIBLE_DEVICES="")
answer = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # libraries print


def fail(reason):
    print("plimsoll: " + " ".join(str(reason).split())[:400], file=sys.stderr, flush=True)
    os._exit(3)


def again_with(libraries):
    """The loader reads its path once."""
    path = os.environ.get("LD_LIBRARY_PATH", "")
    if not libraries or libraries in path.split(":") or not os.path.isdir(libraries):
        return
    os.environ["LD_LIBRARY_PATH"] = f"{path}:{libraries}" if path else libraries
    os.dup2(answer.fileno(), 1)
    os.execv(sys.executable, [sys.executable, *sys.argv])


try:
    import torch
except ModuleNotFoundError as error:
    fail(error)
except Exception as error:
    again_with(sys.argv[2])
    fail(f"{type(error).__name__}: {error}")
try:
    import transformers
    from transformers import modeling_utils
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
except ModuleNotFoundError as error:
    fail(error)
except Exception as error:
    fail(f"{type(error).__name__}: {error}")

TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
         "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}
# Without the key `architectures`: the class that checkpoints of this kind are published with.
KINDS = ["IMAGE_TEXT_TO_TEXT", "SPEECH_SEQ_2_SEQ", "SEQ_TO_SEQ_CAUSAL_LM", "MASKED_LM", "CAUSAL_LM"]


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def class_of(config, names):
    for name in names:
        found = getattr(transformers, str(name), None)
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
        fail(f"transformers {transformers.__version__} has no {name}")
    for kind in KINDS:
        mapping = getattr(modeling_auto, f"MODEL_FOR_{kind}_MAPPING_NAMES", {})
        name = mapping.get(config.model_type)
        if isinstance(name, str):
            return getattr(transformers, name)
    fail(f"'architectures' is missing, and '{config.model_type}' does not tell the class")


def config_of(data):
    kind, names = data.get("model_type"), data.get("architectures") or []
    if "quantization_config" in data:
        fail("the checkpoint is quantized: its tensors do not follow from the config")
    if kind in CONFIG_MAPPING:
        return CONFIG_MAPPING[kind].from_dict(data)
    found = getattr(transformers, str(names[0]), None) if names else None
    if not isinstance(found, type) or not getattr(found, "config_class", None):
        fail(f"transformers {transformers.__version__} does not know '{kind or names}'")
    return found.config_class.from_dict(data)


def tell_storages_apart():
    """Old ones of transformers take all tensors of the meta device for one, by their address."""
    same = getattr(modeling_utils, "id_tensor_storage", None)
    if same and same(torch.empty(1, device="meta")) == same(torch.empty(1, device="meta")):
        modeling_utils.id_tensor_storage = lambda tensor: (tensor.device, tensor.untyped_storage()._cdata)


def model_of(config, names):
    """Old ones of transformers leave the type of a config to their caller."""
    wanted = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)
    wanted = getattr(torch, wanted, None) if isinstance(wanted, str) else wanted
    for _ in range(2):
        with torch.device("meta"):
            model = class_of(config, names)._from_config(config, attn_implementation="eager")
        if not wanted or model.dtype == wanted:
            break
        torch.set_default_dtype(wanted)
    return model


def state_of(config, names):
    """What save_pretrained() would write."""
    saved = {}
    tell_storages_apart()
    modeling_utils.safe_save_file = lambda tensors, *args, **kwargs: saved.update(tensors)
    model = model_of(config, names)
    with tempfile.TemporaryDirectory(prefix="plimsoll-hollow-") as folder:
        model.save_pretrained(folder, max_shard_size=1 << 62)
    return f"{type(model).__name__} in {name_of(model.dtype)}", saved


def header_of(name, tensors):
    """As the safetensors library orders them: the largest elements first, so that all are aligned."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for key, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        size = tensor.numel() * tensor.element_size()
        kind = TYPES.get(name_of(tensor.dtype))
        if not kind:
            fail(f"the tensor {key} has a type that is not known here: {tensor.dtype}")
        header[key] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<QQ", 8 + len(text) + at, len(text)) + text


try:
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    name, tensors = state_of(config_of(data), data.get("architectures") or [])
    answer.write(header_of(name, tensors))
    answer.flush()
except Exception as error:
    fail(f"{type(error).__name__}: {error}")
print(f"plimsoll: {name}, by transformers {transformers.__version__}", file=sys.stderr, flush=True)
os._exit(0)

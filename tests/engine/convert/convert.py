# SPDX-License-Identifier: MIT
"""
Run llama.cpp's own convert_hf_to_gguf.py on a checkpoint without weights: its vocabulary step is replaced by a made-up
vocabulary of the config's size, and the tensors' data is a hole in the file it writes. Everything else is the converter's.

    convert.py LLAMA.CPP [--data] ARGUMENT...     the arguments are convert_hf_to_gguf.py's; --data writes the data
"""
from __future__ import annotations

import os
import sys
from unittest import mock

llama_cpp = sys.argv[1]
sys.path.insert(0, llama_cpp)
sys.path.insert(1, os.path.join(llama_cpp, "gguf-py"))

import convert_hf_to_gguf as converter  # noqa: E402
import gguf  # noqa: E402
import transformers  # noqa: E402
from conversion import base  # noqa: E402

# What a class's own vocabulary step calls to read the tokenizer's files.
READERS = ("gpt2", "whitespace", "hybriddna", "qwen", "sentencepiece", "llama_hf", "rwkv_world", "glmedge", "glm", "interns1",
           "mistral", "plamo", "none")


def write_vocabulary(model: base.TextModel) -> None:
    size = model.hparams.get("padded_vocab_size") or model.hparams["vocab_size"]
    model.gguf_writer.add_tokenizer_model("gpt2")
    model.gguf_writer.add_tokenizer_pre("default")
    model.gguf_writer.add_token_list([f"t{i}" for i in range(size)])
    model.gguf_writer.add_token_types([gguf.TokenType.NORMAL] * size)


def write_builtin(model: base.TextModel, name: str, size: int) -> None:
    """In place of the vocabulary of another model, which the converter takes when a folder has none."""
    write_vocabulary(model)


def create_vocabulary(model: base.TextModel) -> tuple[list[bytes], list[float], list[int]]:
    """As TextModel._create_vocab_sentencepiece() pads it."""
    size = model.find_hparam(["vocab_size_per_layer_input", "vocab_size"])
    return [b"t%d" % i for i in range(size)], [0.0] * size, [gguf.TokenType.NORMAL] * size


def set_vocab(own_step):
    """A class's vocabulary step with made-up tokens: whatever else it writes (a padded size, token types) stays."""

    def step(model: base.TextModel) -> None:
        before = [dict(kv) for kv in model.gguf_writer.kv_data]
        try:
            own_step(model)
        except Exception as error:  # it reads the tokenizer's files itself
            print(f"vocabulary step of {type(model).__name__} replaced whole: {error!r}", file=sys.stderr)
            model.gguf_writer.kv_data[:] = before
            write_vocabulary(model)

    return step


def write_holes(writer: gguf.GGUFWriter, *, progress: bool = False) -> None:
    writer.write_ti_data_to_file()
    for file, tensors in zip(writer.fout, writer.tensors):
        writer.write_padding(file, file.tell())
        end = file.tell()
        for tensor in tensors.values():
            end += gguf.GGUFWriter.ggml_pad(tensor.nbytes, writer.data_alignment)
        file.truncate(end)


def main() -> int:
    del sys.argv[1]
    patches = [mock.patch.object(base.TextModel, f"_set_vocab_{reader}", write_vocabulary) for reader in READERS]
    patches.append(mock.patch.object(base.TextModel, "_set_vocab_builtin", write_builtin))
    patches.append(mock.patch.object(base.TextModel, "_create_vocab_sentencepiece", create_vocabulary))
    vocabulary = mock.Mock(name="SpecialVocab")
    patches.append(mock.patch.object(gguf, "SpecialVocab", vocabulary))
    if "--data" in sys.argv:
        sys.argv.remove("--data")
    else:
        patches.append(mock.patch.object(gguf.GGUFWriter, "write_tensors_to_file", write_holes))
    get_class = converter.get_model_class

    def get_patched_class(*args, **kwargs):
        found = get_class(*args, **kwargs)
        if hasattr(found, "set_vocab"):
            found.set_vocab = set_vocab(found.set_vocab)
        return found

    patches.append(mock.patch.object(converter, "get_model_class", get_patched_class))
    for patch in patches:
        patch.start()
    print(f"transformers {transformers.__version__}", file=sys.stderr)
    converter.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())

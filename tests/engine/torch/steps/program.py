# SPDX-License-Identifier: MIT
"""
Forty programs that train a small model, as people write them, with their batch and length on the command line.

    program.py --name NAME --batch B --seq S [--steps N]      S: words of a text, or points along a side of a picture
    program.py --name NAME --sizes BxS,BxS...                 each in a process of its own, which tells PyTorch's peaks
    program.py --list
"""
from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    family: str  # llama, qwen, gpt2, bert, vit, resnet, unet, lstm
    loop: str = "plain"  # plain, trainer, sft
    task: str = ""  # of bert: "mlm"; of lstm: "classes"
    optimizer: str = "adamw"  # adamw, fused, loop, sgd, 8bit, adafactor
    dtype: str = "float32"  # float32, bfloat16, autocast
    adapter: str = ""  # lora, qlora
    attention: str = "sdpa"
    is_checkpointed: bool = False
    is_compiled: bool = False
    n_micro: int = 1  # batches whose gradients are summed
    clip: float = 0.0


PROGRAMS = {
    "llama": Program("llama"),
    "llama-bf16": Program("llama", dtype="bfloat16", clip=1.0),
    "llama-autocast": Program("llama", dtype="autocast", optimizer="fused"),
    "llama-eager": Program("llama", attention="eager"),
    "llama-checkpoint": Program("llama", dtype="bfloat16", is_checkpointed=True),
    "llama-lora": Program("llama", dtype="bfloat16", adapter="lora"),
    "llama-qlora": Program("llama", dtype="bfloat16", adapter="qlora", optimizer="8bit", is_checkpointed=True),
    "llama-compile": Program("llama", dtype="autocast", is_compiled=True),
    "llama-trainer": Program("llama", "trainer", dtype="autocast"),
    "llama-sft": Program("llama", "sft", dtype="autocast"),
    "llama-sft-qlora": Program("llama", "sft", dtype="autocast", adapter="qlora", optimizer="8bit"),
    "qwen": Program("qwen", dtype="bfloat16", optimizer="fused"),
    "qwen-micro": Program("qwen", dtype="autocast", n_micro=2, clip=1.0),
    "qwen-sgd": Program("qwen", optimizer="sgd"),
    "qwen-lora-checkpoint": Program("qwen", dtype="autocast", adapter="lora", is_checkpointed=True),
    "qwen-trainer-checkpoint": Program("qwen", "trainer", dtype="autocast", is_checkpointed=True),
    "qwen-trainer-adafactor": Program("qwen", "trainer", optimizer="adafactor"),
    "qwen-sft-lora": Program("qwen", "sft", dtype="autocast", adapter="lora", is_checkpointed=True),
    "qwen-sft-micro": Program("qwen", "sft", n_micro=2),
    "gpt2": Program("gpt2", optimizer="loop"),
    "gpt2-autocast": Program("gpt2", dtype="autocast", optimizer="fused", clip=1.0),
    "gpt2-eager-checkpoint": Program("gpt2", attention="eager", is_checkpointed=True),
    "gpt2-compile": Program("gpt2", is_compiled=True),
    "gpt2-trainer": Program("gpt2", "trainer"),
    "gpt2-trainer-lora": Program("gpt2", "trainer", adapter="lora"),
    "bert": Program("bert"),
    "bert-mlm": Program("bert", task="mlm", dtype="autocast"),
    "bert-eager": Program("bert", attention="eager", optimizer="fused"),
    "bert-checkpoint": Program("bert", task="mlm", is_checkpointed=True, n_micro=2),
    "bert-trainer": Program("bert", "trainer", task="mlm"),
    "bert-trainer-lora": Program("bert", "trainer", adapter="lora"),
    "vit": Program("vit"),
    "vit-autocast": Program("vit", dtype="autocast", optimizer="fused"),
    "vit-trainer": Program("vit", "trainer", is_checkpointed=True),
    "resnet": Program("resnet", optimizer="sgd"),
    "resnet-autocast": Program("resnet", dtype="autocast", optimizer="sgd"),
    "unet": Program("unet"),
    "unet-checkpoint": Program("unet", dtype="autocast", is_checkpointed=True),
    "lstm": Program("lstm", clip=1.0),
    "lstm-classes": Program("lstm", task="classes"),
}
PICTURES = ("vit", "resnet", "unet")


def made_model(program: Program, length: int):
    """The program's model on the card."""
    import models
    import torch
    if program.family == "lstm":
        return models.LSTM(program.task == "classes").cuda()
    if program.family in PICTURES:
        model = models.picture_model(program.family, length)
    else:
        config = models.text_config(program.family, program.attention)
        model = models.text_class(program.family, program.task)(config)
    if program.adapter == "qlora":
        model = models.quantized(model)
    if program.dtype == "bfloat16" and program.adapter != "qlora":
        model = model.to(torch.bfloat16)
    if program.loop == "plain":
        model = model.cuda()
    if program.adapter and program.loop != "sft":
        model = adapted(program, model)
    if program.loop == "plain" and program.is_checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return torch.compile(model) if program.is_compiled else model


def adapter_config(program: Program):
    from peft import LoraConfig
    target = ["c_attn"] if program.family == "gpt2" else ["query", "value"] if program.family == "bert" else "all-linear"
    task = "SEQ_CLS" if program.family == "bert" else "CAUSAL_LM"
    return LoraConfig(r=16, lora_alpha=32, lora_dropout=0.05, target_modules=target, task_type=task,
                      fan_in_fan_out=program.family == "gpt2")


def adapted(program: Program, model):
    from peft import get_peft_model, prepare_model_for_kbit_training
    if program.adapter == "qlora":
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    if program.is_checkpointed:
        model.enable_input_require_grads()
    return get_peft_model(model, adapter_config(program))


def made_optimizer(program: Program, model):
    import torch
    weights = [p for p in model.parameters() if p.requires_grad]
    if program.optimizer == "8bit":
        import bitsandbytes
        return bitsandbytes.optim.AdamW8bit(weights, lr=1e-4)
    if program.optimizer == "sgd":
        return torch.optim.SGD(weights, lr=1e-2, momentum=0.9)
    return torch.optim.AdamW(weights, lr=1e-4, fused=program.optimizer == "fused" or None,
                             foreach=False if program.optimizer == "loop" else None)


def loss_of(program: Program, model, batch: int, length: int):
    """On a batch that comes from the host, as a loader would bring it."""
    import models
    import torch
    from torch.nn import functional as F
    if program.family in PICTURES:
        pictures = torch.zeros(batch, 3, length, length).cuda()
        out = model(pixel_values=pictures)
        shape = (batch, length, length) if program.family == "unet" else (batch,)
        return F.cross_entropy(out if program.family == "unet" else out.logits, torch.zeros(shape, dtype=torch.long).cuda())
    words = torch.zeros(batch, length, dtype=torch.long).cuda()
    if program.family == "lstm":
        scores = model(words)
        if program.task == "classes":
            return F.cross_entropy(scores, torch.zeros(batch, dtype=torch.long).cuda())
        return F.cross_entropy(scores.view(-1, models.WORDS), words.view(-1))
    if program.family == "bert" and program.task != "mlm":
        return model(input_ids=words, labels=torch.zeros(batch, dtype=torch.long).cuda()).loss
    return model(input_ids=words, labels=words).loss


def train_plain(program: Program, batch: int, length: int, steps: int) -> None:
    import torch
    model = made_model(program, length)
    model.train()
    optimizer = made_optimizer(program, model)
    cast = torch.autocast("cuda", torch.bfloat16) if program.dtype == "autocast" else contextlib.nullcontext()
    for _ in range(steps):
        for _ in range(program.n_micro):
            with cast:
                loss = loss_of(program, model, batch, length)
            (loss / program.n_micro).backward()
        if program.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), program.clip)
        optimizer.step()
        optimizer.zero_grad()
    print("loss:", loss.item())


def trainer_options(program: Program, batch: int, steps: int, folder: str) -> dict:
    optimizer = {"8bit": "adamw_bnb_8bit", "adafactor": "adafactor"}.get(program.optimizer, "adamw_torch_fused")
    return {"output_dir": folder, "per_device_train_batch_size": batch, "gradient_accumulation_steps": program.n_micro,
            "max_steps": steps, "optim": optimizer, "bf16": program.dtype == "autocast", "save_strategy": "no",
            "report_to": "none", "logging_steps": 1, "seed": 0, "gradient_checkpointing": program.is_checkpointed}


def examples(program: Program, n: int, length: int) -> list[dict]:
    import torch
    if program.family == "vit":
        return [{"pixel_values": torch.zeros(3, length, length), "labels": 0}] * n
    words = [5] * length
    is_classes = program.family == "bert" and not program.task
    return [{"input_ids": words, "labels": 0 if is_classes else words}] * n


def train_with_trainer(program: Program, batch: int, length: int, steps: int) -> None:
    from transformers import Trainer, TrainingArguments
    model = made_model(program, length)
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(**trainer_options(program, batch, steps, folder))
        rows = examples(program, batch * steps * program.n_micro, length)
        Trainer(model=model, args=options, train_dataset=rows).train()


def train_with_sft(program: Program, batch: int, length: int, steps: int) -> None:
    import models
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer
    rows = Dataset.from_list([{"text": text} for text in models.texts(batch * steps * program.n_micro, length)])
    with tempfile.TemporaryDirectory() as folder:
        options = SFTConfig(max_length=length, **trainer_options(program, batch, steps, folder))
        SFTTrainer(model=made_model(program, length), args=options, train_dataset=rows, processing_class=models.tokenizer(),
                   peft_config=adapter_config(program) if program.adapter else None).train()


LOOPS = {"plain": train_plain, "trainer": train_with_trainer, "sft": train_with_sft}


def run_sizes(program: Program, sizes: list[tuple[int, int]], steps: int) -> None:
    """What takes long is imported once, but for what uses the card when it is imported."""
    import torch
    if program.family not in ("lstm", "unet"):
        from transformers import LlamaForCausalLM  # noqa: F401
    for batch, length in sizes:
        child = os.fork()
        if child == 0:
            LOOPS[program.loop](program, batch, length, steps)
            stats = torch.cuda.memory_stats()
            print("peaks", batch, length, stats["allocated_bytes.all.peak"], stats["reserved_bytes.all.peak"], flush=True)
            sys.exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{batch}x{length} failed")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", choices=PROGRAMS)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--sizes", default="")
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    if a.list:
        print("\n".join(PROGRAMS))
        return
    program = PROGRAMS[a.name]
    if a.sizes:
        run_sizes(program, [tuple(map(int, size.split("x"))) for size in a.sizes.split(",")], a.steps)
    else:
        LOOPS[program.loop](program, a.batch, a.seq, a.steps)


if __name__ == "__main__":
    main()

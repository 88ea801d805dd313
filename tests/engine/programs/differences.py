# SPDX-License-Identifier: MIT
"""
What differs between the operators that PyTorch dispatches for a card and for the CPU though the program took the same
path: operators that only one of them has. Each rule says for which device, what is replaced, by what, and why.

Nothing here may hide a selection by known values: no rule drops nonzero, index, masked_select or a shape that they made.
"""
from __future__ import annotations

import re
from dataclasses import dataclass

T = r"[a-z0-9]+\[[\d,]*\]"  # a tensor: its type and its shape


@dataclass
class Rule:
    devices: str  # "cuda", "cpu", or both
    pattern: str  # of whole lines
    becomes: str
    why: str
    programs: str = ""  # the only ones that it is for; "": all


RULES = [
    Rule("cuda cpu", rf"aten\.log_sigmoid_forward\.default ({T}) .*\n", r"aten.log_sigmoid_forward.default \1\n",
         "the second result is a buffer that the CPU alone has"),
    Rule("cuda", rf"aten\.addmm\.dtype_out ({T})\n", r"addmm into \1\n", "TRL: a product of bf16 added to float32 in one, which the CPU cannot"),
    Rule("cpu", rf"aten\._to_copy\.default bfloat16\[.* > float32.*\naten\._to_copy\.default bfloat16\[.* > float32.*\n"
         rf"aten\.addmm_\.default ({T})\n", r"addmm into \1\n", "TRL: a product of bf16 added to float32 in one, which the CPU cannot"),
    Rule("cuda cpu", rf"aten\._embedding_bag\.default ({T}) .*\n", r"aten._embedding_bag.default \1\n",
         "the other results are buffers for the backward pass, whose sizes are the device's own"),
    Rule("cuda", rf"aten\.native_dropout\.default ({T}) .*\n", r"dropout \1\n", "dropout is one operator on a card"),
    Rule("cpu", rf"aten\.empty_like\.default ({T})\naten\.bernoulli_\.float \1\naten\.div_\.Scalar \1\naten\.mul\.Tensor \1\n",
         r"dropout \1\n", "dropout is one operator on a card"),
    Rule("cuda", rf"aten\.native_dropout_backward\.default ({T})\n", r"aten.mul.Tensor \1\n", "dropout is one operator on a card"),
    Rule("cuda cpu", rf"aten\._to_copy\.default ({T}) > \1\n", "", "moves between host and card, which on the CPU are none"),
    Rule("cuda", r"aten\.is_pinned\.default \n(?:aten\._pin_memory\.default .*\n)?", "", "data loaders pin memory for a card only"),
    Rule("cuda", rf"aten\.detach\.default {T}\naten\.record_stream\.default \n", "", "the CPU has no streams: param.data.record_stream(...)",
         "deepspeed_zero3"),
    Rule("cuda", r"aten\.record_stream\.default \n", "", "the CPU has no streams"),
    Rule("cuda", rf"(?:aten\.constant_pad_nd\.default {T}\naten\.slice\.Tensor {T}\n)?aten\.expand\.default {T}\n"
         r"(?=(?:aten\.detach\.default .*\n)*aten\._scaled_dot_product_efficient_attention\.default)", "",
         "memory-efficient attention aligns and broadcasts its mask"),
    Rule("cuda", rf"aten\._scaled_dot_product_(?:flash|cudnn|efficient)_attention\.default ({T}) .*\n", r"attention \1\n",
         "the library of the attention is that of the device"),
    Rule("cpu", rf"aten\._scaled_dot_product_flash_attention_for_cpu\.default ({T}) .*\n", r"attention \1\n",
         "the library of the attention is that of the device"),
    Rule("cuda", rf"aten\._scaled_dot_product_\w+_attention_backward\.default ((?:{T} ?)+)\n", r"attention backward \1\n",
         "the library of the attention is that of the device"),
    Rule("cpu", rf"aten\._scaled_dot_product_flash_attention_for_cpu_backward\.default ((?:{T} ?)+)\n", r"attention backward \1\n",
         "the library of the attention is that of the device"),
    Rule("cuda", rf"aten\.empty\.memory_format float16\[\d+\]\n(?=aten\.lift_fresh|aten\._to_copy|aten\.empty)", "",
         "transformers asks for the memory of all weights at once, and gives it back, before it loads them onto a card", "trl_qlora"),
    Rule("cuda", r"aten\.view\.default (uint8\[(?:2048,64|64,2048)\])\n", r"state \1\n", "paged states: a view of managed memory", "trl_qlora"),
    Rule("cpu", r"aten\.zeros_like\.default (uint8\[(?:2048,64|64,2048)\])\n", r"state \1\n", "paged states: a view of managed memory", "trl_qlora"),
    Rule("cuda cpu", r"aten\.(lift_fresh|detach)\.default uint8\[1\d\d\]\n", r"aten.\1.default uint8[text]\n",
         "bitsandbytes saves a quantized weight's settings as text: one is the mean of weights, whose digits are a guess", "trl_qlora"),
    Rule("cuda", r"aten\.lift_fresh\.default int64\[1\]\naten\.empty\.memory_format float16\[\d+\]\n", "aten.lift_fresh.default float32[0]\n",
         "transformers asks for the memory of all weights at once, and gives it back, before it loads them onto a card", "trl_grpo"),
    Rule("cpu", r"aten\._to_copy\.default bfloat16(\[4,2,\d+,32\]) > float32\1\n(?=aten\.cat\.default)", "",
         "autocast of the CPU casts what is joined (keys and values of the cache), that of the card does not", "trl_grpo"),
    Rule("cuda", r"aten\.empty\.memory_format int64\[2\]\nc10d\._allgather_base_\.default int64\[2\]\naten\.view\.default int64\[2\]\n",
         "gather int64[2]\n", "accelerate gathers into one tensor with NCCL, into a list with gloo"),
    Rule("cpu", r"(?:aten\.empty_like\.default int64\[1\]\n){2}c10d\.allgather_\.default .*\naten\.cat\.default int64\[2\]\n",
         "gather int64[2]\n", "accelerate gathers into one tensor with NCCL, into a list with gloo"),
    Rule("cpu", r"mkldnn\._is_mkldnn_fp16_supported\.default \n", "", "DeepSpeed asks whether the CPU can calculate in fp16"),
    Rule("cpu", rf"(?<=c10d\._reduce_scatter_base_\.default bfloat16\[688768\]\n)aten\.split\.Tensor .*\naten\.copy_\.default .*\n", "",
         "gloo leaves the part of a rank in its place, NCCL moves it to where DeepSpeed wants it", "deepspeed_zero3"),
    Rule("cuda cpu", rf"aten\.clone\.default {T}\naten\._unsafe_view\.default ({T})\n", r"aten.view.default \1\n",
         "a reshape copies or not by the strides that the library of the attention gives its result"),
    Rule("cuda", rf"aten\.cudnn_batch_norm\.default ({T}) .*\n", r"batch norm \1\n", "cuDNN's batch normalization has room of its own"),
    Rule("cpu", rf"aten\.empty\.memory_format uint8\[0\]\naten\.native_batch_norm\.default ({T}) .*\n", r"batch norm \1\n",
         "cuDNN's batch normalization has room of its own"),
    Rule("cuda cpu", r"aten\.(?:cudnn|native)_batch_norm_backward\.default (.*)\n", r"batch norm backward \1\n",
         "the library of the normalization is that of the device"),
]


def normalise(text: str, device: str, program: str) -> list[str]:
    for rule in RULES:
        if device in rule.devices.split() and (not rule.programs or program in rule.programs.split()):
            text = re.sub(rf"(?m)^{rule.pattern}", rule.becomes, text)
    return text.splitlines()

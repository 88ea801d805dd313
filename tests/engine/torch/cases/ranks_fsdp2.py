# SPDX-License-Identifier: MIT
# card: 2x RTX 3090
# run: torchrun
# needs: transformers
"""FSDP2: a Llama made from its configuration, its layers sharded, two steps in bf16 with reductions in fp32."""
import os

import told
import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import LlamaConfig, LlamaForCausalLM

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=8, num_attention_heads=32,
                     num_key_value_heads=8, vocab_size=32000)
with torch.device("meta"):
    model = LlamaForCausalLM(config)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model.model.layers:
    fully_shard(layer, mp_policy=policy)
fully_shard(model, mp_policy=policy)
model.to_empty(device="cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(2):
    tokens = torch.randint(0, config.vocab_size, (2, 512), device="cuda")
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
told.reserved()
dist.destroy_process_group()

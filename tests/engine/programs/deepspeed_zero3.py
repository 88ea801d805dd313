# SPDX-License-Identifier: MIT
"""DeepSpeed ZeRO-3 under the Trainer of transformers: parameters, gradients and states of a small Llama are shared by two cards."""
import tempfile

import made
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

deepspeed = {
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 3, "overlap_comm": True, "contiguous_gradients": True},
    "gradient_clipping": "auto",
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
}
arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=2, max_steps=3, bf16=True, deepspeed=deepspeed,
                              logging_steps=1, learning_rate=1e-4, save_strategy="no", report_to="none", seed=0,
                              use_cpu=not torch.cuda.is_available())
torch.manual_seed(0)
config = LlamaConfig(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512)
model = LlamaForCausalLM(config)
rows = made.tokenizer()(made.texts(32), padding="max_length", truncation=True, max_length=48)["input_ids"]
dataset = [{"input_ids": row, "labels": row} for row in rows]

trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()
optimizer = trainer.deepspeed.optimizer
print("steps skipped:", trainer.deepspeed.skipped_steps)
print("optimizer states:", sum(len(state) for state in optimizer.optimizer.state.values()))
